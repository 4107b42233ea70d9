/*
 * lateness: which rank came last to each collective of an event graph, by how much, and what it did
 * longer since its collective before than the rank that came first.
 */
#ifndef TFPROF_ANALYZE_LATENESS_H
#define TFPROF_ANALYZE_LATENESS_H

#include "analyze/schedule/why_walk.h"

struct late_arrival {
    uint32_t first, last; /* nodes where the ranks came that were first and last */
    uint32_t step;        /* of the last one: row of steps->list */
    int64_t  late_ns;
    struct why_cause cause; /* of its class most excess is; its own excess is ns less usual_ns */
    double   class_ns;      /* excess of that class; 0: nothing took longer */
};
struct late_list {
    VEC(struct late_arrival) items; /* the latest first */
};

/* The `most` latest arrivals. false: the arena is exhausted. */
bool lateness_make(const struct event_graph *graph, size_t most, struct arena *arena,
                   struct late_list *list);
/* Causes of the last rank, each beside what it took the first one, by excess: in walk. */
bool lateness_walk(const struct event_graph *graph, const struct late_arrival *late,
                   struct why_walk *walk, struct arena *arena);
uint32_t lateness_host(const struct event_graph *graph, uint32_t node); /* row of hosts */

#endif
