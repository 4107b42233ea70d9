/* trained_again, trained_pair: one network that runs twice in a row there and back, with the same
 * weights, on inputs of one shape. The second call is needless where both must have seen the same:
 * the step makes one input, or both calls end in a loss and one of them is left alone. Else it may
 * be for another input, as of siamese networks, and both inputs could be one batch. */
#include "analyze/excess/makers.h"
#include "analyze/excess/rounds.h"

enum {
    FEWEST_PRODUCTS = 8,
    FEWEST_SHAPES = 4, /* of them: rounds of one layer have fewer */
    MOST_BETWEEN = 4   /* ops between the calls */
};

struct pair {
    struct round_keys        *keys;
    const struct rounds      *rounds;
    const struct round_block *block;
};

static const struct work_unit *op_at(const struct ledger *ledger, const struct pair *pair,
                                     uint32_t round, uint32_t row)
{
    return &ledger->units.items[pair->rounds->units[pair->block->starts[round] + row]];
}

static uint32_t unit_behind(const struct pair *pair, uint32_t round)
{
    return pair->rounds->units[pair->block->starts[round] + pair->block->length - 1] + 1;
}

static bool is_weight(const struct tensor *gradient, const struct tensor *weight)
{
    return gradient && (same_dims(gradient, weight) || (gradient->rank == 2 && weight->rank == 2 &&
                                                        gradient->dims[0] == weight->dims[1] &&
                                                        gradient->dims[1] == weight->dims[0]));
}

static uint32_t gradients_like(const struct ledger *ledger, size_t step,
                               const struct tensor *weight)
{
    uint32_t count = 0;

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
        count += ledger->units.items[u].kind == UNIT_OP &&
                 unit_hands_gradient(ledger, &ledger->units.items[u]) &&
                 is_weight(unit_input(ledger, &ledger->units.items[u], 0), weight);
    return count;
}

/* Both calls are trained, and parameters get as many gradients as one call has products: two
 * networks, or two passes back, would give twice as many. */
static bool shares_weights(const struct ledger *ledger, const struct pair *pair, size_t step)
{
    const struct tensor *weight = NULL;
    uint32_t             products = 0, gradients;

    for (uint32_t row = 0; row < pair->block->length; row++) {
        const struct tensor *right;

        if (!unit_is_forward_product(op_at(ledger, pair, 0, row)))
            continue;
        if (!op_at(ledger, pair, 0, row)->is_trained || !op_at(ledger, pair, 1, row)->is_trained)
            return false;
        right = unit_right(ledger, op_at(ledger, pair, 0, row));
        weight = weight ? weight : right;
        products += weight && right && is_weight(right, weight);
    }
    gradients = weight ? gradients_like(ledger, step, weight) : 0;
    return gradients > 0 && gradients < 2 * products;
}

/* What the network begins with. */
static const struct tensor *input_of(const struct ledger *ledger, const struct pair *pair)
{
    for (uint32_t row = 0; row < pair->block->length; row++) {
        const struct work_unit *unit = op_at(ledger, pair, 0, row);

        if (unit->op_class == OP_EMBEDDING)
            return unit_input(ledger, unit, 1);
        if (unit_is_forward_product(unit))
            return unit_left(ledger, unit);
    }
    return NULL;
}

/* More than a layer that has the same weights each time, and whose result goes into the next. */
static bool is_network(const struct ledger *ledger, const struct pair *pair)
{
    struct round_products products = round_products(ledger, pair->keys, pair->rounds, pair->block);
    const struct tensor  *input = input_of(ledger, pair);
    const struct work_unit *last = NULL;

    for (uint32_t row = 0; row < pair->block->length; row++)
        if (unit_is_forward_product(op_at(ledger, pair, 0, row)))
            last = op_at(ledger, pair, 0, row);
    return products.count >= FEWEST_PRODUCTS && products.shapes >= FEWEST_SHAPES && input && last &&
           !unit_can_make(ledger, last, input);
}

/* Neither another view of a tensor nor another type of its numbers is a new input. */
static bool hands_on(const struct work_unit *unit)
{
    return unit->op_class == OP_VIEW || unit->op_class == OP_CAST || unit->op_class == OP_COPY;
}

