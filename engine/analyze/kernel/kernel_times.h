/* kernel_times: device kernels of the reference host by name and by the op that launched them; units
 * of a device have none. */
#ifndef TFPROF_ANALYZE_KERNEL_TIMES_H
#define TFPROF_ANALYZE_KERNEL_TIMES_H

#include "analyze/device/device_activity.h"
#include "analyze/kernel/kernel_names.h"

struct kernel_time {
    uint32_t activity;
    uint32_t op;          /* row of profile->ops: its own, or of the op that launched it; NO_ID */
    uint32_t op_activity; /* the launching op's activity, or NO_ID */
    uint32_t launch;      /* the first event that launched it, or NO_ID */
    uint32_t device;
    uint32_t config; /* of the launches that took most: row of profile->kernel_configs, or NO_ID */
    double   config_share;    /* of the time, launches of that config */
    double   calls, total_ns; /* over all used steps; where several devices work, their mean */
    double   min_ns, max_ns;
};
struct kernel_times {
    struct kernel_time *rows; /* most time first */
    size_t              count;
    double              call_count, tiny_count; /* the same; tiny: below 10 us */
    double              total_ns, tiny_ns, median_ns;
    struct kernel_name *names; /* by activity, of kernels and collectives */
    uint32_t *launchers; /* by event: activity of the innermost op around it on a thread, or NO_ID */
};

/* Made by the first analysis of a lane that asks, for all of them; outside of one in scratch. false:
 * memory is exhausted. Zero where no accelerator worked. O(events). */
bool kernel_times_get(struct study *study, struct arena *scratch, struct kernel_times *times);

#endif
