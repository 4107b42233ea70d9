/* summed_products: each row is multiplied with the same weight, or each place of a picture, and all
 * that is taken of it is the mean or the sum over rows or places. The mean of the rows, multiplied
 * once, is the same, there and back. */
#include "analyze/excess/ledger.h"

enum { LOOK_AHEAD = 4, MOST_NUMBERS = 4 };
static const double MOST_KEPT = 0.25; /* fewer rows gain less than another pass may take */

/* Of the rows or places of `whole`, those that an op leaves which adds them up; 1: it is none.
 * `channel`: the axis of what a product gives for a row. */
static double kept_by(const struct ledger *ledger, const struct work_unit *unit,
                      const struct tensor *whole, int channel)
{
    struct str type = unit_type(ledger, unit);
    bool       is_picture = whole->rank == 4 && channel == 1;
    int64_t    numbers[MOST_NUMBERS];
    int        count = unit_numbers(ledger, unit, 1, numbers, MOST_NUMBERS);
    double     kept = 1;

    if (str_fits(type, "aten::mean|aten::sum")) {
        for (int i = 0; i < count; i++) {
            int64_t axis = numbers[i] + (numbers[i] < 0 ? whole->rank : 0);

            if (axis < 0 || axis >= whole->rank || axis == channel || whole->dims[axis] < 1)
                return 1;
            kept /= (double)whole->dims[axis];
        }
    } else if (str_equal(type, STR("aten::adaptive_avg_pool2d")) && is_picture && count == 2) {
        kept = (double)numbers[0] * (double)numbers[1] /
               ((double)whole->dims[2] * (double)whole->dims[3]);
    } else if (str_equal(type, STR("aten::avg_pool2d")) && is_picture && count == 2) {
        int64_t steps[MOST_NUMBERS]; /* none are given: those of the window */

        if (unit_numbers(ledger, unit, 2, steps, MOST_NUMBERS) == 2)
            numbers[0] = steps[0], numbers[1] = steps[1];
        kept = 1 / ((double)numbers[0] * (double)numbers[1]);
    }
    return kept > 0 ? kept : 1;
}

/* What a product gives, or a convolution that takes each place by itself. */
static bool result_of(const struct ledger *ledger, const struct work_unit *unit,
                      struct tensor *result, int *channel)
{
    const struct tensor *from = unit_left(ledger, unit), *weight = unit_right(ledger, unit);

    if (unit->op_class == OP_PRODUCT) {
        bool is_known = unit_product_result(ledger, unit, result);

        *channel = is_known ? result->rank - 1 : 0;
        return is_known;
    }
    if (unit->op_class != OP_CONVOLUTION || !from || !weight || from->rank != 4 ||
        weight->rank != 4 || weight->dims[1] != from->dims[1] ||
        weight->dims[2] * weight->dims[3] != 1)
        return false;
    *result = *from;
    result->dims[1] = weight->dims[0];
    *channel = 1;
    return true;
}

/* The part of the rows of unit `at` that is left by the op that takes its result. 1: it is none
 * that adds them up, or another one takes them, too. */
static double kept_of(const struct ledger *ledger, uint32_t at, uint32_t end)
{
    struct tensor result;
    int           channel;

    if (!result_of(ledger, &ledger->units.items[at], &result, &channel))
        return 1;
    for (uint32_t u = at + 1; u < end && u <= at + LOOK_AHEAD; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP && same_dims(unit_input(ledger, unit, 0), &result))
            return units_take(ledger, u + 1, end, &result)
                       ? 1
                       : kept_by(ledger, unit, &result, channel);
    }
    return 1;
}

static bool claim(struct ledger *ledger, const struct detector *self, uint32_t at, uint32_t end,
                  uint32_t *cell)
{
    struct work_unit *unit = &ledger->units.items[at];
    double            kept = kept_of(ledger, at, end);

    if (kept > MOST_KEPT)
        return true;
    if (!ledger_cell_once(ledger, self, unit, cell,
                          "what stands behind the product adds up %.0f rows", 1 / kept))
        return false;
    ledger_claim(ledger, *cell, unit, 1 - kept);
    return ledger_claim_way_back(ledger, *cell, at, at, 1 - kept);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
            if (unit_is_forward_product(&ledger->units.items[u]) &&
                !claim(ledger, self, u, ledger->first_unit[step + 1], &cell))
                return false;
    return true;
}

const struct detector detector_summed_products = { "summed-products", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                   find };
