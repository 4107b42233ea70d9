/*
 * gaps: which slabs of the arrays of a compiled program are zero, because they are the gradient of
 * what was cut off: the way back through a slice pads the gradient of what it left with zeros.
 */
#ifndef TFPROF_ANALYZE_EXCESS_GAPS_H
#define TFPROF_ANALYZE_EXCESS_GAPS_H

#include "analyze/excess/axes.h"

struct gap {
    double   filled[TENSOR_MAX_RANK]; /* by axis: of its slabs, those that are not zero */
    uint32_t cut; /* as struct gaps has it, of the slice whose gradient it is; 0: of none */
};
struct gaps {
    uint32_t   *cut; /* by slice: 1 + the first one of its line that leaves the same places */
    struct gap *of;  /* by op */
};

/* NULL: out of memory. */
const struct gaps *gaps_find(const struct axes *axes);
/* Of an array's elements, or of a product's work, what is not zero. */
double gaps_filled(const struct axes *axes, const struct gaps *gaps, uint32_t op);

#endif
