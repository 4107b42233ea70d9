/*
 * step_sessions: runs of a session as TensorFlow 1 records them, one after the other, and what
 * tells them apart. A step can take several: its runs come again in the same order. What lies
 * between two runs is Python's time, but for what recording a run costs.
 */
#ifndef TFPROF_ANALYZE_STEP_SESSIONS_H
#define TFPROF_ANALYZE_STEP_SESSIONS_H

#include "base/vec.h"
#include "model/profile.h"

struct session {
    int64_t  start_ns, end_ns;
    int64_t  pause_ns; /* before it, less what recording costs; 0 for the first */
    uint32_t step;     /* row of profile->recorded_steps */
    uint32_t op_count; /* ops that ran */
    uint32_t own_ops;  /* of them, those that ran in no other */
    bool     reads_input, is_fed, updates, saves;
};
struct sessions {
    VEC(struct session) list; /* by time */
    size_t   period;          /* runs a step; 1 where none repeats */
    uint32_t idle_copies;     /* ops of one name but for its number, in no scope, in no run */
};
/* Recording a run takes up to so much between it and the next, or so much a record where there are
 * more: 3 to 6 us where it is put into words and written, 16 to 25 us where Python packs it, too.
 */
enum { SESSION_RECORDING_NS = 2500000, SESSION_RECORD_NS = 20000 };

/* Rows live in the arena. An empty list: not this format, or runs that do not follow each other.
 * O(ops + op runs + runs log runs + runs period). false: out of memory. */
bool sessions_find(const struct profile *profile, struct arena *arena, struct sessions *sessions);
/* The first run that begins at a time or later; their count: none. */
size_t sessions_behind(const struct sessions *sessions, int64_t time_ns);

#endif
