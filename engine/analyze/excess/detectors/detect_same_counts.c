/* same_counts: ops that nothing is trained by count predictions in classes or bins, and right
 * behind them the same ops count arrays of the same sizes again, while no network, no draw and no
 * slice has come between: metrics that each count for themselves what one of them has counted. */
#include "analyze/excess/ledger.h"

enum {
    LONGEST = 24,       /* ops of a round on each side of its count */
    FEWEST_ALIKE = 6,   /* ops of a round that come again, views aside */
    FARTHEST_ROUND = 96 /* units */
};

static bool counts(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && !unit->is_trained &&
           unit->op != NO_ID &&
           str_fits(unit_type(ledger, unit),
                    "*::bincount|*::histc|*::histogram|*::one_hot|*::bucketize|*::searchsorted|"
                    "*unique*");
}

/* What makes other predictions, takes other rows of them, or changes them. */
static bool is_other_work(const struct ledger *ledger, const struct work_unit *unit)
{
    struct str type = unit_type(ledger, unit);

    if (unit->kind == UNIT_OTHER || unit->phase != UNIT_FORWARD)
        return true;
    if (unit->kind != UNIT_OP)
        return false;
    return unit->is_trained || unit_is_forward_product(unit) || unit->op_class == OP_EMBEDDING ||
           unit->op_class == OP_RANDOM || unit->op_class == OP_SCATTER ||
           str_ends(type, STR("_")) ||
           str_fits(type,
                    "*::cdist|*::select|*::slice|*::narrow|*::index|*::index_select|*::gather|"
                    "*::take*|*::masked_select|*::unbind|*::split*|*::chunk");
}

/* The next op that is no view, forth or back; NO_ID: another piece of work comes first. */
static uint32_t next_op(const struct ledger *ledger, uint32_t at, bool is_forth)
{
    uint32_t step = ledger->units.items[at].step;

    for (;;) {
        const struct work_unit *unit;

        if (is_forth ? ++at >= ledger->first_unit[step + 1] : at-- <= ledger->first_unit[step])
            return NO_ID;
        unit = &ledger->units.items[at];
        if (is_other_work(ledger, unit))
            return NO_ID;
        if (unit->kind == UNIT_OP && unit->op_class != OP_VIEW)
            return at;
    }
}

/* How far the ops around two counts are the same, on one side: the last of those around `second`.
 */
static uint32_t alike_to(const struct ledger *ledger, uint32_t first, uint32_t second,
                         bool is_forth, uint32_t *alike)
{
    uint32_t last = second, limit = is_forth ? NO_ID : first;

    for (uint32_t i = 0; i < LONGEST; i++) {
        first = next_op(ledger, first, is_forth);
        second = next_op(ledger, second, is_forth);
        if (first == NO_ID || second == NO_ID || second == limit ||
            ledger->units.items[first].op == NO_ID ||
            ledger->units.items[first].op != ledger->units.items[second].op)
            break;
        last = second;
        (*alike)++;
    }
    return last;
}

/* The same count behind `at`, with nothing between that could make others of it; NO_ID: none. */
static uint32_t again(const struct ledger *ledger, uint32_t at)
{
    uint32_t op = ledger->units.items[at].op;

    for (uint32_t u = at + 1; u <= at + FARTHEST_ROUND && u < ledger->units.count; u++) {
        if (ledger->units.items[u].step != ledger->units.items[at].step ||
            is_other_work(ledger, &ledger->units.items[u]))
            return NO_ID;
        if (ledger->units.items[u].kind == UNIT_OP && ledger->units.items[u].op == op)
            return u;
    }
    return NO_ID;
}

/* Rows that Python walks over are made before the first round, without an op a row. */
static bool walks_rows(const struct ledger *ledger, uint32_t at)
{
    uint32_t step = ledger->units.items[at].step;

    while (at-- > ledger->first_unit[step]) {
        const struct work_unit *unit = &ledger->units.items[at];

        if (unit->kind == UNIT_OP &&
            str_fits(unit_type(ledger, unit), "*::unbind|*::split*|*::chunk"))
            return true;
        if (unit->kind == UNIT_OP && unit_is_forward_product(unit))
            return false;
    }
    return false;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    for (uint32_t u = 0; ledger->is_torch && u < ledger->units.count; u++) {
        uint32_t alike = 1, second, first, last;

        if (!counts(ledger, &ledger->units.items[u]))
            continue;
        second = again(ledger, u);
        if (second == NO_ID || walks_rows(ledger, u))
            continue;
        first = alike_to(ledger, u, second, false, &alike);
        last = alike_to(ledger, u, second, true, &alike);
        if (alike < FEWEST_ALIKE)
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[second], &cell,
                              "ops around %.*s come again for the same sizes",
                              STR_ARG(unit_type(ledger, &ledger->units.items[second]))))
            return false;
        ledger_claim_ops(ledger, cell, first, last, 1);
    }
    return true;
}

const struct detector detector_same_counts = { "same-counts", CAUSE_REPEAT, GRADE_SIZES, find };
