/*
 * nesting: parent of each event of one timeline. An event's parent is the nearest earlier event
 * whose span includes it. Indices are relative to the timeline's first event; NO_ID at top level.
 * O(events), one pass with a stack; self time = duration minus children.
 */
#ifndef TFPROF_MODEL_NESTING_H
#define TFPROF_MODEL_NESTING_H

#include "model/profile.h"

struct nesting {
    uint32_t *parent;      /* by index in the timeline */
    int64_t  *self_ns;     /* duration less direct children */
    uint32_t  count;
};

/* false: scratch is exhausted. */
bool nesting_build(const struct profile *profile, const struct timeline *timeline,
                   struct arena *scratch, struct nesting *nesting);

#endif
