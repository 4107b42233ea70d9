/* worker_start: a loader's worker processes are started again and again: nothing runs for long, and
 * then, behind what a sampler shuffles at most, the first batch is waited for. Once at the
 * beginning is what any loader does. */
#include "analyze/excess/ledger.h"

enum { FEWEST_STARTS = 2, MOST_BETWEEN = 24 /* units */ };
/* Processes with a framework in them take longer to start; telling them to begin again does not. */
static const double SHORTEST_NS = 50e6;

/* The wait for a batch of worker processes. */
static bool is_wait(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct path    *path = ledger->path;
    const struct profile *profile = ledger->study->profile;

    if (unit->kind == UNIT_OP || unit->phase != UNIT_INPUT)
        return false;
    for (uint32_t f = unit->frame; f != NO_ID; f = path->frames.items[f].parent)
        if (str_contains(
                profile_str(profile, event_activity(profile, path->frames.items[f].event)->name),
                STR("_MultiProcessingDataLoaderIter")))
            return true;
    return false;
}

/* A sampler draws numbers and an order: no op of a model, which has work of another class. */
static bool may_shuffle(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->kind == UNIT_PAUSE ? unit->ns < SHORTEST_NS
                                    : unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD &&
                                          str_fits(unit_type(ledger, unit),
                                                   "aten::empty|aten::random_|aten::item|"
                                                   "aten::randperm|aten::resolve_*|aten::arange|"
                                                   "aten::randint|aten::multinomial|aten::to");
}

/* A long pause before such a wait. */
static bool starts_workers(const struct ledger *ledger, uint32_t u)
{
    const struct work_unit *unit = &ledger->units.items[u];

    if (unit->kind != UNIT_PAUSE || unit->phase != UNIT_FORWARD || unit->ns < SHORTEST_NS)
        return false;
    for (uint32_t next = u + 1; next <= u + MOST_BETWEEN && next < ledger->units.count &&
                                ledger->units.items[next].step == unit->step;
         next++) {
        if (is_wait(ledger, &ledger->units.items[next]))
            return true;
        if (!may_shuffle(ledger, &ledger->units.items[next]))
            return false;
    }
    return false;
}

/* The start, and all waits of its step: the old workers end, and fresh ones have nothing made
 * ahead. */
static void claim(struct ledger *ledger, uint32_t start, uint32_t cell)
{
    uint32_t step = ledger->units.items[start].step;

    ledger_claim(ledger, cell, &ledger->units.items[start], 1);
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
        if (is_wait(ledger, &ledger->units.items[u]))
            ledger_claim(ledger, cell, &ledger->units.items[u], 1);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t starts = 0, cell = NO_ID;

    for (uint32_t u = 0; ledger->is_torch && u < ledger->units.count; u++)
        starts += starts_workers(ledger, u);
    if (starts < FEWEST_STARTS)
        return true;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        if (!starts_workers(ledger, u))
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[u], &cell,
                              "workers are started %u times in %zu steps", starts,
                              ledger->step_count))
            return false;
        claim(ledger, u, cell);
    }
    return true;
}

const struct detector detector_worker_start = { "worker-start", CAUSE_WAIT_INPUT, GRADE_STRUCTURE,
                                                find };
