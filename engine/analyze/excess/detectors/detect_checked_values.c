/* checked_values: arrays are compared, the truth of all their values is summed up, and Python reads
 * it at once: arguments, results and gradients are checked. A loop asks in the same way whether it
 * has come to its end, but of arrays of one or two shapes, and any program has a few questions;
 * many, about arrays of many shapes, look for mistakes, which a program that runs does not make. */
#include "analyze/excess/ledger.h"

enum { FEWEST_CHECKS = 8, FEWEST_SHAPES = 4 };
/* Of a pause between a check and other work: Python of both. */
static const double BESIDE = 0.5;

struct check { /* rows of units */
    uint32_t first, last;
};
struct found {
    VEC(struct check) checks;
    const struct tensor *shapes[FEWEST_SHAPES]; /* that differ, of what is compared */
    uint32_t             shape_count;
};

static bool compares(struct str type)
{
    return str_fits(type, "aten::eq|aten::ne|aten::gt|aten::ge|aten::lt|aten::le|aten::isnan|"
                          "aten::isinf|aten::isfinite|aten::logical_*|aten::bitwise_*");
}

static bool sums_up(struct str type)
{
    return str_fits(type, "aten::all|aten::any|aten::_is_all_true|aten::_is_any_true");
}

static bool reads(struct str type)
{
    return str_fits(type, "aten::is_nonzero|aten::item|aten::_local_scalar_dense");
}

static void see_shape(struct found *found, const struct tensor *shape)
{
    if (!shape || found->shape_count == FEWEST_SHAPES)
        return;
    for (uint32_t s = 0; s < found->shape_count; s++)
        if (same_dims(found->shapes[s], shape))
            return;
    found->shapes[found->shape_count++] = shape;
}

static bool list_checks(const struct ledger *ledger, size_t row, struct found *found)
{
    struct check open = { .first = NO_ID };
    bool         is_summed = false;

    for (uint32_t u = ledger->first_unit[row]; u < ledger->first_unit[row + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct str              type = unit_type(ledger, unit);

        if (unit->kind == UNIT_PAUSE || unit->op_class == OP_VIEW)
            continue;
        if (compares(type) && (open.first == NO_ID || is_summed)) {
            open.first = u;
            is_summed = false;
        } else if (sums_up(type) && open.first != NO_ID) {
            is_summed = true;
        } else if (!compares(type)) {
            open.last = u;
            if (is_summed && open.first != NO_ID && reads(type)) {
                if (!vec_push(&found->checks, ledger->scratch, open))
                    return false;
                see_shape(found, unit_input(ledger, &ledger->units.items[open.first], 0));
            }
            open.first = NO_ID;
        }
    }
    return true;
}

static void claim_pause(struct ledger *ledger, uint32_t cell, uint32_t u, double share)
{
    if (ledger->units.items[u].kind == UNIT_PAUSE)
        ledger_claim_ops(ledger, cell, u, u, share);
}

static bool claim(struct ledger *ledger, const struct detector *self, size_t row,
                  const struct found *found, uint32_t *cell)
{
    uint32_t before = NO_ID; /* the row behind the last check */

    for (size_t c = 0; c < found->checks.count; c++) {
        const struct check *check = &found->checks.items[c];

        if (!ledger_cell_once(ledger, self, &ledger->units.items[check->first], cell,
                              "%zu questions about arrays are read a step", found->checks.count))
            return false;
        if (check->first > ledger->first_unit[row])
            claim_pause(ledger, *cell, check->first - 1, before + 1 == check->first ? 1 : BESIDE);
        ledger_claim_ops(ledger, *cell, check->first, check->last, 1);
        before = check->last + 1;
        if (before < ledger->first_unit[row + 1])
            claim_pause(ledger, *cell, before, BESIDE);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    /* An accelerator that waits for Python is another price. */
    if (!ledger->is_torch || ledger->is_of_device)
        return true;
    for (size_t row = 0; row < ledger->step_count; row++) {
        struct found found = { 0 };

        if (!list_checks(ledger, row, &found))
            return false;
        if (found.checks.count >= FEWEST_CHECKS && found.shape_count == FEWEST_SHAPES &&
            !claim(ledger, self, row, &found, &cell))
            return false;
    }
    return true;
}

const struct detector detector_checked_values = { "checked-values", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                  find };
