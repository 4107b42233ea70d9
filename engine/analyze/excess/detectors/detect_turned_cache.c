/* turned_cache: a program writes a part of an array that comes in and goes out again, or gives it
 * back as it was, and turns all of it round before something reads it, in each call: a cache that
 * does not lie in the order in which its product reads it. What turns it is not needed where it is
 * kept in that order. */
#include "analyze/excess/kept.h"

static const double LEAST_SHARE = 0.05; /* of the steps */

/* Writes a part of what comes into the program, and is no copy of another shape; or comes in and
 * goes out, the same. Where rows are moved on the way out, too, moving takes as long in any order.
 */
static bool is_cache(const struct waste *waste, const struct kept *kept, uint32_t op)
{
    uint32_t before;

    if (kept->is[op] == KEPT_AS_IS)
        return true;
    if (!waste_is(waste, op, "dynamic-update-slice|scatter"))
        return false;
    before = op_graph_operand(waste->graph, op, 0);
    return before != UINT32_MAX &&
           waste_is(waste, compiled_maker(waste->compiled, before), "parameter") &&
           compiled_elements(waste->compiled, op) == compiled_elements(waste->compiled, before);
}

/* With the copy that puts the numbers where the transpose says. */
static void mark_turn(struct waste *waste, uint32_t turn)
{
    struct op_ids behind = op_graph_consumers(waste->graph, turn);

    waste_mark(waste, turn, 1);
    for (size_t i = 0; i < behind.count; i++)
        if (waste_is(waste, behind.ids[i], "copy"))
            waste_mark(waste, behind.ids[i], 1);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;
    struct kept  kept;

    if (!waste_open(&waste, ledger) || (waste.graph && !kept_find(&waste, &kept)))
        return false;
    for (uint32_t op = 0; waste.graph && op < waste.graph->vertex_count; op++) {
        uint32_t operand =
            waste_is(&waste, op, "transpose") ? op_graph_operand(waste.graph, op, 0) : UINT32_MAX;

        if (operand != UINT32_MAX && waste_calls(&waste, op) > 0 &&
            is_cache(&waste, &kept, compiled_maker(waste.compiled, operand)))
            mark_turn(&waste, op);
    }
    return !waste.graph ||
           waste_claim(&waste, self, LEAST_SHARE, "a cache that is turned round before it is read");
}

const struct detector detector_turned_cache = { "turned-cache", CAUSE_BYTES, GRADE_STRUCTURE,
                                                find };
