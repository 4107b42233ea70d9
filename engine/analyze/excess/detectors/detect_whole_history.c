/* whole_history: in steps that train, ops without gradients go over something that is longer by the
 * same in each step, all that was gathered since the run began: predictions for a metric, losses
 * for a curve. What one step adds is enough for sums and counts; the rest is for when it is read.
 * What is trained on all of it, or multiplied, is what the program is about. */
#include "analyze/excess/ledger.h"

enum {
    FEWEST_STEPS = 3, /* of fewer what is added must be as long as a batch */
    MOST_LENGTHS = 128,
    FEWEST_BATCHES = 4 /* gathered so far */
};

struct finder {
    struct ledger *ledger;
    int64_t       *lengths; /* by step, MOST_LENGTHS each: that ops without gradients go over */
    size_t        *counts;
    int64_t        first, added; /* what grows: its length in the first step, and by how much */
};

static bool may_gather(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && !unit->is_trained &&
           unit->op != NO_ID && !unit_is_forward_product(unit);
}

static int64_t length_of(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *tensor = may_gather(unit) ? unit_input(ledger, unit, 0) : NULL;

    return tensor && tensor->rank > 0 ? tensor->dims[0] : 0;
}

static bool has(const struct finder *finder, size_t step, int64_t length)
{
    for (size_t i = 0; i < finder->counts[step]; i++)
        if (finder->lengths[step * MOST_LENGTHS + i] == length)
            return true;
    return false;
}

static void list_lengths(struct finder *finder, size_t step)
{
    const struct ledger *ledger = finder->ledger;

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        int64_t length = length_of(ledger, &ledger->units.items[u]);

        if (length > 0 && finder->counts[step] < MOST_LENGTHS && !has(finder, step, length))
            finder->lengths[step * MOST_LENGTHS + finder->counts[step]++] = length;
    }
}

static int64_t length_in(const struct finder *finder, int64_t first, int64_t added, size_t step)
{
    const uint32_t *rows = finder->ledger->path->step_rows.items;

    return first + added * (int64_t)(rows[step] - rows[0]);
}

/* In each step it is the same longer, and was never that long in another. */
static bool grows(const struct finder *finder, int64_t first, int64_t added)
{
    size_t steps = finder->ledger->step_count;

    for (size_t s = 0; s < steps; s++)
        for (size_t at = 0; at < steps; at++)
            if (has(finder, at, length_in(finder, first, added, s)) != (at == s))
                return false;
    return true;
}

/* Something is trained on that many rows. */
static bool is_batch(const struct ledger *ledger, int64_t rows)
{
    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct tensor *tensor = ledger->units.items[u].is_trained
                                          ? unit_input(ledger, &ledger->units.items[u], 0)
                                          : NULL;

        if (tensor && tensor->rank > 0 && tensor->dims[0] == rows)
            return true;
    }
    return false;
}

/* The longest that grows. */
static void find_growing(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;
    int64_t between = ledger->path->step_rows.items[1] - ledger->path->step_rows.items[0];

    for (size_t i = 0; i < finder->counts[0]; i++)
        for (size_t j = 0; j < finder->counts[1]; j++) {
            int64_t first = finder->lengths[i];
            int64_t added = (finder->lengths[MOST_LENGTHS + j] - first) / between;

            if (added > 0 && first > finder->first && first >= FEWEST_BATCHES * added &&
                grows(finder, first, added) &&
                (ledger->step_count >= FEWEST_STEPS || is_batch(ledger, added)))
                finder->first = first, finder->added = added;
        }
}

static bool is_multiplied(const struct ledger *ledger, uint32_t first, uint32_t end, int64_t length)
{
    for (uint32_t u = first; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || may_gather(unit))
            continue;
        for (uint32_t i = 0; unit_input(ledger, unit, i); i++)
            if (unit_input(ledger, unit, i)->rank > 0 &&
                unit_input(ledger, unit, i)->dims[0] == length)
                return true;
    }
    return false;
}

/* From the first op on all of it to the last. */
static bool claim(struct finder *finder, const struct detector *self, size_t step, int64_t length,
                  uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       first = ledger->first_unit[step + 1], last = 0;

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
        if (length_of(ledger, &ledger->units.items[u]) == length)
            last = u, first = first < u ? first : u;
    if (is_multiplied(ledger, ledger->first_unit[step], ledger->first_unit[step + 1], length))
        return true;
    for (uint32_t u = first; u <= last; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP ? !may_gather(unit) : !unit_is_forward_pause(unit))
            continue;
        if (!ledger_cell_once(ledger, self, unit, cell,
                              "ops go over %lld rows, and over more of them in "
                              "each step",
                              (long long)length))
            return false;
        ledger_claim(ledger, *cell, unit, 1);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward || !ledger->study->profile->has_shapes ||
        ledger->step_count < 2)
        return true;
    finder.lengths = arena_new_array(ledger->scratch, int64_t, ledger->step_count * MOST_LENGTHS);
    finder.counts = arena_new_array(ledger->scratch, size_t, ledger->step_count);
    if (!finder.lengths || !finder.counts)
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        list_lengths(&finder, step);
    find_growing(&finder);
    for (size_t step = 0; finder.first && step < ledger->step_count; step++)
        if (!claim(&finder, self, step, length_in(&finder, finder.first, finder.added, step),
                   &cell))
            return false;
    return true;
}

const struct detector detector_whole_history = { "whole-history", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                 find };
