/* rules_text: `tfprof rules` and `tfprof explain` for people. */
#include "report/rules_text.h"

#include "base/sort.h"
#include "report/describe.h"
#include "report/finding_text.h"
#include "report/layout.h"
#include "report/output.h"
#include "rules/catalogue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_COLUMN = 12, ID_COLUMNS = 34, SEVERITY_COLUMNS = 7 };

static const char *rule_title(const struct rule_info *rule)
{
    return rule->title ? rule->title : rule->summary ? rule->summary : "";
}

/* As the project has it. */
static const char *severity_of(const struct rule_info *rule)
{
    return rule->is_off ? "off" : severity_name(rule->severity);
}

static int by_category(const void *left, const void *right)
{
    const struct rule_info *const *a = left, *const *b = right;

    return IN_ORDER(strcmp((*a)->category, (*b)->category), strcmp((*a)->id, (*b)->id));
}

static void write_row(struct layout *layout, const struct rule_info *rule)
{
    struct text head = { .arena = layout->arena };
    size_t      id_len = strlen(rule->id);
    unsigned    blanks = id_len < ID_COLUMNS ? (unsigned)(ID_COLUMNS - id_len) : 1;

    text_print(&head, "%s%*s%-*s", rule->id, (int)blanks, "", SEVERITY_COLUMNS, severity_of(rule));
    layout_wrap(layout, 2, head.data, 2 + ID_COLUMNS + SEVERITY_COLUMNS,
                str_from(rule_title(rule)));
}

void rules_text(const struct rule_list *list, const struct output_options *options,
                struct text *text)
{
    struct layout            layout = layout_make(text, options->width, options->is_colored);
    size_t                   count = list->rules.count;
    const struct rule_info **rules =
        arena_alloc_array(layout.arena, count, sizeof(const struct rule_info *));

    if (!rules)
        return;
    for (size_t i = 0; i < count; i++)
        rules[i] = &list->rules.items[i];
    if (count > 0)
        qsort(rules, count, sizeof *rules, by_category);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(rules[i]->category, rules[i - 1]->category) != 0) {
            layout_wrap_right(&layout, "", 0, str_from(rules[i]->category), STR(""), STYLE_PLAIN);
        }
        write_row(&layout, rules[i]);
        if (i + 1 == count || strcmp(rules[i]->category, rules[i + 1]->category) != 0)
            layout_line(&layout);
    }
    text_print(text, "%zu rule%s. tfprof explain RULE says what one looks for.\n", count,
               count == 1 ? "" : "s");
    for (size_t i = 0; i < list->failed.count; i++) {
        const struct failed_rule *failed = &list->failed.items[i];

        layout_wrap(&layout, 0, "Does not load:", 2, str_from(failed->rule));
        text_add(text, str_from(failed->place ? failed->place : failed->message));
    }
}

static void write_names(struct layout *layout, const char *head, const char *const *names,
                        size_t count)
{
    struct text line = { .arena = layout->arena };

    for (size_t i = 0; i < count; i++)
        text_print(&line, "%s%s", i > 0 ? ", " : "", names[i]);
    if (count > 0)
        layout_wrap(layout, 0, head, HEAD_COLUMN, text_str(&line));
}

static void write_formats(struct layout *layout, uint32_t mask)
{
    const char *names[FORMAT_KINETO + 1];
    size_t      count = 0;

    for (int format = FORMAT_PROFILE; format <= FORMAT_KINETO; format++) {
        if (mask & (UINT32_C(1) << format))
            names[count++] = profile_format_name((enum profile_format)format);
    }
    write_names(layout, "Formats", names, count);
}

static void add_param_value(struct text *line, const struct rule_param *param)
{
    switch (param->kind) {
    case RULE_PARAM_NUMBER:
        unit_print(line, param->number, param->unit);
        if (isfinite(param->min) && isfinite(param->max)) {
            text_add(line, STR(", "));
            unit_print(line, param->min, param->unit);
            text_add(line, STR(" to "));
            unit_print(line, param->max, param->unit);
        } else if (isfinite(param->min)) {
            text_add(line, STR(", at least "));
            unit_print(line, param->min, param->unit);
        } else if (isfinite(param->max)) {
            text_add(line, STR(", at most "));
            unit_print(line, param->max, param->unit);
        }
        break;
    case RULE_PARAM_BOOL:
        text_add(line, param->number != 0 ? STR("yes") : STR("no"));
        break;
    case RULE_PARAM_TEXT:
        text_print(line, "'%s'", param->text ? param->text : "");
        break;
    }
}

