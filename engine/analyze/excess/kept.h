/*
 * kept: arrays that a compiled program takes and gives back as they are, or with their rows in
 * another order, as what stays the same from call to call.
 */
#ifndef TFPROF_ANALYZE_EXCESS_KEPT_H
#define TFPROF_ANALYZE_EXCESS_KEPT_H

#include "analyze/excess/waste.h"

/* Bits of an argument: how its program gives it back. */
enum { KEPT_AS_IS = 1, KEPT_MOVED = 2 };

/* One array: where it comes in, what puts its rows into another order, and where it comes out. */
struct kept_move {
    uint32_t parameter, gather, result;
};
struct kept {
    uint8_t *is; /* by op: KEPT_… */
    VEC(struct kept_move) moves;
};

/* false: out of memory. */
bool kept_find(const struct waste *waste, struct kept *kept);
/* What a program is called with, and not what something inside of it is. */
bool kept_is_argument(const struct waste *waste, uint32_t op);

#endif
