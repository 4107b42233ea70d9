/*
 * eager_updates: what an eager program does with its parameters and gradients outside the
 * optimizer, how many backward passes lead to one update, and nodes of the backward pass that run
 * more than once for the same forward call.
 */
#ifndef TFPROF_ANALYZE_EAGER_UPDATES_H
#define TFPROF_ANALYZE_EAGER_UPDATES_H

#include "analyze/eager/eager_calls.h"

struct eager_updates { /* over all windows */
    /* Behind a backward pass, runs of calls that write as many tensors as there are parameters,
     * without products and norms among them; pauses between the calls included. */
    double by_hand_ns, by_hand_calls, by_hand_writes;
    uint32_t by_hand_source;      /* of the last such run: row of profile->sources, or NO_ID */
    double by_hand_host_ns;       /* of the host, where their work is an accelerator's too */
    double by_hand_call_ns;       /* a call with its pause: what nine of ten take at most */
    double again_ns, again_nodes; /* nodes that run again for the same forward call */
    uint32_t again_event;         /* the last of them; NO_ID: none */
    double passes;                /* backward passes */
    double product_rows;          /* of the left operand of a recorded product, median; 0 unknown */
};

/* false: scratch is exhausted. O((calls + nodes) log (calls + nodes)). */
bool eager_updates_find(const struct study *study, const struct eager_calls *calls,
                        struct arena *scratch, struct eager_updates *updates);

#endif
