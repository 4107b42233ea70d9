/* tool: the rows of tools.def. */
#include "report/tool.h"

#include "base/macros.h"

#include <string.h>

#define FACTS(heading, names)                                                                      \
    {                                                                                              \
        .title = (heading), .facts = (names)                                                       \
    }
#define PARTS(heading, names)                                                                      \
    {                                                                                              \
        .title = (heading), .facts = (names), .leaves_zero_out = true                              \
    }
#define ROWS(heading, of, shown, order, rows)                                                      \
    {                                                                                              \
        .title = (heading), .table = (of), .columns = (shown), .sort = (order),                    \
        .text_rows = (rows)                                                                        \
    }
#define ROWS_WHERE(heading, of, condition, shown, order, rows)                                     \
    {                                                                                              \
        .title = (heading), .table = (of), .where = (condition), .columns = (shown),               \
        .sort = (order), .text_rows = (rows)                                                       \
    }
#define TOOL(id, about, ...) { .name = #id, .summary = (about), .sections = { __VA_ARGS__ } },
const struct tool tools[] = {
#include "report/tools.def"
};
#undef TOOL
#undef ROWS_WHERE
#undef ROWS
#undef PARTS
#undef FACTS
const size_t tool_count = ARRAY_COUNT(tools);

const struct tool *tool_find(const char *name)
{
    for (size_t i = 0; i < tool_count; i++) {
        if (strcmp(tools[i].name, name) == 0)
            return &tools[i];
    }
    return NULL;
}

const char *tool_next_name(struct str *rest, struct arena *arena)
{
    if (rest->len == 0)
        return NULL;
    return arena_str(arena, str_cut(rest, ',')).data;
}

bool tool_view(struct table_view *view, const struct tool_section *section,
               const struct facts *facts, int64_t rows, struct arena *arena)
{
    const struct table *table = facts_find_table(facts, section->table);
    struct table_query  query = { .sort = *section->sort ? section->sort : NULL, .top = rows };
    struct str          rest = str_from(section->columns);
    struct err          err = { 0 };
    const char         *name;

    if (section->where && !vec_push(&query.where.values, arena, section->where))
        return false;
    while ((name = tool_next_name(&rest, arena)) != NULL) {
        if (!vec_push(&query.columns.values, arena, name))
            return false;
    }
    return table && table_view_make(view, facts, table, &query, arena, &err);
}
