/* output_markdown: a comment for a pull request, below the 65 536 characters that services take. */
#include "gate/gate.h"
#include "report/gate_words.h"
#include "report/layout.h"
#include "report/output.h"

#include <string.h>

enum { MOST_BYTES = 60000, MOST_ROWS = 30, MOST_CELL = 300 };

/* Text that cannot end a cell, a line or become markup. */
static void add_cell(struct text *text, const char *words)
{
    struct str clean = layout_clean(text->arena, str_slice(str_from(words), 0, MOST_CELL));

    for (size_t i = 0; i < clean.len; i++) {
        if (strchr("|`*_<>[]\\~#", clean.data[i]))
            text_add_byte(text, '\\');
        text_add_byte(text, clean.data[i]);
        if (clean.data[i] ==
            '@') /* a space without width: nobody is called by the name of a kernel */
            text_add(text, STR("\xe2\x80\x8b"));
    }
}

static bool is_full(const struct text *text)
{
    return text->len > MOST_BYTES;
}

/* What was left out for its length. */
static void add_rest(struct text *text, size_t shown, size_t count, const char *before,
                     const char *after)
{
    if (shown < count)
        text_print(text, "%s%zu more%s\n", before, count - shown, after);
}

static void add_checks(struct text *text, const struct gate_result *result)
{
    size_t i = 0;

    text_add(text, STR("| | check |\n|---|---|\n"));
    for (; i < result->checks.count && i < MOST_ROWS && !is_full(text); i++) {
        const struct check *check = &result->checks.items[i];

        text_print(text, "| %s | ",
                   check->outcome == OUTCOME_FAIL ? "**fail**" : outcome_name(check->outcome));
        add_cell(text, check->title);
        if (check->detail[0] && check->outcome != OUTCOME_PASS) {
            text_add(text, STR("<br>"));
            add_cell(text, check->detail);
        }
        text_add(text, STR(" |\n"));
    }
    add_rest(text, i, result->checks.count, "| | and ", " |");
    text_add_byte(text, '\n');
}

static void add_part(struct text *text, const struct gate_result *result, const char *name,
                     const struct part_change *part)
{
    text_print(text, "| %s | %s | %s | %s |\n", name,
               gate_words_time(result, part->before_ns, false, text->arena),
               gate_words_time(result, part->after_ns, false, text->arena),
               gate_words_time(result, part->after_ns - part->before_ns, true, text->arena));
}

static void add_parts(struct text *text, const struct gate_result *result)
{
    struct part_change total = gate_words_total(result);

    if (result->parts.count == 0)
        return;
    text_add(text, STR("| the step in parts | before | now | change |\n|---|---:|---:|---:|\n"));
    for (size_t i = 0; i < result->parts.count; i++)
        add_part(text, result, part_name(result->parts.items[i].part), &result->parts.items[i]);
    add_part(text, result, "**step**", &total);
    text_add_byte(text, '\n');
}

static void add_changes(struct text *text, const struct gate_result *result)
{
    size_t i = 0;

    if (result->changes.count == 0)
        return;
    text_add(text, STR("<details><summary>What changed</summary>\n\n"));
    for (; i < result->changes.count && i < MOST_ROWS && !is_full(text); i++) {
        const struct change *change = &result->changes.items[i];
        const char          *place = gate_words_place(change->file, change->line, text->arena);

        text_add(text, STR("- "));
        add_cell(text, change->title);
        if (place[0]) {
            text_add(text, STR(" in "));
            add_cell(text, place);
        }
        if (change->rule)
            text_print(text, " (%s)", change->rule);
        text_add_byte(text, '\n');
    }
    add_rest(text, i, result->changes.count, "- and ", "");
    text_add(text, STR("\n</details>\n\n"));
}

static void add_advice(struct text *text, const struct gate_result *result)
{
    size_t i = 0;

    if (result->added.count == 0)
        return;
    text_add(text, STR("<details><summary>Advice that is new</summary>\n\n"));
    for (; i < result->added.count && i < MOST_ROWS && !is_full(text); i++) {
        const struct finding *finding = result->added.items[i];

        text_print(text, "- **%s**: ", finding->rule);
        add_cell(text, finding->title);
        if (finding->remedy_text) {
            text_add(text, STR(". "));
            add_cell(text, finding->remedy_text);
        }
        text_add_byte(text, '\n');
    }
    add_rest(text, i, result->added.count, "- and ", "");
    text_add(text, STR("\n</details>\n\n"));
}

static void gate_markdown(const struct gate_result *result, const struct output_options *options,
                          struct text *text)
{
    (void)options;
    text_add(text, STR("### tfprof gate: "));
    add_cell(text, result->headline);
    text_add(text, STR("\n\n"));
    add_cell(text, gate_words_subject(result, text->arena));
    text_add(text, STR("\n\n"));
    add_checks(text, result);
    if (result->outcome != OUTCOME_PASS) {
        add_parts(text, result);
        add_changes(text, result);
        add_advice(text, result);
    }
    text_add(text, STR("See it locally:\n\n    "));
    text_add(text, layout_clean(text->arena, str_from(result->command)));
    text_add_byte(text, '\n');
}

const struct output output_markdown = {
    .name = "markdown",
    .summary = "a comment for a pull request",
    .gate = gate_markdown,
};
