/*
 * personal: $XDG_CONFIG_HOME/tfprof/config.toml, else ~/.config/tfprof/config.toml: options that a
 * person wants on every command line. A table is a command, [all] every one that has the option;
 * the command line comes before them. What a project holds its runs to is not a person's: those
 * options are errors, and commands that hold it take nothing but how they print.
 */
#ifndef TFPROF_CLI_PERSONAL_H
#define TFPROF_CLI_PERSONAL_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/command.h"

struct personal_words { /* as of a command line */
    VEC(char *) list;
};
/* What the file says of the command; nothing where there is none, or the arguments have "--config
 * none". */
bool personal_options(const struct command *command, int argument_count, char *const *arguments,
                      struct arena *arena, struct personal_words *words, struct err *err);

#endif
