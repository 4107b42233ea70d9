/* remade_rows: a round of a loop changes one row of an array, and products of weights work on all
 * of its rows again: a generation in a compiled program that keeps no keys and values. */
#include "analyze/excess/loops.h"

static const double  LEAST_SHARE = 0.03; /* of the steps */
static const int64_t FEWEST_ROWS = 8;

struct finder {
    struct waste      *waste;
    const struct axes *axes;
    const struct loop *loop;
    bool              *is_changing; /* by op: made of what a round changes */
    uint8_t           *rows;        /* by op: bit by axis that rows of the array lie along */
    bool              *is_remade;   /* by op: made of all rows, behind a product with weights */
    struct op_ids      order;       /* of the ops, producers first */
    int64_t            length;      /* rows */
};

/* What comes into the round is known. */
static bool is_given(const struct finder *finder, uint32_t op)
{
    return op == finder->loop->parameter ||
           (waste_is(finder->waste, op, "get-tuple-element") &&
            op_graph_operand(finder->waste->graph, op, 0) == finder->loop->parameter);
}

/* The axis that a write of one row goes along; AXIS_NONE: it writes something else. */
static int written_axis(const struct finder *finder, uint32_t op)
{
    uint32_t             update = op_graph_operand(finder->waste->graph, op, 1);
    const struct tensor *all = axes_shape(finder->axes, op);
    const struct tensor *row = update == NO_ID ? NULL : axes_shape(finder->axes, update);
    int                  axis = AXIS_NONE;

    if (!waste_is(finder->waste, op, "dynamic-update-slice") || !all || !row ||
        all->rank != row->rank)
        return AXIS_NONE;
    for (int i = 0; i < all->rank; i++) {
        if (all->dims[i] == row->dims[i])
            continue;
        if (axis != AXIS_NONE || row->dims[i] != 1 || all->dims[i] < FEWEST_ROWS)
            return AXIS_NONE;
        axis = i;
    }
    return axis;
}

/* Elements that rounds change; of `element` the rows are followed. */
static void start(struct finder *finder, uint32_t element, int axis)
{
    struct op_ids taken = op_graph_consumers(finder->waste->graph, finder->loop->parameter);

    for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++)
        finder->is_changing[op] = finder->is_remade[op] = false, finder->rows[op] = 0;
    for (size_t i = 0; i < taken.count; i++) {
        uint32_t number = axes_element(finder->axes, taken.ids[i]);

        if (number < finder->loop->elements)
            finder->is_changing[taken.ids[i]] =
                loop_carries(finder->loop, finder->axes, number) != CARRIED_SAME;
        if (number == element)
            finder->rows[taken.ids[i]] = (uint8_t)(1 << axis);
    }
}

/* Where rows of operand `place` lie in the result. Rows of a table are looked up by each number. */
static uint8_t rows_through(const struct finder *finder, uint32_t op, uint32_t place, uint8_t rows)
{
    struct axis_map      map = axes_into(finder->axes, op, place);
    const struct tensor *shape = axes_shape(finder->axes, op);
    uint8_t              to = 0;

    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        if (rows >> axis & 1)
            to = (uint8_t)(to |
                           (waste_is(finder->waste, op, "gather") && place == 1 ? 1 << axis
                                                                                : map.to[axis]));
    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        if (!shape || axis >= shape->rank || shape->dims[axis] % finder->length)
            to &= (uint8_t) ~(1 << axis);
    return to;
}

/* Its other operand is made of nothing that a round changes. */
static bool is_by_weights(const struct finder *finder, uint32_t op, uint32_t place)
{
    uint32_t other = op_graph_operand(finder->waste->graph, op, 1 - place);

    return waste_is(finder->waste, op, "dot") && other != NO_ID && !finder->is_changing[other] &&
           finder->waste->compiled->from[other];
}

/* Its producers are known. */
static void take_over(struct finder *finder, uint32_t op)
{
    const struct op_graph *graph = finder->waste->graph;
    uint32_t               root = finder->waste->compiled->root[op];

    for (uint32_t i = graph->first_producer[op]; i < graph->first_producer[op + 1]; i++)
        if (root == NO_ID || graph->producers[i] == root)
            finder->is_changing[op] |= finder->is_changing[graph->producers[i]];
    for (uint32_t i = graph->first_producer[op]; i < graph->first_producer[op + 1]; i++) {
        uint32_t from = graph->producers[i], place = graph->producer_place[i];
        uint8_t  to = finder->rows[from];

        if (root != NO_ID && from != root)
            continue;
        if (root == NO_ID)
            to = rows_through(finder, op, place, to);
        finder->rows[op] |= to;
        finder->is_remade[op] |=
            to && (finder->is_remade[from] || is_by_weights(finder, op, place));
    }
}

static void look_at(struct finder *finder, uint32_t element)
{
    struct waste *waste = finder->waste;
    uint32_t      write = loop_maker(finder->loop, finder->axes, element);
    int           axis = write == NO_ID ? AXIS_NONE : written_axis(finder, write);

    if (axis == AXIS_NONE || !loop_is_carried(finder->loop, finder->axes,
                                              op_graph_operand(waste->graph, write, 0), element))
        return;
    finder->length = axes_shape(finder->axes, write)->dims[axis];
    start(finder, element, axis);
    for (size_t i = 0; i < finder->order.count; i++) {
        uint32_t op = finder->order.ids[i];

        if (!is_given(finder, op) && loop_holds(finder->loop, waste, op))
            take_over(finder, op);
        if (finder->is_remade[op])
            waste_mark(waste, op, 1 - 1 / (double)finder->length);
    }
}

static void look_at_all(struct loops *loops, void *context)
{
    struct finder *finder = context;

    finder->waste = &loops->waste;
    finder->axes = &loops->axes;
    finder->loop = &loops->loop;
    for (uint32_t element = 0; element < loops->loop.elements; element++)
        look_at(finder, element);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder          finder = { 0 };
    size_t                 count = ledger->study->profile->ops.count + 1;
    const struct op_graph *graph = ledger->study->profile->graph;
    bool                   is_acyclic = true;
    struct err             ignored; /* memory that ran out shows by the result */

    finder.is_changing = arena_new_array(ledger->scratch, bool, count);
    finder.is_remade = arena_new_array(ledger->scratch, bool, count);
    finder.rows = arena_new_array(ledger->scratch, uint8_t, count);
    return finder.is_changing && finder.is_remade && finder.rows &&
           (!graph ||
            op_graph_sort(graph, ledger->scratch, &finder.order, &is_acyclic, &ignored)) &&
           loops_claim(ledger, self, LEAST_SHARE,
                       "a round changes one row, and layers work on all of them", look_at_all,
                       &finder);
}

const struct detector detector_remade_rows = { "remade-rows", CAUSE_REPEAT, GRADE_STRUCTURE, find };
