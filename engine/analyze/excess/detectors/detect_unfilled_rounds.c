/* unfilled_rounds: an array is filled with a constant before a loop that writes a few rows of it:
 * there is room for many more rounds than the loop runs. Its gradient is as large, and filled as
 * well. Whoever takes it all passes over the rest, too, but that is for the loop's taker to say. */
#include "analyze/excess/loops.h"

#include <math.h>

static const double LEAST_SHARE = 0.03;  /* of the steps */
static const double MOST_WRITTEN = 0.25; /* of the array, in all rounds */

/* Elements that a round writes into element `element` of what the loop carries; 0: it does
 * something else with it. */
static double written_by_round(const struct loops *loops, uint32_t element)
{
    const struct waste *waste = &loops->waste;
    uint32_t            maker = loop_maker(&loops->loop, &loops->axes, element);

    if (maker == NO_ID || !waste_is(waste, maker, "dynamic-update-slice|scatter") ||
        !loop_is_carried(&loops->loop, &loops->axes, op_graph_operand(waste->graph, maker, 0),
                         element))
        return 0;
    return compiled_operand(waste->compiled, maker, waste_is(waste, maker, "scatter") ? 2 : 1);
}

static bool is_fill(const struct waste *waste, uint32_t op)
{
    return waste_is(waste, op, "broadcast") && waste_is_constant(waste, op);
}

/* What fills the element before the first round; NO_ID: it comes from elsewhere. */
static uint32_t filled_by(const struct loops *loops, uint32_t element)
{
    const struct waste *waste = &loops->waste;
    uint32_t            tuple = op_graph_operand(waste->graph, loops->loop.op, 0), given, maker;

    if (tuple == NO_ID || !waste_is(waste, tuple, "tuple"))
        return NO_ID;
    given = op_graph_operand(waste->graph, tuple, element);
    maker = given == NO_ID ? NO_ID : compiled_maker(waste->compiled, given);
    return maker != NO_ID && is_fill(waste, maker) ? maker : NO_ID;
}

/* How often each op ran a step, by row of it, on whatever thread: of what runs beside other work
 * the path has a part alone. Where steps leave some of it out, it is more. NULL: out of memory. */
static double *count_runs(const struct ledger *ledger)
{
    const struct profile *profile = ledger->study->profile;
    struct host_events    events = { .study = ledger->study };
    double               *runs = arena_new_array(ledger->scratch, double, profile->ops.count + 1);
    size_t                steps = 0;
    uint32_t              event;

    for (size_t i = 0; i < ledger->study->steps.list.count; i++)
        steps += ledger->study->steps.list.items[i].host == ledger->study->steps.host;
    while (runs && host_events_next(&events, &event)) {
        const struct activity *activity = event_activity(profile, event);

        if (activity->kind == ACTIVITY_OP && activity->op != NO_ID)
            runs[activity->op] += 1 / fmax(1, (double)steps);
    }
    return runs;
}

/* Rounds a step, of all runs of the loop: events do not tell where one ends. */
static double rounds_of(const struct loops *loops, const double *runs)
{
    const struct waste *waste = &loops->waste;
    struct op_rows      rows = waste->compiled->inside[loops->loop.op];
    double              most = loops_rounds(loops);

    for (uint32_t op = rows.first; op < rows.end; op++)
        if (loop_holds(&loops->loop, waste, op))
            most = fmax(most, runs[compiled_timed(waste->compiled, op)]);
    return most;
}

/* All arrays of the program that are as large and filled alike, and copies of these. */
static void mark_alike(struct waste *waste, uint32_t fill, double share)
{
    const struct op     *ops = waste->profile->ops.items;
    const struct tensor *tensors = waste->profile->tensors.items;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (ops[op].program == ops[fill].program && ops[op].output_count == 1 &&
            waste_is(waste, op, "broadcast|copy") &&
            is_fill(waste, compiled_maker(waste->compiled, op)) &&
            compiled_same_shape(&tensors[ops[op].first_output], &tensors[ops[fill].first_output]))
            waste_mark(waste, op, share);
}

static void mark(struct loops *loops, void *context)
{
    double rounds = 0;

    for (uint32_t element = 0; element < loops->loop.elements; element++) {
        double   by_round = written_by_round(loops, element);
        uint32_t fill = by_round > 0 ? filled_by(loops, element) : NO_ID;
        double   room = fill == NO_ID ? 0 : compiled_elements(loops->waste.compiled, fill);

        if (room > 0 && rounds <= 0)
            rounds = rounds_of(loops, context);
        if (room > 0 && rounds > 0 && rounds * by_round <= MOST_WRITTEN * room)
            mark_alike(&loops->waste, fill, 1 - rounds * by_round / room);
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    double *runs = count_runs(ledger);

    return runs &&
           loops_claim(ledger, self, LEAST_SHARE,
                       "an array is filled for many more rounds than a loop runs", mark, runs);
}

const struct detector detector_unfilled_rounds = { "unfilled-rounds", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                   find };
