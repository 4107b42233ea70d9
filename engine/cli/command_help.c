/* help: the list of commands, or the options of one. */
#include "cli/command.h"
#include "cli/help.h"

static bool run(struct call *call, struct err *err)
{
    const struct command *about = NULL;

    if (call->operands.values.count > 0) {
        const char *name = call->operands.values.items[0], *nearest;

        about = command_find(name);
        if (!about) {
            nearest = command_nearest(name);
            return nearest ? err_set(err, ERR_USAGE, "no command '%s'; did you mean '%s'?", name,
                                     nearest)
                           : err_set(err, ERR_USAGE, "no command '%s'", name);
        }
    }
    return help_print(about, call->arena, err);
}

const struct command command_help = {
    .name = "help",
    .summary = "list the commands, or explain one",
    .operands = "[COMMAND]",
    .description = "Prints the list of commands, or usage and options of one.",
    .run = run,
};
