/*
 * call_graph: which ops call which, from how their events are nested: for recordings that hold no
 * program, as those of PyTorch and of eager TensorFlow.
 */
#ifndef TFPROF_ANALYZE_CALL_GRAPH_H
#define TFPROF_ANALYZE_CALL_GRAPH_H

#include "analyze/program/program_view.h"

struct call_graph {                        /* all by row of profile->ops */
    struct program_ids *calls, *called_by; /* the most frequent first */
    uint32_t           *caller; /* row + 1 of the op that calls it most often; 0: none does */
};

/* Calls in all that is looked at; of an op by itself none. False: no memory. O(events + edges log
 * edges). */
bool call_graph_make(const struct study *study, struct arena *arena, struct call_graph *graph);

#endif
