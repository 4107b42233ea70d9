#include "report/rules_markdown.h"

#include "report/rules_text.h"
#include "rules/catalogue.h"

#include <math.h>

/* Inside a cell of a table. */
static void add_cell(struct text *text, const char *words)
{
    for (; words && *words; words++) {
        if (*words == '|')
            text_add_byte(text, '\\');
        text_add_byte(text, *words == '\n' ? ' ' : *words);
    }
}

static void add_names(struct text *text, const char *label, const char *const *names, size_t count)
{
    if (!count)
        return;
    text_print(text, "- %s:", label);
    for (size_t i = 0; i < count; i++)
        text_print(text, "%s `%s`", i ? "," : "", names[i]);
    text_add(text, STR("\n"));
}

static void add_limit(struct text *text, double limit)
{
    text_add(text, STR(" | "));
    if (isfinite(limit))
        text_print(text, "%g", limit);
}

static void add_params(struct text *text, const struct rule_info *rule)
{
    if (!rule->params.count)
        return;
    text_add(text, STR("\n| parameter | default | least | most | unit | |\n"
                       "|---|---|---|---|---|---|\n"));
    for (size_t i = 0; i < rule->params.count; i++) {
        const struct rule_param *param = &rule->params.items[i];

        text_print(text, "| `%s` | ", param->name);
        switch (param->kind) {
        case RULE_PARAM_NUMBER:
            text_print(text, "%g", param->number);
            break;
        case RULE_PARAM_BOOL:
            text_print(text, "%s", param->number != 0 ? "true" : "false");
            break;
        case RULE_PARAM_TEXT:
            add_cell(text, param->text);
            break;
        }
        add_limit(text, param->min);
        add_limit(text, param->max);
        text_print(text, " | %s | ",
                   param->kind == RULE_PARAM_NUMBER ? unit_name(param->unit) : "");
        add_cell(text, param->doc);
        text_add(text, STR(" |\n"));
    }
}

static void add_rule(struct text *text, const struct rule_info *rule)
{
    text_print(text, "\n## %s\n\n%s\n\n", rule->id, rule->title);
    if (rule->summary && !rules_says_title(rule))
        text_print(text, "%s\n\n", rule->summary);
    if (rule->doc && *rule->doc) {
        text_add(text, str_trim(str_from(rule->doc)));
        text_add(text, STR("\n\n"));
    }
    text_print(text, "- Severity: %s\n- Category: %s\n- Version: %s\n",
               severity_name(rule->severity), rule->category, rule->version ? rule->version : "0");
    if (rule->preset != PRESET_RECOMMENDED)
        text_print(text, "- Preset: %s\n", preset_name(rule->preset));
    add_names(text, "Needs", rule->needs.items, rule->needs.count);
    add_names(text, "Tags", rule->tags.items, rule->tags.count);
    add_names(text, "Instead of", rule->more_specific_than.items, rule->more_specific_than.count);
    add_params(text, rule);
}

void rules_markdown(const struct rule_list *list, struct text *text)
{
    text_add(text, STR("# Rules\n"));
    for (size_t i = 0; i < list->rules.count; i++)
        add_rule(text, &list->rules.items[i]);
    for (size_t i = 0; i < list->failed.count; i++)
        text_print(text, "\n`%s` does not load: %s\n", list->failed.items[i].rule,
                   list->failed.items[i].message);
}
