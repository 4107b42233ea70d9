/*
 * subset: a profile with some of another one's events, in the same order. Columns, stats, flows and
 * memory events follow; what an event that is left out was tied to stands alone.
 *
 *     subset_start(&subset, whole, part, arena, scratch);
 *     subset_keep(&subset, first, count) ...    ascending
 *     subset_finish(&subset)
 */
#ifndef TFPROF_MODEL_SUBSET_H
#define TFPROF_MODEL_SUBSET_H

#include "model/profile.h"

struct kept_run { /* consecutive events of the whole that are consecutive in the part */
    uint32_t first, count, target;
};
struct subset {
    const struct profile *whole;
    struct profile       *part;
    struct arena         *arena, *scratch; /* of the part; until it is finished */
    VEC(struct kept_run) runs;             /* by first */
};

/* Begins `part` as a copy of `whole` without events; the two share what is not about events. */
void subset_start(struct subset *subset, const struct profile *whole, struct profile *part,
                  struct arena *arena, struct arena *scratch);
/* The next events that stay. All below are false when an arena is exhausted. */
bool subset_keep(struct subset *subset, uint32_t first, uint32_t count);
bool subset_finish(struct subset *subset);
/* The id in the part of an event of the whole, or NO_ID. */
uint32_t subset_event(const struct subset *subset, uint32_t event);

#endif
