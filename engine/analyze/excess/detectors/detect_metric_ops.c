/* metric_ops: behind the backward pass and the update of a step that trains, ops sort predictions,
 * sum them up in order or count them in classes: a metric of the batch, or of the epoch so far.
 * Nothing is trained by it any more, and nobody reads it after each step. Averages of weights, and
 * copies to a target network, write in place; a network that runs there is no metric, but a product
 * is whose results are ranked at once, as by neighbours in a bank. */
#include "analyze/excess/ledger.h"

static const double RARE_SHARE = 0.98;  /* once in fifty steps is enough */
static const double LEAST_SHARE = 0.05; /* of the step: less is said by nobody */

static bool counts_predictions(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->op_class == OP_SORT || unit->op_class == OP_SCAN ||
           str_fits(unit_type(ledger, unit),
                    "aten::*unique*|aten::bincount|aten::histc|aten::histogram|aten::bucketize|"
                    "aten::searchsorted|aten::quantile|aten::kthvalue");
}

/* Rows are compared with those of a bank, and ranked: no layer, whose results go into others. */
static bool is_ranked(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct work_unit *end = ledger->units.items + ledger->units.count;

    if (!str_fits(unit_type(ledger, unit), "aten::matmul|aten::mm|aten::bmm"))
        return false;
    do
        unit++;
    while (unit < end && (unit->kind != UNIT_OP || unit->op_class == OP_VIEW));
    return unit < end && unit->op_class == OP_SORT;
}

/* Rows of numbers are summed by the class of each, as prototypes, centres or a codebook are: their
 * counts divide them, and what they give the next step takes. */
static bool sums_rows(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *sums = unit_input(ledger, unit, 0);

    return str_fits(unit_type(ledger, unit),
                    "aten::index_add|aten::index_add_|aten::index_reduce*") &&
           (!sums || sums->rank > 1);
}

/* Another network, or the next batch. */
static bool ends(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->is_trained || unit->phase == UNIT_INPUT ||
           (unit_is_forward_product(unit) && !is_ranked(ledger, unit)) ||
           unit->op_class == OP_EMBEDDING || unit->op_class == OP_RANDOM;
}

static bool writes(const struct ledger *ledger, const struct work_unit *unit)
{
    return str_ends(unit_type(ledger, unit), STR("_")) ||
           str_fits(unit_type(ledger, unit), "aten::_foreach_*");
}

static uint32_t behind_training(const struct ledger *ledger, size_t step)
{
    uint32_t behind = ledger->first_unit[step + 1];

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
        if (ledger->units.items[u].kind == UNIT_OP &&
            (ledger->units.items[u].phase == UNIT_BACKWARD ||
             ledger->units.items[u].phase == UNIT_UPDATE))
            behind = u + 1;
    return behind;
}

static bool look_at_step(struct ledger *ledger, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    uint32_t first = behind_training(ledger, step), end = first;
    uint32_t marks = 0;
    bool     is_of_rows = false;
    double   ns = 0;

    for (; end < ledger->first_unit[step + 1]; end++) {
        const struct work_unit *unit = &ledger->units.items[end];

        if (unit->kind == UNIT_OP && ends(ledger, unit))
            break;
        if (unit->kind == UNIT_OP && !marks && writes(ledger, unit))
            first = end + 1;
        is_of_rows |= unit->kind == UNIT_OP && sums_rows(ledger, unit);
        marks += unit->kind == UNIT_OP && counts_predictions(ledger, unit);
    }
    while (end > first && ledger->units.items[end - 1].kind != UNIT_OP)
        end--;
    for (uint32_t u = first; u < end; u++)
        ns += ledger->units.items[u].left_ns;
    if (!marks || is_of_rows || ns < LEAST_SHARE * ledger->total_ns / (double)ledger->step_count)
        return true;
    for (uint32_t u = first; u < end; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->left_ns <= 0 || !unit_goes_with_ops(unit))
            continue;
        if (!ledger_cell_once(ledger, self, unit, cell,
                              "ops behind the update sort or count what was "
                              "predicted"))
            return false;
        ledger_claim(ledger, *cell, unit, RARE_SHARE);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(ledger, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_metric_ops = { "metrics", CAUSE_RARE, GRADE_NAMES, find };
