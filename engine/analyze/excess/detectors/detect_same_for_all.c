/* same_for_all: arrays that are equal for all of a batch, since they were spread over it and meet
 * nothing that differs in it, in loops as well: products and decompositions of them are the work of
 * one done again for each. As of a function that is mapped over a batch with a state that was tiled
 * for it. Their gradients are sums over the batch in the end, and may be summed up first. A batch
 * is told by its length, whatever axes it was put together with. */
#include "analyze/excess/loops.h"
#include "base/macros.h"

static const double LEAST_SHARE = 0.05; /* of the steps */

enum { LEAST_COPIES = 4, MOST_LENGTHS = 8, MOST_PASSES = 64, DEEPEST = 8 };

struct finder {
    struct waste waste;
    struct axes  axes;
    struct loop *loops;   /* by op that is a while; op is NO_ID where its body cannot be made out */
    uint32_t    *loop_of; /* by op that is a body's parameter: 1 + its while */
    int64_t      length;  /* of the batch that is looked at */
    bool        *spreads; /* by op: a broadcast put the batch into it, or into what it is made of */
    bool        *varies;  /* by op: it may differ within the batch */
    double      *most;    /* by row of sources + 1: elements of the smallest result found there */
};

static bool has_length(const struct tensor *shape, int64_t length)
{
    for (int axis = 0; shape && axis < shape->rank; axis++)
        if (shape->dims[axis] == length)
            return true;
    return false;
}

/* Axes may have been put together: then one is a multiple. */
static bool may_hold(const struct tensor *shape, int64_t length)
{
    for (int axis = 0; shape && axis < shape->rank; axis++)
        if (shape->dims[axis] > 0 && shape->dims[axis] % length == 0)
            return true;
    return false;
}

static const struct tensor *operand_shape(const struct finder *finder, uint32_t op, uint32_t place)
{
    uint32_t operand = op_graph_operand(finder->waste.graph, op, place);

    return operand == NO_ID ? NULL : axes_shape(&finder->axes, operand);
}

/* Of what a tuple is given for an element. What it is given twice has one edge: then of all that
 * have its shape. */
static bool of_given(const struct finder *finder, const bool *flags, uint32_t tuple,
                     uint32_t element)
{
    const struct waste  *waste = &finder->waste;
    const struct op     *row = &waste->profile->ops.items[tuple];
    uint32_t             given = op_graph_operand(waste->graph, tuple, element);
    struct op_ids        producers = op_graph_producers(waste->graph, tuple);
    const struct tensor *shape;
    bool                 is_found = false, is_set = false;

    if (given != NO_ID)
        return flags[given];
    if (element >= row->output_count)
        return flags == finder->varies;
    shape = &waste->profile->tensors.items[row->first_output + element];
    for (size_t i = 0; i < producers.count; i++)
        if (same_dims(axes_shape(&finder->axes, producers.ids[i]), shape))
            is_found = true, is_set |= flags[producers.ids[i]];
    return is_found ? is_set : flags == finder->varies;
}

/* Of an element of a tuple; what a loop carries is what goes in, or what a round gives back. */
static bool of_element(const struct finder *finder, const bool *flags, uint32_t tuple,
                       uint32_t element, int depth)
{
    const struct waste *waste = &finder->waste;
    bool                unknown = flags == finder->varies;
    uint32_t            root = tuple == NO_ID ? NO_ID : waste->compiled->root[tuple];
    const struct loop  *loop = NULL;

    if (tuple == NO_ID || depth == DEEPEST)
        return unknown;
    if (waste_is(waste, tuple, "while"))
        loop = &finder->loops[tuple];
    else if (finder->loop_of[tuple])
        loop = &finder->loops[finder->loop_of[tuple] - 1];
    if (loop && loop->op != NO_ID)
        return of_given(finder, flags, loop->root, element) ||
               of_element(finder, flags, op_graph_operand(waste->graph, loop->op, 0), element,
                          depth + 1);
    if (waste_is(waste, tuple, "tuple"))
        return of_given(finder, flags, tuple, element);
    if (root != NO_ID && waste_is(waste, root, "tuple"))
        return of_given(finder, flags, root, element);
    return waste_is(waste, tuple, "custom-call") ? flags[tuple] : unknown;
}

static bool any_operand(const struct finder *finder, const bool *flags, uint32_t op)
{
    struct op_ids producers = op_graph_producers(finder->waste.graph, op);

    for (size_t i = 0; i < producers.count; i++)
        if (flags[producers.ids[i]])
            return true;
    return false;
}

