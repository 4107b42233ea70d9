/*
 * async_ops: operations that an instruction of a core begins and another one ends, as copy-start and
 * copy-done; in between the core does something else. Those that go one way share a link: while any is
 * under way, each of them has the part of the time that its bytes are of all of theirs.
 */
#ifndef TFPROF_ANALYZE_ASYNC_OPS_H
#define TFPROF_ANALYZE_ASYNC_OPS_H

#include "analyze/study.h"

struct async_op {
    uint32_t device, start_event, end_event;
    int64_t  start_ns, end_ns; /* of the instruction that begins it, of the one that ends it */
    double   bytes;      /* as its instruction says; 0 unknown */
    double   own_ns;     /* at least blocked_ns */
    double   blocked_ns; /* what the core spends in these two */
};
struct async_ops {
    VEC(struct async_op) list; /* by timeline, then end */
    bool *is_part;             /* by event: begins or ends one of them; NULL: there are none */
};

/* Of the lines of instructions of one host. Everything in `arena`. false: it is exhausted.
 * O(events). */
bool async_ops_find(const struct profile *profile, uint32_t host, struct arena *arena,
                    struct async_ops *ops);

#endif
