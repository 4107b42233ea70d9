/*
 * graph_patterns: shapes of TensorFlow graphs that cost time for nothing, found along the graph of
 * ops and their names, each with the time its ops take a step. Names follow TensorFlow's own: the
 * gradients of "a/b" are under "gradients/a/b_grad/".
 */
#ifndef TFPROF_ANALYZE_GRAPH_PATTERNS_H
#define TFPROF_ANALYZE_GRAPH_PATTERNS_H

#include "analyze/study.h"
#include "model/names.h"
#include "model/op_graph.h"

struct graph_pattern {
    const char *name;
    uint32_t    op;      /* row of ops that stands for it */
    uint32_t    subject; /* interned: its name or scope */
    double      ns;      /* a step */
    double      count, bytes, elements;
};
struct pattern_search {
    const struct profile *profile;
    struct intern        *names;       /* the profile's and more */
    struct arena         *arena;       /* scratch */
    double               *ns, *runs;   /* by op, a step; on the accelerator where it ran there */
    bool                 *is_fallback; /* by op: took time, none of it on an accelerator */
    double               *gradient_ns; /* by op: of its gradients */
    uint32_t              accelerators;
    VEC(struct graph_pattern) found;
    double feed_bytes, feeds, fetches, iterators;
};

/* Each adds what it finds; false: scratch is exhausted. O(ops + edges). */
bool patterns_find_losses(struct pattern_search *search);
bool patterns_find_placement(struct pattern_search *search);
bool patterns_find_batch_norms(struct pattern_search *search);
bool patterns_find_biases(struct pattern_search *search);
bool patterns_find_cells(struct pattern_search *search);
bool patterns_find_constants(struct pattern_search *search);
bool patterns_find_crossings(struct pattern_search *search);
bool patterns_find_remote_tables(struct pattern_search *search);
bool patterns_find_layouts(struct pattern_search *search);
bool patterns_find_copies(struct pattern_search *search);
void patterns_count_feeds(struct pattern_search *search);

bool pattern_add(struct pattern_search *search, struct graph_pattern pattern);
/* Work that belongs on the host, or that no accelerator can do. */
bool pattern_is_host_work(const struct profile *profile, uint32_t op);
/* Bytes of all results, of those with known shapes. */
double pattern_result_bytes(const struct profile *profile, const struct op *op);
bool pattern_is_on_accelerator(const struct profile *profile, uint32_t op);
bool pattern_is_on_cpu(const struct profile *profile, uint32_t op);
bool pattern_is_type(const struct profile *profile, uint32_t op, enum name_list types);

#endif
