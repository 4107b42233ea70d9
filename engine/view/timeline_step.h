/* timeline_step: pieces of the graph view's timeline. */
#ifndef TFPROF_VIEW_TIMELINE_STEP_H
#define TFPROF_VIEW_TIMELINE_STEP_H

#include "view/timeline.h"

struct step_run {          /* one run on one device; the original calls it a time node */
    uint32_t node, device; /* row of the model; row of devices */
    int64_t  start_micros, duration_micros;
    uint32_t lane;
    uint32_t first_flow, flow_count; /* rows of targets */
};
struct step_device {
    struct str name;
    int64_t    process;
    uint32_t   first_run, run_count; /* rows of runs, by start */
};
struct step_timeline {
    const struct view_call *call;
    VEC(struct step_device) devices; /* as first met */
    VEC(struct step_run) runs;       /* by device name, then start */
    VEC(uint32_t) tracked;           /* nodes, as met */
    uint32_t *targets;               /* runs that a run's result flows to */
    uint32_t *by_name;               /* rows of devices by name */
    int64_t   process_count;
};

/* Counters of each device's memory; notices go to the report. */
bool step_memory_print(struct step_timeline *timeline, struct timeline_json *meta,
                       struct timeline_json *events);

#endif
