/* process: runs another program to its end and keeps what it writes. */
#ifndef TFPROF_BASE_PROCESS_H
#define TFPROF_BASE_PROCESS_H

#include "base/err.h"
#include "base/text.h"

struct process_output {
    struct text out, err; /* in the arena that the caller put there */
    int         status;   /* exit status; 128 and its number for a signal, as shells count */
};

/* arguments[0] is the program's file; NULL ends them. Signals that the caller blocks are not blocked in
 * the program. False: it could not be started. Any thread may call it. */
bool process_run(char *const *arguments, struct process_output *output, struct err *err) MUST_USE;

#endif
