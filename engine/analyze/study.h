/*
 * study: one profile under analysis: the model, what analyses hand to each other, and the facts.
 */
#ifndef TFPROF_ANALYZE_STUDY_H
#define TFPROF_ANALYZE_STUDY_H

#include "analyze/facts.h"
#include "analyze/path/path.h"
#include "analyze/step/steps.h"
#include "model/profile.h"

struct pipeline;        /* analyze/input/pipeline.h: input stages and their rates */
struct op_times;        /* analyze/ops/op_times.h: what each op took */
struct device_activity; /* analyze/device/device_activity.h: busy intervals and gaps a device */
struct kernel_times;    /* analyze/kernel/kernel_times.h: what each kernel took */
struct eager_calls;     /* analyze/eager/eager_calls.h: what an eager program called */
struct steps_schedule;  /* analyze/schedule/event_schedule.h: the graph of the sampled steps */
struct start_up;        /* analyze/step/start_up.h: calls that a program pays once */

struct study_options {
    int64_t  first_step, last_step; /* --steps A:B by number; INT64_MIN/MAX: all */
    unsigned threads;               /* 0: one a core */
};

struct study {
    const struct profile   *recording; /* all of it */
    const struct profile   *profile;   /* what is looked at: the recording, or an excerpt of it */
    struct arena           *arena;     /* report lifetime: facts and results */
    struct study_options    options;
    struct facts            facts;
    uint32_t               *around; /* by event: what it is inside of (model/nesting.h) */
    struct steps            steps;
    struct path             path;
    struct start_up        *start_up; /* where the whole recording is the step; else NULL */
    struct pipeline        *pipeline;
    struct device_activity *devices;
    struct op_times        *op_times; /* analyze/ops/op_times.h */
    struct steps_schedule *schedule; /* where an accelerator worked, once it was made; else NULL */
    struct arena       *lane_arena; /* what analyses share until the last of their lane; or NULL */
    struct eager_calls *calls;      /* in it; NULL before the first that asks */
    struct kernel_times *kernels;   /* analyze/kernel/kernel_times.h; the same */
    struct segment_groups
                        *groups; /* analyze/replay/segment_groups.h; NULL before the first replay */
    struct graph_replay *graph_replay; /* analyze/replay/graph_replay.h; the same */
};

/* Chooses path.step_rows, and what leads and stands for their work. Runs behind analysis_devices.
 * false: the arena is exhausted. */
bool path_begin(struct study *study);
/* The path of a sampled step, which need not be one of path.step_rows. false: the arena is
 * exhausted. */
bool path_of_step(const struct study *study, uint32_t step, struct arena *arena, struct path *path);
/* Which of path.step_rows is the first whose step ends behind a time; their count: none. */
size_t path_step_at(const struct study *study, int64_t time_ns);

#endif
