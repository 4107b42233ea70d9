/* help: usage of one command, and the list of all. */
#include "cli/help.h"

#include "base/file.h"
#include "base/macros.h"
#include "base/unit.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "report/layout.h"

#include <string.h>

enum { HELP_COLUMN = 26 };

const char *help_value(const struct option *option)
{
    switch (option->kind) {
    case OPTION_FLAG:
        return "";
    case OPTION_CHOSEN:
        return "LIST";
    case OPTION_COUNT:
        return option->choices ? option->choices : "N";
    case OPTION_INTEGER:
    case OPTION_NUMBER:
        if (!option->choices || strncmp(option->choices, "unit:", 5) != 0)
            return option->kind == OPTION_NUMBER ? "NUMBER"
                   : option->choices             ? option->choices
                                                 : "N";
        return strcmp(option->choices, "unit:share") == 0   ? "SHARE"
               : strcmp(option->choices, "unit:bytes") == 0 ? "BYTES"
                                                            : "TIME";
    case OPTION_TEXT:
    case OPTION_ONE_OF:
    case OPTION_LIST:
    case OPTION_REPEAT:
        break;
    }
    return option->choices ? option->choices : "TEXT";
}

static void write_option(struct layout *layout, const struct option *option)
{
    struct text head = { .arena = layout->arena }, help = { .arena = layout->arena };
    const char *value = help_value(option);

    if (option->short_name)
        text_print(&head, "-%s, ", option->short_name);
    text_print(&head, "--%s", option->name);
    if (*value)
        text_print(&head, option->kind == OPTION_CHOSEN ? "[=%s]" : "=%s", value);
    text_print(&help, "%s", option->help);
    if (option->preset)
        text_print(&help, " (%s)", option->preset);
    if (text_width(text_str(&head)) + 4 > HELP_COLUMN) {
        text_fill(layout->text, ' ', 2);
        text_add(layout->text, text_str(&head));
        layout_line(layout);
        layout_wrap(layout, HELP_COLUMN, "", HELP_COLUMN, text_str(&help));
        return;
    }
    layout_wrap(layout, 2, head.data, HELP_COLUMN, text_str(&help));
}

static void write_paragraphs(struct layout *layout, const char *paragraphs)
{
    struct str rest = str_from(paragraphs);

    while (rest.len > 0) {
        layout_line(layout);
        layout_wrap(layout, 0, "", 0, str_cut(&rest, '\n'));
    }
}

static const struct example examples[] = {
#define EXAMPLE(command, line, gives) { command, line, gives },
#include "cli/examples.def"
#undef EXAMPLE
};

void help_examples(const char *command, void (*see)(void *data, const struct example *example),
                   void       *data)
{
    for (size_t i = 0; i < ARRAY_COUNT(examples); i++) {
        bool is_first = i == 0 || strcmp(examples[i].command, examples[i - 1].command) != 0;

        if (command ? strcmp(examples[i].command, command) == 0 : is_first)
            see(data, &examples[i]);
    }
}

static void write_example(void *data, const struct example *example)
{
    struct layout *layout = data;

    text_print(layout->text, "  %s\n", example->line);
    layout_wrap(layout, 6, "", 6, str_from(example->gives));
}

static void help_command(const struct command *command, struct text *text)
{
    struct layout layout = { .text = text, .arena = text->arena, .width = terminal_width() };

    text_print(text, "usage: tfprof %s%s%s%s\n", command->name,
               command->option_count > 0 ? " [options]" : "", *command->operands ? " " : "",
               command->operands);
    write_paragraphs(&layout, command->description);
    if (command->option_count > 0)
        layout_line(&layout);
    for (size_t i = 0; i < command->option_count; i++)
        if (!command->options[i].is_legacy)
            write_option(&layout, &command->options[i]);
    if (!command->is_hidden)
        text_add(text, STR("\nExamples:\n"));
    help_examples(command->name, write_example, &layout);
}

static void help_overview(struct text *text)
{
    struct layout layout = { .text = text, .arena = text->arena, .width = terminal_width() };

    layout_wrap(
        &layout, 0, "", 0,
        STR("tfprof reads a recording of a machine-learning program and says what to change, "
            "the change that saves most first."));
    text_add(text, STR("\nusage: tfprof PROFILE\n       tfprof COMMAND [options] ...\n\n"));
    for (size_t i = 0; i < command_count; i++) {
        if (!commands[i]->is_hidden)
            layout_wrap(&layout, 2, commands[i]->name, 15, str_from(commands[i]->summary));
    }
    text_add_byte(text, '\n');
    layout_wrap(&layout, 0, "", 0, STR("tfprof help COMMAND explains one of them."));
    layout_wrap(&layout, 0, "Exit status:", 13,
                STR("0 done, 1 a gate failed, 2 wrong usage, 3 input missing, unreadable or "
                    "unsupported, 4 inconclusive, 5 a rule failed."));
}

bool help_print(const struct command *command, struct arena *arena, struct err *err)
{
    struct text text = { .arena = arena };

    if (command)
        help_command(command, &text);
    else
        help_overview(&text);
    return file_write("-", text_str(&text), err);
}
