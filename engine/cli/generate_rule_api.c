/* generate_rule_api: docs/rule-api.md from the table of the rule API. */
#include "analyze/path/path.h"
#include "analyze/replay/edit_text.h"
#include "base/unit.h"
#include "cli/generate.h"
#include "model/profile.h"
#include "rules/api.h"

#include <string.h>

static void add_cell(struct text *text, struct str words)
{
    for (size_t i = 0; i < words.len; i++) {
        if (words.data[i] == '|')
            text_add_byte(text, '\\');
        text_add_byte(text, words.data[i]);
    }
}

/* "column string which" -> "column"; a name that may be left out keeps its "?". */
static void add_signature(struct text *text, const struct api_name *name)
{
    static const char *const before[API_CLASS_COUNT] = {
        [API_GLOBAL] = "",        [API_PROFILE] = "p:", [API_QUERY] = "query:",
        [API_IMPACT] = "impact.", [API_FMT] = "fmt.",   [API_STRING] = "string.",
        [API_TABLE] = "table.",   [API_MATH] = "math.",
    };
    struct str  rest = str_from(name->takes);
    const char *glue = "";

    text_print(text, "%s%s",
               before[name->class] && !(name->type && name->class == API_PROFILE)
                   ? before[name->class]
               : name->class == API_PROFILE ? "p."
                                            : "",
               name->name);
    if (name->type)
        return;
    text_add_byte(text, '(');
    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n'), word = str_cut(&line, ' ');

        text_print(text, "%s%.*s", glue, STR_ARG(word));
        glue = ", ";
    }
    text_add_byte(text, ')');
}

/* Each line of `takes` or `gives`, the type as code. */
static void add_lines(struct text *text, const char *lines, bool has_names)
{
    struct str  rest = str_from(lines);
    const char *glue = "";

    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n'), name = { 0 }, type;

        if (has_names)
            name = str_cut(&line, ' ');
        type = str_cut(&line, ' ');
        text_print(text, "%s", glue);
        if (has_names)
            text_print(text, "`%.*s` ", STR_ARG(name));
        text_add(text, STR("*"));
        add_cell(text, type);
        text_add(text, STR("* "));
        add_cell(text, line);
        glue = "<br>";
    }
}

static void add_functions(struct text *text, enum api_class class)
{
    text_add(text, STR("| | takes | gives | |\n|---|---|---|---|\n"));
    for (size_t i = 0; i < api_name_count; i++) {
        const struct api_name *name = &api_names[i];

        if (name->class != class)
            continue;
        text_add(text, STR("| `"));
        add_signature(text, name);
        text_add(text, STR("` | "));
        add_lines(text, name->takes, true);
        text_add(text, STR(" | "));
        if (name->type) {
            text_add_byte(text, '*');
            add_cell(text, str_from(name->type));
            text_add_byte(text, '*');
        } else {
            add_lines(text, name->gives, false);
        }
        text_add(text, STR(" | "));
        add_cell(text, str_from(name->help));
        text_add(text, STR(" |\n"));
    }
}

static void add_fields(struct text *text, enum api_class class)
{
    text_add(text, STR("| field | type | |\n|---|---|---|\n"));
    for (size_t i = 0; i < api_name_count; i++) {
        const struct api_name *name = &api_names[i];

        if (name->class != class)
            continue;
        text_print(text, "| `%s` | *", name->name);
        add_cell(text, str_from(name->type));
        text_add(text, STR("* | "));
        add_cell(text, str_from(name->help));
        text_add(text, STR(" |\n"));
    }
}

static void add_words(struct text *text)
{
    text_add(text, STR("\n## Words\n\nUnits:"));
    for (int unit = UNIT_NONE; unit <= UNIT_BOOL; unit++)
        if (unit != UNIT_NAME)
            text_print(text, " `%s`", unit_name((enum unit)unit));
    text_add(text, STR(".\n\nParts of a step:"));
    for (int part = 0; part < PART_COUNT; part++)
        text_print(text, " `%s`", part_name((enum part)part));
    text_add(text, STR(".\n\nKinds of activity:"));
    for (int kind = 0; kind < ACTIVITY_KIND_COUNT; kind++)
        text_print(text, " `%s`", activity_kind_name((enum activity_kind)kind));
    text_add(text,
             STR(".\n\nKinds of edit ([checkers.md](checkers.md#impact) says what they do):"));
    for (size_t i = 0; i < EDIT_KIND_COUNT; i++)
        text_print(text, " `%s`", edit_words[i]);
    text_add(text, STR(".\n"));
}

void generate_rule_api(struct text *text)
{
    text_add(text,
             STR("# Rule API 1\n\n"
                 "All that a rule may use. API 1 changes only by adding: a rule with `api = 1` "
                 "keeps working.\n[checkers.md](checkers.md) is the guide, [facts.md](facts.md) "
                 "lists facts and tables. Types are those of the\nannotations for editors "
                 "(`tfprof --generate annotations`); what ends in `?` may be absent.\n\n"
                 "This page is printed by `tfprof --generate rule-api`.\n"));
    for (int class = 0; class < API_CLASS_COUNT; class ++) {
        const struct api_class_info *info = &api_classes[class];

        text_print(text, "\n## %s\n\n", info->title);
        if (info->help)
            text_print(text, "%s\n\n", info->help);
        if (info->is_fields)
            add_fields(text, (enum api_class) class);
        else
            add_functions(text, (enum api_class) class);
    }
    add_words(text);
}
