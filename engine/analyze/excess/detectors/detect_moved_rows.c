/* moved_rows: a program reads an array and gives it back with its rows in another order, and never
 * changes one: searches that carry along, for each candidate, what is the same for all candidates
 * of a row of the batch, as the keys and values of a source. Where it lies once for each of these,
 * or the order is kept as numbers, nothing is moved. */
#include "analyze/excess/kept.h"

static const double LEAST_SHARE = 0.05; /* of the steps */

/* Something besides the move takes the array, so that this is no sorting or drawing by itself. */
static bool is_read(const struct waste *waste, const struct kept_move *move)
{
    struct op_ids takers = op_graph_consumers(waste->graph, move->parameter);
    uint32_t      mover = compiled_timed(waste->compiled, move->gather);

    for (size_t i = 0; i < takers.count; i++)
        if (!waste->profile->ops.items[takers.ids[i]].caller && takers.ids[i] != mover &&
            !compiled_is_root(waste->compiled, takers.ids[i]))
            return true;
    return false;
}

/* With the copies on the way out. */
static void mark_move(struct waste *waste, const struct kept_move *move)
{
    enum { FARTHEST = 8 };
    uint32_t op = move->result;

    waste_mark(waste, move->gather, 1);
    for (int i = 0; i < FARTHEST && op != move->gather && waste_is(waste, op, "copy"); i++) {
        waste_mark(waste, op, 1);
        op = op_graph_operand(waste->graph, op, 0);
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;
    struct kept  kept;

    if (!waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    if (!kept_find(&waste, &kept))
        return false;
    for (size_t i = 0; i < kept.moves.count; i++)
        if (is_read(&waste, &kept.moves.items[i]))
            mark_move(&waste, &kept.moves.items[i]);
    return waste_claim(&waste, self, LEAST_SHARE,
                       "arrays come back with their rows in another order and no number changed");
}

const struct detector detector_moved_rows = { "moved-rows", CAUSE_BYTES, GRADE_STRUCTURE, find };
