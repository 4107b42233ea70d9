/* classic_maker: a classic model on its way (classic_model.c), and its last step (classic_place.c). */
#ifndef TFPROF_ANALYZE_CLASSIC_MAKER_H
#define TFPROF_ANALYZE_CLASSIC_MAKER_H

#include "analyze/classic/classic_contexts.h"
#include "analyze/study.h"
#include "model/classic.h"

struct made_exec { /* a node in a step */
    uint32_t node, step;
    int64_t  cpu_ns, accelerator_ns, runs, allocated_bytes, kept_bytes;
    int64_t  start_ns, end_ns;
};
struct made_node {
    uint32_t name, device; /* interned */
    uint32_t type, source, op;
    bool     is_gradient;
};
struct open_event { /* around what comes next on a timeline */
    int64_t  end_ns, least_end_ns; /* of itself; of it and all below it */
    uint32_t event;
    uint32_t node, exec; /* NO_ID: no op, but a scope */
    uint32_t context;    /* what is around it, and itself */
};
struct maker {
    const struct study *study;
    struct profile     *profile;
    struct arena        scratch;
    struct id_map       node_of_name;     /* name << 32 | source + 1 << 1 | is_gradient */
    struct id_map       node_of_activity; /* context << 32 | activity */
    struct id_map       node_of_eager;    /* context << 32 | name of the op */
    struct id_map       exec_of;
    struct classic_contexts contexts;
    VEC(struct made_node) nodes;
    VEC(struct made_exec) execs;
    VEC(struct open_event) stack;
    uint32_t *node_of_event; /* the op around an event on the host; NO_ID none */
    uint32_t *launcher_of;   /* of an event on a device: the host event that launched it */
    uint32_t *context_of_event; /* on the host; with lines alone */
    uint32_t *forward_of;       /* of an event: what it is the gradient of; with lines alone */
    uint32_t  host_device;   /* interned */
};

/* Puts what was collected into the order of the model. False: past the budget. */
bool classic_place(struct maker *maker, struct classic *classic);

#endif
