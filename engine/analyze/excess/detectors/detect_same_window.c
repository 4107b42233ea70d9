/* same_window: a network that writes word after word runs over the last words again for each new
 * one, always as many of them: all but the newest have been seen, and their states can be kept. One
 * position of those looked up is picked from, and what was picked is put behind the words so far.
 */
#include "analyze/excess/calls.h"

enum { FEWEST_ROUNDS = 4, SHORTEST_WINDOW = 8 };

struct finder {
    struct ledger *ledger;
    VEC(uint32_t) starts; /* units of a step: look-ups of the same shapes */
};

static const struct tensor *ids_of(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *ids = unit_input(ledger, unit, 1);

    return unit->kind == UNIT_OP && unit->op_class == OP_EMBEDDING && ids && ids->rank == 2 &&
                   ids->dims[1] >= SHORTEST_WINDOW
               ? ids
               : NULL;
}

/* The unit looks fewer words up in the same table: what is known of the others was kept. */
static bool looks_up_few(const struct ledger *ledger, const struct work_unit *unit,
                         const struct work_unit *round)
{
    const struct tensor *ids = unit_input(ledger, unit, 1);

    return unit->op_class == OP_EMBEDDING && ids && tensor_count(ids) > 0 &&
           tensor_count(ids) < tensor_count(ids_of(ledger, round)) &&
           same_dims(unit_input(ledger, unit, 0), unit_input(ledger, round, 0));
}

/* Units [from, end) pick from one position of each text and put it behind the words so far. */
static bool writes_word(const struct ledger *ledger, uint32_t from, uint32_t end,
                        const struct tensor *ids)
{
    bool picks = false, joins = false;

    for (uint32_t u = from; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *first = unit->kind == UNIT_OP ? unit_input(ledger, unit, 0) : NULL;

        if (!first || first->rank < 1)
            continue;
        if (looks_up_few(ledger, unit, &ledger->units.items[from]))
            return false;
        picks |= call_is_pick(ledger, unit) && first->dims[first->rank - 1] > 1 &&
                 tensor_count(first) == ids->dims[0] * first->dims[first->rank - 1];
        joins |= unit->op_class == OP_CONCAT && first->rank == 2 &&
                 first->dims[0] == ids->dims[0] && first->dims[1] >= ids->dims[1];
    }
    return picks && joins;
}

/* What is left of an op where only the newest word goes through it: starting it, its share of the
 * rows, and of what a product reads its weight. */
static double kept_of(const struct ledger *ledger, const struct work_unit *unit, double words)
{
    double               kept = unit->ns > ledger->start_ns ? ledger->start_ns / unit->ns : 1;
    const struct tensor *left = unit_left(ledger, unit), *right = unit_right(ledger, unit);

    kept = kept > 1 / words ? kept : 1 / words;
    if (unit_is_forward_product(unit) && left && right && tensor_count(left) > 0 &&
        tensor_count(right) > 0) {
        double weight = (double)tensor_count(right);
        double reads = weight / (weight + (double)tensor_count(left));

        kept = kept > reads ? kept : reads;
    }
    return kept;
}

static bool claim(struct finder *finder, const struct detector *self, uint32_t from, uint32_t end,
                  double words, uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    if (!ledger_cell_once(ledger, self, &ledger->units.items[from], cell,
                          "the last %.0f words go through the network "
                          "for each new one, %zu rounds",
                          words, finder->starts.count))
        return false;
    for (uint32_t u = from; u < end; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && unit->op_class != OP_RANDOM &&
            unit->op_class != OP_SORT)
            ledger_claim(ledger, *cell, unit, 1 - kept_of(ledger, unit, words));
    }
    return true;
}

/* The look-ups like the one at `first`; the last round is as long as the one before it. */
static bool look_at(struct finder *finder, const struct detector *self, uint32_t first,
                    uint32_t step_end, uint32_t *cell)
{
    struct ledger       *ledger = finder->ledger;
    const struct tensor *ids = ids_of(ledger, &ledger->units.items[first]);
    uint32_t             last, end;

    finder->starts.count = 0;
    for (uint32_t u = first; u < step_end; u++)
        if (ledger->units.items[u].kind == UNIT_OP &&
            ledger->units.items[u].op == ledger->units.items[first].op &&
            !vec_push(&finder->starts, ledger->scratch, u))
            return false;
    if (finder->starts.count < FEWEST_ROUNDS)
        return true;
    for (size_t i = 1; i < finder->starts.count; i++)
        if (!writes_word(ledger, finder->starts.items[i - 1], finder->starts.items[i], ids))
            return true;
    for (size_t i = 1; i < finder->starts.count; i++) {
        last = finder->starts.items[i];
        end = i + 1 < finder->starts.count ? finder->starts.items[i + 1]
                                           : last + (last - finder->starts.items[i - 1]);
        if (!claim(finder, self, last, end < step_end ? end : step_end, (double)ids->dims[1], cell))
            return false;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || ledger->has_backward || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++) {
        uint32_t end = ledger->first_unit[step + 1], first = ledger->first_unit[step];

        while (first < end && !ids_of(ledger, &ledger->units.items[first]))
            first++;
        if (first < end && !look_at(&finder, self, first, end, &cell))
            return false;
    }
    return true;
}

const struct detector detector_same_window = { "growing-prefix", CAUSE_REPEAT, GRADE_SIZES, find };
