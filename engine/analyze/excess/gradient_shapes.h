/* gradient_shapes: what shapes the parameters have that an eager step of PyTorch trains: a tensor like
 * that is one of them, or as good as one. */
#ifndef TFPROF_ANALYZE_EXCESS_GRADIENT_SHAPES_H
#define TFPROF_ANALYZE_EXCESS_GRADIENT_SHAPES_H

#include "analyze/excess/ledger.h"

enum { GRADIENT_SHAPES_MOST = 256 }; /* models repeat their layers */

struct gradient_shapes {
    const struct tensor *items[GRADIENT_SHAPES_MOST];
    uint32_t             count;
};

void gradient_shapes_of_step(const struct ledger *ledger, size_t step,
                             struct gradient_shapes *shapes);
bool gradient_shapes_have(const struct gradient_shapes *shapes, const struct tensor *tensor);

#endif
