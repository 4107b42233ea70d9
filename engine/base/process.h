/* process: runs another program to its end and keeps what it writes, or asks it line by line. */
#ifndef TFPROF_BASE_PROCESS_H
#define TFPROF_BASE_PROCESS_H

#include "base/err.h"
#include "base/text.h"

struct process_output {
    struct text out, err; /* in the arena that the caller put there */
    int         status;   /* exit status; 128 and its number for a signal, as shells count */
};

/* arguments[0] is the program's file; NULL ends them. Signals that the caller blocks are not
 * blocked in the program. False: it could not be started. Any thread may call it. */
bool process_run(char *const *arguments, struct process_output *output, struct err *err) MUST_USE;

/* A program that answers lines: each with "WORD BYTES\n" and so many bytes. */
struct process {
    int          in, out, err; /* pipes to and from it */
    long         pid;
    struct text *said; /* grows by what it writes to standard error */
};
struct process_answer {
    char        word[16];
    struct text bytes; /* in the arena that the caller put there */
};
/* As process_run; `said` lives as long as the process. */
bool process_start(char *const *arguments, struct text *said, struct process *process,
                   struct err *err) MUST_USE;
/* The line is without its end. False: the program ended or says what is no answer; process_end
 * tells how. One thread at a time. */
bool process_ask(struct process *process, struct str line, struct process_answer *answer) MUST_USE;
/* Lets it end, by the end of its input, and waits for that. Its exit status, as process_output has
 * it. */
int process_end(struct process *process);

#endif
