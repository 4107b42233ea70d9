/*
 * start_up: calls of the host that a program pays once: compiling, creating a context, loading a library or a
 * kernel on first use, first allocations. Where the whole recording has to stand for a step, they are in
 * it, and are no cost of one. And blocking calls for work that was launched before the recording began:
 * the device that they wait for has nothing recorded to do.
 */
#ifndef TFPROF_ANALYZE_START_UP_H
#define TFPROF_ANALYZE_START_UP_H

#include "analyze/study.h"
#include "model/interval.h"

struct start_up_call {
    int64_t  start_ns, end_ns;
    uint32_t event, timeline, activity;
    bool     is_blocking; /* it waits for work that is not recorded */
};
struct start_up {
    const struct profile *profile; /* whose events they are */
    int64_t               long_ns; /* the shortest of them; 0: 10 ms */
    VEC(struct start_up_call) calls;
};

/* Calls on threads of a host of start_up->long_ns and more during which no accelerator of it does anything
 * recorded: blocking ones, and others that take 20 times as long as such calls do, or of which there
 * are at most two, where no more than eight of a name are long. The first launch of a kernel is one from 1 ms on, where
 * launches of kernels that ran before take a twentieth of it; earlier work may last for half of it, and collectives, which
 * may wait for another rank's, as long as they like. In records of session runs the op that first launches a kernel stands
 * for the launch, from 10 ms on. `busy`: what its
 * accelerators did; `working`: of that what is no collective. false: the arena is exhausted. O(events). */
bool start_up_find(const struct profile *profile, uint32_t host, const struct intervals *busy,
                   const struct intervals *working, struct arena *arena, struct start_up *start_up);
/* Whether an event is such a call, and no blocking one. */
bool start_up_has(const struct study *study, uint32_t event);
/* Counts frames of such calls as compiling and loading. O(frames log calls). */
void start_up_mark(const struct study *study, struct path *path);

#endif
