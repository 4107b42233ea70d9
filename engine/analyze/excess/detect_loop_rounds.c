/* Loops of compiled programs. separate_rounds: no round needs what another one made, each has
 * little to do, and all could be done at once. masked_write: one row of an array is written by a
 * mask over all. */
#include "analyze/excess/loops.h"

static const double  LEAST_SHARE = 0.03; /* of the steps */
static const double  FEWEST_ROUNDS = 8;  /* a step */
static const double  SMALL_NS = 20000;   /* what starting an op is a large part of */
static const double  KEPT_SHARE = 0.2;   /* of small ops, when they are large ones together */
static const int64_t FEWEST_ROWS = 8;

struct finder {
    struct waste *waste;
    struct axes   axes;
    struct loop   loop;
    double        rounds;
};

static bool is_type(const struct finder *finder, uint32_t op, const char *type)
{
    return compiled_is_type(finder->waste->compiled, op, type);
}

/* The loop that the instruction with time of its own is right inside of. */
static bool is_inside(const struct finder *finder, uint32_t op)
{
    uint32_t timed = compiled_timed(finder->waste->compiled, op);

    return finder->waste->profile->ops.items[timed].caller == finder->loop.op + 1;
}

/* Rounds of each step. */
static double count_rounds(const struct finder *finder)
{
    double most = 0;

    for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++)
        if (is_inside(finder, op) && waste_calls(finder->waste, op) > most)
            most = waste_calls(finder->waste, op);
    return most / (double)finder->waste->ledger->step_count;
}

/* Calls `look` for each loop of many rounds. */
static bool each_loop(struct ledger *ledger, const struct detector *self, const char *detail,
                      bool (*look)(struct finder *finder))
{
    struct waste  waste;
    struct finder finder = { .waste = &waste };

    if (!waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    if (!axes_open(&finder.axes, &waste))
        return false;
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++) {
        if (!is_type(&finder, op, "while") || !loop_open(&finder.loop, &finder.axes, op))
            continue;
        finder.rounds = count_rounds(&finder);
        if (finder.rounds >= FEWEST_ROUNDS && !look(&finder))
            return false;
    }
    return waste_claim(&waste, self, LEAST_SHARE, detail);
}

/* Each round gives the others nothing but its number. */
static bool is_separate(const struct finder *finder)
{
    bool is_given = false;

    for (uint32_t element = 0; element < finder->loop.elements; element++) {
        enum carried carried = loop_carries(&finder->loop, &finder->axes, element);

        if (carried == CARRIED_CHANGED)
            return false;
        is_given |= carried == CARRIED_WRITTEN || carried == CARRIED_SUMMED;
    }
    return is_given;
}

static bool mark_separate(struct finder *finder)
{
    struct waste *waste = finder->waste;

    if (!is_separate(finder))
        return true;
    waste_mark(waste, finder->loop.op, 1 - KEPT_SHARE); /* what goes from round to round */
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        double calls = waste->calls[op], ns = calls > 0 ? waste->ns[op] / calls : 0;

        if (waste->profile->ops.items[op].caller != finder->loop.op + 1 || ns <= 0)
            continue;
        waste_mark(waste, op, (1 - KEPT_SHARE) * (ns > SMALL_NS ? SMALL_NS / ns : 1));
    }
    return true;
}

static bool find_separate(struct ledger *ledger, const struct detector *self)
{
    return each_loop(ledger, self, "rounds of a loop that need nothing of each other",
                     mark_separate);
}

/* One side of a choice by a one-hot mask is what was there. */
static bool mark_write(struct finder *finder)
{
    for (uint32_t element = 0; element < finder->loop.elements; element++) {
        uint32_t              maker = loop_maker(&finder->loop, &finder->axes, element), flag;
        const struct one_hot *mask;

        if (maker == NO_ID || !is_type(finder, maker, "select"))
            continue;
        flag = op_graph_operand(finder->waste->graph, maker, 0);
        mask = flag == NO_ID ? NULL : &finder->axes.one_hot[flag];
        if (mask && mask->axis != AXIS_NONE && mask->length >= FEWEST_ROWS &&
            loop_is_carried(&finder->loop, &finder->axes,
                            op_graph_operand(finder->waste->graph, maker, 2), element))
            waste_mark(finder->waste, maker, 1 - 1 / (double)mask->length);
    }
    return true;
}

static bool find_write(struct ledger *ledger, const struct detector *self)
{
    return each_loop(ledger, self, "a mask over all rows writes one of them", mark_write);
}

const struct detector detector_separate_rounds = { "separate-rounds", CAUSE_DISPATCH,
                                                   GRADE_STRUCTURE, find_separate };
const struct detector detector_masked_write = { "masked-write", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                find_write };
