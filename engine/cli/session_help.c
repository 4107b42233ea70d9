/* help at the prompt. */
#include "cli/help.h"
#include "cli/session.h"

#include <string.h>

enum { NAME_WIDTH = 28 };

static void list_option(const struct option *option, struct text *text)
{
    text_print(text, "-%-*s%s\n", NAME_WIDTH - 1, option->name, option->help);
}

static void list_options(struct text *text)
{
    for (size_t i = 0; i < session_option_count; i++)
        if (!session_options[i].is_legacy)
            list_option(&session_options[i], text);
}

static void help(struct text *text)
{
    text_add(text,
             STR("scope, graph, op, code  show the program by names, inputs, types or lines\n"
                 "advise                  say what to change\n"
                 "set -OPTION VALUE ...   keep options for the lines that follow\n"
                 "reset [-OPTION ...]     options as they were at first, these or all\n"
                 "help [COMMAND|-OPTION]  this, or more of one\n"
                 "quit                    end, as the end of input does\n"
                 "(an empty line)         the options as they are set\n"
                 "\n"
                 "Options stand behind a view and hold for that line: scope -max_depth 3 -select "
                 "micros,bytes\n"
                 "A line may end in | and a command of the shell: op -order_by micros | less\n"
                 "\n"));
    list_options(text);
}

/* What an option takes, and what it is at first. */
static void help_of_option(const struct option *option, struct text *text)
{
    const char *value = help_value(option);

    text_print(text, "-%s%s%s\n%s\n", option->name, *value ? " " : "", value, option->help);
    if (option->preset && *option->preset)
        text_print(text, "%s: %s\n", option->kind == OPTION_CHOSEN ? "alone" : "otherwise",
                   option->preset);
}

static bool help_of_command(const char *word, struct text *text)
{
    static const struct {
        const char *name, *words;
    } rows[] = {
        { "advise", "advise: what to change, by what it saves, as tfprof advise.\n" },
        { "set",
          "set -OPTION VALUE ...: keeps options for the lines that follow; alone, lists them.\n" },
        { "reset", "reset: options as they were at first; reset -step -select: these alone.\n" },
        { "help", "help: the commands and options; help scope, help -select: more of one.\n" },
        { "quit", "quit: ends, as the end of input does.\n" },
    };
    const struct view *view = view_find(word);

    if (view) {
        text_print(text, "%s\n%s -max_depth 3 -select micros,bytes | less\n\n", view->doc, word);
        list_options(text);
        return true;
    }
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (strcmp(word, rows[i].name) != 0)
            continue;
        text_add(text, str_from(rows[i].words));
        return true;
    }
    return false;
}

bool session_help(const char *word, struct session_answer *answer, struct err *err)
{
    struct str name = str_from(word);

    if (!word) {
        help(&answer->text);
        return true;
    }
    while (name.len && name.data[0] == '-')
        name = str_slice(name, 1, name.len);
    for (size_t i = 0; i < session_option_count; i++) {
        if (!str_equal(name, str_from(session_options[i].name)))
            continue;
        help_of_option(&session_options[i], &answer->text);
        return true;
    }
    if (help_of_command(word, &answer->text))
        return true;
    err_set(err, ERR_USAGE, "there is no help on '%s'", word);
    return err_advise(err, "help lists commands and options");
}
