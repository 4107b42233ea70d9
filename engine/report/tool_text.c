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

/* "no kernels are in the recorded steps; record device tracing": why nothing of a section is there,
 * by what is said of its first name. */
static struct str why_absent(const struct facts *facts, const struct tool_section *section,
                             struct arena *arena)
{
    struct str            names = str_from(section->facts ? section->facts : section->table);
    const char           *name = tool_next_name(&names, arena);
    const struct absence *absence = facts_why_absent(facts, name ? name : "");
    struct text           why = { .arena = arena };

    text_print(&why, "%s", absence ? absence->reason : "none");
    if (absence && absence->capture)
        text_print(&why, "; record %s", absence->capture);
    return text_str(&why);
}

static struct str value_of(struct layout *layout, const struct facts *facts,
                           const struct fact *fact)
{
    if (fact->spec->unit == UNIT_NAME)
        return layout_clean(layout->arena, intern_str(facts->names, (uint32_t)fact->value));
    return layout_value(layout->arena, fact->value, unit_shown(fact->spec->unit, fact->spec->name));
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

/* The next fact of the list that is to be shown; NULL behind the last. */
static const struct fact *next_fact(struct str *rest, const struct tool_section *section,
                                    const struct facts *facts, struct arena *arena)
{
    const char *name;

    while ((name = tool_next_name(rest, arena)) != NULL) {
        const struct fact *fact = facts_find(facts, name);

        if (fact && !(section->leaves_zero_out && fact->value == 0))
            return fact;
    }
    return NULL;
}

static void write_facts(struct layout *layout, const struct tool_section *section,
                        const struct facts *facts)
{
    struct str         rest = str_from(section->facts);
    const struct fact *fact;

    while ((fact = next_fact(&rest, section, facts, layout->arena)) != NULL)
        write_fact(layout, facts, fact);
}

static void write_rows(struct layout *layout, const struct tool_section *section,
                       const struct table_view *view, const struct output_options *options)
{
    table_rows_text(view, options, layout->text);
    if (view->row_count < view->matched_count)
        text_print(layout->text, "%zu of %zu rows; all: tfprof table %s\n", view->row_count,
                   view->matched_count, section->table);
}

/* Whether the recording gives anything of the section; `view`: of a table, the rows to show. */
static bool is_given(const struct tool_section *section, const struct facts *facts, int64_t rows,
                     struct table_view *view, struct arena *arena)
{
    struct str rest = str_from(section->facts ? section->facts : "");

    if (section->facts)
        return next_fact(&rest, section, facts, arena) != NULL;
    return tool_view(view, section, facts, rows < 0 ? section->text_rows : rows, arena) &&
           view->row_count > 0;
}

/* "Kernels, Copies: no kernels are in the recorded steps": sections that lack for one reason are
 * one line. */
static void write_absences(struct layout *layout, const struct tool *tool,
                           const struct facts *facts, const bool *is_there)
{
    struct str whys[TOOL_SECTIONS] = { { 0 } };

    for (size_t i = 0; i < TOOL_SECTIONS && tool->sections[i].title; i++)
        if (!is_there[i])
            whys[i] = why_absent(facts, &tool->sections[i], layout->arena);
    for (size_t i = 0; i < TOOL_SECTIONS && tool->sections[i].title; i++) {
        struct text line = { .arena = layout->arena };
        struct str  why = whys[i];

        for (size_t j = i; why.len > 0 && j < TOOL_SECTIONS; j++) {
            if (!str_equal(whys[j], why))
                continue;
            text_print(&line, "%s%s", line.len ? "; " : "", tool->sections[j].title);
            whys[j] = (struct str) { 0 };
        }
        if (why.len > 0) {
            text_print(&line, ": %.*s", STR_ARG(why));
            layout_wrap(layout, 2, "", 4, text_str(&line));
        }
    }
}

void tool_text(const struct tool *tool, const struct study *study, int64_t rows,
               const struct output_options *options, struct text *text)
{
    struct layout layout = layout_make(text, options->width, options->is_colored);
    bool          is_there[TOOL_SECTIONS], is_whole = true;
    size_t        written = 0;

    head_text(&layout, study);
    for (size_t i = 0; i < TOOL_SECTIONS && tool->sections[i].title; i++) {
        const struct tool_section *section = &tool->sections[i];
        struct table_view          view = { 0 };

        is_there[i] = is_given(section, &study->facts, rows, &view, text->arena);
        is_whole &= is_there[i];
        if (!is_there[i])
            continue;
        if (written++ > 0)
            layout_line(&layout);
        write_title(&layout, section->title);
        if (section->facts)
            write_facts(&layout, section, &study->facts);
        else
            write_rows(&layout, section, &view, options);
    }
    if (is_whole)
        return;
    if (written > 0)
        layout_line(&layout);
    write_title(&layout, "Not in this recording");
    write_absences(&layout, tool, &study->facts, is_there);
}
