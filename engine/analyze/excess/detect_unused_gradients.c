/* unused_gradients: gradients that are handed to parameters which no update ever takes. All of the
 * backward pass behind the last gradient that is used is then for nothing. By shapes: a parameter
 * whose shape stands in no op of an update is not updated. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"

#include <string.h>

static const double FEWEST_UNUSED = 0.2; /* of the gradients; ties of shapes may hide some */

struct finder {
    struct ledger *ledger;
    struct intern  updated; /* shapes that updates take, as bytes */
};

static bool is_update(struct str name)
{
    return str_starts(name, STR("aten::_fused_")) || str_starts(name, STR("aten::_foreach_"));
}

static struct str shape_key(const struct tensor *tensor, int64_t *words)
{
    size_t count = 0;

    words[count++] = (uint8_t)tensor->rank;
    for (int8_t i = 0; i < tensor->rank; i++)
        words[count++] = tensor->dims[i];
    return (struct str) { (const char *)words, count * sizeof *words };
}

/* Shapes of rank 0 are counters of steps. */
static bool add_operands(struct finder *finder, uint32_t row)
{
    const struct profile *profile = finder->ledger->study->profile;
    const struct op      *op = &profile->ops.items[row];
    int64_t               words[TENSOR_MAX_RANK + 1];

    for (uint32_t i = 0; i < op->input_count; i++) {
        const struct tensor *tensor = &profile->tensors.items[op->first_input + i];

        if (tensor->rank > 0 && intern_add(&finder->updated, shape_key(tensor, words)) == NO_ID)
            return false;
    }
    return true;
}

static bool list_updates(struct finder *finder, size_t *count)
{
    struct ledger *ledger = finder->ledger;

    *count = 0;
    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op == NO_ID ||
            (unit->phase != UNIT_UPDATE && !is_update(unit_type(ledger, unit))))
            continue;
        (*count)++;
        if (!add_operands(finder, unit->op))
            return false;
    }
    return true;
}

static bool is_gradient(const struct finder *finder, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP &&
           str_equal(unit_type(finder->ledger, unit), STR("torch::autograd::AccumulateGrad"));
}

static bool is_applied(const struct finder *finder, const struct work_unit *unit)
{
    const struct tensor *gradient = unit_input(finder->ledger, unit, 0);
    int64_t              words[TENSOR_MAX_RANK + 1];

    return !gradient || gradient->rank < 0 ||
           intern_find(&finder->updated, shape_key(gradient, words)) != NO_ID;
}

/* The backward pass of a step behind its last gradient that is used. */
static bool claim(struct finder *finder, const struct detector *self, size_t step, uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       first = ledger->first_unit[step], end = ledger->first_unit[step + 1];
    uint32_t       last = first, used = 0, made = 0;

    for (uint32_t u = first; u < end; u++)
        if (is_gradient(finder, &ledger->units.items[u])) {
            made++;
            if (is_applied(finder, &ledger->units.items[u]))
                last = u + 1, used++;
        }
    if (!made || !used || (double)(made - used) < FEWEST_UNUSED * made)
        return true;
    for (uint32_t u = last; u < end; u++) {
        if (ledger->units.items[u].phase != UNIT_BACKWARD)
            continue;
        if (*cell == NO_ID) {
            *cell = ledger_cell(ledger, self, &ledger->units.items[u]);
            if (*cell == NO_ID || !ledger_tell(ledger, *cell,
                                               "%u of %u gradients a step are of shapes that "
                                               "no update takes",
                                               made - used, made))
                return false;
        }
        ledger_claim(ledger, *cell, &ledger->units.items[u], 1);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;
    size_t        updates;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    if (!intern_init(&finder.updated, ledger->scratch) || !list_updates(&finder, &updates))
        return false;
    for (size_t step = 0; updates && step < ledger->step_count; step++)
        if (!claim(&finder, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_unused_gradients = { "unused-gradients", CAUSE_UNUSED,
                                                    GRADE_STRUCTURE, find };
