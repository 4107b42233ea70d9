/* derived_weight: a product of two thin matrices, without gradients, whose result is the weight of
 * a product just behind it: weights made again from parameters in each call. */
#include "analyze/excess/ledger.h"

enum { LOOK_AHEAD = 10 };

static bool is_plain_product(const struct ledger *ledger, const struct work_unit *unit)
{
    struct str type;

    if (unit->kind != UNIT_OP || unit->op_class != OP_PRODUCT || unit->phase != UNIT_FORWARD ||
        unit->is_trained)
        return false;
    type = unit_type(ledger, unit);
    return str_fits(type, "*::mm|*::matmul");
}

static bool is_weight(const struct tensor *tensor, int64_t rows, int64_t columns)
{
    return tensor && tensor->rank == 2 &&
           ((tensor->dims[0] == rows && tensor->dims[1] == columns) ||
            (tensor->dims[0] == columns && tensor->dims[1] == rows));
}

/* The unit that takes the product's result for its weight, or 0. */
static uint32_t user_of(const struct ledger *ledger, uint32_t at)
{
    const struct work_unit *product = &ledger->units.items[at];
    const struct tensor    *left = unit_input(ledger, product, 0);
    const struct tensor    *right = unit_input(ledger, product, 1);
    int64_t                 rows, inner, columns;

    if (!left || !right || left->rank != 2 || right->rank != 2)
        return 0;
    rows = left->dims[0], inner = left->dims[1], columns = right->dims[1];
    if (2 * inner >= rows || 2 * inner >= columns)
        return 0;
    for (uint32_t u = at + 1; u < ledger->units.count && u <= at + LOOK_AHEAD; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op_class != OP_PRODUCT || unit->is_trained)
            continue;
        const struct tensor *weight = unit_right(ledger, unit);
        const struct tensor *data = unit_left(ledger, unit);

        /* With as many rows the result may be data as well. */
        if (is_weight(weight, rows, columns) && !is_weight(data, rows, columns))
            return u;
    }
    return 0;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    for (uint32_t u = 0; ledger->is_torch && u < ledger->units.count; u++) {
        uint32_t user;

        if (!is_plain_product(ledger, &ledger->units.items[u]))
            continue;
        user = user_of(ledger, u);
        if (!user)
            continue;
        if (cell == NO_ID) {
            cell = ledger_cell(ledger, self, &ledger->units.items[u]);
            if (cell == NO_ID || !ledger_tell(ledger, cell,
                                              "a product of two thin matrices is the weight of the "
                                              "next product"))
                return false;
        }
        for (; u < user; u++)
            if (ledger->units.items[u].kind == UNIT_OP)
                ledger_claim(ledger, cell, &ledger->units.items[u], 1);
    }
    return true;
}

const struct detector detector_derived_weight = { "derived-weight", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                  find };
