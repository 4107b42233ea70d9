/*
 * rounds: stretches of ops that come again and again within a step, found by what a detector takes
 * for the same op. A network that is called several times is one block, whatever layers it has.
 */
#ifndef TFPROF_ANALYZE_EXCESS_ROUNDS_H
#define TFPROF_ANALYZE_EXCESS_ROUNDS_H

#include "analyze/excess/ledger.h"

enum { MOST_ROUNDS = 256 };

struct round_block {
    const uint32_t *starts; /* rows of rounds.units */
    uint32_t        count, length;
};
struct rounds {
    uint32_t *units; /* of one step: ops that are no views, in order of time */
    uint32_t  count;
    VEC(struct round_block) blocks; /* in order of their first start */
};

/* Fills `rounds` for one step. `keys`, by unit, are equal where two ops are the same. Blocks do not
 * share starts; one op is a block too. false: out of memory. O(ops · MOST_ROUNDS). */
bool rounds_find(struct ledger *ledger, size_t step, const uint32_t *keys, struct rounds *rounds);

#endif
