/*
 * slice_index: what every window of the timeline shares: which timelines are shown and in what
 * order, how deep each event is nested, which activities look alike. Made once per recording.
 */
#ifndef TFPROF_REPORT_PAGE_SLICE_INDEX_H
#define TFPROF_REPORT_PAGE_SLICE_INDEX_H

#include "model/profile.h"

struct slice_name {
    uint32_t text; /* interned */
    uint8_t  part; /* what its colour says: enum part */
};

struct slice_index {
    const struct profile *profile;
    uint32_t             *name_of; /* by activity: row of names */
    struct slice_name    *names;
    uint32_t              name_count;
    uint32_t             *order; /* timelines that have events, devices first */
    size_t                order_count;
    uint8_t              *depths; /* by event of the timelines shown: how many hold it wholly */
    uint8_t              *depth_count; /* by timeline */
};

/* NULL: memory ran out. O(events + activities log activities). */
struct slice_index *slice_index_make(const struct profile *profile, struct arena *arena);

#endif
