/* generate_man: tfprof.1 in man(7) macros. */
#include "cli/command.h"
#include "cli/generate.h"
#include "cli/help.h"

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

static void write_command(struct text *text, const struct command *command)
{
    struct str rest = str_from(command->description);

    text_print(text, ".SS \"tfprof %s%s%s%s\"\n", command->name,
               command->option_count > 0 ? " [options]" : "", *command->operands ? " " : "",
               command->operands);
    while (rest.len > 0) {
        struct str paragraph = str_cut(&rest, '\n');
        struct str copy = arena_str(text->arena, paragraph);

        add_roff(text, copy.data ? copy.data : "");
        text_add(text, rest.len > 0 ? STR("\n.PP\n") : STR("\n"));
    }
    for (size_t i = 0; i < command->option_count; i++)
        if (!command->options[i].is_legacy)
            write_option(text, &command->options[i]);
}

static const char head[] =
    ".TH TFPROF 1 \"\" \"tfprof " TFPROF_VERSION "\" \"User commands\"\n.ad l\n"
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
    ".TP\n5\na rule failed and \\-\\-rule\\-errors=fail was given\n"
    ".SH EXAMPLES\n"
    ".TP\ntfprof advise logdir\nwhat to change, and what it saves\n"
    ".TP\ntfprof report trace.json.gz \\-o report.html\nthe same with a timeline, as a page\n"
    ".TP\ntfprof whatif logdir \\-\\-scale kernel:gemm=0.5\na step, were its products twice as "
    "fast\n"
    ".TP\ntfprof why logdir step:slowest\nwhat the slowest step waited for\n"
    ".TP\ntfprof table kernels logdir \\-\\-where 'total_ns>1ms' \\-\\-format csv\n"
    "kernels that take more than a millisecond, for a spreadsheet\n"
    ".TP\ntfprof gate logdir \\-\\-baseline perf/base.tfbase\nwhether a change made it slower\n"
    ".SH ENVIRONMENT\n"
    ".TP\nNO_COLOR\nno colours unless \\-\\-color=always\n"
    ".TP\nXDG_CONFIG_HOME\nwhere your own configuration is, else ~/.config\n"
    ".SH FILES\n"
    ".TP\n~/.config/tfprof/config.toml\noptions that you want on every command line\n"
    ".TP\ntfprof.toml\nwhat a project holds its runs to, in the working directory or above\n";

void generate_man(struct text *text)
{
    text_add(text, str_from(head));
    for (size_t i = 0; i < command_count; i++) {
        if (!commands[i]->is_hidden)
            write_command(text, commands[i]);
    }
    text_add(text, str_from(tail));
}
