/* generate_completion: completion for bash, zsh and fish. */
#include "base/macros.h"
#include "cli/command.h"
#include "cli/completion_lists.h"
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

static void bash_values(struct text *text, const struct option *option)
{
    const struct completion_list *list = completion_of_option(option);

    if (option->is_legacy || !(list || has_choices(option)))
        return;
    text_print(text, "        --%s|-%s) ", option->name, option->name);
    if (list) {
        text_print(text, "words=$%s ;;\n", list->name);
        return;
    }
    text_add(text, STR("words='"));
    add_choices(text, option->choices);
    text_add(text, STR("' ;;\n"));
}

/* Behind a name that ends in a colon is a word of its own for bash. */
static void bash_operands(struct text *text, const struct completion_list *list)
{
    if (list && list->is_last)
        text_print(text,
                   "        :) [ \"${COMP_WORDS[COMP_CWORD-2]}\" != step ] || words=slowest ;;\n"
                   "        *) [ $operands = 0 ] || words=$%s ;;\n",
                   list->name);
    else if (list)
        text_print(text, "        *) [ $operands != 0 ] || words=$%s ;;\n", list->name);
}

/* Options are offered where a dash begins the word, files where nothing else is. */
static void bash_command(struct text *text, const struct command *command)
{
    text_print(text, "    %s)\n", command->name);
    text_add(text, STR("        options='--help"));
    for (size_t i = 0; i < command->option_count; i++)
        if (!command->options[i].is_legacy)
            text_print(text, " --%s", command->options[i].name);
    text_add(text, STR("'\n        case $previous in\n"));
    for (size_t i = 0; i < command->option_count; i++)
        bash_values(text, &command->options[i]);
    bash_operands(text, completion_of_operand(command));
    text_add(text, STR("        esac ;;\n"));
}

static void bash_lists(struct text *text)
{
    for (size_t i = 0; i < completion_list_count; i++) {
        text_print(text, "    local %s='", completion_lists[i].name);
        completion_lists[i].add(text);
        text_add(text, STR("'\n"));
    }
}

void generate_bash(struct text *text)
{
    text_add(text, STR("# bash completion for tfprof\n"
                       "_tfprof()\n"
                       "{\n"
                       "    local current=${COMP_WORDS[COMP_CWORD]} words= options= listed=\n"
                       "    local previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
                       "    local operands=0 word\n"));
    bash_lists(text);
    text_add(text, STR("    for word in \"${COMP_WORDS[@]:2:COMP_CWORD-2}\"; do\n"
                       "        case $word in -*|=) ;; *) operands=$((operands + 1)) ;; esac\n"
                       "    done\n"
                       "    if [ \"$current\" = : ]; then\n"
                       "        COMP_WORDS+=('') && COMP_CWORD=$((COMP_CWORD + 1))\n"
                       "        current= previous=:\n"
                       "    fi\n"
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
    text_add(
        text,
        STR("    esac\n"
            "    fi\n"
            "    [ \"$previous\" = : ] || [ \"${current#-}\" = \"$current\" ] || words=$options\n"
            "    case $current in *,*) listed=${current%,*}, ;; esac\n"
            "    COMPREPLY=($(compgen -P \"$listed\" -W \"$words\" -- \"${current##*,}\"))\n"
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
    if (completion_of_option(option)) {
        text_print(text, ":%s:%scompadd - $%s", option->name,
                   option->kind == OPTION_LIST ? "_sequence " : "",
                   completion_of_option(option)->name);
    } else if (has_choices(option)) {
        text_print(text, option->kind == OPTION_CHOSEN ? "::%s:(" : ":%s:(", option->name);
        add_choices(text, option->choices);
        text_add_byte(text, ')');
    } else if (!is_alone) {
        text_print(text, ":%s:_files", option->name);
    }
    text_add(text, STR("' \\\n"));
}

static void zsh_operands(struct text *text, const struct completion_list *list)
{
    if (list && list->is_last)
        text_print(text,
                   "            '1:file:_files' \\\n"
                   "            '*::%s:{_files; compadd - $%s}' ;;\n",
                   list->name, list->name);
    else if (list)
        text_print(text,
                   "            '1:%s:compadd - $%s' \\\n"
                   "            '*:file:_files' ;;\n",
                   list->name, list->name);
    else
        text_add(text, STR("            '*:file:_files' ;;\n"));
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
        zsh_operands(text, completion_of_operand(command));
    }
}

static void zsh_lists(struct text *text)
{
    for (size_t i = 0; i < completion_list_count; i++) {
        text_print(text, "    local -a %s=(", completion_lists[i].name);
        completion_lists[i].add(text);
        text_add(text, STR(" )\n"));
    }
}

void generate_zsh(struct text *text)
{
    text_add(text, STR("#compdef tfprof\n"
                       "# zsh completion for tfprof\n"
                       "_tfprof()\n"
                       "{\n"));
    zsh_lists(text);
    text_add(text, STR("    local -a commands\n"
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
    if (completion_of_option(option)) {
        text_print(text,
                   option->kind == OPTION_LIST ? " -f -a '(__fish_append , $tfprof_%s)'"
                                               : " -f -a '$tfprof_%s'",
                   completion_of_option(option)->name);
    } else if (has_choices(option)) {
        text_add(text, STR(" -f -a '"));
        add_choices(text, option->choices);
        text_add_byte(text, '\'');
    }
    text_add(text, STR(" -d '"));
    add_quoted(text, option->help, "");
    text_add(text, STR("'\n"));
}

static void fish_lists(struct text *text)
{
    for (size_t i = 0; i < completion_list_count; i++) {
        text_print(text, "set -g tfprof_%s", completion_lists[i].name);
        completion_lists[i].add(text);
        text_add_byte(text, '\n');
    }
    for (size_t i = 0; i < command_count; i++) {
        const struct completion_list *list = completion_of_operand(commands[i]);

        if (list && !commands[i]->is_hidden)
            text_print(text,
                       "complete -c tfprof -n '__fish_seen_subcommand_from %s' -a '$tfprof_%s'\n",
                       commands[i]->name, list->name);
    }
}

void generate_fish(struct text *text)
{
    text_add(text, STR("# fish completion for tfprof\n"));
    fish_lists(text);
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
