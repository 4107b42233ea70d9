/* memory_timeline: one allocator's bytes in use over time, replayed from its events. */
#ifndef TFPROF_ANALYZE_MEMORY_TIMELINE_H
#define TFPROF_ANALYZE_MEMORY_TIMELINE_H

#include "analyze/step/window.h"

struct memory_owner {
    uint32_t   op_name, region, shape; /* interned, 0 unknown */
    struct str name, size;             /* op_name and shape as text */
    uint8_t    dtype;                  /* enum dtype */
    double     bytes, requested_bytes; /* < 0 not told of each block */
    double     count;
};
struct memory_moment {
    double   time_ns, bytes;
    double   available_bytes, reserved_bytes, fragmentation; /* < 0 unknown */
    uint32_t event; /* row of profile->memory_events: the last one before */
};
struct memory_timeline {
    uint32_t allocator, device; /* device NO_ID: host memory */
    uint32_t host;              /* NO_ID unknown */
    size_t   event_count;
    double   peak_bytes, peak_time_ns;
    double   reserved_bytes;                    /* at the peak; < 0 unknown */
    double   stack_bytes;                       /* of the peak, held for running programs */
    double   earlier_bytes;                     /* of the peak, what no recorded event took */
    double   capacity_bytes;                    /* < 0 unknown */
    double   fragmentation;                     /* at the peak; < 0 unknown */
    double   lifetime_peak_bytes;               /* as the allocator says; < 0 unknown */
    double   allocation_count, allocated_bytes; /* in windows */
    double   free_count;                        /* in windows */
    double   growth_bytes;       /* a step; slope of the bytes in use at the ends of windows */
    bool     is_growing;         /* they never fall over at least 5 windows, and rise */
    bool     has_growth;         /* there were at least 5 windows with events */
    struct memory_owner  *owners; /* live at the peak, most bytes first */
    size_t                owner_count;
    struct memory_moment *moments; /* the fullest one of each of MEMORY_MOMENTS equal times */
    size_t                moment_count;
};
enum { MEMORY_MOMENTS = 400 };
struct memory_timelines {
    VEC(struct memory_timeline) list; /* devices before hosts, then largest peak first */
};
/* Everything in `arena`. false: it is exhausted. O(events log events). */
bool memory_timelines_make(const struct study *study, const struct windows *windows,
                           struct arena *arena, struct memory_timelines *timelines);

#endif
