/* square_diagonal: a compiled program makes arrays of all pairs of rows, and of these a gather
 * takes those of each row with itself. Seen by its indices, which count along both axes at once.
 * What leads there number by number is needed on the diagonal alone, a product of matrices
 * included. */
#include "analyze/excess/axes.h"

static const double LEAST_SHARE = 0.03; /* of the steps */
enum { FEWEST_ROWS = 64 };              /* of the square: less is small beside what calls it */

struct pair { /* axes whose numbers are equal in all that is taken; equal: all of it is */
    int first, second;
};
struct squares {
    const struct waste *waste;
    struct axes         axes;
    struct pair        *pair; /* by op */
};

static bool is_set(struct pair pair)
{
    return pair.first != pair.second;
}

/* Numbers of rows beside themselves, 0 0, 1 1 and so on. */
static bool counts_twice(const struct squares *squares, uint32_t indices, int64_t rows)
{
    const struct compiled *compiled = squares->waste->compiled;
    uint32_t               joined = compiled_maker(compiled, indices);
    struct op_ids          parts = op_graph_producers(squares->waste->graph, joined);

    if (!compiled_is_type(compiled, joined, "concatenate") ||
        compiled_elements(compiled, joined) != 2 * (double)rows)
        return false;
    for (size_t i = 0; i < parts.count; i++) {
        uint32_t count = compiled_maker(compiled, parts.ids[i]);

        if (!compiled_is_type(compiled, count, "iota") ||
            compiled_elements(compiled, count) != (double)rows)
            return false;
    }
    return parts.count > 0;
}

static bool takes_diagonal(const struct squares *squares, uint32_t op)
{
    const struct waste  *waste = squares->waste;
    uint32_t             square, indices;
    const struct tensor *shape;

    if (!waste_is(waste, op, "gather"))
        return false;
    square = op_graph_operand(waste->graph, op, 0);
    indices = op_graph_operand(waste->graph, op, 1);
    shape = square == NO_ID ? NULL : axes_shape(&squares->axes, square);
    return shape && indices != NO_ID && shape->rank == 2 && shape->dims[0] == shape->dims[1] &&
           shape->dims[0] >= FEWEST_ROWS &&
           compiled_elements(waste->compiled, op) == (double)shape->dims[0] &&
           counts_twice(squares, indices, shape->dims[0]);
}

/* The one axis of the operand that becomes `axis` of the result; -1: none, or it is several. */
static int axis_before(const struct axis_map *map, int axis)
{
    int found = -1;

    for (int i = 0; i < TENSOR_MAX_RANK; i++)
        if (map->to[i] >> axis & 1) {
            if (found >= 0 || map->to[i] != 1 << axis)
                return -1;
            found = i;
        }
    return found;
}

/* Axes of the result of `op` that pair what `taker` needs of it. */
static struct pair needed_by(const struct squares *squares, uint32_t op, uint32_t taker)
{
    static const char   by_number[] = "parameter|copy|broadcast|transpose|reduce|bitcast|reshape";
    const struct waste *waste = squares->waste;
    struct pair         pair = squares->pair[taker], none = { 0, 0 };
    struct axis_map     map;

    if (op_graph_operand(waste->graph, taker, 0) == op) {
        if (takes_diagonal(squares, taker))
            return (struct pair) { 0, 1 };
        if (waste_is(waste, taker, "scatter")) /* what it adds to */
            return pair;
    }
    if (!is_set(pair) || waste->compiled->root[taker] == op)
        return pair;
    if (!waste_is(waste, taker, by_number) && !linear_is_elementwise(waste, taker))
        return none;
    map = axes_into(&squares->axes, taker, op_graph_operand(waste->graph, taker, 0) == op ? 0 : 1);
    pair.first = axis_before(&map, pair.first);
    pair.second = axis_before(&map, pair.second);
    return pair.first >= 0 && pair.second >= 0 ? pair : none;
}

/* The pair that all who take the result of `op` need; not set: one of them needs more. */
static struct pair pair_of(const struct squares *squares, uint32_t op)
{
    const struct waste *waste = squares->waste;
    struct op_ids       consumers = op_graph_consumers(waste->graph, op);
    struct pair         pair = { 0, 0 };

    if (!axes_shape(&squares->axes, op))
        return pair;
    for (size_t i = 0; i < consumers.count; i++) {
        uint32_t    taker = consumers.ids[i];
        struct pair needed;

        if (compiled_holds(waste->compiled, taker) && waste->compiled->root[taker] != op)
            continue; /* the parameter that stands for it is a consumer, too */
        needed = needed_by(squares, op, taker);
        if (!is_set(needed) ||
            (is_set(pair) && (needed.first != pair.first || needed.second != pair.second)))
            return (struct pair) { 0, 0 };
        pair = needed;
    }
    return pair;
}

/* From the gathers back to what makes the squares. false: out of memory. */
static bool follow(struct squares *squares)
{
    const struct waste *waste = squares->waste;
    VEC(uint32_t) open = { 0 };

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (takes_diagonal(squares, op) &&
            !vec_push(&open, waste->ledger->scratch, op_graph_operand(waste->graph, op, 0)))
            return false;
    for (size_t i = 0; i < open.count; i++) {
        uint32_t      op = open.items[i];
        struct op_ids makers = op_graph_producers(waste->graph, op);

        if (is_set(squares->pair[op]))
            continue;
        squares->pair[op] = pair_of(squares, op);
        for (size_t m = 0; is_set(squares->pair[op]) && m < makers.count; m++)
            if (!vec_push(&open, waste->ledger->scratch, makers.ids[m]))
                return false;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste   waste;
    struct squares squares = { .waste = &waste };

    if (!waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    squares.pair =
        arena_new_array(ledger->scratch, struct pair, (size_t)waste.graph->vertex_count + 1);
    if (!squares.pair || !axes_open(&squares.axes, &waste) || !follow(&squares))
        return false;
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (is_set(squares.pair[op]) && compiled_works(waste.compiled, op))
            waste_mark(&waste, op,
                       1 - 1 / (double)axes_shape(&squares.axes, op)->dims[squares.pair[op].first]);
    return waste_claim(&waste, self, LEAST_SHARE, "of an array of all pairs the diagonal is taken");
}

const struct detector detector_square_diagonal = { "square-diagonal", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                   find };
