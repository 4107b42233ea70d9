/*
 * child: work that is not trusted, in a process of its own. It has the memory of its parent as a copy
 * and one pipe back; it gets no file, no network, no other process, bounded memory and time. What it
 * sends is bounded too: messages, each at most CHILD_MESSAGE_BYTES.
 */
#ifndef TFPROF_RULES_CHILD_H
#define TFPROF_RULES_CHILD_H

#include "base/arena.h"
#include "base/err.h"

#include <sys/types.h>

enum { CHILD_MESSAGE_BYTES = 4 << 20 };

struct child_limits {
    size_t memory_bytes; /* on top of what the parent has; not in builds with AddressSanitizer */
    int64_t wall_ns;     /* from one message to the next */
};

/* In the child: sends a message; one that is too long ends the child. */
struct child_pipe;
void child_send(struct child_pipe *pipe, struct str message);
typedef void child_work(void *context, struct child_pipe *pipe);

struct child {
    pid_t   pid;
    int     file;     /* the reading end */
    int64_t wall_ns;
    bool    has_filter; /* of system calls; known after the first event */
    bool    has_begun;
};
/* False: the system gives no process or pipe. Threads of the parent must hold no lock that the work
 * takes: the child has only the thread that called this. */
bool child_start(struct child *child, const struct child_limits *limits, child_work *work,
                 void *context, struct err *err);

enum child_event {
    CHILD_MESSAGE,
    CHILD_DONE, /* the work returned */
    CHILD_DEAD, /* it was ended: `message` says by what */
};
/* Waits for the next message, in the arena. */
enum child_event child_next(struct child *child, struct arena *arena, struct str *message);
void             child_end(struct child *child); /* kills what still runs */

/* What a process locks itself into (child_limits.c); true: its system calls are filtered. */
bool child_lock(const struct child_limits *limits, int file);

#endif
