/*
 * work: what a moment on a timeline counts as, from the kinds of the open event and its ancestors.
 */
#ifndef TFPROF_ANALYZE_WORK_H
#define TFPROF_ANALYZE_WORK_H

#include "analyze/path/path.h"
#include "base/intern.h"
#include "model/profile.h"

enum work {
    WORK_NONE,       /* nothing open, or only a step marker */
    WORK_WAITING,    /* blocked on a device, on results or on another thread */
    WORK_RUNNING,    /* a program runs; its ops may be elsewhere */
    WORK_INPUT,      /* making or fetching input */
    WORK_INPUT_WAIT, /* waiting for input that another thread makes */
    WORK_COMPUTE,
    WORK_COMMUNICATION,
    WORK_COPY,
    WORK_COMPILE,  /* compiling, tracing */
    WORK_CALLBACK, /* host code that a device program called */
    WORK_OUTPUT,
    WORK_POOL, /* a pool thread runs a piece of an op that was started elsewhere */
    WORK_HOST, /* Python, dispatch, executor, everything else on the host */
    WORK_PROFILER,
};

/* Fills path->frame_work. Where path->has_device, ops on host threads only feed the device; so do
 * their copies where path->shows_copies, and their collectives where path->shows_collectives.
 * O(frames log stats). false: the arena is exhausted. */
bool      work_classify(const struct profile *profile, struct path *path, struct arena *arena);
enum part work_part(enum work work);
bool      work_is_active(enum work work); /* a processor is at it */

#endif
