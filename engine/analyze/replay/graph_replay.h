/*
 * graph_replay: edits of an accelerator's work (replay.h) applied to the event graph of the steps
 * (event_graph.h), which is then scheduled again: what the edit saves once the host, other streams
 * and other ranks get their turn. Work that the step does not wait for saves nothing.
 */
#ifndef TFPROF_ANALYZE_GRAPH_REPLAY_H
#define TFPROF_ANALYZE_GRAPH_REPLAY_H

#include "analyze/replay/replay.h"

struct graph_replay_result {
    double step_ns, saved_ns; /* a step after the edits, and how much shorter it is */
};
/* false: not for these edits or this profile. All edits must be of computing, collectives or copies
 * on accelerators, and the graph must give the recorded steps back. The graph is made at the first
 * call and stays with the study. O(edits x nodes). */
bool graph_replay_run(struct study *study, const struct edit *edits, size_t count,
                      struct graph_replay_result *result);

#endif
