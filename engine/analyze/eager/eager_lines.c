/* eager_lines.c: see eager_lines.h. */
#include "analyze/eager/eager_lines.h"

#include "analyze/emit.h"
#include "base/sort.h"

#include <stdlib.h>

enum { FACT, SOURCE_FILE, SOURCE_LINE, NS };

const struct column_spec eager_line_columns[EAGER_LINE_COLUMNS] = {
    [FACT] = { "fact", UNIT_NAME, "name of the fact" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
    [NS] = { "ns", UNIT_NS, "time of the fact there, a step" },
};

void eager_lines_init(struct eager_lines *lines, struct arena *arena)
{
    *lines = (struct eager_lines) { .arena = arena, .rows = { .arena = arena } };
}

void eager_lines_add(struct eager_lines *lines, uint32_t fact, uint32_t source, double ns)
{
    uint64_t key = (uint64_t)fact << 32 | source;
    uint32_t row;

    if (source == NO_ID || ns <= 0)
        return;
    row = id_map_get(&lines->rows, key);
    if (row != NO_ID)
        lines->list.items[row].ns += ns;
    else if (!id_map_put(&lines->rows, key, (uint32_t)lines->list.count) ||
             !vec_push(&lines->list, lines->arena, ((struct eager_line) { fact, source, ns })))
        lines->is_short = true;
}

static int compare_lines(const void *a, const void *b)
{
    const struct eager_line *left = a, *right = b;

    return IN_ORDER(COMPARE(left->fact, right->fact), COMPARE(right->ns, left->ns),
                    COMPARE(left->source, right->source));
}

bool eager_lines_emit(struct study *study, struct eager_lines *lines,
                      const struct eager_calls *calls, const struct fact_spec *facts,
                      const struct table_spec *spec)
{
    enum { MOST_A_FACT = 3 };
    double        of_step = eager_median_factor(calls) / (double)calls->windows.count;
    struct table *table = NULL;
    uint32_t      fact = NO_ID, count = 0;

    if (lines->list.count > 1)
        qsort(lines->list.items, lines->list.count, sizeof *lines->list.items, compare_lines);
    for (size_t i = 0; i < lines->list.count && !lines->is_short; i++) {
        const struct eager_line *line = &lines->list.items[i];
        size_t                   row;

        count = line->fact == fact ? count + 1 : 1;
        fact = line->fact;
        if (count > MOST_A_FACT)
            continue;
        table = table ? table : facts_table(&study->facts, spec);
        row = table ? table_add(table, study->arena) : SIZE_MAX;
        if (row == SIZE_MAX)
            return false;
        emit_name(table, FACT, row, facts_name(&study->facts, str_from(facts[fact].name)));
        emit_source(study->profile, table, SOURCE_FILE, row, line->source);
        emit_number(table, NS, row, line->ns * of_step);
    }
    if (!table)
        return !lines->is_short &&
               facts_absent(&study->facts, spec->name, "stacks",
                            "no line of the program is known for what its ops do");
    return true;
}
