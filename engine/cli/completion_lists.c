#include "cli/completion_lists.h"

#include "analyze/analysis.h"
#include "base/macros.h"
#include "cli/howto.h"
#include "rules/catalogue.h"
#include "view/attributes.h"

#include <string.h>

static void add_name(struct text *text, const char *name)
{
    text_add_byte(text, ' ');
    text_add(text, str_from(name));
}

/* Those that are built in. */
static void add_rules(struct text *text)
{
    struct rule_list list = { 0 };
    struct err       err = { 0 };

    if (!rules_list(NULL, text->arena, &list, &err))
        return;
    for (size_t i = 0; i < list.rules.count; i++)
        add_name(text, list.rules.items[i].id);
}

static bool is_category_before(const struct rule_list *list, size_t rule)
{
    for (size_t i = 0; i < rule; i++)
        if (strcmp(list->rules.items[i].category, list->rules.items[rule].category) == 0)
            return true;
    return false;
}

static void add_selections(struct text *text)
{
    struct rule_list list = { 0 };
    struct err       err = { 0 };

    if (!rules_list(NULL, text->arena, &list, &err))
        return;
    for (size_t i = 0; i < list.rules.count; i++)
        if (!is_category_before(&list, i))
            add_name(text, list.rules.items[i].category);
    add_rules(text);
}

static void add_tables(struct text *text)
{
    for (size_t i = 0; i < analysis_count; i++)
        for (size_t table = 0; table < analyses[i]->table_count; table++)
            add_name(text, analyses[i]->tables[table].name);
}

static void add_attributes(struct text *text)
{
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        add_name(text, attribute_name((enum attribute)i));
}

static void add_questions(struct text *text)
{
    text_add(text, STR(" gap gap@step step:slowest step: collective: op: kernel:"));
}

static void add_recipes(struct text *text)
{
    for (size_t i = 0; howto_name(i).len > 0; i++)
        text_print(text, " %.*s", STR_ARG(howto_name(i)));
    add_name(text, "agent");
}

const struct completion_list completion_lists[] = {
    { "rules", "FINDING", "RULE [PROFILE...]", false, add_rules },
    { "selections", "RULE", NULL, false, add_selections },
    { "tables", NULL, "[TABLE [PROFILE...]]", false, add_tables },
    { "attributes", "ATTRIBUTES", NULL, false, add_attributes },
    { "questions", NULL, "PROFILE... [WHAT]", true, add_questions },
    { "recipes", NULL, "[RECIPE]", false, add_recipes },
};
const size_t completion_list_count = ARRAY_COUNT(completion_lists);

const struct completion_list *completion_of_option(const struct option *option)
{
    for (size_t i = 0; option->choices && i < completion_list_count; i++)
        if (completion_lists[i].option && strcmp(completion_lists[i].option, option->choices) == 0)
            return &completion_lists[i];
    return NULL;
}

const struct completion_list *completion_of_operand(const struct command *command)
{
    for (size_t i = 0; i < completion_list_count; i++)
        if (completion_lists[i].operand &&
            strcmp(completion_lists[i].operand, command->operands) == 0)
            return &completion_lists[i];
    return NULL;
}
