/*
 * eager_walks: backward passes that go over the same calls again and again in a step, as for each
 * row of a Jacobian. Gradients of gradients are counted, too.
 */
#ifndef TFPROF_ANALYZE_EAGER_WALKS_H
#define TFPROF_ANALYZE_EAGER_WALKS_H

#include "analyze/eager/eager_calls.h"

struct eager_walks { /* ns: over all windows */
    double ns; /* nodes beyond two a call where there are six and more, and those for what they made
                */
    uint32_t event; /* the last of them; NO_ID: none */
    double most; /* nodes that a step has for one call; 0: less than six */
};

/* false: scratch is exhausted. O(nodes + calls log nodes). */
bool eager_walks_find(const struct study *study, const struct eager_calls *calls,
                      struct arena *scratch, struct eager_walks *walks);

#endif
