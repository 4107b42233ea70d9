/*
 * eager_calls: what an eager framework (PyTorch on the host) was asked to do, call by call: the
 * outermost ops of each thread in the used steps, with the part of the step they belong to, and the
 * nodes that the backward pass ran for them. Sequence numbers join the two: a call owns the nodes
 * from its own number up to the number of the next call. Where calls only feed an accelerator, what
 * they cost is the time of the work that they enqueued.
 */
#ifndef TFPROF_ANALYZE_EAGER_CALLS_H
#define TFPROF_ANALYZE_EAGER_CALLS_H

#include "analyze/step/window.h"
#include "base/vec.h"

enum call_phase {
    PHASE_FORWARD, /* everything that is none of the others */
    PHASE_BACKWARD,
    PHASE_CLEAR,         /* inside zero_grad */
    PHASE_UPDATE,        /* inside an optimizer's step */
    PHASE_INPUT,         /* inside the request for a batch */
    PHASE_COMMUNICATION, /* ranges only: a collective, on whichever thread */
};

struct eager_call {
    int64_t  start_ns, end_ns;
    int64_t  sequence;         /* forward and backward calls; -1: none recorded */
    double   work_ns;          /* its duration; with an accelerator, of what it enqueued there */
    double   backward_ns;      /* of the nodes it owns; 0 for all but forward calls */
    double   backward_host_ns; /* what the host took for those */
    double   conversion_ns;    /* forward calls: inside it, changing element types or layouts */
    double   cast_ns;          /* of that on the host, what to() asked for */
    double   products_ns;      /* forward calls on the host: inside it, products of matrices */
    uint32_t event;
    uint32_t type; /* interned */
    uint32_t op;   /* row of profile->ops with its shapes, or NO_ID */
    uint32_t source; /* row of profile->sources: the user's line around it, or NO_ID */
    uint32_t timeline;
    uint32_t window;
    uint8_t  phase;     /* enum call_phase */
    bool     makes_node; /* forward calls: recorded for a backward pass, as later numbers show */
    bool     is_sparse; /* what it computes is a sparse gradient */
    bool     drops;     /* forward calls on the host: dropout runs inside it */
};
struct eager_node {    /* a node of the backward pass */
    int64_t  sequence; /* -1: none, as for the accumulation of gradients */
    double   work_ns;  /* as of a call */
    double   host_ns;  /* its duration */
    double   pause_ns; /* then up to the next one: adding up gradients, and finding what is next */
    uint32_t event;
    uint32_t window;
};
struct eager_range { /* what of an optimizer's range is no closure, or a collective */
    int64_t  start_ns, end_ns;
    uint32_t window;
    uint8_t  phase; /* PHASE_CLEAR, PHASE_UPDATE or PHASE_COMMUNICATION */
};
struct eager_sum { /* over all windows */
    double count, ns, elements;
};
struct eager_calls {
    struct eager_sum cleared;     /* gradients set to zero inside zero_grad */
    struct eager_sum accumulated; /* gradients handed to parameters */
    uint32_t        *handed;      /* by row of profile->ops: those of its shapes */
    VEC(struct eager_call) list;  /* by timeline, then time */
    VEC(struct eager_node) nodes; /* by sequence */
    VEC(struct eager_range) ranges;
    struct windows windows;
    const bool    *is_user; /* by row of profile->sources: the user's own */
    bool           is_on_device; /* work is an accelerator's; the calls only enqueue it */
};

/* Rows live in the arena. false: it is exhausted. O(events + nodes log nodes). */
bool eager_calls_make(const struct study *study, struct arena *arena, struct eager_calls *calls);
/* The same, made once for all analyses of a lane; rows live in scratch where these share none. */
bool eager_calls_get(struct study *study, struct arena *scratch, struct eager_calls *calls);
/* What a node is charged: its work, and on the host the pause behind it. */
double eager_node_ns(const struct eager_calls *calls, const struct eager_node *node);
/* What makes a mean time over the steps one of the median step: a few steps that something else
 * held up lengthen the mean. At most 1. */
double eager_median_factor(const struct eager_calls *calls);
/* The profile has PyTorch's ops; otherwise sets absences for `name` and returns false. */
bool eager_applies(struct study *study, const char *name);
/* The name without its library and a trailing underscore: "aten::add_" is "add". */
struct str eager_base_name(struct str type);
/* Of one thread and one window. */
bool eager_is_together(const struct eager_call *a, const struct eager_call *b);
/* Forward, and nothing was recorded for gradients. */
bool eager_is_unrecorded(const struct eager_call *call);
/* What calls [first, end) take: with pauses between them on a host, as work on an accelerator. */
double eager_span(const struct eager_calls *calls, size_t first, size_t end);
/* Elements of the largest tensor that the op takes; 0 unknown. */
double eager_elements(const struct profile *profile, uint32_t op);
/* Operations of a product of two tensors, from their shapes; wrappers have no count of their own.
 */
double eager_product_flops(const struct profile *profile, uint32_t op);

#endif
