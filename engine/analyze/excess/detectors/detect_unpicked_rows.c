/* unpicked_rows: all rows of a table are normalised, scaled or otherwise worked on one by one, and
 * then a few of them are looked up: the others were for nothing, there and back. Where all lookups
 * of the step together, as of experts that take turns, need many of the rows, they are not. */
#include "analyze/excess/ledger.h"

enum { FEWEST_ROWS = 1024, FARTHEST = 16 /* units from a lookup to what takes its result */ };
static const double MOST_PICKED = 0.25;

struct pick {
    int64_t  rows, width, picked; /* picked: by all lookups of the step in such a table */
    uint32_t first, at;           /* units: what works on all rows, and the lookup */
    bool     is_trained;
};

static bool is_lookup(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && unit->op != NO_ID &&
           (unit->op_class == OP_GATHER || unit->op_class == OP_EMBEDDING);
}

/* The first axes are as many rows, which a view makes one axis of. */
static bool are_rows(const struct tensor *tensor, int64_t rows)
{
    int64_t count = 1;

    for (int8_t d = 0; d < tensor->rank && tensor->dims[d] > 0 && count < rows; d++)
        count *= tensor->dims[d];
    return tensor->rank >= 2 && count == rows;
}

static bool has_rows(const struct ledger *ledger, const struct work_unit *unit, int64_t rows)
{
    for (uint32_t i = 0; unit_input(ledger, unit, i); i++)
        if (are_rows(unit_input(ledger, unit, i), rows))
            return true;
    return false;
}

/* Rows as long as the table's that an op behind `at` takes, of `most` axes; 0: none does. */
static int64_t taken_rows(const struct ledger *ledger, const struct tensor *table, uint32_t at,
                          uint32_t end, int8_t most)
{
    for (uint32_t u = at + 1; u < end && u <= at + FARTHEST; u++) {
        const struct tensor *rows = unit_input(ledger, &ledger->units.items[u], 0);

        if (rows && rows->rank > 1 && rows->rank <= most &&
            rows->dims[rows->rank - 1] == table->dims[1] &&
            tensor_count(rows) != tensor_count(table))
            return tensor_count(rows) / table->dims[1];
    }
    return 0;
}

int64_t unit_picked_rows(const struct ledger *ledger, uint32_t at, uint32_t end)
{
    const struct tensor *table = unit_input(ledger, &ledger->units.items[at], 0);
    const struct tensor *ids = unit_input(ledger, &ledger->units.items[at], 1);
    int64_t              picked;

    for (uint32_t i = 1; ids && ids->rank <= 0; i++)
        ids = unit_input(ledger, &ledger->units.items[at], i);
    if (ids)
        return tensor_count(ids);
    /* A list of places gives rows of a matrix; where none come, it was several lists. */
    picked = taken_rows(ledger, table, at, end, 2);
    if (picked == 0)
        picked = taken_rows(ledger, table, at, end, TENSOR_MAX_RANK);
    return picked > 0 ? picked : table->dims[0];
}

/* Ops on all rows that stand right before the lookup, or before lookups before it. */
static bool find_work(const struct ledger *ledger, uint32_t begin, struct pick *pick)
{
    uint32_t found = 0;

    for (uint32_t u = pick->at; u > begin; u--) {
        const struct work_unit *unit = &ledger->units.items[u - 1];

        if (unit->kind != UNIT_OP || unit->op_class == OP_VIEW || unit->op_class == OP_SLICE ||
            unit->op_class == OP_RANDOM || is_lookup(unit))
            continue;
        if (unit->phase != UNIT_FORWARD || unit_is_forward_product(unit) ||
            unit->op_class == OP_SCATTER || !has_rows(ledger, unit, pick->rows))
            break;
        pick->first = u - 1;
        pick->is_trained |= unit->is_trained;
        found++;
    }
    return found > 0;
}

static bool find_pick(const struct ledger *ledger, size_t step, struct pick *pick)
{
    uint32_t begin = ledger->first_unit[step], end = ledger->first_unit[step + 1];

    for (uint32_t u = begin; u < end; u++) {
        const struct tensor *table = is_lookup(&ledger->units.items[u])
                                         ? unit_input(ledger, &ledger->units.items[u], 0)
                                         : NULL;

        if (!table || table->rank != 2 || table->dims[0] < FEWEST_ROWS || table->dims[1] <= 1)
            continue;
        *pick = (struct pick) { table->dims[0], table->dims[1], 0, u, u, false };
        if (!find_work(ledger, begin, pick))
            continue;
        for (uint32_t at = begin; at < end; at++)
            if (is_lookup(&ledger->units.items[at]) &&
                same_dims(unit_input(ledger, &ledger->units.items[at], 0), table))
                pick->picked += unit_picked_rows(ledger, at, end);
        if ((double)pick->picked <= MOST_PICKED * (double)pick->rows)
            return true;
    }
    return false;
}

/* What goes back over all rows of it; putting the few gradients into place remains. */
static bool goes_with(const struct ledger *ledger, const struct pick *pick, uint32_t u)
{
    const struct work_unit *unit = &ledger->units.items[u];

    if (unit->kind != UNIT_OP || unit->op == NO_ID || is_lookup(unit) ||
        !has_rows(ledger, unit, pick->rows))
        return false;
    return (u >= pick->first && u < pick->at && unit->phase == UNIT_FORWARD) ||
           (pick->is_trained && unit->phase == UNIT_BACKWARD &&
            (unit->op_class == OP_ELEMENTWISE || unit->op_class == OP_REDUCE ||
             unit->op_class == OP_NORMALISATION));
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct pick pick;

        if (!find_pick(ledger, step, &pick))
            continue;
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
            struct work_unit *unit = &ledger->units.items[u];

            if (!goes_with(ledger, &pick, u))
                continue;
            if (!ledger_cell_once(ledger, self, unit, &cell,
                                  "%lld of %lld rows are looked up behind it",
                                  (long long)pick.picked, (long long)pick.rows))
                return false;
            ledger_claim(ledger, cell, unit, 1 - (double)pick.picked / (double)pick.rows);
        }
    }
    return true;
}

const struct detector detector_unpicked_rows = { "unpicked-rows", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                 find };
