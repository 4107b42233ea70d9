/*
 * device_activity: when each accelerator was busy during the used steps, with what, and why it was
 * not. Result of analysis_devices; without accelerators it holds no rows.
 */
#ifndef TFPROF_ANALYZE_DEVICE_ACTIVITY_H
#define TFPROF_ANALYZE_DEVICE_ACTIVITY_H

#include "analyze/step/window.h"

enum gap_cause {
#define GAP(id, name, fact, title, help) GAP_##id,
#include "analyze/device/gap_causes.def"
    GAP_CAUSE_COUNT
};
const char *gap_cause_name(enum gap_cause cause); /* "host-late" */

struct device_gap { /* inside one window; a gap over a step's end is two */
    int64_t  start_ns, end_ns;
    uint32_t before, after; /* events around it, or NO_ID */
    uint32_t launch;        /* host call that enqueued `after`, or NO_ID */
    uint32_t window;
    uint8_t  cause;
    bool     is_boundary; /* the gap goes on in the next or previous step */
};
struct device_row {
    uint32_t         device;  /* row of profile->devices */
    struct intervals busy;    /* kernels, copies, sets, collectives; inside and outside of steps */
    struct intervals compute; /* kernels that are no collectives */
    struct intervals collectives;
    struct intervals copies;                                      /* copies and sets */
    double           busy_ns, compute_ns, collective_ns, copy_ns; /* over all windows */
    double           idle_ns, cause_ns[GAP_CAUSE_COUNT];
    uint64_t         kernel_count; /* in windows */
    VEC(struct device_gap) gaps;   /* by time */
};
struct device_activity {
    VEC(struct device_row) rows;
    VEC(struct device_row) units; /* of those devices, which work beside them: SparseCores */
    uint32_t *launch_of; /* by event: the host call that enqueued it, or NO_ID; NULL without rows */
};

/* Everything lives in `arena`; scratch holds the rest. false: one of them is exhausted. */
bool device_activity_make(const struct study *study, const struct windows *windows,
                          struct arena *arena, struct arena *scratch,
                          struct device_activity *activity);
/* What a whole event is inside of, or the call that enqueued it; or NO_ID. */
uint32_t device_activity_outer(const struct study *study, uint32_t event);
/* The row of a device, or NULL. */
const struct device_row *device_activity_row(const struct device_activity *activity,
                                             uint32_t                      device);
/* The accelerator of the reference host that works most: what is told of one is told of it; or
 * NULL. */
const struct device_row *device_activity_leading(const struct study *study);
/* Accelerators of the reference host that computed or communicated in the windows (else those that
 * copied), at least 1. What their work takes a step is told of one of them: their mean. */
double device_activity_count(const struct study *study, const struct windows *windows);
/* Says why each gap was there; called by device_activity_make. */
bool device_gaps_explain(const struct study *study, struct arena *scratch,
                         struct device_activity *activity);

/* Timeline that owns an event, by bisection. */
struct timeline_index {
    uint32_t *timelines; /* those with events, by first event */
    size_t    count;
};
bool     timeline_index_make(const struct profile *profile, struct arena *arena,
                             struct timeline_index *index);
uint32_t timeline_index_find(const struct profile *profile, const struct timeline_index *index,
                             uint32_t event); /* NO_ID: none owns it */

#endif
