/*
 * eager_repeats: products of an eager step that no gradient is taken of and that were computed
 * before in it: a forward pass that runs again.
 */
#ifndef TFPROF_ANALYZE_EAGER_REPEATS_H
#define TFPROF_ANALYZE_EAGER_REPEATS_H

#include "analyze/eager/eager_calls.h"

struct eager_product { /* of the forward pass of one step, in order */
    uint32_t call;
    uint32_t op;          /* row of profile->ops where shapes are known, else NO_ID */
    bool     is_used;     /* a backward node needs it */
    bool     is_recorded; /* for one */
};
struct eager_products {
    VEC(struct eager_product) list;
};

struct eager_repeats { /* over all steps; time with all forward calls between the products */
    double products, ns;
    double untrained_products, untrained_ns; /* of passes that nothing was recorded for */
    /* The longest run of such calls: its first product, and that of the calls it repeats. */
    struct eager_pair {
        uint32_t call, of;
        double   ns; /* 0: there is none */
    } longest, longest_untrained;
};

/* products: of all steps, by step. Without shapes products are the same between the same calls.
 * O(products² of a step) at worst. */
struct eager_repeats eager_repeats_count(const struct eager_calls    *calls,
                                         const struct eager_products *products);

#endif
