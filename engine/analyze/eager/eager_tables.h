/*
 * eager tables: the embedding tables of an eager training step, by their shapes.
 */
#ifndef TFPROF_ANALYZE_EAGER_EAGER_TABLES_H
#define TFPROF_ANALYZE_EAGER_EAGER_TABLES_H

#include "analyze/eager/eager_calls.h"

struct eager_table { /* or several of one shape */
    int64_t rows, width;
    double  lookups; /* in one call at most */
};
struct eager_tables {
    VEC(struct eager_table) list;
};
struct eager_tables_sum {
    double rows, lookups; /* of the one with most rows */
    double elements;      /* a step, of all gradients of tables of which few rows are looked up */
};

/* Adds the table of a call of aten::embedding or aten::embedding_bag, where its shapes were
 * recorded. false: out of memory. O(tables). */
bool eager_tables_add(struct eager_tables *tables, const struct profile *profile,
                      const struct eager_call *call, struct arena *arena);
/* Where no gradient of a table's shape was handed over, each shape counts as one table.
 * O(ops · tables). */
struct eager_tables_sum eager_tables_sum(const struct eager_tables *tables,
                                         const struct profile      *profile,
                                         const struct eager_calls  *calls);

#endif
