/* frozen_features: a step of PyTorch that trains begins with layers that no way back leads through
 * and whose weights are mostly of other shapes than any that is trained: features, or a coded form,
 * of frozen weights, made again in each step. Where the data come again, so do they; where anything
 * was drawn at random before but the order of rows, they may not. A target network, and a policy
 * that acts, have the shapes of what is trained. */
#include "analyze/excess/ledger.h"

enum { FEWEST_PRODUCTS = 6, WEIGHT_BITS = 12 };
static const double LEAST_SHARE = 0.1; /* of the steps */

struct finder {
    struct ledger *ledger;
    bool          *has_trained; /* by hash of a weight's sizes */
};
struct stretch {
    uint32_t first, last; /* units; NO_ID: none */
    uint32_t products;
    double   ns;
};

/* Sizes of what is multiplied with, in no order: weights are given turned and not. */
static uint32_t weight_hash(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *weight = unit_right(ledger, unit);
    uint64_t             hash = 1;

    if (!weight || weight->rank < 2)
        return NO_ID;
    for (int8_t i = 0; i < weight->rank; i++)
        hash *= (uint64_t)weight->dims[i] * 2 + 1;
    return (uint32_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - WEIGHT_BITS));
}

static void learn_trained(const struct finder *finder)
{
    for (size_t u = 0; u < finder->ledger->units.count; u++) {
        const struct work_unit *unit = &finder->ledger->units.items[u];
        uint32_t                hash;

        if (!unit_is_forward_product(unit) || !unit->is_trained)
            continue;
        hash = weight_hash(finder->ledger, unit);
        if (hash != NO_ID)
            finder->has_trained[hash] = true;
    }
}

/* Draws numbers, and not the order of rows; what is dropped is dropped while training alone. */
static bool draws(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->op_class == OP_RANDOM &&
           !str_fits(unit_type(ledger, unit),
                     "aten::randint*|aten::randperm*|aten::random_|*dropout*");
}

/* What the step begins with, up to the last such layer before anything trained. */
static struct stretch find_stretch(const struct finder *finder, size_t step)
{
    const struct ledger *ledger = finder->ledger;
    struct stretch       stretch = { .first = NO_ID };
    bool                 is_random = false;
    uint32_t             like_trained = 0;

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        uint32_t                hash;

        if (unit->kind != UNIT_OP)
            continue;
        /* What runs without gradients has the number of the first op that has them: one of it may
         * be taken for that. */
        if ((unit->is_trained && unit_is_forward_product(unit)) || unit->phase == UNIT_BACKWARD)
            break;
        is_random |= draws(ledger, unit);
        if (!unit_is_forward_product(unit))
            continue;
        if (is_random)
            break;
        hash = weight_hash(ledger, unit);
        like_trained += hash != NO_ID && finder->has_trained[hash];
        stretch.first = stretch.first == NO_ID ? u : stretch.first;
        stretch.last = u;
        stretch.products++;
    }
    if (2 * like_trained > stretch.products)
        return (struct stretch) { .first = NO_ID };
    for (uint32_t u = stretch.first; u != NO_ID && u <= stretch.last; u++)
        if (unit_goes_with_ops(&ledger->units.items[u]))
            stretch.ns += ledger->units.items[u].left_ns;
    return stretch;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder   finder = { .ledger = ledger };
    struct stretch *stretches;
    double          ns = 0;
    uint32_t        cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward || !ledger->study->profile->has_shapes)
        return true;
    finder.has_trained = arena_new_array(ledger->scratch, bool, (size_t)1 << WEIGHT_BITS);
    stretches = arena_new_array(ledger->scratch, struct stretch, ledger->step_count + 1);
    if (!finder.has_trained || !stretches)
        return false;
    learn_trained(&finder);
    for (size_t step = 0; step < ledger->step_count; step++) {
        stretches[step] = find_stretch(&finder, step);
        if (stretches[step].first == NO_ID || stretches[step].products < FEWEST_PRODUCTS)
            return true;
        ns += stretches[step].ns;
    }
    if (ns < LEAST_SHARE * ledger->total_ns)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++) {
        const struct stretch *stretch = &stretches[step];

        if (!ledger_cell_once(ledger, self, &ledger->units.items[stretch->first], &cell,
                              "%u layers before what is trained, most of other weights",
                              stretch->products))
            return false;
        ledger_claim_ops(ledger, cell, stretch->first, stretch->last, 1);
    }
    return true;
}

const struct detector detector_frozen_features = { "frozen-layers", CAUSE_REPEAT, GRADE_NAMES,
                                                   find };
