/* generate_completion: completion for bash, zsh and fish. */
#include "base/macros.h"
#include "cli/command.h"
#include "cli/generate.h"

#include <string.h>

/* Inside single quotes of a POSIX shell; zsh's own brackets and colons too. */
static void add_quoted(struct text *text, const char *s, const char *escaped)
{
    for (; *s; s++) {
        if (*s == '\'')
            text_add(text, STR("'\\''"));
        else if (strchr(escaped, *s))
            text_print(text, "\\%c", *s);
        else
            text_add_byte(text, *s);
    }
}

static bool has_choices(const struct option *option)
{
    return (option->kind == OPTION_ONE_OF || option->kind == OPTION_CHOSEN) && option->choices;
}

/* "a|b" as "a b". */
static void add_choices(struct text *text, const char *choices)
{
    for (; *choices; choices++)
        text_add_byte(text, *choices == '|' ? ' ' : *choices);
}

static void add_command_names(struct text *text)
{
    const char *blank = "";

    for (size_t i = 0; i < command_count; i++) {
        if (commands[i]->is_hidden)
            continue;
        text_print(text, "%s%s", blank, commands[i]->name);
        blank = " ";
    }
}

static void bash_command(struct text *text, const struct command *command)
{
    text_print(text, "    %s)\n", command->name);
    text_add(text, STR("        case $previous in\n"));
    for (size_t i = 0; i < command->option_count; i++) {
        if (!has_choices(&command->options[i]) || command->options[i].is_legacy)
            continue;
        text_print(text, "        --%s) words='", command->options[i].name);
        add_choices(text, command->options[i].choices);
        text_add(text, STR("' ;;\n"));
    }
    text_add(text, STR("        *) words='--help"));
    for (size_t i = 0; i < command->option_count; i++)
        if (!command->options[i].is_legacy)
            text_print(text, " --%s", command->options[i].name);
    text_add(text, STR("' ;;\n        esac ;;\n"));
}

void generate_bash(struct text *text)
{
    text_add(text, STR("# bash completion for tfprof\n"
                       "_tfprof()\n"
                       "{\n"
                       "    local current=${COMP_WORDS[COMP_CWORD]} words=\n"
                       "    local previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
                       "    if [ \"$current\" = = ]; then\n"
                       "        current=\n"
                       "    elif [ \"$previous\" = = ]; then\n"
                       "        previous=${COMP_WORDS[COMP_CWORD-2]}\n"
                       "    fi\n"
                       "    if [ \"$COMP_CWORD\" = 1 ] || [ \"$command\" = help ]; then\n"
                       "        words='"));
    add_command_names(text);
    text_add(text, STR("'\n"
                       "    else\n"
                       "    case $command in\n"));
    for (size_t i = 0; i < command_count; i++) {
        if (!commands[i]->is_hidden && strcmp(commands[i]->name, "help") != 0)
            bash_command(text, commands[i]);
    }
    text_add(text, STR("    esac\n"
                       "    fi\n"
                       "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                       "}\n"
                       "complete -o default -F _tfprof tfprof\n"));
}

static void zsh_option(struct text *text, const struct option *option)
{
    bool is_alone = option->kind == OPTION_FLAG;

    text_print(text, "            '--%s%s[", option->name,
               is_alone                        ? ""
               : option->kind == OPTION_CHOSEN ? "=-"
                                               : "=");
    add_quoted(text, option->help, "[]:");
    text_add_byte(text, ']');
    if (has_choices(option)) {
        text_print(text, option->kind == OPTION_CHOSEN ? "::%s:(" : ":%s:(", option->name);
        add_choices(text, option->choices);
        text_add_byte(text, ')');
    } else if (!is_alone) {
        text_print(text, ":%s:_files", option->name);
    }
    text_add(text, STR("' \\\n"));
}

static void zsh_command(struct text *text, const struct command *command)
{
    text_print(text, "    %s)\n        _arguments \\\n", command->name);
    for (size_t i = 0; i < command->option_count; i++)
        if (!command->options[i].is_legacy)
            zsh_option(text, &command->options[i]);
    if (strcmp(command->name, "help") == 0) {
        text_add(text, STR("            '1:command:("));
        add_command_names(text);
        text_add(text, STR(")' ;;\n"));
    } else {
        text_add(text, STR("            '*:file:_files' ;;\n"));
    }
}

void generate_zsh(struct text *text)
{
    text_add(text, STR("#compdef tfprof\n"
                       "# zsh completion for tfprof\n"
                       "_tfprof()\n"
                       "{\n"
                       "    local -a commands\n"
                       "    commands=(\n"));
    for (size_t i = 0; i < command_count; i++) {
        if (commands[i]->is_hidden)
            continue;
        text_print(text, "        '%s:", commands[i]->name);
        add_quoted(text, commands[i]->summary, ":");
        text_add(text, STR("'\n"));
    }
    text_add(text, STR("    )\n"
                       "    if ((CURRENT == 2)); then\n"
                       "        _describe command commands\n"
                       "        _files\n"
                       "        return\n"
                       "    fi\n"
                       "    shift words\n"
                       "    ((CURRENT--))\n"
                       "    case $words[1] in\n"));
    for (size_t i = 0; i < command_count; i++) {
        if (!commands[i]->is_hidden)
            zsh_command(text, commands[i]);
    }
    text_add(text, STR("    esac\n"
                       "}\n"
                       "_tfprof \"$@\"\n"));
}

static void fish_option(struct text *text, const struct command *command,
                        const struct option *option)
{
    text_print(text, "complete -c tfprof -n '__fish_seen_subcommand_from %s' -l %s", command->name,
               option->name);
    if (option->short_name)
        text_print(text, " -s %s", option->short_name);
    if (option->kind != OPTION_FLAG && option->kind != OPTION_CHOSEN)
        text_add(text, STR(" -r"));
    if (has_choices(option)) {
        text_add(text, STR(" -f -a '"));
        add_choices(text, option->choices);
        text_add_byte(text, '\'');
    }
    text_add(text, STR(" -d '"));
    add_quoted(text, option->help, "");
    text_add(text, STR("'\n"));
}

void generate_fish(struct text *text)
{
    text_add(text, STR("# fish completion for tfprof\n"));
    for (size_t i = 0; i < command_count; i++) {
        if (commands[i]->is_hidden)
            continue;
        text_print(text, "complete -c tfprof -n __fish_use_subcommand -a %s -d '",
                   commands[i]->name);
        add_quoted(text, commands[i]->summary, "");
        text_add(text, STR("'\n"));
        for (size_t option = 0; option < commands[i]->option_count; option++)
            if (!commands[i]->options[option].is_legacy)
                fish_option(text, commands[i], &commands[i]->options[option]);
    }
    text_add(text, STR("complete -c tfprof -n '__fish_seen_subcommand_from help' -f -a '"));
    add_command_names(text);
    text_add(text, STR("'\n"));
}
