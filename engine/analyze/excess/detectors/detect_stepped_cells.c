/* stepped_cells: a recurrent layer that is trained gets one time step in each call, of inputs that
 * are looked up or there beforehand, and what comes behind it is done step by step as well. One
 * call for the whole sequence multiplies the inputs of all steps at once, and so do the layers
 * behind. What is multiplied, joined or attended to before the layer may need its last result, and
 * what is picked behind it the next one's input: then it has to be called so. */
#include "analyze/excess/rounds.h"

enum { FEWEST_STEPS = 6 };
static const double SMALL_OP = 6;       /* times the cost of starting one: the rest of it is work */
static const double LEAST_SHARE = 0.05; /* of the step */

struct finder {
    struct ledger    *ledger;
    struct round_keys keys;
    bool             *is_back; /* by unit: of the backward pass of the block looked at */
    uint32_t          cell;
};

static bool may_need_last(const struct work_unit *unit)
{
    return unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION ||
           unit->op_class == OP_ATTENTION || unit->op_class == OP_SOFTMAX ||
           unit->op_class == OP_CONCAT;
}

static bool picks(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->op_class == OP_SORT || unit->op_class == OP_READBACK ||
           str_fits(unit_type(ledger, unit), "*argm*|*multinomial*|*bernoulli*");
}

static bool is_stepped(const struct finder *finder, const struct rounds *rounds,
                       const struct round_block *block)
{
    uint32_t layers = 0;

    if (block->count < FEWEST_STEPS)
        return false;
    for (uint32_t row = block->starts[0]; row < block->starts[0] + block->length; row++) {
        const struct work_unit *unit = &finder->ledger->units.items[rounds->units[row]];

        if (unit->phase != UNIT_FORWARD || picks(finder->ledger, unit))
            return false;
        if (!layers && may_need_last(unit))
            return false;
        layers += unit->is_trained && unit_is_layer_of_one_step(finder->ledger, unit);
    }
    return layers > 0;
}

static double share_of(const struct ledger *ledger, const struct work_unit *unit, uint32_t steps)
{
    double small_ns = SMALL_OP * ledger->start_ns, share = 1 - 1.0 / steps;

    return unit->kind == UNIT_OP && unit->typical_ns > small_ns
               ? share * small_ns / unit->typical_ns
               : share;
}

static bool claim(struct finder *finder, const struct detector *self, const struct rounds *rounds,
                  const struct round_block *block)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       first = rounds->units[block->starts[0]];
    uint32_t       last = rounds->units[block->starts[block->count - 1] + block->length - 1];
    uint32_t       end = ledger->first_unit[ledger->units.items[first].step + 1];
    double         ns = 0;

    for (uint32_t u = first; u < end; u++)
        finder->is_back[u] = false;
    if (!units_mark_backward(ledger, first, last, finder->is_back))
        return false;
    for (uint32_t u = first; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        finder->is_back[u] = (finder->is_back[u] || u <= last) && unit_goes_with_ops(unit);
        ns += finder->is_back[u] ? unit->left_ns * share_of(ledger, unit, block->count) : 0;
    }
    if (ns < LEAST_SHARE * ledger->total_ns / (double)ledger->step_count)
        return true;
    if (!ledger_cell_once(ledger, self, &ledger->units.items[first], &finder->cell,
                          "one time step a call, %u calls", block->count))
        return false;
    for (uint32_t u = first; u < end; u++)
        if (finder->is_back[u])
            ledger_claim(ledger, finder->cell, &ledger->units.items[u],
                         share_of(ledger, &ledger->units.items[u], block->count));
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .cell = NO_ID };

    if (!ledger->is_torch || !ledger->has_backward || !ledger->study->profile->has_shapes)
        return true;
    finder.is_back = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    if (!finder.is_back || !rounds_keys(ledger, &finder.keys))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct rounds rounds;

        if (!rounds_find(ledger, step, &finder.keys, &rounds))
            return false;
        for (size_t b = 0; b < rounds.blocks.count; b++)
            if (is_stepped(&finder, &rounds, &rounds.blocks.items[b])) {
                if (!claim(&finder, self, &rounds, &rounds.blocks.items[b]))
                    return false;
                break;
            }
    }
    return true;
}

const struct detector detector_stepped_cells = { "stepped-cells", CAUSE_DISPATCH, GRADE_STRUCTURE,
                                                 find };
