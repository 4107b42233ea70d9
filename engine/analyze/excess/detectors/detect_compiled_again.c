/* compiled_again: tracing and compiling in steps that are looked at, by where it happens. What is
 * compiled once belongs to the first steps; the rule that speaks of it counts how many do. */
#include "analyze/excess/ledger.h"

/* A new cell where the region has none yet. NO_ID: out of memory. */
static uint32_t cell_at(struct ledger *ledger, const struct detector *self,
                        const struct work_unit *unit)
{
    uint32_t source, region = ledger_region(ledger, unit, &source);

    if (region == NO_ID)
        return NO_ID;
    for (uint32_t i = 0; i < ledger->cells.count; i++)
        if (ledger->cells.items[i].detector == self && ledger->cells.items[i].region == region)
            return i;
    return ledger_cell(ledger, self, unit);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        uint32_t          cell;

        if (unit->part != PART_COMPILE || unit->left_ns <= 0)
            continue;
        cell = cell_at(ledger, self, unit);
        if (cell == NO_ID)
            return false;
        ledger_claim(ledger, cell, unit, 1);
    }
    return true;
}

const struct detector detector_compiled_again = { "compiled-again", CAUSE_COMPILE, GRADE_NAMES,
                                                  find };
