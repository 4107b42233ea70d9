/* generate_facts: docs/facts.md from what the analyses declare. */
#include "analyze/analysis.h"
#include "base/unit.h"
#include "cli/generate.h"

/* A "|" would end the cell. */
static void add_cell(struct text *text, const char *words)
{
    for (; *words; words++) {
        if (*words == '|')
            text_add_byte(text, '\\');
        text_add_byte(text, *words);
    }
}

static void add_row(struct text *text, const char *name, enum unit unit, const char *help)
{
    text_print(text, "| `%s` | %s | ", name, unit == UNIT_NONE ? "" : unit_name(unit));
    add_cell(text, help);
    text_add(text, STR(" |\n"));
}

static void add_table(struct text *text, const struct table_spec *table)
{
    text_print(text, "\nTable `%s`: ", table->name);
    add_cell(text, table->help);
    text_add(text, STR("\n\n| column | unit | meaning |\n|---|---|---|\n"));
    for (size_t i = 0; i < table->column_count; i++)
        add_row(text, table->columns[i].name, table->columns[i].unit, table->columns[i].help);
}

static void add_analysis(struct text *text, const struct analysis *analysis)
{
    text_print(text, "\n## %s\n\n", analysis->name);
    add_cell(text, analysis->summary);
    text_add_byte(text, '\n');
    if (analysis->produces_count > 0)
        text_add(text, STR("\n| fact | unit | meaning |\n|---|---|---|\n"));
    for (size_t i = 0; i < analysis->produces_count; i++)
        add_row(text, analysis->produces[i].name, analysis->produces[i].unit,
                analysis->produces[i].help);
    for (size_t i = 0; i < analysis->table_count; i++)
        add_table(text, &analysis->tables[i]);
}

void generate_facts(struct text *text)
{
    text_add(
        text,
        STR("# Facts and tables\n\n"
            "What the analyses find, by analysis, in the order they run. Rules name these in "
            "`needs` and read them\nas `p.fact[...]` and `p:table(...)` (docs/checkers.md). A "
            "fact or table that a profile does not give is\nabsent, with a reason: "
            "`tfprof info PROFILE` lists them.\n\n"
            "Units: `share` is 0 to 1, `ratio` is times as much, `name` is a text; without "
            "one: a plain number.\n\n"
            "Where several accelerators of a host work, what they do a step (kernels, ops on "
            "them, copies, collectives,\nFLOPs) is told of one device: the mean of those that "
            "worked in the used steps; so times compare to the step.\nA table of devices has a "
            "row each. Facts of memory are of one allocator, which `memory.allocator` names;\n"
            "what hosts do is of the host that leads the job. Where no step can be used, facts of "
            "a step are absent,\n"
            "and tables are of the whole recording.\n\n"
            "This page is printed by `tfprof --generate facts`.\n"));
    for (size_t i = 0; i < analysis_count; i++)
        add_analysis(text, analyses[i]);
}
