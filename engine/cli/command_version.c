/* version: which build this is. */
#include "base/file.h"
#include "cli/command.h"

static bool run(struct call *call, struct err *err)
{
    (void)call;
    return file_write("-", STR("tfprof " TFPROF_VERSION "\n"), err);
}

const struct command command_version = {
    .name = "version",
    .summary = "print the version",
    .operands = "",
    .description = "Prints the program's name and version.",
    .run = run,
};
