/* The rows of report/tools.def: what they name is there to be shown. */

#include "testing.h"

#include "analyze/analysis.h"
#include "report/tool.h"

#include <string.h>

static bool has_column(const struct table_spec *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].name, name) == 0)
            return true;
    }
    return false;
}

static void check_facts(const struct tool *tool, const struct tool_section *section,
                        struct arena *arena)
{
    struct str  rest = str_from(section->facts);
    const char *name;

    while ((name = tool_next_name(&rest, arena)) != NULL) {
        if (!analysis_fact(name))
            fail_msg("%s, %s: no analysis finds %s", tool->name, section->title, name);
    }
}

static void check_rows(const struct tool *tool, const struct tool_section *section,
                       struct arena *arena)
{
    const struct table_spec *table = analysis_table(section->table);
    struct str               rest = str_from(section->columns);
    const char              *name;

    if (!table)
        fail_msg("%s: no analysis makes the table %s", tool->name, section->table);
    while ((name = tool_next_name(&rest, arena)) != NULL) {
        if (!has_column(table, name))
            fail_msg("%s: the table %s has no column %s", tool->name, section->table, name);
    }
    if (*section->sort && !has_column(table, section->sort))
        fail_msg("%s: the table %s has no column %s", tool->name, section->table, section->sort);
}

TEST(what_sections_name_is_there)
{
    struct arena arena = { 0 };

    assert_true(tool_count > 0);
    for (size_t i = 0; i < tool_count; i++) {
        const struct tool *tool = &tools[i];

        assert_ptr_equal(tool_find(tool->name), tool);
        assert_non_null(tool->sections[0].title);
        for (size_t j = 0; j < TOOL_SECTIONS && tool->sections[j].title; j++) {
            if (tool->sections[j].facts)
                check_facts(tool, &tool->sections[j], &arena);
            else
                check_rows(tool, &tool->sections[j], &arena);
        }
    }
    assert_null(tool_find("nothing"));
    arena_free(&arena);
}

TEST(names_are_cut_at_commas)
{
    struct arena arena = { 0 };
    struct str   rest = STR("a,bc");

    assert_string_equal(tool_next_name(&rest, &arena), "a");
    assert_string_equal(tool_next_name(&rest, &arena), "bc");
    assert_null(tool_next_name(&rest, &arena));
    arena_free(&arena);
}