static bool finds_spread(const struct finder *finder, uint32_t op)
{
    const struct tensor *shape = axes_shape(&finder->axes, op);

    if (waste_is(&finder->waste, op, "get-tuple-element"))
        return of_element(finder, finder->spreads, op_graph_operand(finder->waste.graph, op, 0),
                          axes_element(&finder->axes, op), 0);
    if (finder->waste.compiled->root[op] != NO_ID)
        return finder->spreads[finder->waste.compiled->root[op]];
    if (waste_is(&finder->waste, op, "broadcast") && has_length(shape, finder->length) &&
        !has_length(operand_shape(finder, op, 0), finder->length))
        return true;
    return (!shape || may_hold(shape, finder->length)) && any_operand(finder, finder->spreads, op);
}

/* Every operand has the batch, as parts that are put together or written must, but numbers. */
static bool all_hold(const struct finder *finder, uint32_t op)
{
    struct op_ids producers = op_graph_producers(finder->waste.graph, op);

    for (size_t i = 0; i < producers.count; i++) {
        const struct tensor *shape = axes_shape(&finder->axes, producers.ids[i]);

        if (!shape || (shape->rank > 0 && !may_hold(shape, finder->length)))
            return false;
    }
    return true;
}

/* Where a batch comes from that no broadcast made: numbers that are given, counted or drawn, or
 * what is put together, picked or shifted along it. */
static bool begins_to_vary(const struct finder *finder, uint32_t op)
{
    static const char    placed[] = "pad|reduce-window|convolution|scatter|select-and-scatter|fft|"
                                    "gather|rng*|conditional|call";
    const struct waste  *waste = &finder->waste;
    const struct tensor *shape = axes_shape(&finder->axes, op);
    struct op_ids        producers = op_graph_producers(waste->graph, op);
    bool                 is_there = false;

    if (!has_length(shape, finder->length))
        return false;
    if (waste_is(waste, op, "broadcast"))
        return false;
    if (waste_is(waste, op, placed))
        return true;
    if (waste_is(waste, op, "concatenate|dynamic-update-slice") && !all_hold(finder, op))
        return true;
    for (size_t i = 0; i < producers.count; i++)
        is_there |= finder->spreads[producers.ids[i]] ||
                    has_length(axes_shape(&finder->axes, producers.ids[i]), finder->length);
    return !is_there;
}

static bool finds_varying(const struct finder *finder, uint32_t op)
{
    if (waste_is(&finder->waste, op, "get-tuple-element"))
        return of_element(finder, finder->varies, op_graph_operand(finder->waste.graph, op, 0),
                          axes_element(&finder->axes, op), 0);
    if (finder->waste.compiled->root[op] != NO_ID)
        return finder->varies[finder->waste.compiled->root[op]];
    return begins_to_vary(finder, op) || any_operand(finder, finder->varies, op);
}

/* Until nothing more is found. false: there is no end to it. */
static bool settle(const struct finder *finder, bool *flags,
                   bool (*finds)(const struct finder *finder, uint32_t op))
{
    bool has_changed = true;

    for (uint32_t op = 0; op < finder->waste.graph->vertex_count; op++)
        flags[op] = false;
    for (int pass = 0; has_changed && pass < MOST_PASSES; pass++) {
        has_changed = false;
        for (uint32_t op = 0; op < finder->waste.graph->vertex_count; op++)
            if (!flags[op] && finds(finder, op))
                flags[op] = has_changed = true;
    }
    return !has_changed;
}

static bool is_equal(const struct finder *finder, uint32_t op)
{
    return finder->spreads[op] && !finder->varies[op];
}

/* Products, and decompositions of one matrix for each of a batch: the axes before the matrices'. */
static bool is_heavy(const struct finder *finder, uint32_t op)
{
    const struct waste  *waste = &finder->waste;
    const struct tensor *matrices = operand_shape(finder, op, 0);

    if (compiled_holds(waste->compiled, op))
        return false;
    if (waste_is(waste, op, "dot"))
        return true;
    if (waste->compiled->op_class[op] != OP_DECOMPOSITION || !matrices ||
        !waste_is(waste, op, "custom-call|cholesky|triangular-solve"))
        return false;
    for (int axis = 0; axis + 2 < matrices->rank; axis++)
        if (matrices->dims[axis] % finder->length == 0)
            return true;
    return false;
}

/* Nothing heavy is equal for all where nothing heavy was spread. */
static bool spreads_any(const struct finder *finder)
{
    for (uint32_t op = 0; op < finder->waste.graph->vertex_count; op++)
        if (finder->spreads[op] && is_heavy(finder, op))
            return true;
    return false;
}

