/* tfprof: says what to change in a machine-learning program, from a recording of its run. */
#include "cli/command.h"

#include <stdio.h>

int main(int argument_count, char **arguments)
{
    struct arena arena = { 0 };
    struct err   err = { 0 };
    int          status = 0, skipped = argument_count > 0;

    if (!command_run(argument_count - skipped, arguments + skipped, &arena, &status, &err)) {
        char line[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];

        fprintf(stderr, "tfprof: %s\n", err_format(&err, line, sizeof line));
        status = err_exit_code(err.code);
    }
    arena_free(&arena);
    return status;
}
