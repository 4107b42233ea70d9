/* rank_take_details: facts and tables of a study, as a summary keeps them. */
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"
#include "ranks/taking.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_CELLS = 16384, /* of all tables together */
    FIRST_ROWS = 64,    /* of each table in any case; at most MOST_ROWS */
    MOST_ROWS = 4096,
};

static int64_t detail_name(struct taking *taking, struct str text)
{
    return taking_name(taking, &taking->detail_names, text);
}

static int64_t detail_text(struct taking *taking, const char *text)
{
    return text ? detail_name(taking, str_from(text)) : -1;
}

static void take_facts(struct taking *taking)
{
    const struct facts  *facts = &taking->study->facts;
    struct rank_summary *summary = taking->summary;

    for (size_t i = 0; i < facts->list.count; i++) {
        const struct fact *fact = &facts->list.items[i];
        bool               is_name = fact->spec->unit == UNIT_NAME;

        taking_push(taking, &summary->fact_name, detail_text(taking, fact->spec->name));
        taking_push(taking, &summary->fact_text,
                    is_name ? detail_name(taking, intern_str(facts->names, (uint32_t)fact->value))
                            : -1);
        taking->is_full |=
            !vec_push(&summary->fact_value, taking->arena, is_name ? 0 : fact->value);
    }
    for (size_t i = 0; i < facts->absences.count; i++) {
        taking_push(taking, &summary->absent_name,
                    detail_text(taking, facts->absences.items[i].name));
        taking_push(taking, &summary->absent_reason,
                    detail_text(taking, facts->absences.items[i].reason));
        taking_push(taking, &summary->absent_capture,
                    detail_text(taking, facts->absences.items[i].capture));
    }
}

/* What is kept of a table: rows, in their order. */
struct excerpt {
    const struct table *table;
    size_t             *rows, count;
};

struct cell {
    double value;
    size_t row;
};

static int compare_cells(const void *a, const void *b)
{
    const struct cell *left = a, *right = b;

    return IN_ORDER(COMPARE(right->value, left->value), COMPARE(left->row, right->row));
}

/* Columns by turns each give their largest row: what matters by any number stays. */
static bool choose_rows(struct arena *scratch, const struct table *table, bool *is_kept,
                        size_t most)
{
    size_t       rows = table->row_count, columns = 0, kept = 0;
    struct cell *cells = arena_new_array(scratch, struct cell, rows * table->spec->column_count);

    for (size_t column = 0; cells && column < table->spec->column_count; column++) {
        struct cell *own = cells + columns * rows;

        if (table->spec->columns[column].unit == UNIT_NAME)
            continue;
        columns++;
        for (size_t row = 0; row < rows; row++) {
            double value = table->columns[column][row];

            own[row] = (struct cell) { isnan(value) ? -INFINITY : value, row };
        }
        qsort(own, rows, sizeof *own, compare_cells);
    }
    for (size_t turn = 0; cells && turn < rows; turn++)
        for (size_t column = 0; column < columns && kept < most; column++) {
            size_t row = cells[column * rows + turn].row;

            kept += !is_kept[row];
            is_kept[row] = true;
        }
    return cells != NULL;
}

/* The first rows, and where that is not all, those that lead in some number. */
static void make_excerpt(struct taking *taking, struct excerpt *excerpt, size_t most)
{
    const struct table *table = excerpt->table;
    bool               *is_kept = arena_new_array(&taking->scratch, bool, table->row_count + 1);

    excerpt->rows = arena_new_array(&taking->scratch, size_t, table->row_count + 1);
    if (!is_kept || !excerpt->rows) {
        taking->is_full = true;
        return;
    }
    for (size_t row = 0; row < table->row_count && (row < FIRST_ROWS || table->row_count <= most);
         row++)
        is_kept[row] = true;
    if (table->row_count > most && most > FIRST_ROWS)
        taking->is_full |= !choose_rows(&taking->scratch, table, is_kept, most - FIRST_ROWS);
    for (size_t row = 0; row < table->row_count; row++)
        if (is_kept[row])
            excerpt->rows[excerpt->count++] = row;
}

/* Rows that each table may have, so that all together keep within MOST_CELLS: short ones are whole.
 */
static size_t most_rows(const struct facts *facts)
{
    size_t most = MOST_ROWS, cells;

    do {
        cells = 0;
        for (size_t i = 0; i < facts->tables.count; i++) {
            const struct table *table = facts->tables.items[i];

            cells +=
                (table->row_count < most ? table->row_count : most) * table->spec->column_count;
        }
        most = cells > MOST_CELLS ? most / 2 : most;
    } while (cells > MOST_CELLS && most > FIRST_ROWS);
    return most;
}

static void take_column(struct taking *taking, const struct excerpt *excerpt, size_t column)
{
    const struct table *table = excerpt->table;
    bool                is_name = table->spec->columns[column].unit == UNIT_NAME;

    taking_push(taking, &taking->summary->column_table,
                (int64_t)taking->summary->table_name.count - 1);
    taking_push(taking, &taking->summary->column_name,
                detail_text(taking, table->spec->columns[column].name));
    for (size_t i = 0; i < excerpt->count; i++) {
        double value = table->columns[column][excerpt->rows[i]];

        if (is_name && value >= 0)
            value = (double)detail_name(taking,
                                        intern_str(taking->study->facts.names, (uint32_t)value));
        taking_push(taking, &taking->summary->cells, rank_cell(value));
    }
}

static bool has_values(const struct excerpt *excerpt, size_t column)
{
    for (size_t i = 0; i < excerpt->count; i++)
        if (excerpt->table->columns[column][excerpt->rows[i]] >= -INFINITY)
            return true;
    return false;
}

static void take_tables(struct taking *taking)
{
    const struct facts *facts = &taking->study->facts;
    size_t              most = most_rows(facts);

    for (size_t i = 0; i < facts->tables.count && !taking->is_full; i++) {
        struct excerpt excerpt = { .table = facts->tables.items[i] };

        make_excerpt(taking, &excerpt, most);
        taking_push(taking, &taking->summary->table_name,
                    detail_text(taking, excerpt.table->spec->name));
        taking_push(taking, &taking->summary->table_rows, (int64_t)excerpt.count);
        for (size_t column = 0; column < excerpt.table->spec->column_count; column++)
            if (has_values(&excerpt, column))
                take_column(taking, &excerpt, column);
    }
}

void taking_details(struct taking *taking)
{
    take_facts(taking);
    take_tables(taking);
}
