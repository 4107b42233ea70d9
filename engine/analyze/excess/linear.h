/*
 * linear: who takes a result of a compiled program as it is, times numbers that do not depend on
 * it, or plus something else: what may change places with a product.
 */
#ifndef TFPROF_ANALYZE_EXCESS_LINEAR_H
#define TFPROF_ANALYZE_EXCESS_LINEAR_H

#include "analyze/excess/waste.h"

enum linear_role {
    LINEAR_NOT,     /* what it does to the result does not change places with products */
    LINEAR_SAME,    /* hands it on, in another order or type, or in a tuple or loop */
    LINEAR_SCALED,  /* times what is spread from something smaller, or constant */
    LINEAR_SUM,     /* plus another array of its size */
    LINEAR_PRODUCT, /* a product with another array */
    LINEAR_REDUCED, /* the sum over some of its axes */
    LINEAR_CUT,     /* a part of it, or a part of the result */
};
/* What `taker` does with the result of `op`, which it takes. */
enum linear_role linear_role(const struct waste *waste, uint32_t op, uint32_t taker);

enum { LINEAR_MOST = 96 };
/* Instructions that a result reaches, each once. */
struct linear_reach {
    uint32_t ops[LINEAR_MOST];
    size_t   count;
};
/* Adds what takes the result of `op` in the end: through borders of fusions, tuples and loops,
 * where one element alone has its shape. false: it cannot be followed, or there is no room. */
bool linear_takers(const struct waste *waste, uint32_t op, struct linear_reach *takers);
/* Each element of its result comes from those in the same places of its operands. */
bool linear_is_elementwise(const struct waste *waste, uint32_t op);
/* Spread from something smaller, or made of constants alone. */
bool linear_is_thin(const struct waste *waste, uint32_t op);
/* Rows of an identity matrix, as a square of numbers of rows compared with those of columns; 0: it
 * is none, or does not run. */
int64_t linear_identity(const struct waste *waste, uint32_t op);

#endif
