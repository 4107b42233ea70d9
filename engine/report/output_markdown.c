/* output_markdown: a comment for a pull request, below the 65 536 characters that services take. */
#include "analyze/study.h"
#include "gate/gate.h"
#include "report/describe.h"
#include "report/gate_words.h"
#include "report/layout.h"
#include "report/output.h"
#include "rules/advice.h"

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

static void add_pieces(struct text *text, const struct gate_result *result)
{
    size_t i = 0;

    if (result->pieces.count == 0)
        return;
    text_add(text, STR("| what the change is made of | change |\n|---|---:|\n"));
    for (; i < result->pieces.count && i < MOST_ROWS && !is_full(text); i++) {
        const struct piece *piece = &result->pieces.items[i];

        text_add(text, STR("| "));
        add_cell(text, piece->title);
        text_print(text, " | %s |\n",
                   gate_words_time(result, piece->after_ns - piece->before_ns, true, text->arena));
    }
    text_print(text, "| everything else | %s |\n\n",
               gate_words_time(result, gate_words_rest(result, i), true, text->arena));
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
        add_pieces(text, result);
        add_changes(text, result);
        add_advice(text, result);
    }
    text_add(text, STR("See it locally:\n\n    "));
    text_add(text, layout_clean(text->arena, str_from(result->command)));
    text_add_byte(text, '\n');
}

static void add_composition(struct text *text, const struct study *study)
{
    double part_ns[PART_COUNT], step_ns = 0;

    if (!study_composition(study, part_ns))
        return;
    for (int part = 0; part < PART_COUNT; part++)
        step_ns += part_ns[part];
    text_add(text, STR("| part of a step | time | share |\n|---|---:|---:|\n"));
    for (int part = 0; part < PART_COUNT; part++) {
        if (part_ns[part] <= 0)
            continue;
        text_print(text, "| %s | ", part_name((enum part)part));
        unit_print(text, part_ns[part], UNIT_NS);
        text_add(text, STR(" | "));
        unit_print(text, part_ns[part] / step_ns, UNIT_SHARE);
        text_add(text, STR(" |\n"));
    }
    text_add_byte(text, '\n');
}

/* Code as it is, between fences longer than any in it. */
static void add_code(struct text *text, const char *code)
{
    size_t fence = 3, run = 0;

    for (const char *at = code; *at; at++) {
        run = *at == '`' ? run + 1 : 0;
        fence = run >= fence ? run + 1 : fence;
    }
    text_add(text, STR("\n"));
    text_fill(text, '`', fence);
    text_print(text, "python\n%s%s", code, str_ends(str_from(code), STR("\n")) ? "" : "\n");
    text_fill(text, '`', fence);
    text_add_byte(text, '\n');
}

static void add_saving(struct text *text, const struct impact *impact)
{
    if (!impact->has_saving || impact->resource)
        return;
    text_add(text, STR(": "));
    text_add(text, finding_saving(text->arena, impact));
}

static void add_finding(struct text *text, const struct finding *finding)
{
    text_add(text, STR("#### "));
    add_cell(text, finding->title);
    add_saving(text, &finding->impact);
    text_print(text, "\n\n%s · %s", finding->rule, severity_name(finding->severity));
    for (size_t i = 0; i < finding->locations.count && i < 3; i++) {
        const struct location *at = &finding->locations.items[i];

        text_add(text, STR(" · "));
        add_cell(text, gate_words_place(at->file, at->line, text->arena));
    }
    text_add(text, STR("\n\n"));
    if (finding->remedy_text) {
        add_cell(text, finding->remedy_text);
        text_add_byte(text, '\n');
    }
    if (finding->remedy_code)
        add_code(text, finding->remedy_code);
    if (finding->condition) {
        text_add(text, STR("\nSaid because "));
        add_cell(text, finding->condition);
        text_add_byte(text, '\n');
    }
    for (size_t i = 0; i < finding->evidence.count; i++) {
        const struct evidence *evidence = &finding->evidence.items[i];

        text_add(text, i ? STR("- ") : STR("\n- "));
        add_cell(text, evidence->what);
        text_add(text, STR(": "));
        if (evidence->text)
            add_cell(text, evidence->text);
        else
            unit_print(text, evidence->value, evidence->unit);
        text_add_byte(text, '\n');
    }
    text_add_byte(text, '\n');
}

/* What the first findings give together. */
static void add_together(struct text *text, const struct advice *advice, const struct study *study)
{
    const struct together *last;

    if (!advice->together.count)
        return;
    last = &advice->together.items[advice->together.count - 1];
    unit_print(text, steps_ns(&study->steps), UNIT_NS);
    text_add(text, STR(" a step → "));
    unit_print(text, last->step_ns, UNIT_NS);
    if (last->count > 1)
        text_print(text, " with the first %u fixes", last->count);
    else
        text_add(text, STR(" with the first fix"));
    text_print(text, " (%.2f times as fast)\n\n", last->speedup);
}

static void advice_markdown(const struct advice *advice, const struct study *study,
                            const struct output_options *options, struct text *text)
{
    size_t shown = 0, count = 0;

    text_add(text, STR("### tfprof: "));
    add_cell(text, advice->verdict.text);
    text_add(text, STR("\n\n"));
    add_together(text, advice, study);
    add_composition(text, study);
    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];

        if (finding->hidden_by || (finding->impact.has_saving && !finding->impact.resource &&
                                   finding->impact.share < options->min_share))
            continue;
        count++;
        if (!is_full(text) && ++shown)
            add_finding(text, finding);
    }
    add_rest(text, shown, count, "and ", " findings");
    text_print(text, "%u of %u rules looked: %u found something.\n", advice->looked_count,
               advice->rule_count, advice->found_count);
}

const struct output output_markdown = {
    .name = "markdown",
    .summary = "a comment for a pull request",
    .advice = advice_markdown,
    .gate = gate_markdown,
};
