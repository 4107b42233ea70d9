/* tool_text: a tool's page for people: a title a section, facts with what they mean, the first rows
 * of tables. */
#include "report/tool.h"

#include "analyze/study.h"
#include "base/grid.h"
#include "report/head_text.h"
#include "report/layout.h"
#include "report/output.h"
#include "report/table_report.h"

static void write_title(struct layout *layout, const char *title)
{
    layout_style(layout, STYLE_STRONG);
    text_add(layout->text, str_from(title));
    layout_end(layout);
    layout_line(layout);
}

/* Why nothing of a section is there: what is said of its first name. */
static void write_absence(struct layout *layout, const struct facts *facts, const char *name)
{
    const struct absence *absence = facts_why_absent(facts, name);
    struct text           line = { .arena = layout->arena };

    text_print(&line, "not in this recording%s%s", absence ? ": " : "",
               absence ? absence->reason : "");
    if (absence && absence->capture)
        text_print(&line, "; record %s", absence->capture);
    layout_wrap(layout, 2, "", 2, text_str(&line));
}

static struct str value_of(struct layout *layout, const struct facts *facts,
                           const struct fact *fact)
{
    if (fact->spec->unit == UNIT_NAME)
        return layout_clean(layout->arena, intern_str(facts->names, (uint32_t)fact->value));
    return layout_value(layout->arena, fact->value, fact->spec->unit);
}

enum { VALUE_COLUMNS = 14 };

/* "    44.0 ms  what a step takes (step.ns)"; a value that is wider stands behind. */
static void write_fact(struct layout *layout, const struct facts *facts, const struct fact *fact)
{
    struct text line = { .arena = layout->arena };
    struct str  value = value_of(layout, facts, fact);

    text_print(&line, "%s (%s)", fact->spec->help, fact->spec->name);
    if (text_width(value) > VALUE_COLUMNS) {
        text_print(&line, ": %.*s", STR_ARG(value));
        value = STR("");
    }
    layout_pad_left(layout, value, VALUE_COLUMNS);
    layout_wrap(layout, 2, "", VALUE_COLUMNS + 2, text_str(&line));
}

static void write_facts(struct layout *layout, const struct tool_section *section,
                        const struct facts *facts)
{
    struct str  rest = str_from(section->facts);
    const char *name, *first = NULL;
    bool        is_empty = true;

    while ((name = tool_next_name(&rest, layout->arena)) != NULL) {
        const struct fact *fact = facts_find(facts, name);

        first = first ? first : name;
        is_empty &= !fact;
        if (fact && !(section->leaves_zero_out && fact->value == 0))
            write_fact(layout, facts, fact);
    }
    if (is_empty)
        write_absence(layout, facts, first ? first : "");
}

static void write_rows(struct layout *layout, const struct tool_section *section,
                       const struct facts *facts, int64_t rows,
                       const struct output_options *options)
{
    struct table_view view;

    if (!tool_view(&view, section, facts, rows < 0 ? section->text_rows : rows, layout->arena)) {
        write_absence(layout, facts, section->table);
        return;
    }
    table_rows_text(&view, options, layout->text);
    if (view.row_count < view.matched_count)
        text_print(layout->text, "%zu of %zu rows; all: tfprof table %s\n", view.row_count,
                   view.matched_count, section->table);
}

void tool_text(const struct tool *tool, const struct study *study, int64_t rows,
               const struct output_options *options, struct text *text)
{
    struct layout layout = layout_make(text, options->width, options->is_colored);

    head_text(&layout, study);
    for (size_t i = 0; i < TOOL_SECTIONS && tool->sections[i].title; i++) {
        const struct tool_section *section = &tool->sections[i];

        if (i > 0)
            layout_line(&layout);
        write_title(&layout, section->title);
        if (section->facts)
            write_facts(&layout, section, &study->facts);
        else
            write_rows(&layout, section, &study->facts, rows, options);
    }
}