/* Before the second call, one op takes an input out of something larger or joins it of something
 * smaller, and no other can have made one: both calls see it. */
static bool has_one_input(const struct ledger *ledger, const struct pair *pair, size_t step)
{
    const struct tensor *input = input_of(ledger, pair);
    uint32_t             made = 0, second = pair->rounds->units[pair->block->starts[1]];
    uint32_t             first = pair->rounds->units[pair->block->starts[0]];
    uint32_t             behind = unit_behind(pair, 0);

    if (!input || tensor_count(input) <= 1)
        return false;
    for (uint32_t u = ledger->first_unit[step]; u < second; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if ((u >= first && u < behind) || unit->kind != UNIT_OP || unit->op == NO_ID ||
            hands_on(unit) || !unit_can_make(ledger, unit, input))
            continue;
        if (u > first || unit->phase == UNIT_BACKWARD || unit->phase == UNIT_UPDATE ||
            !unit_input(ledger, unit, 0) || same_dims(unit_input(ledger, unit, 0), input))
            return false;
        made++;
    }
    return made == 1;
}

/* The calls end alike, and what the last op of one makes is trained by, of the other not. */
static bool leaves_a_loss(const struct ledger *ledger, const struct pair *pair)
{
    uint32_t last = pair->block->length - 1;

    return op_at(ledger, pair, 0, last)->is_trained != op_at(ledger, pair, 1, last)->is_trained;
}

static bool draws(const struct ledger *ledger, const struct pair *pair)
{
    for (uint32_t row = 0; row < pair->block->length; row++)
        if (op_at(ledger, pair, 0, row)->op_class == OP_RANDOM)
            return true;
    return false;
}

static bool claim(struct ledger *ledger, const struct detector *self, const struct pair *pair,
                  uint32_t *cell)
{
    uint32_t first = pair->rounds->units[pair->block->starts[1]], last = unit_behind(pair, 1) - 1;
    bool    *marks = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    uint32_t end = ledger->first_unit[ledger->units.items[first].step + 1];

    if (!marks || !units_mark_backward(ledger, first, last, marks))
        return false;
    if (!ledger_cell_once(ledger, self, &ledger->units.items[first], cell,
                          "%u ops, and the same again right behind", pair->block->length))
        return false;
    for (uint32_t u = first; u < end; u++)
        if (u <= last ? unit_goes_with_ops(&ledger->units.items[u]) : marks[u])
            ledger_claim(ledger, *cell, &ledger->units.items[u], 1);
    return true;
}

static bool is_for(const struct ledger *ledger, const struct detector *self,
                   const struct pair *pair, size_t step)
{
    const struct round_block *block = pair->block;
    bool                      is_same;

    if (block->count != 2 || block->starts[1] - block->starts[0] - block->length > MOST_BETWEEN ||
        ledger->units.items[pair->rounds->units[block->starts[0]]].phase != UNIT_FORWARD ||
        !is_network(ledger, pair) || !shares_weights(ledger, pair, step))
        return false;
    is_same =
        leaves_a_loss(ledger, pair) || (has_one_input(ledger, pair, step) && !draws(ledger, pair));
    return self == (is_same ? &detector_trained_again : &detector_trained_pair);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct round_keys keys;
    uint32_t          cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward || !ledger->study->profile->has_shapes ||
        ledger->study->steps.source == STEPS_WHOLE_TRACE) /* whose calls may be of two steps */
        return true;
    if (!rounds_keys(ledger, &keys))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct rounds rounds;
        struct pair   pair = { .keys = &keys, .rounds = &rounds };

        if (!rounds_find(ledger, step, &keys, &rounds))
            return false;
        for (size_t b = 0; b < rounds.blocks.count; b++) {
            pair.block = &rounds.blocks.items[b];
            if (is_for(ledger, self, &pair, step) && !claim(ledger, self, &pair, &cell))
                return false;
        }
    }
    return true;
}

const struct detector detector_trained_again = { "trained-again", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                 find };
const struct detector detector_trained_pair = { "trained-pair", CAUSE_REPEAT, GRADE_NAMES, find };
