/*
 * constants: rows of ops in recordings of PyTorch that make a tensor from numbers alone, as
 * filters, windows, masks and positions are made: they begin with a count, and every operand behind
 * has lengths that such counts gave. Also block masks, as torch's create_block_mask makes them, of
 * which what they ask of other arrays may be another in each step.
 */
#ifndef TFPROF_ANALYZE_EXCESS_CONSTANTS_H
#define TFPROF_ANALYZE_EXCESS_CONSTANTS_H

#include "analyze/excess/ledger.h"

struct constant {
    uint32_t first, end; /* units, the last one excluded */
    uint64_t hash;       /* equal where the same ops with the same shapes make it */
    bool     is_mask;    /* a block mask of attention, and one that */
    bool     asks_data;  /* looks into an array that was there */
};
struct constants {
    VEC(struct constant) rows; /* in order of their first unit */
};
/* Of all looked-at steps; without shapes block masks alone. false: out of memory. O(units). */
bool constants_find(const struct ledger *ledger, struct constants *constants);

#endif
