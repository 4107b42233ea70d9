/*
 * path_walk: from a step's end back to its start along what it waited for.
 *
 * On the leading thread time belongs to what the thread does, until (going back) it waited: then it
 * belongs to the workers whose end it waited for, and follows them back over a program's run. Where
 * no worker was busy and the thread was not waiting yet, the thread had not started the work: time
 * is the thread's again. A step whose end finds workers busy (the host runs ahead) starts on them.
 * Without recorded dependencies between host threads this is an approximation; with an accelerator
 * the workers are its streams.
 */
#ifndef TFPROF_ANALYZE_PATH_WALK_H
#define TFPROF_ANALYZE_PATH_WALK_H

#include "analyze/leaves.h"
#include "analyze/work.h"
#include "model/interval.h"

struct worker {
    const struct path_line *line;
    size_t                  next; /* leaves before this one may still be reached */
};
/* An op that returns before its work is done on pool threads. */
struct async_op {
    int64_t  start_ns, end_ns;
    uint32_t frame;
};
struct walk {
    const struct profile *profile;
    struct path          *path;
    struct worker        *workers;
    size_t                worker_count;
    bool                  has_leader; /* else workers only */
    VEC(struct async_op) async_ops;   /* by start */
    const struct intervals *runs;     /* when a program ran, on this host */
    struct arena           *arena;
};

/* Fills walk->async_ops from producer and consumer identities of ops. false: arena exhausted. */
bool path_find_async_ops(struct walk *walk, struct arena *arena);
/* Adds the segments of one window, latest first. Windows must come latest first. */
bool path_walk(struct walk *walk, uint32_t step, int64_t start_ns, int64_t end_ns);

#endif
