/* paired_calls: without training, one network that runs twice in a row on inputs of one shape: the
 * halves of a guidance of which one may be worth nothing, or two inputs that could be one batch.
 * Layers come in a row too, but have few weights of different shapes. */
#include "analyze/excess/rounds.h"

enum {
    FEWEST_PRODUCTS = 12,
    FEWEST_SHAPES = 6,   /* of them: a layer has fewer */
    FEWEST_UNKNOWN = 24, /* products, where no shapes were recorded */
    MOST_BETWEEN = 4 /* ops between the calls of a pair, and no more than half of those behind */
};

static bool is_network(const struct ledger *ledger, struct round_keys *keys,
                       const struct rounds *rounds, const struct round_block *block)
{
    struct round_products products = round_products(ledger, keys, rounds, block);

    return ledger->study->profile->has_shapes
               ? products.count >= FEWEST_PRODUCTS && products.shapes >= FEWEST_SHAPES
               : products.count >= FEWEST_UNKNOWN;
}

/* Ops from the end of one round to the start of the next, or of the step's end. */
static uint32_t gap_behind(const struct rounds *rounds, const struct round_block *block, uint32_t r)
{
    uint32_t next = r + 1 < block->count ? block->starts[r + 1] : rounds->count;

    return next - block->starts[r] - block->length;
}

static bool is_paired(const struct rounds *rounds, const struct round_block *block)
{
    if (block->count % 2)
        return false;
    for (uint32_t r = 0; r < block->count; r += 2) {
        uint32_t between = gap_behind(rounds, block, r);

        if (between > MOST_BETWEEN || gap_behind(rounds, block, r + 1) <= 2 * between)
            return false;
    }
    return true;
}

static bool claim(struct ledger *ledger, const struct detector *self, const struct rounds *rounds,
                  const struct round_block *block, uint32_t *cell)
{
    if (!ledger_cell_once(ledger, self, &ledger->units.items[rounds->units[block->starts[0]]], cell,
                          "%u ops, and the same again right behind", block->length))
        return false;
    for (uint32_t r = 1; r < block->count; r += 2) {
        uint32_t last = rounds->units[block->starts[r] + block->length - 1];

        ledger_claim_ops(ledger, *cell, rounds->units[block->starts[r]], last, 1);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct round_keys keys;
    uint32_t          cell = NO_ID;

    if (!ledger->is_torch || ledger->has_backward || !rounds_are_told(ledger))
        return true;
    if (!rounds_keys(ledger, &keys))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct rounds rounds;

        if (!rounds_find(ledger, step, &keys, &rounds))
            return false;
        for (size_t b = 0; b < rounds.blocks.count; b++) {
            const struct round_block *block = &rounds.blocks.items[b];

            if (is_paired(&rounds, block) && is_network(ledger, &keys, &rounds, block) &&
                !claim(ledger, self, &rounds, block, &cell))
                return false;
        }
    }
    return true;
}

const struct detector detector_paired_calls = { "paired-calls", CAUSE_REPEAT, GRADE_NAMES, find };
