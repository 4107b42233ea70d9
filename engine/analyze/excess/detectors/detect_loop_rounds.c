/* Loops of compiled programs. separate_rounds: no round needs what another one made, each has
 * little to do, and all could be done at once. masked_write: one row of an array is written by a
 * mask over all. unread_rounds: what each round gives out is kept, and of a few rounds read. */
#include "analyze/excess/loops.h"
#include "analyze/excess/parts.h"

#include <math.h>

static const double  LEAST_SHARE = 0.03; /* of the steps */
static const double  FEWEST_ROUNDS = 8;  /* a step */
static const double  SMALL_NS = 20000;   /* what starting an op is a large part of */
static const double  KEPT_SHARE = 0.2;   /* of small ops, when they are large ones together */
static const double  MOST_READ = 0.25;   /* of rounds whose rows are kept for nothing */
static const int64_t FEWEST_ROWS = 8;
static const double  TILE_ROWS = 16; /* a product of fewer takes as long: it reads all weights */

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

static bool is_same(const struct loops *loops, uint32_t op)
{
    for (uint32_t element = 0; element < loops->loop.elements; element++)
        if (loop_is_carried(&loops->loop, &loops->axes, op, element))
            return loop_carries(&loops->loop, &loops->axes, element) == CARRIED_SAME;
    return false;
}

/* Rows that a round multiplies with weights that are the same in all; 0: it is no such product. */
static double rows_of(const struct loops *loops, uint32_t op)
{
    const struct waste *waste = &loops->waste;
    double              made = compiled_elements(waste->compiled, op);
    double              flops = (double)waste->profile->ops.items[op].flops;

    for (uint32_t place = 0; place < 2 && made > 0 && flops > 0; place++) {
        uint32_t weights = op_graph_operand(waste->graph, op, place);

        if (weights != NO_ID && is_same(loops, weights))
            return compiled_operand(waste->compiled, op, 1 - place) / (flops / 2 / made);
    }
    return 0;
}

/* Several rounds' rows at once are one product, and one sum over them is added to what is carried:
 * both pass over arrays of the weights' size. */
static void mark_few_rows(struct loops *loops)
{
    struct waste *waste = &loops->waste;
    double        fewest = TILE_ROWS;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        double rows = waste_is(waste, op, "dot") && loop_holds(&loops->loop, waste, op)
                          ? rows_of(loops, op)
                          : 0;

        if (rows < 1 || rows >= TILE_ROWS)
            continue;
        fewest = fmin(fewest, rows);
        waste_mark(waste, op, fmin(1 - KEPT_SHARE, 1 - rows / TILE_ROWS));
    }
    for (uint32_t element = 0; element < loops->loop.elements && fewest < TILE_ROWS; element++) {
        double   share = fmin(1 - KEPT_SHARE, 1 - fewest / TILE_ROWS);
        uint32_t sum = loop_maker(&loops->loop, &loops->axes, element);

        if (loop_carries(&loops->loop, &loops->axes, element) != CARRIED_SUMMED)
            continue;
        waste_mark(waste, sum, share);
        for (uint32_t place = 0; place < 2; place++) {
            uint32_t added = op_graph_operand(waste->graph, sum, place);
            uint32_t made = added == NO_ID ? NO_ID : compiled_maker(waste->compiled, added);

            if (made != NO_ID && waste_is(waste, made, "dot"))
                waste_mark(waste, made, share);
        }
    }
}

/* A round does it, if in a loop of its own, as drawing numbers does: for all rounds at once that
 * loop goes round once. */
static bool is_in(const struct loops *loops, uint32_t op)
{
    enum { DEEPEST = 8 };
    const struct op *ops = loops->waste.profile->ops.items;
    uint32_t         caller = ops[op].caller;

    for (int depth = 0; caller && depth < DEEPEST; depth++, caller = ops[caller - 1].caller)
        if (caller == loops->loop.op + 1)
            return true;
    return false;
}

static void mark_separate(struct loops *loops, void *context)
{
    struct waste *waste = &loops->waste;

    (void)context;
    if (loops_rounds(loops) < FEWEST_ROUNDS || !is_separate(loops))
        return;
    mark_few_rows(loops);
    waste_mark(waste, loops->loop.op, 1 - KEPT_SHARE); /* what goes from round to round */
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        double calls = waste->calls[op], ns = calls > 0 ? waste->ns[op] / calls : 0;

        if (ns <= 0 || !is_in(loops, op))
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
    if (loops_rounds(loops) < FEWEST_ROUNDS)
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

struct reads {
    struct parts parts;
    bool         is_open, has_failed;
};

/* The part of the rows in element `element` of the loop's result that something takes in the end.
 */
static double read_part(const struct loops *loops, const struct parts *parts, uint32_t element)
{
    struct op_ids takers = op_graph_consumers(loops->waste.graph, loops->loop.op);
    double        most = 0;

    for (size_t i = 0; i < takers.count; i++)
        if (!waste_is(&loops->waste, takers.ids[i], "get-tuple-element"))
            return 1;
        else if (axes_element(&loops->axes, takers.ids[i]) == element)
            most = fmax(most, parts->part[takers.ids[i]].of[0]);
    return most;
}

static void mark_unread(struct loops *loops, void *context)
{
    struct reads *reads = context;

    if (!reads->is_open && !reads->has_failed)
        reads->is_open = parts_open(&reads->parts, &loops->waste);
    reads->has_failed = !reads->is_open;
    if (reads->has_failed || loops_rounds(loops) < FEWEST_ROUNDS)
        return;
    for (uint32_t element = 0; element < loops->loop.elements; element++) {
        double part = read_part(loops, &reads->parts, element);

        if (part > 0 && part <= MOST_READ &&
            loop_carries(&loops->loop, &loops->axes, element) == CARRIED_WRITTEN)
            waste_mark(&loops->waste, loop_maker(&loops->loop, &loops->axes, element), 1 - part);
    }
}

static bool find_unread(struct ledger *ledger, const struct detector *self)
{
    struct reads reads = { .is_open = false };

    return loops_claim(ledger, self, LEAST_SHARE, "rows of all rounds are kept, few are read",
                       mark_unread, &reads) &&
           !reads.has_failed;
}

const struct detector detector_separate_rounds = { "separate-rounds", CAUSE_DISPATCH,
                                                   GRADE_STRUCTURE, find_separate };
const struct detector detector_masked_write = { "masked-write", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                find_write };
const struct detector detector_unread_rounds = { "unread-rounds", CAUSE_BYTES, GRADE_STRUCTURE,
                                                 find_unread };
