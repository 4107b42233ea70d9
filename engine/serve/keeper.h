/*
 * keeper: programs that have read a recording and stay to answer for it, the last few that were
 * asked.
 */
#ifndef TFPROF_SERVE_KEEPER_H
#define TFPROF_SERVE_KEEPER_H

#include "base/process.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { KEPT_PROGRAMS = 2 };

struct kept_process {
    char          *key; /* which recording it reads, in what state; NULL: none yet */
    bool           is_running;
    struct process process;
    struct arena   arena; /* of key and said */
    struct text    said;
};
struct kept_program {
    struct kept_process now;
    pthread_mutex_t     asking;
    unsigned            users;     /* threads that ask or wait to */
    uint64_t            last_used; /* by turn */
};
struct keeper {
    struct kept_program programs[KEPT_PROGRAMS];
    pthread_mutex_t     lock;
    pthread_cond_t      is_free;
    uint64_t            turn;
};

void keeper_start(struct keeper *keeper);
void keeper_end(struct keeper *keeper); /* and its programs; nobody asks any more */
/* Asks the program of `key` a line; `arguments` start it where none runs. False: it could not be
 * started, or ended instead of answering, with `trouble` what it said. Any thread may call it. */
bool keeper_ask(struct keeper *keeper, const char *key, char *const *arguments, struct str line,
                struct process_answer *answer, struct text *trouble);

#endif
