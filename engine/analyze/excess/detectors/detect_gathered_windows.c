/* gathered_windows: overlapping windows of a series are gathered by numbers that the program counts
 * itself, and each is reduced: a row is copied, and added up, as often as it lies in a window. Sums
 * so far and their differences, or a reduction over windows, pass over the series. */
#include "analyze/excess/linear.h"

static const double LEAST_SHARE = 0.05; /* of the steps */
static const double LEAST_COPIES = 4;   /* of each row */
static const double NEEDED = 3; /* passes over the series: sums so far, their difference, a scale */

struct finder {
    struct waste *waste;
    double        series;  /* elements of what windows are taken from */
    VEC(uint32_t) windows; /* instructions on all windows, up to what reduces them */
};

static double elements(const struct finder *finder, uint32_t op)
{
    return compiled_elements(finder->waste->compiled, op);
}

/* Counted by the program, from nothing that it is given or carries. */
static bool is_counted(const struct finder *finder, uint32_t gather)
{
    uint32_t numbers = op_graph_operand(finder->waste->graph, gather, 1);

    return numbers != NO_ID && !finder->waste->compiled->from[numbers];
}

/* All that takes windows reduces them to no more than the series. */
static bool end_in_reductions(struct finder *finder, uint32_t op, int depth)
{
    enum { DEEPEST = 24 };
    struct waste *waste = finder->waste;
    struct op_ids takers = op_graph_consumers(waste->graph, op);

    if (depth == DEEPEST || !takers.count ||
        !vec_push(&finder->windows, waste->ledger->scratch, op))
        return false;
    for (size_t i = 0; i < takers.count; i++) {
        uint32_t taker = takers.ids[i];

        if (compiled_holds(waste->compiled, taker)) {
            /* Its contents take them, but for its own result. */
            if (waste->compiled->root[taker] == op && !end_in_reductions(finder, taker, depth + 1))
                return false;
            continue;
        }
        if (waste_is(waste, taker, "reduce") && elements(finder, taker) <= finder->series) {
            if (!vec_push(&finder->windows, waste->ledger->scratch, taker))
                return false;
            continue;
        }
        if ((!linear_is_elementwise(waste, taker) && !compiled_hands_on(waste->compiled, taker)) ||
            !end_in_reductions(finder, taker, depth + 1))
            return false;
    }
    return true;
}

static bool is_marked(const struct waste *waste, struct op_ids ops)
{
    for (size_t i = 0; i < ops.count; i++)
        if (waste->share[ops.ids[i]] <= 0)
            return false;
    return ops.count > 0;
}

/* The numbers are as many as the windows have rows: counting them goes with the windows, where
 * nothing else takes them. Takers come behind what they take. */
static void mark_numbers(struct waste *waste, uint32_t gather, double share)
{
    double rows = compiled_elements(waste->compiled, op_graph_operand(waste->graph, gather, 1));

    for (uint32_t op = gather; op-- > 0;)
        if (!waste->compiled->from[op] && compiled_elements(waste->compiled, op) >= rows &&
            is_marked(waste, op_graph_consumers(waste->graph, op)))
            waste_mark(waste, op, share);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste  waste;
    struct finder finder = { .waste = &waste };

    if (!waste_open(&waste, ledger))
        return false;
    for (uint32_t op = 0; waste.graph && op < waste.graph->vertex_count; op++) {
        double copies;

        if (!waste_is(&waste, op, "gather") || !is_counted(&finder, op))
            continue;
        finder.series = compiled_operand(waste.compiled, op, 0);
        copies = finder.series > 0 ? elements(&finder, op) / finder.series : 0;
        finder.windows.count = 0;
        if (copies < LEAST_COPIES || !end_in_reductions(&finder, op, 0))
            continue;
        for (size_t i = 0; i < finder.windows.count; i++)
            waste_mark(&waste, finder.windows.items[i], 1 - NEEDED / copies);
        mark_numbers(&waste, op, 1 - NEEDED / copies);
    }
    return !waste.graph || waste_claim(&waste, self, LEAST_SHARE,
                                       "windows that overlap, each made and reduced by itself");
}

const struct detector detector_gathered_windows = { "gathered-windows", CAUSE_REPEAT,
                                                    GRADE_STRUCTURE, find };
