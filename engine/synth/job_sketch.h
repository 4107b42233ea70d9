/*
 * job_sketch: a job of many ranks in a few lines of text: how long each rank works in a step, whom
 * it meets, and which faults are planted. docs/synth.md is the reference of the language.
 *
 * Ranks are stages of a pipeline, turn by turn: rank r is stage r % stages of replica r / stages.
 * In a step each rank works, meets its neighbours in the pipeline, then its stage's other replicas,
 * then all.
 */
#ifndef TFPROF_SYNTH_JOB_SKETCH_H
#define TFPROF_SYNTH_JOB_SKETCH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum job_fault_kind {
    FAULT_SLOW_RANK,  /* computes longer, by a share */
    FAULT_SLOW_STAGE, /* all replicas of a stage do */
    FAULT_SLOW_LINK,  /* all that a rank takes part in takes longer, by a time; its stage twice as
                         long */
    FAULT_SLOW_PAIR,  /* a rank and the next one */
    FAULT_UNEVEN,     /* another rank each step computes longer, by a time */
    FAULT_PAUSES,     /* a rank's host pauses in one of so many steps */
    FAULT_SAVES,      /* rank 0 writes, every so many steps */
};
struct job_fault {
    enum job_fault_kind kind;
    int64_t             rank, stage, every; /* -1: not said */
    int64_t             ns;
    double              share;
};

enum { JOB_MOST_FAULTS = 16, JOB_MOST_RANKS = 1000000, JOB_MOST_STEPS = 512 };
struct job_sketch {
    int64_t rank_count, stage_count, machine_size, step_count, seed;
    int64_t compute_ns, host_ns, link_ns, reduce_ns, meet_ns;
    int64_t clocks_ns; /* clocks of machines are up to so far apart, either way */
    double  noise_share, link_noise_share; /* standard deviation of computing, and of meetings */
    struct job_fault faults[JOB_MOST_FAULTS];
    uint32_t         fault_count;
};

/* Whether the first line with a word in it is "job …". */
bool job_sketch_is(struct str bytes);
/* ERR_USAGE with line and column. */
bool job_sketch_parse(struct str bytes, struct arena *arena, struct job_sketch *sketch,
                      struct err *err);

#endif
