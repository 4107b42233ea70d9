/* command: the list of commands, and which one is meant. */
#include "cli/command.h"

#include "base/file.h"
#include "base/macros.h"
#include "cli/help.h"
#include "cli/personal.h"

#include <string.h>

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
};
const size_t command_count = ARRAY_COUNT(commands);

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

const char *command_nearest(const char *name)
{
    const char *names[ARRAY_COUNT(commands)];
    size_t      count = 0;

    for (size_t i = 0; i < command_count; i++) {
        if (!commands[i]->is_hidden)
            names[count++] = commands[i]->name;
    }
    return option_nearest(name, names, count);
}

static const struct command *choose_unnamed(const char *first, struct err *err)
{
    const char *nearest;

    if (first[0] == '-' || file_exists(first))
        return &command_advise;
    nearest = command_nearest(first);
    if (strchr(first, '/') || strchr(first, '.'))
        err_set(err, ERR_INPUT, "no such file or directory: %s", first);
    else if (nearest)
        err_set(err, ERR_USAGE, "no command and no file '%s'; did you mean '%s'?", first, nearest);
    else
        err_set(err, ERR_USAGE, "no command and no file '%s'; tfprof help lists the commands",
                first);
    return NULL;
}

/* "--graph_path=FILE --run_meta_path=FILES": flags alone, among them one that names a profile as
 * the original wants it, start the prompt. */
static bool is_classic_line(int argument_count, char *const *arguments)
{
    static const struct str paths[] = { STR_INIT("--graph_path="), STR_INIT("--profile_path="),
                                        STR_INIT("--run_meta_path=") };
    bool                    has_path = false;

    for (int i = 0; i < argument_count; i++) {
        if (!str_starts(str_from(arguments[i]), STR("--")))
            return false;
        for (size_t n = 0; n < ARRAY_COUNT(paths); n++)
            has_path |= str_starts(str_from(arguments[i]), paths[n]);
        if (!strchr(arguments[i], '=') && strcmp(arguments[i], "--compat") != 0 &&
            strcmp(arguments[i], "--account_displayed_op_only") != 0)
            return false;
    }
    return has_path;
}

const struct command *command_choose(int argument_count, char *const *arguments, int *used,
                                     struct err *err)
{
    static const struct {
        const char           *argument;
        const struct command *command;
    } spellings[] = {
        { "--help", &command_help },      { "-help", &command_help },
        { "-h", &command_help },          { "--version", &command_version },
        { "-version", &command_version },
    };
    const struct command *command;

    *used = argument_count > 0;
    if (argument_count == 0)
        return &command_help;
    for (size_t i = 0; i < ARRAY_COUNT(spellings); i++) {
        if (strcmp(arguments[0], spellings[i].argument) == 0)
            return spellings[i].command;
    }
    command = command_find(arguments[0]);
    if (command)
        return command;
    *used = 0;
    if (is_classic_line(argument_count, arguments))
        return &command_prompt;
    return choose_unnamed(arguments[0], err);
}

static bool wants_help(int argument_count, char *const *arguments)
{
    for (int i = 0; i < argument_count && strcmp(arguments[i], "--") != 0; i++) {
        if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0)
            return true;
    }
    return false;
}

/* "--graph_path=FILE scope -max_depth 3": the original takes the command behind its flags. Flags
 * have their values in the same word, so nothing else can be meant. NULL: past the budget. */
static char *const *command_first(int argument_count, char *const *arguments, struct arena *arena)
{
    int    at = 0;
    char **moved;

    while (at < argument_count && arguments[at][0] == '-' && strchr(arguments[at], '='))
        at++;
    if (at == 0 || at == argument_count || !command_find(arguments[at]))
        return arguments;
    moved = arena_new_array(arena, char *, (size_t)argument_count);
    if (!moved)
        return NULL;
    moved[0] = arguments[at];
    memcpy(moved + 1, arguments, (size_t)at * sizeof *moved);
    memcpy(moved + at + 1, arguments + at + 1, (size_t)(argument_count - at - 1) * sizeof *moved);
    return moved;
}

bool command_run(int argument_count, char *const *arguments, struct arena *arena, int *status,
                 struct err *err)
{
    int                   used;
    const struct command *command;
    struct call           call = { .arena = arena };
    struct personal_words personal = { 0 };
    struct option_list    none = { 0 };

    arguments = command_first(argument_count, arguments, arena);
    if (!arguments)
        return err_set(err, ERR_LIMIT, "the arguments do not fit the memory limit");
    command = command_choose(argument_count, arguments, &used, err);
    call.command = command;
    if (!command)
        return false;
    if (wants_help(argument_count - used, arguments + used))
        return help_print(command, arena, err);
    call.values = arena_alloc(arena, command->values_bytes);
    if (!personal_options(command, argument_count - used, arguments + used, arena, &personal,
                          err) ||
        !option_parse(command->options, command->option_count, (int)personal.list.count,
                      personal.list.items, arena, call.values, &none, err) ||
        !option_update(command->options, command->option_count, argument_count - used,
                       arguments + used, arena, call.values, &call.operands, err) ||
        !command->run(&call, err))
        return false;
    *status = call.status;
    return true;
}
