/* repl_help: the table of the rule API for people at a prompt. */
#include "rules/repl.h"

#include "rules/api.h"

#include <string.h>

enum { NAME_COLUMNS = 28 };

/* "p:", "query:", "fmt." and so on; fields stand alone. */
static const char *prefix_of(enum api_class class, bool is_field)
{
    switch (class) {
    case API_PROFILE:
        return is_field ? "p." : "p:";
    case API_QUERY:
        return "query:";
    case API_IMPACT:
        return "impact.";
    case API_FMT:
        return "fmt.";
    case API_STRING:
        return "string.";
    case API_TABLE:
        return "table.";
    case API_MATH:
        return "math.";
    default:
        return "";
    }
}

static void add_call(struct text *text, const struct api_name *name)
{
    struct str  rest = str_from(name->takes);
    const char *glue = "";

    text_print(text, "%s%s", prefix_of(name->class, name->type != NULL), name->name);
    if (name->type)
        return;
    text_add_byte(text, '(');
    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n');

        text_add(text, str_from(glue));
        text_add(text, str_cut(&line, ' '));
        glue = ", ";
    }
    text_add_byte(text, ')');
}

static void add_row(struct text *text, const struct api_name *name)
{
    size_t start = text->len;

    text_add(text, STR("  "));
    add_call(text, name);
    text_fill(text, ' ', text->len - start < NAME_COLUMNS ? NAME_COLUMNS - (text->len - start) : 1);
    text_print(text, "%s\n", name->help);
}

static void add_class(struct text *text, enum api_class class)
{
    text_print(text, "%s\n", api_classes[class].title);
    for (size_t i = 0; i < api_name_count; i++)
        if (api_names[i].class == class)
            add_row(text, &api_names[i]);
}

static void add_lines(struct text *text, const char *tag, const char *lines)
{
    struct str rest = str_from(lines);

    while (rest.len > 0) {
        text_print(text, "    %s ", tag);
        text_add(text, str_cut(&rest, '\n'));
        text_add_byte(text, '\n');
    }
}

static void add_name(struct text *text, const struct api_name *name)
{
    add_row(text, name);
    if (name->type)
        text_print(text, "    %s\n", name->type);
    add_lines(text, "takes", name->takes);
    add_lines(text, "gives", name->gives);
}

static void add_overview(struct text *text)
{
    text_add(text,
             STR("A line is Lua with what a rule has; its values are printed. p.fact lists the "
                 "facts.\nhelp TOPIC or help NAME says more; topics:"));
    for (int class = 0; class < API_CLASS_COUNT; class ++)
        text_print(text, " %s", api_classes[class].name);
    text_add_byte(text, '\n');
    add_class(text, API_PROFILE);
    add_class(text, API_QUERY);
}

bool repl_help(const char *topic, struct text *text)
{
    bool is_found = false;

    if (!*topic) {
        add_overview(text);
        return true;
    }
    for (int class = 0; class < API_CLASS_COUNT; class ++)
        if (strcmp(api_classes[class].name, topic) == 0) {
            add_class(text, (enum api_class) class);
            return true;
        }
    for (size_t i = 0; i < api_name_count; i++)
        if (strcmp(api_names[i].name, topic) == 0) {
            add_name(text, &api_names[i]);
            is_found = true;
        }
    return is_found;
}
