/*
 * program_view: the programs of a recording, as they were compiled or built: modules, and the
 * instructions of one, or those around an instruction. From the ops that readers keep and the graph
 * of what needs what. Where a recording has no such graph, its ops and which of them call which.
 */
#ifndef TFPROF_ANALYZE_PROGRAM_VIEW_H
#define TFPROF_ANALYZE_PROGRAM_VIEW_H

#include "analyze/study.h"
#include "base/err.h"

struct program_question {
    const char *module, *op; /* whole names, else a part that one of them alone has; NULL: all */
    int64_t     depth;       /* edges from `op`, each way */
    bool        takes_calls; /* a call tree will do where there is no program */
};
struct program_module {
    uint32_t name; /* interned; 0: the main graph */
    size_t   op_count, fused_count;
    double   ns;    /* a step, of its ops' own times */
    double   flops; /* a step, where known */
};
struct program_ids {
    const uint32_t *ids; /* rows of profile->ops */
    size_t          count;
};
struct program_op {
    uint32_t           op;        /* row of profile->ops */
    int32_t            distance;  /* edges from the one asked for; below 0: what it needs */
    uint32_t           level;     /* how many fusions, calls and loops it is inside of */
    double             ns, calls; /* a step; 0: has no time of its own */
    struct program_ids needs, needed_by; /* of a call tree: what it calls, what calls it */
    uint32_t           caller; /* row + 1 of the op that holds it, or calls it most often; 0: none */
};
struct program_view {
    const struct study    *study;
    struct program_module *modules; /* most time first */
    size_t                 module_count;
    struct program_op     *ops; /* of the answer, in order of the file; none: modules alone */
    size_t                 op_count;
    uint32_t               centre; /* row of profile->ops that was asked for, or NO_ID */
    bool                   is_calls; /* a call tree: edges are calls */
};

/* For 0 "main graph", or "calls". */
struct str program_module_name(const struct program_view *view, uint32_t name);

/* In `arena`. ERR_INCONCLUSIVE: the recording holds no program; ERR_USAGE: nothing, or more than
 * one, has that name; ERR_LIMIT. O(ops + edges + times log times). */
bool program_view_make(const struct study *study, const struct program_question *question,
                       struct arena *arena, struct program_view *view, struct err *err);

#endif
