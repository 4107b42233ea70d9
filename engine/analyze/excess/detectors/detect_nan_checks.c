/* nan_checks: a compiled program compares many of its arrays with themselves, which they differ
 * from where they hold no number, and asks whether any does: what a checker of all results puts in
 * behind each op. A few such questions, of a loss or of gradients, any program may have. */
#include "analyze/excess/waste.h"

static const double LEAST_SHARE = 0.03; /* of the steps */
enum {
    FEWEST_CHECKS = 32, /* a step: layers that guard a division by nothing ask once each */
    PASSES = 4          /* from a check to what sums up its answers, and sums of these */
};

/* An edge from the same instruction is kept once. */
static bool is_check(const struct waste *waste, uint32_t op)
{
    uint32_t left = op_graph_operand(waste->graph, op, 0);
    uint32_t right = op_graph_operand(waste->graph, op, 1);

    return waste_is(waste, op, "compare") && waste->profile->ops.items[op].input_count == 2 &&
           left != NO_ID && (right == left || right == NO_ID);
}

/* Marks what sums up the answers of marked checks. */
static void mark_answers(struct waste *waste)
{
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        uint32_t first = op_graph_operand(waste->graph, op, 0);
        uint32_t maker = first == NO_ID ? NO_ID : compiled_maker(waste->compiled, first);

        if (maker != NO_ID && waste->share[maker] > 0 &&
            waste_is(waste, op, "reduce|reduce-window|or|and|not|reshape|bitcast|copy"))
            waste_mark(waste, op, 1);
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;
    uint32_t     checks = 0;

    if (!waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (waste_calls(&waste, op) > 0 && is_check(&waste, op)) {
            waste_mark(&waste, op, 1);
            checks++;
        }
    if (checks < FEWEST_CHECKS)
        return true;
    for (int pass = 0; pass < PASSES; pass++)
        mark_answers(&waste);
    return waste_claim(&waste, self, LEAST_SHARE, "arrays are compared with themselves");
}

const struct detector detector_nan_checks = { "nan-checks", CAUSE_RARE, GRADE_STRUCTURE, find };
