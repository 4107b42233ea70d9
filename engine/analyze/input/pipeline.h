/*
 * pipeline: the input pipeline as stages with what each costs a step, from iterator events inside
 * the looked-at steps. Instances of one stage (one a file, one an epoch) count as one.
 *
 * A *section* is what one thread runs serially: from an asynchronous stage (prefetch, parallel map)
 * down to the next ones. Stages above the first asynchronous one run in the consumer, in the step.
 */
#ifndef TFPROF_ANALYZE_PIPELINE_H
#define TFPROF_ANALYZE_PIPELINE_H

#include "base/intern.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct stage {
    uint32_t name;    /* "Iterator::Root::Prefetch::Map", without instance numbers */
    uint32_t type;    /* "Map" */
    uint32_t dataset; /* interned dataset op and number as recorded, 0 unknown */
    uint32_t dtypes;  /* interned dtypes of its elements as recorded, 0 unknown */
    uint32_t parent;  /* row of the stage that consumes it, NO_ID for the root */
    uint32_t section; /* row of the nearest asynchronous stage above it; NO_ID: the consumer */
    bool     is_async;
    uint32_t instances;   /* distinct iterators seen */
    double   parallelism; /* calls that run at once: as recorded, else 1 */
    /* a step: */
    double   calls;
    double   self_ns;   /* serial: on the section's own thread, waiting for its function included */
    double   wait_ns;   /* asynchronous stages: waiting for the buffer */
    double   cpu_ns;    /* its function's ops on pool threads */
    double   python_ns; /* of self and cpu, in Python */
    double   path_ns;   /* charged to it on the path of the step */
    double   total_ns;    /* calls with what is below them */
    bool     draws_random; /* its function has an op of that name */
    double   min_call_ns, max_call_ns; /* shortest and longest single call */
    double   slow_calls;  /* longer than SLOW_CALL_NS */
    uint32_t top_op;      /* op type with most time in its function, 0 none */
    double   top_op_ns;
};
/* A call that took no longer found its element ready. 50 us as in the tf.data bottleneck analysis of
 * TensorFlow's profiler. */
enum { SLOW_CALL_NS = 50000 };
struct pipeline {
    VEC(struct stage) stages; /* parents before children */
    uint32_t *stage_of_frame; /* stage that a frame of the path works for, or NO_ID */
    double    inline_ns;      /* stages the consumer runs itself, a step */
    double    unstaged_ns;    /* input time on the path that belongs to no stage, a step */
    uint32_t  core_count;     /* more threads than that do not help; 0 unknown */
};

struct study;
/* From the study's path; lives in the study's arena. NULL: an arena is exhausted. */
struct pipeline *pipeline_build(struct study *study, struct arena *scratch);

/* Time between two batches that a section (NO_ID: the consumer) needs at least, from its serial
 * time; factors: one a stage, of its cost, and threads: one a stage, 0 as it is. Either may be
 * NULL. */
double pipeline_section_ns(const struct pipeline *pipeline, uint32_t section, const double *factors,
                           const double *threads);
/* The slowest of all sections but the consumer; *slowest may be NULL. 0: there is none. */
double pipeline_period_ns(const struct pipeline *pipeline, const double *factors,
                          const double *threads, uint32_t *slowest);
/* The same after edits, where the pipeline was measured to need `scale` times its period: what the
 * recorded times do not explain is charged to the slowest part, as it was before the edits. */
double pipeline_scaled_period_ns(const struct pipeline *pipeline, const double *factors,
                                 const double *threads, double scale);

#endif
