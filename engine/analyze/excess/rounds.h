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

/* By unit: equal where two ops are the same, and where two rounds may begin the same. */
struct round_keys {
    uint32_t *same, *begin;
    uint32_t  count;               /* one more than the largest of `begin` */
    uint32_t *counted_in, counted; /* by row of profile->ops: the round it was counted in last */
};
/* The same op is one of the same name, phase and shapes. Where no shapes were recorded a round
 * begins with the same ops in a row, so that the first layer of a network is another than the next.
 * false: out of memory. */
bool rounds_keys(struct ledger *ledger, struct round_keys *keys);
/* Steps that nothing marks are rounds as well: only shapes may tell them from others. */
bool rounds_are_told(const struct ledger *ledger);
/* Fills `rounds` for one step. Blocks do not share starts; one op is a block too. false: out of
 * memory. O(ops · MOST_ROUNDS). */
bool rounds_find(struct ledger *ledger, size_t step, const struct round_keys *keys,
                 struct rounds *rounds);

/* Of a block's first round: products, and how many of them are of operands of other shapes.
 * O(ops of the round). */
struct round_products {
    uint32_t count, shapes;
};
struct round_products round_products(const struct ledger *ledger, struct round_keys *keys,
                                     const struct rounds *rounds, const struct round_block *block);

#endif
