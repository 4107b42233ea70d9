/* shuffled_rows: all rows of a table are put into a drawn order, and a cut behind that keeps a few:
 * drawing as many numbers as are kept and looking those rows up would do. */
#include "analyze/excess/ledger.h"

static const double MOST_KEPT = 0.5;
static const double KEPT = 0.1; /* where sizes are not recorded: of a table's rows, a batch */

/* The next op of the step behind `at`, or `end`. */
static uint32_t next_op(const struct ledger *ledger, uint32_t at, uint32_t end)
{
    do
        at++;
    while (at < end && (ledger->units.items[at].kind != UNIT_OP ||
                        ledger->units.items[at].op_class == OP_VIEW));
    return at;
}

static bool is_of(const struct ledger *ledger, uint32_t at, uint32_t end, const char *types)
{
    return at < end && str_fits(unit_type(ledger, &ledger->units.items[at]), types);
}

/* Part of the rows of unit `at` that the cut behind it keeps, by what is taken next. */
static double kept_of(const struct ledger *ledger, uint32_t at, uint32_t end)
{
    const struct tensor *table = unit_input(ledger, &ledger->units.items[at], 0), *rows;
    uint32_t             taker = next_op(ledger, next_op(ledger, at, end), end);

    if (!ledger->study->profile->has_shapes)
        return KEPT;
    rows = taker < end ? unit_input(ledger, &ledger->units.items[taker], 0) : NULL;
    if (!table || !rows || table->rank < 1 || rows->rank != table->rank || table->dims[0] <= 0)
        return 1;
    for (int8_t i = 1; i < table->rank; i++)
        if (rows->dims[i] != table->dims[i])
            return 1;
    return (double)rows->dims[0] / (double)table->dims[0];
}

/* Pieces one after the other are all rows, a batch each. */
static bool is_cut_on(const struct ledger *ledger, uint32_t at, uint32_t end, uint32_t cuts)
{
    for (; at < end; at++)
        if (is_of(ledger, at, end, "aten::slice") &&
            ledger->units.items[at].phase == UNIT_FORWARD && cuts-- == 0)
            return true;
    return false;
}

static bool find_in(struct ledger *ledger, const struct detector *self, uint32_t draw, uint32_t end,
                    uint32_t *cell)
{
    uint32_t tables = 0, first = next_op(ledger, draw, end), at = first;

    while (is_of(ledger, at, end, "aten::index|aten::index_select") &&
           is_of(ledger, next_op(ledger, at, end), end, "aten::slice")) {
        tables++;
        at = next_op(ledger, next_op(ledger, at, end), end);
    }
    if (!tables || is_cut_on(ledger, at, end, tables))
        return true;
    for (at = first; tables-- > 0; at = next_op(ledger, next_op(ledger, at, end), end)) {
        double kept = kept_of(ledger, at, end);

        if (kept > MOST_KEPT)
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[at], cell,
                              "rows in a drawn order, and a cut right behind it"))
            return false;
        ledger_claim(ledger, *cell, &ledger->units.items[at], 1 - kept);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    for (size_t step = 0; ledger->is_torch && step < ledger->step_count; step++)
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
            if (ledger->units.items[u].kind == UNIT_OP &&
                is_of(ledger, u, ledger->first_unit[step + 1], "aten::randperm") &&
                !find_in(ledger, self, u, ledger->first_unit[step + 1], &cell))
                return false;
    return true;
}

const struct detector detector_shuffled_rows = { "shuffled-rows", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                 find };
