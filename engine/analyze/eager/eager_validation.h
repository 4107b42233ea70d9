/*
 * eager_validation: calls behind an optimizer's update that run the products which train once more,
 * without gradients.
 */
#ifndef TFPROF_ANALYZE_EAGER_VALIDATION_H
#define TFPROF_ANALYZE_EAGER_VALIDATION_H

#include "analyze/eager/eager_calls.h"

struct eager_validation { /* over all windows */
    double   ns, products;
    uint32_t begin; /* of the last one: its first call; NO_ID: there is none */
    uint32_t trained; /* a call that is trained in the same step */
};

/* false: scratch is exhausted. O(calls). */
bool eager_validation_find(const struct study *study, const struct eager_calls *calls,
                           struct arena *scratch, struct eager_validation *found);

#endif
