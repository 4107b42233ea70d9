/* interval: sorted sets of disjoint half-open time ranges [start, end), in ns. */
#ifndef TFPROF_MODEL_INTERVAL_H
#define TFPROF_MODEL_INTERVAL_H

#include "base/vec.h"

#include <stdint.h>

struct interval {
    int64_t start_ns, end_ns;
};
/* For qsort: by start, then end. */
int interval_compare(const void *a, const void *b);

struct intervals {
    VEC(struct interval) list;
};

/* Adds at the end or anywhere; call intervals_settle before any other use. Empty ones are dropped. */
bool    intervals_add(struct intervals *set, struct arena *arena, int64_t start_ns, int64_t end_ns);
void    intervals_settle(struct intervals *set); /* sorts and merges touching ranges */
int64_t intervals_total_ns(const struct intervals *set);
int64_t intervals_overlap_ns(const struct intervals *set, int64_t start_ns, int64_t end_ns);
/* By interval: the sum of those before it; for many long ranges. NULL: the arena is exhausted. */
int64_t *intervals_sums(const struct intervals *set, struct arena *arena);
/* intervals_overlap_ns, in the time of two searches. */
int64_t intervals_overlap_by(const struct intervals *set, const int64_t *sums, int64_t start_ns,
                             int64_t end_ns);
bool    intervals_intersect(const struct intervals *a, const struct intervals *b,
                            struct arena *arena, struct intervals *result);
bool    intervals_subtract(const struct intervals *a, const struct intervals *b,
                           struct arena *arena, struct intervals *result);

#endif
