/*
 * skeleton: an event_graph without what no change of device work tells apart: what a host thread did piece by piece, where
 * nothing else waits in between, is one node. Scheduled in a fraction of the time, it gives the same steps.
 */
#ifndef TFPROF_ANALYZE_SKELETON_H
#define TFPROF_ANALYZE_SKELETON_H

#include "analyze/schedule/event_schedule.h"

struct skeleton {
    struct event_graph graph; /* nodes, edges and lines alone */
    uint32_t          *of;    /* by node of the whole graph: its node here */
};

/* In `arena`. false: it is exhausted. O(nodes + edges). */
bool skeleton_make(struct skeleton *skeleton, const struct event_graph *whole, struct arena *arena);

#endif
