/* fixed_matrix: in each step that trains one matrix is decomposed or inverted without gradients,
 * and nothing right before makes it: it is the same each time. Batches of matrices are data, and so
 * is the product of a batch with itself. */
#include "analyze/excess/ledger.h"

enum { SMALLEST = 32, LOOK_BACK = 8 /* units */ };

static bool is_product_of(const struct ledger *ledger, const struct work_unit *unit, int64_t size)
{
    const struct tensor *left = unit_input(ledger, unit, 0), *right = unit_input(ledger, unit, 1);

    return unit->op_class == OP_PRODUCT && left && right && left->rank == 2 && right->rank == 2 &&
           left->dims[0] == size && right->dims[1] == size;
}

static bool is_made(const struct ledger *ledger, uint32_t u, int64_t size)
{
    for (uint32_t back = 1; back <= LOOK_BACK && back <= u; back++) {
        const struct work_unit *unit = &ledger->units.items[u - back];

        if (unit->step != ledger->units.items[u].step)
            return false;
        if (unit->kind == UNIT_OP && is_product_of(ledger, unit, size))
            return true;
    }
    return false;
}

static bool is_fixed(const struct ledger *ledger, uint32_t u)
{
    const struct work_unit *unit = &ledger->units.items[u];
    const struct tensor    *matrix = unit_input(ledger, unit, 0);

    return unit->kind == UNIT_OP && unit->op != NO_ID && unit->op_class == OP_DECOMPOSITION &&
           unit->phase == UNIT_FORWARD && !unit->is_trained && matrix && matrix->rank == 2 &&
           matrix->dims[0] >= SMALLEST && matrix->dims[0] == matrix->dims[1] &&
           !is_made(ledger, u, matrix->dims[0]);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t *steps, *last, cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward || !ledger->study->profile->has_shapes)
        return true;
    steps = arena_new_array(ledger->scratch, uint32_t, ledger->study->profile->ops.count + 1);
    last = arena_new_array(ledger->scratch, uint32_t, ledger->study->profile->ops.count + 1);
    if (!steps || !last)
        return false;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (!is_fixed(ledger, u) || last[unit->op] == unit->step + 1)
            continue;
        last[unit->op] = unit->step + 1;
        steps[unit->op]++;
    }
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (!is_fixed(ledger, u) || steps[unit->op] < ledger->step_count)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell, "a matrix of %lld rows in each step",
                              (long long)unit_input(ledger, unit, 0)->dims[0]))
            return false;
        ledger_claim(ledger, cell, unit, 1);
    }
    return true;
}

const struct detector detector_fixed_matrix = { "fixed-matrix", CAUSE_REPEAT, GRADE_SIZES, find };