static double *most_at(const struct finder *finder, uint32_t op)
{
    uint32_t source = finder->waste.profile->ops.items[op].source;

    return &finder->most[source < finder->waste.profile->sources.count ? source + 1 : 0];
}

/* Where products of equal rows are, and how large the smallest of them. */
static bool find_places(const struct finder *finder)
{
    const struct waste *waste = &finder->waste;
    bool                has_any = false;

    for (size_t i = 0; i <= waste->profile->sources.count; i++)
        finder->most[i] = 0;
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        double elements = compiled_elements(waste->compiled, op), *most = most_at(finder, op);

        if (!is_heavy(finder, op) || !is_equal(finder, op) || waste_calls(waste, op) <= 0)
            continue;
        has_any = true;
        *most = *most <= 0 || elements < *most ? elements : *most;
    }
    return has_any;
}

/* Walked back at the line of such a product, with as many elements, or made of as many. */
static bool is_gradient(const struct finder *finder, uint32_t op)
{
    const struct waste *waste = &finder->waste;
    double              most = *most_at(finder, op);
    struct str          origin = profile_str(waste->profile, waste->profile->ops.items[op].origin);

    if (most <= 0 || most_at(finder, op) == finder->most ||
        !str_contains(origin, STR("transpose(")))
        return false;
    return (compiled_elements(waste->compiled, op) >= most &&
            may_hold(axes_shape(&finder->axes, op), finder->length)) ||
           (waste_is(waste, op, "dot") && compiled_operand(waste->compiled, op, 0) >= most &&
            may_hold(operand_shape(finder, op, 0), finder->length));
}

static void mark(struct finder *finder)
{
    static const char named[] =
        "parameter|get-tuple-element|tuple|broadcast|constant|while|bitcast";
    struct waste *waste = &finder->waste;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (!compiled_holds(waste->compiled, op) && !waste_is(waste, op, named) &&
            (is_equal(finder, op) || is_gradient(finder, op)))
            waste_mark(waste, op, 1 - 1 / (double)finder->length);
}

/* Lengths that inputs of the program have, which it does not give back. */
static size_t find_lengths(const struct finder *finder, int64_t *lengths)
{
    const struct waste *waste = &finder->waste;
    size_t              count = 0;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        const struct tensor *shape = axes_shape(&finder->axes, op);

        if (!waste_is(waste, op, "parameter") || !shape || finder->loop_of[op] ||
            waste->compiled->from[op] != FROM_INPUT ||
            op_graph_operand(waste->graph, op, 0) != NO_ID)
            continue;
        for (int axis = 0; axis < shape->rank; axis++) {
            bool is_known = shape->dims[axis] < LEAST_COPIES;

            for (size_t i = 0; i < count; i++)
                is_known |= lengths[i] == shape->dims[axis];
            if (!is_known && count < MOST_LENGTHS)
                lengths[count++] = shape->dims[axis];
        }
    }
    return count;
}

static bool open_loops(struct finder *finder, struct arena *scratch)
{
    size_t count = finder->waste.profile->ops.count + 1;

    finder->spreads = arena_new_array(scratch, bool, count);
    finder->varies = arena_new_array(scratch, bool, count);
    finder->loops = arena_new_array(scratch, struct loop, count);
    finder->loop_of = arena_new_array(scratch, uint32_t, count);
    finder->most = arena_new_array(scratch, double, finder->waste.profile->sources.count + 2);
    if (!finder->spreads || !finder->varies || !finder->loops || !finder->loop_of || !finder->most)
        return false;
    for (uint32_t op = 0; op < finder->waste.graph->vertex_count; op++) {
        finder->loops[op].op = NO_ID;
        if (!waste_is(&finder->waste, op, "while"))
            continue;
        if (loop_open(&finder->loops[op], &finder->axes, op))
            finder->loop_of[finder->loops[op].parameter] = op + 1;
        else
            finder->loops[op].op = NO_ID;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { 0 };
    int64_t       lengths[MOST_LENGTHS];
    size_t        count;

    if (!waste_open(&finder.waste, ledger))
        return false;
    if (!finder.waste.graph)
        return true;
    if (!axes_open(&finder.axes, &finder.waste) || !open_loops(&finder, ledger->scratch))
        return false;
    count = find_lengths(&finder, lengths);
    for (size_t i = 0; i < count; i++) {
        finder.length = lengths[i];
        if (settle(&finder, finder.spreads, finds_spread) && spreads_any(&finder) &&
            settle(&finder, finder.varies, finds_varying) && find_places(&finder))
            mark(&finder);
    }
    return waste_claim(&finder.waste, self, LEAST_SHARE, "equal for all of a batch");
}

const struct detector detector_same_for_all = { "same-for-all", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                find };
