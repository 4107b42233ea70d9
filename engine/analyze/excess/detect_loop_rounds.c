/* Loops of compiled programs. separate_rounds: no round needs what another one made, each has
 * little to do, and all could be done at once. masked_write: one row of an array is written by a
 * mask over all. */
#include "analyze/excess/loops.h"

static const double  LEAST_SHARE = 0.03; /* of the steps */
static const double  FEWEST_ROUNDS = 8;  /* a step */
static const double  SMALL_NS = 20000;   /* what starting an op is a large part of */
static const double  KEPT_SHARE = 0.2;   /* of small ops, when they are large ones together */
static const int64_t FEWEST_ROWS = 8;

/* Rounds of each step. */
static double count_rounds(const struct loops *loops)
{
    double most = 0;

    for (uint32_t op = 0; op < loops->waste.graph->vertex_count; op++)
        if (loop_holds(&loops->loop, &loops->waste, op) && waste_calls(&loops->waste, op) > most)
            most = waste_calls(&loops->waste, op);
    return most / (double)loops->waste.ledger->step_count;
}

/* Each round gives the others nothing but its number. */
static bool is_separate(const struct loops *loops)
{
    bool is_given = false;

    for (uint32_t element = 0; element < loops->loop.elements; element++) {
        enum carried carried = loop_carries(&loops->loop, &loops->axes, element);

        if (carried == CARRIED_CHANGED)
            return false;
        is_given |= carried == CARRIED_WRITTEN || carried == CARRIED_SUMMED;
    }
    return is_given;
}

static void mark_separate(struct loops *loops, void *context)
{
    struct waste *waste = &loops->waste;

    (void)context;
    if (count_rounds(loops) < FEWEST_ROUNDS || !is_separate(loops))
        return;
    waste_mark(waste, loops->loop.op, 1 - KEPT_SHARE); /* what goes from round to round */
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        double calls = waste->calls[op], ns = calls > 0 ? waste->ns[op] / calls : 0;

        if (waste->profile->ops.items[op].caller != loops->loop.op + 1 || ns <= 0)
            continue;
        waste_mark(waste, op, (1 - KEPT_SHARE) * (ns > SMALL_NS ? SMALL_NS / ns : 1));
    }
}

static bool find_separate(struct ledger *ledger, const struct detector *self)
{
    return loops_claim(ledger, self, LEAST_SHARE,
                       "rounds of a loop that need nothing of each other", mark_separate, NULL);
}

/* One side of a choice by a one-hot mask is what was there. */
static void mark_write(struct loops *loops, void *context)
{
    (void)context;
    if (count_rounds(loops) < FEWEST_ROUNDS)
        return;
    for (uint32_t element = 0; element < loops->loop.elements; element++) {
        uint32_t              maker = loop_maker(&loops->loop, &loops->axes, element), flag;
        const struct one_hot *mask;

        if (maker == NO_ID || !waste_is(&loops->waste, maker, "select"))
            continue;
        flag = op_graph_operand(loops->waste.graph, maker, 0);
        mask = flag == NO_ID ? NULL : &loops->axes.one_hot[flag];
        if (mask && mask->axis != AXIS_NONE && mask->length >= FEWEST_ROWS &&
            loop_is_carried(&loops->loop, &loops->axes,
                            op_graph_operand(loops->waste.graph, maker, 2), element))
            waste_mark(&loops->waste, maker, 1 - 1 / (double)mask->length);
    }
}

static bool find_write(struct ledger *ledger, const struct detector *self)
{
    return loops_claim(ledger, self, LEAST_SHARE, "a mask over all rows writes one of them",
                       mark_write, NULL);
}

const struct detector detector_separate_rounds = { "separate-rounds", CAUSE_DISPATCH,
                                                   GRADE_STRUCTURE, find_separate };
const struct detector detector_masked_write = { "masked-write", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                find_write };
