/* generate_man: tfprof.1 and a page a command in man(7) macros. */
#include "base/macros.h"
#include "cli/command.h"
#include "cli/generate.h"
#include "cli/help.h"

#include <string.h>

/* Escapes what roff would take for its own: backslashes, dashes, a dot or quote leading a line. */
static void add_roff(struct text *text, const char *line)
{
    if (*line == '.' || *line == '\'')
        text_add(text, STR("\\&"));
    for (; *line; line++) {
        if (*line == '\\')
            text_add(text, STR("\\e"));
        else if (*line == '-')
            text_add(text, STR("\\-"));
        else
            text_add_byte(text, *line);
    }
}

static void write_option(struct text *text, const struct option *option)
{
    const char *value = help_value(option);

    text_add(text, STR(".TP\n"));
    if (option->short_name)
        text_print(text, "\\fB\\-%s\\fR, ", option->short_name);
    text_add(text, STR("\\fB\\-\\-"));
    add_roff(text, option->name);
    text_add(text, STR("\\fR"));
    if (*value) {
        text_add(text, STR("=\\fI"));
        add_roff(text, value);
        text_add(text, STR("\\fR"));
    }
    text_add_byte(text, '\n');
    add_roff(text, option->help);
    if (option->preset) {
        text_add(text, STR(" (default: "));
        add_roff(text, option->preset);
        text_add(text, STR(")"));
    }
    text_add(text, STR(".\n"));
}

static void write_paragraphs(struct text *text, const char *description)
{
    struct str rest = str_from(description);

    while (rest.len > 0) {
        struct str paragraph = str_cut(&rest, '\n');
        struct str copy = arena_str(text->arena, paragraph);

        add_roff(text, copy.data ? copy.data : "");
        text_add(text, rest.len > 0 ? STR("\n.PP\n") : STR("\n"));
    }
}

static void write_example(void *data, const struct example *example)
{
    struct text *text = data;

    text_add(text, STR(".TP\n"));
    add_roff(text, example->line);
    text_add_byte(text, '\n');
    add_roff(text, example->gives);
    text_add_byte(text, '\n');
}

static const char head[] =
    ".SH NAME\n"
    "tfprof \\- say what to change in a machine\\-learning program, from a recording of its run\n"
    ".SH SYNOPSIS\n"
    ".B tfprof\n"
    "[\\fICOMMAND\\fR] [\\fIoptions\\fR] \\fIPROFILE\\fR...\n"
    ".SH DESCRIPTION\n"
    "Reads what a profiler recorded of a training or inference program (XSpace, tfprof profiles,\n"
    "TensorFlow graphs with run metadata, PyTorch traces) and prints ranked, priced advice. "
    "Without a command it\n"
    "is \\fBtfprof advise\\fR. Options may be written with one dash or two, with dashes or\n"
    "underscores, and take their value behind = or as the next word.\n"
    ".SH COMMANDS\n";

static const char tail[] =
    ".SH EXIT STATUS\n"
    ".TP\n0\ndone, whatever was found\n"
    ".TP\n1\na gate failed (\\-\\-fail\\-on), or a rule's example does not hold\n"
    ".TP\n2\nwrong usage or configuration\n"
    ".TP\n3\ninput missing, unreadable, damaged beyond use, or unsupported\n"
    ".TP\n4\ninconclusive: too little to judge\n"
    ".TP\n5\na rule failed and \\-\\-rule\\-errors=fail was given\n";

static const char files[] =
    ".SH FILES\n"
    ".TP\n~/.config/tfprof/config.toml\noptions that you want on every command line\n"
    ".TP\ntfprof.toml\nwhat a project holds its runs to, in the working directory or above\n";

/* Variables that the command looks at, or NULL: all. */
static void write_environment(struct text *text, const struct command *command)
{
    static const struct {
        const char *name, *commands, *help;
    } rows[] = {
#define ENVIRONMENT(name, commands, help) { name, commands, help },
#include "cli/environment.def"
#undef ENVIRONMENT
    };
    const char *wanted = command ? arena_text(text->arena, " %s ", command->name) : "";

    text_add(text, STR(".SH ENVIRONMENT\n"));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!*rows[i].commands || strstr(rows[i].commands, wanted)) {
            text_print(text, ".TP\n%s\n", rows[i].name);
            add_roff(text, rows[i].help);
            text_add_byte(text, '\n');
        }
    }
}

static void write_tail(struct text *text, const struct command *command)
{
    text_add(text, str_from(tail));
    write_environment(text, command);
    text_add(text, str_from(files));
}

static void begin_page(struct text *text, const char *title)
{
    text_print(text, ".TH %s 1 \"\" \"tfprof " TFPROF_VERSION "\" \"User commands\"\n.ad l\n",
               title);
}

void generate_man(struct text *text)
{
    begin_page(text, "tfprof");
    text_add(text, str_from(head));
    for (size_t i = 0; i < command_count; i++) {
        if (commands[i]->is_hidden)
            continue;
        text_add(text, STR(".TP\n.BR tfprof\\-"));
        add_roff(text, commands[i]->name);
        text_add(text, STR(" (1)\n"));
        add_roff(text, commands[i]->summary);
        text_add_byte(text, '\n');
    }
    text_add(text, STR(".SH EXAMPLES\n"));
    help_examples(NULL, write_example, text);
    write_tail(text, NULL);
}

static void write_synopsis(struct text *text, const struct command *command)
{
    text_add(text, STR(".SH SYNOPSIS\n.B tfprof "));
    add_roff(text, command->name);
    if (command->option_count > 0)
        text_add(text, STR("\n[\\fIoptions\\fR]"));
    text_add_byte(text, '\n');
    if (*command->operands) {
        add_roff(text, command->operands);
        text_add_byte(text, '\n');
    }
}

void generate_man_of(struct text *text, const struct command *command)
{
    begin_page(text, arena_text(text->arena, "tfprof\\-%s", command->name));
    text_add(text, STR(".SH NAME\ntfprof\\-"));
    add_roff(text, command->name);
    text_add(text, STR(" \\- "));
    add_roff(text, command->summary);
    text_add_byte(text, '\n');
    write_synopsis(text, command);
    text_add(text, STR(".SH DESCRIPTION\n"));
    write_paragraphs(text, command->description);
    if (command->option_count > 0)
        text_add(text, STR(".SH OPTIONS\n"));
    for (size_t i = 0; i < command->option_count; i++)
        if (!command->options[i].is_legacy)
            write_option(text, &command->options[i]);
    text_add(text, STR(".SH EXAMPLES\n"));
    help_examples(command->name, write_example, text);
    write_tail(text, command);
    text_add(text, STR(".SH SEE ALSO\n.BR tfprof (1)\n"));
}
