#include "report/table_report.h"

#include "analyze/table_view.h"
#include "base/csv.h"
#include "base/grid.h"
#include "base/json_fields.h"
#include "report/layout.h"
#include "report/output.h"

#include <math.h>

/* Names are shortened to the first of these that leaves room for what else says what a row is. */
static const size_t name_columns[] = { 48, 36, 28, 20, 14 };
enum { ROWS_COMPARED = 200, MOST_LEADS = 3, MOST_MEASURES = 2 };

static struct str cell(const struct table_view *view, size_t row, size_t column, size_t most,
                       struct arena *arena)
{
    double    value = table_view_number(view, row, column);
    enum unit unit =
        unit_shown(table_view_column(view, column)->unit, table_view_column(view, column)->name);

    if (isnan(value))
        return (struct str) { "", 0 };
    if (unit == UNIT_NAME)
        return layout_shorten_middle(arena, layout_clean(arena, table_view_text(view, row, column)),
                                     most);
    return layout_value(arena, value, unit);
}

static bool is_alike(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* `group` has for each row the first one that is like it in the columns before; now in this one,
 * too. How many groups. */
static size_t split(const struct table_view *view, size_t column, size_t rows, size_t *group)
{
    size_t groups = 0;

    for (size_t row = rows; row-- > 0;) {
        double value = table_view_number(view, row, column);
        size_t first = 0;

        while (first < row && !(group[first] == group[row] &&
                                is_alike(table_view_number(view, first, column), value)))
            first++;
        group[row] = first;
        groups += first == row;
    }
    return groups;
}

static bool is_text(const struct table_view *view, size_t column)
{
    return table_view_column(view, column)->unit == UNIT_NAME;
}

/* The same in all rows: a text, or numbers that are zero. Lines say nothing without their file. */
static bool tells_nothing(const struct table_view *view, size_t column)
{
    double first =
        is_text(view, column) && view->row_count > 0 ? table_view_number(view, 0, column) : 0;

    if (str_ends(str_from(table_view_column(view, column)->name), STR("line")))
        return true;
    for (size_t row = 0; row < view->row_count; row++)
        if (!is_alike(table_view_number(view, row, column), first))
            return false;
    return view->row_count > 1 || first == 0;
}

/* A time, a size, a share: more than a count or a line's number. */
static bool is_measure(const struct table_view *view, size_t column)
{
    enum unit unit = table_view_column(view, column)->unit;

    return unit != UNIT_NAME && unit != UNIT_BOOL && unit != UNIT_COUNT && unit != UNIT_NONE;
}

/* Texts lead that tell rows apart which are alike in the columns before them. */
static void give_turns(struct grid *grid, const struct table_view *view, struct arena *arena)
{
    size_t  rows = view->row_count < ROWS_COMPARED ? view->row_count : ROWS_COMPARED;
    size_t *group = arena_new_array(arena, size_t, rows + 1);
    size_t  groups = rows > 1, leads = 0, measures = 0;

    for (size_t column = 0; group && column < view->column_count; column++) {
        size_t now = groups;

        if (column == 0 || (groups < rows && leads < MOST_LEADS && is_text(view, column)))
            now = split(view, column, rows, group);
        if (now > groups)
            grid->turns[column] = GRID_LEADS;
        else if (tells_nothing(view, column))
            grid->turns[column] = GRID_YIELDS;
        else if (measures < MOST_MEASURES && is_measure(view, column))
            grid->turns[column] = GRID_MEASURES;
        else
            grid->turns[column] = GRID_OTHERS;
        leads += grid->turns[column] == GRID_LEADS;
        measures += grid->turns[column] == GRID_MEASURES;
        groups = now;
    }
}

static void fill_grid(struct grid *grid, const struct table_view *view, size_t most,
                      struct arena *arena)
{
    for (size_t column = 0; column < view->column_count; column++) {
        const struct column_spec *spec = table_view_column(view, column);

        grid->cells[column] = str_from(spec->name);
        grid->is_right[column] = spec->unit != UNIT_NAME && spec->unit != UNIT_BOOL;
        for (size_t row = 0; row < view->row_count; row++)
            grid->cells[(row + 1) * view->column_count + column] =
                cell(view, row, column, most, arena);
    }
}

void table_rows_text(const struct table_view *view, const struct output_options *options,
                     struct text *text)
{
    unsigned    room = options->is_complete ? 0 : options->width;
    struct grid grid;

    if (!grid_make(&grid, text->arena, view->column_count, view->row_count)) {
        text->is_cut = true;
        return;
    }
    give_turns(&grid, view, text->arena);
    for (size_t i = 0; i < ARRAY_COUNT(name_columns); i++) {
        fill_grid(&grid, view, name_columns[i], text->arena);
        if (room == 0 || grid_leads_fit(&grid, room))
            break;
    }
    grid_print(&grid, room, text);
}

void table_text(const struct table_view *view, const struct output_options *options,
                struct text *text)
{
    const struct table_spec *spec = view->table->spec;

    text_print(text, "%s: %s\n", spec->name, spec->help);
    text_print(text, "%zu row%s", view->row_count, view->row_count == 1 ? "" : "s");
    if (view->row_count < view->matched_count)
        text_print(text, " of %zu; --top 0 shows all", view->matched_count);
    text_add(text, STR("\n\n"));
    table_rows_text(view, options, text);
}

void table_json_cell(struct json_writer *json, const struct table_view *view, size_t row,
                     size_t column)
{
    double value = table_view_number(view, row, column);

    switch (table_view_column(view, column)->unit) {
    case UNIT_NAME:
        json_str(json, table_view_text(view, row, column));
        break;
    case UNIT_BOOL:
        json_bool(json, value != 0);
        break;
    default:
        json_exact(json, value);
    }
}

void table_json_columns(struct json_writer *json, const struct table_view *view)
{
    put_array(json, "columns");
    for (size_t i = 0; i < view->column_count; i++) {
        const struct column_spec *column = table_view_column(view, i);

        json_object(json);
        put_text(json, "name", column->name);
        put_text(json, "unit", unit_name(column->unit));
        put_text(json, "help", column->help);
        json_object_end(json);
    }
    json_array_end(json);
}

void table_json_rows(struct json_writer *json, const struct table_view *view)
{
    table_json_columns(json, view);
    put_integer(json, "matched", (int64_t)view->matched_count);
    put_array(json, "rows");
    for (size_t row = 0; row < view->row_count; row++) {
        json_object(json);
        for (size_t column = 0; column < view->column_count; column++) {
            if (isnan(table_view_number(view, row, column)))
                continue;
            json_key(json, table_view_column(view, column)->name);
            table_json_cell(json, view, row, column);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

void table_json(const struct table_view *view, const struct output_options *options,
                struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.table/1");
    put_text(&json, "table", view->table->spec->name);
    put_text(&json, "help", view->table->spec->help);
    table_json_rows(&json, view);
    json_object_end(&json);
    text_add_byte(text, '\n');
}

void table_csv(const struct table_view *view, const struct output_options *options,
               struct text *text)
{
    (void)options;
    for (size_t column = 0; column < view->column_count; column++)
        text_print(text, "%s%s", column ? "," : "", table_view_column(view, column)->name);
    text_add_byte(text, '\n');
    for (size_t row = 0; row < view->row_count; row++) {
        for (size_t column = 0; column < view->column_count; column++) {
            if (column)
                text_add_byte(text, ',');
            if (table_view_column(view, column)->unit == UNIT_NAME)
                csv_text(text, table_view_text(view, row, column));
            else
                csv_number(text, table_view_number(view, row, column));
        }
        text_add_byte(text, '\n');
    }
}
