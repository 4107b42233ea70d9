#include "analyze/excess/loops.h"

/* Rows of a computation follow each other: the body's parameter is the last one before its root. */
bool loop_open(struct loop *loop, const struct axes *axes, uint32_t op)
{
    const struct profile *profile = axes->waste->profile;
    uint32_t              elements = profile->ops.items[op].output_count;
    struct op_rows        rows = axes->waste->compiled->inside[op];

    *loop = (struct loop) { op, NO_ID, NO_ID, elements };
    for (uint32_t row = rows.first; row < rows.end; row++)
        if (profile->ops.items[row].caller == op + 1 && waste_is(axes->waste, row, "tuple") &&
            profile->ops.items[row].output_count == elements &&
            !op_graph_consumers(axes->waste->graph, row).count)
            loop->root = row;
    for (uint32_t row = rows.first; loop->root != NO_ID && row < loop->root; row++)
        if (profile->ops.items[row].caller == op + 1 && waste_is(axes->waste, row, "parameter"))
            loop->parameter = row;
    return loop->parameter != NO_ID;
}

bool loop_is_carried(const struct loop *loop, const struct axes *axes, uint32_t op,
                     uint32_t element)
{
    uint32_t maker = op == NO_ID ? NO_ID : compiled_maker(axes->waste->compiled, op);

    return maker != NO_ID && waste_is(axes->waste, maker, "get-tuple-element") &&
           op_graph_operand(axes->waste->graph, maker, 0) == loop->parameter &&
           axes_element(axes, maker) == element;
}

uint32_t loop_maker(const struct loop *loop, const struct axes *axes, uint32_t element)
{
    uint32_t given = op_graph_operand(axes->waste->graph, loop->root, element);

    return given == NO_ID ? NO_ID : compiled_maker(axes->waste->compiled, given);
}

/* All that takes it in the end is `reader`. */
static bool is_read_by(const struct axes *axes, uint32_t op, uint32_t reader, int depth)
{
    enum { DEEPEST = 8 };
    const struct waste *waste = axes->waste;
    struct op_ids       consumers = op_graph_consumers(waste->graph, op);

    for (size_t i = 0; i < consumers.count; i++) {
        uint32_t taker = consumers.ids[i];
        bool     is_through = waste_is(axes->waste, taker, "parameter|bitcast|copy");

        if (taker == reader ||
            (compiled_holds(waste->compiled, taker) && waste->compiled->root[taker] != op))
            continue;
        if (!is_through || depth == DEEPEST || !is_read_by(axes, taker, reader, depth + 1))
            return false;
    }
    return true;
}

bool loop_is_private(const struct loop *loop, const struct axes *axes, uint32_t element,
                     uint32_t reader)
{
    struct op_ids taken = op_graph_consumers(axes->waste->graph, loop->parameter);

    for (size_t i = 0; i < taken.count; i++)
        if (waste_is(axes->waste, taken.ids[i], "get-tuple-element") &&
            axes_element(axes, taken.ids[i]) == element &&
            !is_read_by(axes, taken.ids[i], reader, 0))
            return false;
    return true;
}

/* The operand of a sum that is not the element itself; NO_ID: it is no such sum. */
static uint32_t added(const struct loop *loop, const struct axes *axes, uint32_t sum,
                      uint32_t element)
{
    for (uint32_t place = 0; place < 2 && waste_is(axes->waste, sum, "add"); place++)
        if (loop_is_carried(loop, axes, op_graph_operand(axes->waste->graph, sum, place), element))
            return op_graph_operand(axes->waste->graph, sum, 1 - place);
    return NO_ID;
}

enum carried loop_carries(const struct loop *loop, const struct axes *axes, uint32_t element)
{
    uint32_t maker = loop_maker(loop, axes, element), more;

    if (maker == NO_ID)
        return CARRIED_CHANGED;
    if (loop_is_carried(loop, axes, maker, element))
        return CARRIED_SAME;
    more = added(loop, axes, maker, element);
    if (more != NO_ID &&
        waste_is(axes->waste, compiled_maker(axes->waste->compiled, more), "constant"))
        return CARRIED_COUNTED;
    if (!loop_is_private(loop, axes, element, maker))
        return CARRIED_CHANGED;
    if (more != NO_ID)
        return CARRIED_SUMMED;
    return waste_is(axes->waste, maker, "dynamic-update-slice") &&
                   loop_is_carried(loop, axes, op_graph_operand(axes->waste->graph, maker, 0),
                                   element)
               ? CARRIED_WRITTEN
               : CARRIED_CHANGED;
}

bool loop_holds(const struct loop *loop, const struct waste *waste, uint32_t op)
{
    uint32_t timed = compiled_timed(waste->compiled, op);

    return waste->profile->ops.items[timed].caller == loop->op + 1;
}

double loops_rounds(const struct loops *loops)
{
    struct op_rows rows = loops->waste.compiled->inside[loops->loop.op];
    double         most = 0;

    for (uint32_t op = rows.first; op < rows.end; op++)
        if (loop_holds(&loops->loop, &loops->waste, op) && waste_calls(&loops->waste, op) > most)
            most = waste_calls(&loops->waste, op);
    return most / (double)loops->waste.ledger->step_count;
}

bool loops_claim(struct ledger *ledger, const struct detector *self, double least_share,
                 const char *detail, void (*look)(struct loops *loops, void *context),
                 void       *context)
{
    struct loops loops = { 0 };

    if (!waste_open(&loops.waste, ledger))
        return false;
    if (!loops.waste.graph)
        return true;
    if (!axes_open(&loops.axes, &loops.waste))
        return false;
    for (uint32_t op = 0; op < loops.waste.graph->vertex_count; op++)
        if (waste_is(&loops.waste, op, "while") && loop_open(&loops.loop, &loops.axes, op))
            look(&loops, context);
    return waste_claim(&loops.waste, self, least_share, detail);
}
