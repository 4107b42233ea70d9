/* recompute: layers of the forward pass that run again inside a node of the backward pass, from the
 * first to the last of them. */
#include "analyze/excess/ledger.h"

/* Gradients are computed by ops of their own; these only go forward. A node that takes a gradient
 * of a gradient may run one of them, so one alone says nothing. */
static bool goes_forward(const struct ledger *ledger, const struct work_unit *unit)
{
    struct str type = unit_type(ledger, unit);

    if (str_contains(type, STR("backward")))
        return false;
    switch ((enum op_class)unit->op_class) {
    case OP_CONVOLUTION:
    case OP_NORMALISATION:
    case OP_ATTENTION:
    case OP_EMBEDDING:
    case OP_CELL:
    case OP_SOFTMAX:
    case OP_ACTIVATION:
        return true;
    case OP_PRODUCT:
        return str_fits(type, "*linear|*addmm");
    default:
        return str_ends(type, STR("::dropout"));
    }
}

static bool claim(struct ledger *ledger, const struct detector *self, uint32_t first, uint32_t last,
                  uint32_t *cell)
{
    if (!ledger_cell_once(ledger, self, &ledger->units.items[first], cell,
                          "layers run forward inside nodes of the backward pass"))
        return false;
    for (uint32_t u = first; u <= last; u++)
        ledger_claim(ledger, *cell, &ledger->units.items[u], 1);
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID, first = NO_ID, last = NO_ID, node = NO_ID, count = 0;

    for (uint32_t u = 0; ledger->is_torch && u <= ledger->units.count; u++) {
        const struct work_unit *unit = u < ledger->units.count ? &ledger->units.items[u] : NULL;

        if (!unit || unit->node != node) {
            if (node != NO_ID && count >= 2 && !claim(ledger, self, first, last, &cell))
                return false;
            node = unit ? unit->node : NO_ID;
            count = 0;
        }
        if (node == NO_ID || unit->kind != UNIT_OP || !goes_forward(ledger, unit))
            continue;
        if (count++ == 0)
            first = u;
        last = u;
    }
    return true;
}

const struct detector detector_recompute = { "recompute", CAUSE_REPEAT, GRADE_STRUCTURE, find };
