/* graph_calls: calls of TensorFlow's graph functions from Python, in recordings of its host. */
#ifndef TFPROF_ANALYZE_EXCESS_GRAPH_CALLS_H
#define TFPROF_ANALYZE_EXCESS_GRAPH_CALLS_H

#include "analyze/excess/ledger.h"

struct graph_call {
    int64_t  start_ns, end_ns;
    uint32_t name, ops; /* ops: events while it is under way */
    double   needed;    /* share of its time; 1 until somebody knows better */
};
struct graph_calls {
    VEC(struct graph_call) list; /* by start */
};

/* An empty list where no functions are called, or gradients are computed. false: out of memory. */
bool graph_calls_find(struct ledger *ledger, struct graph_calls *calls);
/* The call that is under way at a time, or NULL. */
struct graph_call *graph_call_at(struct graph_calls *calls, int64_t at_ns);
struct graph_call *graph_call_of(struct graph_calls *calls, const struct work_unit *unit);

#endif
