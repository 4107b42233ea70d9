/* moves_with_gradients: a policy is asked for one move after the other with gradients kept, as
 * tutorials on policy gradients do: each round draws a move and hands it to Python, whose answer
 * the next round begins with, and the backward pass walks through a graph for each of them. Played
 * without gradients, one pass over all states gives what is derived. */
#include "analyze/excess/rounds.h"

#include <string.h>

enum { FEWEST_MOVES = 8, FEWEST_PRODUCTS = 2 };
static const double SMALL_OP = 6;       /* times the cost of starting one: the rest of it is work */
static const double LEAST_SHARE = 0.05; /* of the step */

struct move {
    uint32_t products, trained;    /* of these, with a way back */
    uint32_t draw;                 /* row of what draws it; NO_ID */
    bool     is_forward, is_given; /* a tensor of what Python has begins it */
};

/* The unit that the next round begins with; of the last one, its last op. */
static uint32_t round_end(const struct rounds *rounds, const struct round_block *block,
                          uint32_t round)
{
    return rounds->units[round + 1 < block->count ? block->starts[round + 1]
                                                  : block->starts[round] + block->length - 1];
}

static struct move look_at_move(const struct ledger *ledger, const struct rounds *rounds,
                                const struct round_block *block)
{
    uint32_t    first = rounds->units[block->starts[0]], end = round_end(rounds, block, 0);
    struct move move = { .draw = NO_ID, .is_forward = true };

    for (uint32_t u = first; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP)
            continue;
        move.is_forward &= unit->phase == UNIT_FORWARD && unit->op_class != OP_UPDATE;
        move.is_given |= str_equal(unit_type(ledger, unit), STR("aten::lift_fresh"));
        if (unit_is_forward_product(unit)) {
            move.products++;
            move.trained += unit->is_trained;
        }
        if (move.draw == NO_ID && move.products &&
            str_fits(unit_type(ledger, unit), "*::multinomial|*::bernoulli*|*::normal*|*::argmax"))
            move.draw = u - first;
    }
    return move;
}

static bool is_played(const struct ledger *ledger, const struct rounds *rounds,
                      const struct round_block *block, struct move *move)
{
    if (block->count < FEWEST_MOVES)
        return false;
    *move = look_at_move(ledger, rounds, block);
    return move->is_forward && move->is_given && move->draw != NO_ID &&
           move->products >= FEWEST_PRODUCTS && 2 * move->trained > move->products;
}

/* Once for all states each op is still to be started, and what is large to be computed. */
static double share_of(const struct ledger *ledger, const struct work_unit *unit, uint32_t moves)
{
    double share = 1 - 1.0 / moves, small_ns = SMALL_OP * ledger->start_ns;

    if (!unit_goes_with_ops(unit) || unit->typical_ns <= 0)
        return 0;
    return unit->typical_ns > small_ns ? share * small_ns / unit->typical_ns : share;
}

/* What goes back through the moves, and what each derives from what it drew. */
static bool mark(const struct ledger *ledger, const struct rounds *rounds,
                 const struct round_block *block, const struct move *move, bool *marks)
{
    uint32_t first = rounds->units[block->starts[0]];
    uint32_t last = rounds->units[block->starts[block->count - 1] + block->length - 1];
    uint32_t end = ledger->first_unit[ledger->units.items[first].step + 1];

    memset(&marks[first], 0, (end - first) * sizeof *marks);
    for (uint32_t r = 0; r < block->count; r++)
        for (uint32_t u = rounds->units[block->starts[r]] + move->draw + 1;
             u < round_end(rounds, block, r); u++)
            marks[u] = ledger->units.items[u].is_trained;
    return units_mark_backward(ledger, first, last, marks);
}

static bool claim(struct ledger *ledger, const struct detector *self, const struct rounds *rounds,
                  const struct round_block *block, const bool *marks, uint32_t *cell)
{
    uint32_t first = rounds->units[block->starts[0]];
    uint32_t end = ledger->first_unit[ledger->units.items[first].step + 1];
    double   ns = 0;

    for (uint32_t u = first; u < end; u++)
        if (marks[u])
            ns += ledger->units.items[u].left_ns *
                  share_of(ledger, &ledger->units.items[u], block->count);
    if (ns < LEAST_SHARE * ledger->total_ns / (double)ledger->step_count)
        return true;
    if (!ledger_cell_once(ledger, self, &ledger->units.items[first], cell,
                          "%u moves a step, each with a graph of its own", block->count))
        return false;
    for (uint32_t u = first; u < end; u++)
        if (marks[u])
            ledger_claim(ledger, *cell, &ledger->units.items[u],
                         share_of(ledger, &ledger->units.items[u], block->count));
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct round_keys keys;
    bool             *marks;
    uint32_t          cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward)
        return true;
    marks = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    if (!marks || !rounds_keys(ledger, &keys))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct rounds rounds;
        struct move   move;

        if (!rounds_find(ledger, step, &keys, &rounds))
            return false;
        for (size_t b = 0; b < rounds.blocks.count; b++) {
            const struct round_block *block = &rounds.blocks.items[b];

            if (is_played(ledger, &rounds, block, &move) &&
                (!mark(ledger, &rounds, block, &move, marks) ||
                 !claim(ledger, self, &rounds, block, marks, &cell)))
                return false;
        }
    }
    return true;
}

const struct detector detector_moves_with_gradients = { "moves-with-gradients", CAUSE_DISPATCH,
                                                        GRADE_SIZES, find };