static void write_params(struct layout *layout, const struct rule_info *rule)
{
    if (rule->params.count > 0)
        text_print(layout->text, "\nParameters (--set %s.NAME=VALUE)\n", rule->id);
    for (size_t i = 0; i < rule->params.count; i++) {
        const struct rule_param *param = &rule->params.items[i];
        struct text              line = { .arena = layout->arena };

        text_print(&line, "%s (", param->doc ? param->doc : "");
        add_param_value(&line, param);
        text_add(&line, param->is_set ? STR("; set by the project)") : STR(")"));
        layout_wrap(layout, 2, param->name, 22, text_str(&line));
    }
}

bool rules_says_title(const struct rule_info *rule)
{
    struct str summary = str_from(rule->summary);

    if (str_ends(summary, STR(".")))
        summary = str_slice(summary, 0, summary.len - 1);
    return str_equal(summary, str_from(rule_title(rule)));
}

static void write_rule(struct layout *layout, const struct rule_info *rule)
{
    struct str rest = str_from(rule->doc);

    layout_wrap_right(layout, "", 0, str_from(rule_title(rule)), STR(""), STYLE_PLAIN);
    text_print(layout->text, "%s · %s · %s · %s %s", rule->id, severity_of(rule), rule->category,
               rule->pack ? rule->pack : "", rule->version ? rule->version : "");
    if (rule->preset != PRESET_RECOMMENDED)
        text_print(layout->text, " · preset %s", preset_name(rule->preset));
    layout_line(layout);
    if (rule->summary && !rules_says_title(rule)) {
        layout_line(layout);
        layout_wrap(layout, 0, "", 0, str_from(rule->summary));
    }
    if (rest.len > 0)
        layout_line(layout);
    while (rest.len > 0) {
        size_t     paragraph_end = str_search(rest, STR("\n\n"));
        struct str paragraph = str_trim(str_slice(rest, 0, paragraph_end));

        rest = str_trim(str_slice(rest, paragraph_end, rest.len));
        layout_wrap(layout, 0, "", 0, paragraph);
        if (rest.len > 0)
            layout_line(layout);
    }
    layout_line(layout);
    write_formats(layout, rule->format_mask);
    write_names(layout, "Needs", rule->needs.items, rule->needs.count);
    write_names(layout, "Tags", rule->tags.items, rule->tags.count);
    write_names(layout, "Instead of", rule->more_specific_than.items,
                rule->more_specific_than.count);
    if (rule->file)
        layout_wrap(layout, 0, "File", HEAD_COLUMN, str_from(rule->file));
    write_params(layout, rule);
}

static void write_outcome(struct layout *layout, const struct rule_explanation *explanation)
{
    switch (explanation->outcome) {
    case RULE_QUIET:
        layout_wrap(layout, 0, "", 0, STR("It looked and found nothing to say."));
        break;
    case RULE_FOUND:
        layout_wrap(layout, 0, "", 0, STR("It found:"));
        layout_line(layout);
        for (size_t i = 0; i < explanation->findings.count; i++) {
            const struct finding *finding = &explanation->findings.items[i];

            finding_text(layout, finding, finding->rank, SIZE_MAX);
            finding_text_check(layout, finding);
        }
        break;
    case RULE_SKIPPED:
        layout_wrap(layout, 0, "It could not look:", 2,
                    str_from(explanation->reason ? explanation->reason : "no reason given"));
        if (explanation->capture)
            layout_wrap(layout, 0, "To allow it:", 2, str_from(explanation->capture));
        break;
    case RULE_FAILED:
        layout_wrap(layout, 0, "It failed:", 2,
                    str_from(explanation->reason ? explanation->reason : "no message"));
        break;
    }
}

void explain_text(const struct rule_explanation *explanation, const char *profile_name,
                  const struct output_options *options, struct text *text)
{
    struct layout layout = layout_make(text, options->width, options->is_colored);
    struct text   title = { .arena = layout.arena };

    if (explanation->place) {
        layout_wrap(&layout, 0, "Does not load:", 2, str_from(explanation->info.id));
        text_add(text, str_from(explanation->place));
        return;
    }
    write_rule(&layout, &explanation->info);
    if (!profile_name)
        return;
    layout_line(&layout);
    text_print(&title, "On %s", profile_name);
    layout_wrap_right(&layout, "", 0, text_str(&title), STR(""), STYLE_PLAIN);
    for (size_t i = 0; i < explanation->needs.count; i++)
        finding_text_evidence(&layout, &explanation->needs.items[i]);
    write_outcome(&layout, explanation);
}
