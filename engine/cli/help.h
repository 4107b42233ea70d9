/* help: text about commands, from their option tables. */
#ifndef TFPROF_CLI_HELP_H
#define TFPROF_CLI_HELP_H

#include "base/err.h"
#include "base/option.h"
#include "base/text.h"

struct command;

/* What stands behind an option's name: "FILE", "text|json", "" for a flag. */
const char *help_value(const struct option *option);
/* Rows of examples.def: of a command, or with NULL the first of each command. */
struct example {
    const char *command, *line, *gives;
};
void help_examples(const char *command, void (*see)(void *data, const struct example *example),
                   void *data);
bool        help_print(const struct command *command, struct arena *arena, struct err *err);

#endif
