/* made_constants: filters, masks, positions and the like that are made from numbers alone, and the
 * same again in other steps or later in the step. */
#include "analyze/excess/constants.h"

static const double LEAST_SHARE = 0.03; /* of the steps */

struct finder {
    struct constants constants;
    struct id_map    ids;                  /* of a hash: its row of the counts */
    uint32_t        *calls, *steps, *last; /* how often, in how many steps, the last one + 1 */
    uint32_t        *row;                  /* by constant */
};

static bool count(struct finder *finder, const struct ledger *ledger)
{
    uint32_t rows = 0;

    for (size_t i = 0; i < finder->constants.rows.count; i++) {
        const struct constant *constant = &finder->constants.rows.items[i];
        uint32_t               step = ledger->units.items[constant->first].step;
        uint32_t               row = id_map_get(&finder->ids, constant->hash);

        if (row == NO_ID) {
            row = rows++;
            if (!id_map_put(&finder->ids, constant->hash, row))
                return false;
        }
        finder->row[i] = row;
        finder->calls[row]++;
        finder->steps[row] += finder->last[row] != step + 1;
        finder->last[row] = step + 1;
    }
    return true;
}

/* Made in all steps it need not be made in any; in some, or where other arrays have a part in it,
 * once in each of them. */
static double share_of(const struct finder *finder, const struct ledger *ledger, size_t i)
{
    uint32_t row = finder->row[i];

    if (finder->steps[row] > 1 && finder->steps[row] == ledger->step_count &&
        !finder->constants.rows.items[i].asks_data)
        return 1;
    return 1 - (double)finder->steps[row] / finder->calls[row];
}

static double left_ns(const struct ledger *ledger, const struct constant *constant)
{
    double ns = 0;

    for (uint32_t u = constant->first; u < constant->end; u++)
        ns += unit_goes_with_ops(&ledger->units.items[u]) ? ledger->units.items[u].left_ns : 0;
    return ns;
}

static bool open_finder(struct finder *finder, const struct ledger *ledger)
{
    size_t count = finder->constants.rows.count + 1;

    finder->ids.arena = ledger->scratch;
    finder->calls = arena_new_array(ledger->scratch, uint32_t, count);
    finder->steps = arena_new_array(ledger->scratch, uint32_t, count);
    finder->last = arena_new_array(ledger->scratch, uint32_t, count);
    finder->row = arena_new_array(ledger->scratch, uint32_t, count);
    return finder->calls && finder->steps && finder->last && finder->row;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { 0 };
    uint32_t      cell = NO_ID;
    double        ns = 0;

    if (!constants_find(ledger, &finder.constants) || !open_finder(&finder, ledger) ||
        !count(&finder, ledger))
        return false;
    for (size_t i = 0; i < finder.constants.rows.count; i++)
        ns += share_of(&finder, ledger, i) * left_ns(ledger, &finder.constants.rows.items[i]);
    if (ns < LEAST_SHARE * ledger->total_ns)
        return true;
    for (size_t i = 0; i < finder.constants.rows.count; i++) {
        const struct constant *constant = &finder.constants.rows.items[i];
        double                 share = share_of(&finder, ledger, i);

        if (share <= 0)
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[constant->first], &cell, "%s",
                              constant->is_mask ? "a block mask of attention, by the same ops"
                                                : "made from numbers alone, the same each time"))
            return false;
        ledger_claim_ops(ledger, cell, constant->first, constant->end - 1, share);
    }
    return true;
}

const struct detector detector_made_constants = { "made-constants", CAUSE_REPEAT, GRADE_SIZES,
                                                  find };
