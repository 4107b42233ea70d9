/*
 * path_walk: from a step's end back to its start along what it waited for.
 *
 * On the leading thread time belongs to what the thread does, until (going back) it waited: then it
 * belongs to the workers whose end it waited for, and follows them back over a program's run. Where
 * no worker was busy and the thread was not waiting yet, the thread had not started the work: time
 * is the thread's again. A step whose end finds workers busy (the host runs ahead) starts on them.
 * Without recorded dependencies between host threads this is an approximation.
 *
 * With an accelerator the step is its streams' (path_device.c): what they do while they are busy,
 * computation before collectives before copies. While they are idle, the step waits for what kept
 * the next kernel from starting; where that is the host, it is walked as above, led by the thread
 * that launched the kernel.
 */
#ifndef TFPROF_ANALYZE_PATH_WALK_H
#define TFPROF_ANALYZE_PATH_WALK_H

#include "analyze/device/device_activity.h"
#include "analyze/path/crew.h"
#include "analyze/path/leaves.h"
#include "analyze/path/work.h"
#include "model/interval.h"

/* An op that returns before its work is done on pool threads. */
struct async_op {
    int64_t  start_ns, end_ns;
    uint32_t frame;
};
struct walk {
    const struct profile *profile;
    struct path          *path;
    VEC(struct path_line) lines;
    struct crew workers;                /* host threads; without an accelerator whoever works */
    struct crew streams;                /* of the device that the path follows */
    uint32_t   *worker_of;              /* by timeline: its row of workers, or NO_ID */
    uint32_t    leader;                 /* timeline, or NO_ID: workers only */
    uint32_t    led;                    /* who led when the workers were looked at last */
    VEC(struct async_op) async_ops;     /* by start */
    const struct intervals  *runs;      /* when a program ran, on this host */
    const struct device_row *device;    /* NULL: no accelerator */
    const uint32_t          *launchers; /* by gap of the device: who launches what follows it */
    size_t                   gaps_left; /* gaps before this one may still be reached */
    struct arena            *arena;
};

/* The worker that leads, or NULL. */
struct worker *path_leader(struct walk *walk);
/* Adds a segment before the ones there are; joins it with what it continues. */
bool path_take(struct walk *walk, const struct segment *segment);
/* The start of the program's run that goes on just before t. false: none does. */
bool path_in_run(const struct walk *walk, int64_t t_ns, int64_t *run_start_ns);

/* Fills walk->async_ops from producer and consumer identities of ops. false: arena exhausted. */
bool path_find_async_ops(struct walk *walk, struct arena *arena);
/* Adds the segments of one window, latest first. Windows must come latest first. */
bool path_walk(struct walk *walk, uint32_t step, int64_t start_ns, int64_t end_ns);
/* The same along walk->device. */
bool path_walk_device(struct walk *walk, uint32_t step, int64_t start_ns, int64_t end_ns);

#endif
