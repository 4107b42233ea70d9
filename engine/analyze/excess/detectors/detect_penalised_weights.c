/* penalised_weights: the loss adds up the squares of weights, each by a few passes over it, there
 * and back. An optimizer that is told of the decay shrinks them in the pass that it makes anyway.
 */
#include "analyze/excess/gradient_shapes.h"

enum { LOOK_AHEAD = 4 };
static const double LEAST_SHARE = 0.02; /* of the steps: many write out what costs nothing */

struct finder {
    struct ledger         *ledger;
    const struct detector *self;
    struct gradient_shapes weights; /* of the step */
    uint32_t               cell;
};

/* Times itself, as a power of two or as a product. */
static bool is_square(const struct finder *finder, const struct work_unit *unit)
{
    const struct ledger *ledger = finder->ledger;
    struct str           type = unit_type(ledger, unit);
    const struct tensor *from = unit_input(ledger, unit, 0);
    int64_t              exponent = 2;

    if (unit->kind != UNIT_OP || unit->phase != UNIT_FORWARD || !unit->is_trained || !from)
        return false;
    if (str_equal(type, STR("aten::mul")) && !same_dims(from, unit_input(ledger, unit, 1)))
        return false;
    if (str_equal(type, STR("aten::pow")) && unit_numbers(ledger, unit, 1, &exponent, 1) != 1)
        return false;
    return exponent == 2 && str_fits(type, "aten::pow|aten::square|aten::mul") &&
           gradient_shapes_have(&finder->weights, from);
}

/* What it squares is what the op before it gives, as the errors of a batch that has as many rows as
 * a weight are: a weight is given by none. */
static bool is_of_result(const struct ledger *ledger, uint32_t first, uint32_t at)
{
    const struct tensor *squared = unit_input(ledger, &ledger->units.items[at], 0);

    for (uint32_t u = at; u-- > first;) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct tensor           result;

        if (unit->kind != UNIT_OP)
            continue;
        if (unit_product_result(ledger, unit, &result) && same_dims(&result, squared))
            return true;
        for (uint32_t i = 0; unit_input(ledger, unit, i); i++)
            if (same_dims(unit_input(ledger, unit, i), squared))
                return true;
        return unit->op_class == OP_VIEW;
    }
    return false;
}

/* The unit in which all of what the square at `at` gives is added up, or NO_ID. */
static uint32_t find_sum(const struct finder *finder, uint32_t at, uint32_t end)
{
    const struct ledger *ledger = finder->ledger;
    const struct tensor *weight = unit_input(ledger, &ledger->units.items[at], 0);

    for (uint32_t u = at + 1; u < end && u <= at + LOOK_AHEAD; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        int64_t                 axis;

        if (unit->kind != UNIT_OP)
            continue;
        return str_fits(unit_type(ledger, unit), "aten::sum|aten::mean") &&
                       same_dims(unit_input(ledger, unit, 0), weight) &&
                       unit_numbers(ledger, unit, 1, &axis, 1) == 0
                   ? u
                   : NO_ID;
    }
    return NO_ID;
}

/* The last sum of a row of penalties that begins with the square at `at`, or NO_ID. */
static uint32_t find_last(const struct finder *finder, uint32_t at, uint32_t end)
{
    const struct ledger *ledger = finder->ledger;
    uint32_t             last = find_sum(finder, at, end);

    for (uint32_t u = last; last != NO_ID && u + 1 < end; u++) {
        const struct work_unit *next = &ledger->units.items[u + 1];
        uint32_t                sum;

        if (next->kind != UNIT_OP || unit_is_of_numbers(ledger, next))
            continue;
        sum = is_square(finder, next) ? find_sum(finder, u + 1, end) : NO_ID;
        if (sum == NO_ID)
            break;
        last = u = sum;
    }
    return last;
}

static double path_ns(const struct ledger *ledger, uint32_t first, uint32_t last)
{
    double sum = 0;

    for (uint32_t u = first; u <= last; u++)
        sum += ledger->units.items[u].ns;
    return sum;
}

static bool find_in_step(struct finder *finder, size_t step)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       end = ledger->first_unit[step + 1];

    gradient_shapes_of_step(ledger, step, &finder->weights);
    for (uint32_t u = ledger->first_unit[step]; finder->weights.count && u < end; u++) {
        uint32_t last;

        if (!is_square(finder, &ledger->units.items[u]) ||
            is_of_result(ledger, ledger->first_unit[step], u))
            continue;
        last = find_last(finder, u, end);
        if (last == NO_ID)
            continue;
        if (path_ns(ledger, u, last) * (double)ledger->step_count >=
            LEAST_SHARE * ledger->total_ns) {
            if (!ledger_cell_once(ledger, finder->self, &ledger->units.items[u], &finder->cell,
                                  "squares of weights that are trained, added up"))
                return false;
            ledger_claim_ops(ledger, finder->cell, u, last, 1);
            if (!ledger_claim_way_back(ledger, finder->cell, u, last, 1))
                return false;
        }
        u = last;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .self = self, .cell = NO_ID };

    if (!ledger->is_torch || !ledger->has_backward || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!find_in_step(&finder, step))
            return false;
    return true;
}

const struct detector detector_penalised_weights = { "penalised-weights", CAUSE_BYTES,
                                                     GRADE_STRUCTURE, find };
