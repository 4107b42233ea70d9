/* program: the command line as a function, which is all that the program itself calls. */
#include "base/opened.h"
#include "cli/command.h"
#include "cli/error_line.h"
#include "cli/progress.h"
#include "lib/tfprof.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Of what was printed line by line. */
static bool is_written(struct err *err)
{
    if (fflush(stdout) != 0)
        err_set(err, ERR_OUTPUT, "cannot be written: %s", strerror(errno));
    else if (ferror(stdout))
        err_set(err, ERR_OUTPUT, "cannot be written");
    else
        return true;
    return err_source(err, "standard output");
}

int tfprof_main(int argument_count, char *const *arguments)
{
    struct arena arena = { 0 };
    struct err   err = { 0 };
    int          status = 0;

    progress_allow();
    opened_watch();
    if (!command_run(argument_count, arguments, &arena, &status, &err) || !is_written(&err)) {
        struct text text = { .arena = &arena };

        error_print(&text, &err);
        fputs(text.data ? text.data : "tfprof: no memory left\n", stderr);
        status = err_exit_code(err.code);
    }
    arena_free(&arena);
    return status;
}
