#include "analyze/excess/gaps.h"

static struct gap no_gap(void)
{
    struct gap gap = { .cut = 0 };

    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        gap.filled[axis] = 1;
    return gap;
}

static double filled_of(const struct gap *gap)
{
    double filled = 1;

    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        filled *= gap->filled[axis];
    return filled;
}

struct search {
    const struct axes *axes;
    struct gaps       *gaps;
    uint32_t          *first;  /* slice by row of profile->sources */
    uint32_t          *next;   /* the same line's, by slice; NO_ID: it is the last one */
    bool              *is_due; /* by op: something that it is given has changed */
};

/* 1 + the slice on the line of `op`, a slice or a padding, that takes an array of the size of
 * `large` to one of the size of `small` from the same places; 0: none. */
static uint32_t cut_of(const struct search *search, uint32_t op, uint32_t large, uint32_t small)
{
    enum { MOST_LOOKS = 256 };
    const struct axes   *axes = search->axes;
    const struct op     *ops = axes->waste->profile->ops.items;
    const struct tensor *outer = large == NO_ID ? NULL : axes_shape(axes, large);
    const struct tensor *inner = small == NO_ID ? NULL : axes_shape(axes, small);
    uint32_t             places = axes_places(axes, op);
    uint32_t             slice =
        ops[op].source == NO_ID || !outer || !inner ? NO_ID : search->first[ops[op].source];

    for (int looks = 0; slice != NO_ID && looks < MOST_LOOKS;
         slice = search->next[slice], looks++) {
        uint32_t             whole = op_graph_operand(axes->waste->graph, slice, 0);
        const struct tensor *from = whole == NO_ID ? NULL : axes_shape(axes, whole);
        const struct tensor *to = axes_shape(axes, slice);

        if (ops[slice].program == ops[op].program && from && to && same_dims(from, outer) &&
            same_dims(to, inner) && axes_places(axes, slice) == places)
            return slice + 1;
    }
    return 0;
}

/* Fusions have copies of what several of them take. */
static bool find_cuts(struct search *search)
{
    const struct waste *waste = search->axes->waste;
    struct arena       *scratch = waste->ledger->scratch;
    size_t              sources = waste->profile->sources.count;
    uint32_t            count = waste->graph->vertex_count;

    search->first = arena_new_array(scratch, uint32_t, sources + 1);
    search->next = arena_new_array(scratch, uint32_t, (size_t)count + 1);
    search->gaps->cut = arena_new_array(scratch, uint32_t, (size_t)count + 1);
    if (!search->first || !search->next || !search->gaps->cut)
        return false;
    for (size_t i = 0; i < sources; i++)
        search->first[i] = NO_ID;
    for (uint32_t op = count; op-- > 0;) {
        uint32_t source = waste->profile->ops.items[op].source;

        if (source == NO_ID || !waste_is(waste, op, "slice"))
            continue;
        search->next[op] = search->first[source];
        search->first[source] = op;
    }
    for (uint32_t op = 0; op < count; op++)
        if (waste_is(waste, op, "slice")) {
            search->gaps->cut[op] = cut_of(search, op, op_graph_operand(waste->graph, op, 0), op);
            if (!search->gaps->cut[op])
                search->gaps->cut[op] = op + 1;
        }
    return true;
}

/* What goes through the op's operand at `place`, as it lies in the result. */
static struct gap handed_on(const struct search *search, uint32_t op, uint32_t place)
{
    uint32_t        operand = op_graph_operand(search->axes->waste->graph, op, place);
    struct axis_map map = axes_into(search->axes, op, place);
    struct gap      gap = no_gap();

    if (operand == NO_ID)
        return gap;
    gap.cut = search->gaps->of[operand].cut;
    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        for (int to = 0; to < TENSOR_MAX_RANK; to++)
            if (map.to[axis] == 1 << to)
                gap.filled[to] = search->gaps->of[operand].filled[axis];
    return gap;
}

/* A sum, or a choice: zero where both are. */
static struct gap of_both(const struct search *search, uint32_t op, uint32_t place)
{
    struct gap a = handed_on(search, op, place), b = handed_on(search, op, place + 1);

    if (a.cut && a.cut == b.cut)
        return filled_of(&a) > filled_of(&b) ? a : b;
    return no_gap();
}

/* A choice between a gradient and constants: those are the zeros of what lets it through or not. */
static struct gap of_choice(const struct search *search, uint32_t op)
{
    const struct waste *waste = search->axes->waste;

    if (waste_is_constant(waste, op_graph_operand(waste->graph, op, 1)))
        return handed_on(search, op, 2);
    if (waste_is_constant(waste, op_graph_operand(waste->graph, op, 2)))
        return handed_on(search, op, 1);
    return of_both(search, op, 1);
}

/* A product, number by number: zero where one of them is. */
static struct gap of_either(const struct search *search, uint32_t op)
{
    struct gap a = handed_on(search, op, 0), b = handed_on(search, op, 1);

    return filled_of(&b) < filled_of(&a) ? b : a;
}

static struct gap of_pad(const struct search *search, uint32_t pad)
{
    const struct axes   *axes = search->axes;
    uint32_t             small = op_graph_operand(axes->waste->graph, pad, 0);
    uint32_t             cut = cut_of(search, pad, pad, small);
    const struct tensor *from, *to;
    struct gap           gap = no_gap();

    if (!cut || !waste_is_constant(axes->waste, op_graph_operand(axes->waste->graph, pad, 1)))
        return gap;
    from = axes_shape(axes, small);
    to = axes_shape(axes, pad);
    gap = search->gaps->of[small];
    gap.cut = cut;
    for (int axis = 0; axis < to->rank; axis++)
        if (to->dims[axis] > 0)
            gap.filled[axis] *= (double)from->dims[axis] / (double)to->dims[axis];
    return gap;
}

/* Free axes of either side, and those of the batch, go into the result. */
static struct gap of_product(const struct search *search, uint32_t op)
{
    struct gap a = handed_on(search, op, 0), b = handed_on(search, op, 1);

    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        if (b.filled[axis] < a.filled[axis])
            a.filled[axis] = b.filled[axis], a.cut = b.cut;
    return a;
}

/* One of the results of a fusion. */
static struct gap of_element(const struct search *search, uint32_t op)
{
    const struct waste *waste = search->axes->waste;
    uint32_t            fusion = op_graph_operand(waste->graph, op, 0);
    uint32_t            tuple = fusion == NO_ID ? NO_ID : waste->compiled->root[fusion], made;

    if (tuple == NO_ID || !waste_is(waste, fusion, "fusion") || !waste_is(waste, tuple, "tuple"))
        return no_gap();
    made = op_graph_operand(waste->graph, tuple, axes_element(search->axes, op));
    return made == NO_ID ? no_gap() : search->gaps->of[made];
}

static struct gap gap_of(const struct search *search, uint32_t op)
{
    static const char   same[] = "negate|convert|copy|transpose|bitcast|reshape|abs|sign|tanh";
    const struct waste *waste = search->axes->waste;
    uint32_t            root = waste->compiled->root[op];

    if (waste_is(waste, op, "pad"))
        return of_pad(search, op);
    if (waste_is(waste, op, "fusion") && root != NO_ID)
        return axes_shape(search->axes, op) ? search->gaps->of[root] : no_gap();
    if (waste_is(waste, op, "parameter")) /* of a fusion: what it is given */
        return waste->profile->ops.items[op].caller &&
                       waste_is(waste, waste->profile->ops.items[op].caller - 1, "fusion")
                   ? handed_on(search, op, 0)
                   : no_gap();
    if (waste_is(waste, op, "get-tuple-element"))
        return of_element(search, op);
    if (waste_is(waste, op, "multiply"))
        return of_either(search, op);
    if (waste_is(waste, op, "add|subtract"))
        return of_both(search, op, 0);
    if (waste_is(waste, op, "select"))
        return of_choice(search, op);
    if (waste_is(waste, op, "dot|convolution"))
        return of_product(search, op);
    if (waste_is(waste, op, same) || waste_is(waste, op, "divide") || waste->adds[op])
        return handed_on(search, op, 0);
    return no_gap();
}

static void mark_consumers(struct search *search, uint32_t op)
{
    struct op_ids consumers = op_graph_consumers(search->axes->waste->graph, op);

    for (size_t i = 0; i < consumers.count; i++)
        search->is_due[consumers.ids[i]] = true;
}

/* An element of a tuple stands behind the fusion that gives the tuple. */
static void mark_takers(struct search *search, uint32_t op)
{
    const struct waste *waste = search->axes->waste;
    struct op_ids       consumers = op_graph_consumers(waste->graph, op);

    mark_consumers(search, op);
    for (size_t i = 0; i < consumers.count; i++) {
        uint32_t      tuple = consumers.ids[i];
        struct op_ids holders = op_graph_consumers(waste->graph, tuple);

        for (size_t h = 0; waste_is(waste, tuple, "tuple") && h < holders.count; h++)
            if (waste->compiled->root[holders.ids[h]] == tuple)
                mark_consumers(search, holders.ids[h]);
    }
}

/* From what pads to what takes it, until nothing changes: what an op is given may stand behind it.
 */
static void find_gaps(struct search *search)
{
    enum { MOST_ROUNDS = 24 };
    const struct waste *waste = search->axes->waste;
    bool                has_changed = true;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        search->gaps->of[op] = no_gap();
        search->is_due[op] = waste_is(waste, op, "pad");
    }
    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
            struct gap gap, was = search->gaps->of[op];

            if (!search->is_due[op])
                continue;
            search->is_due[op] = false;
            gap = gap_of(search, op);
            search->gaps->of[op] = gap;
            if (gap.cut != was.cut || filled_of(&gap) != filled_of(&was)) {
                has_changed = true;
                mark_takers(search, op);
            }
        }
    }
    for (uint32_t op = 0; has_changed && op < waste->graph->vertex_count; op++)
        search->gaps->of[op] = no_gap();
}

const struct gaps *gaps_find(const struct axes *axes)
{
    struct arena *scratch = axes->waste->ledger->scratch;
    size_t        count = axes->waste->graph->vertex_count;
    struct search search = {
        .axes = axes,
        .gaps = arena_new(scratch, struct gaps),
        .is_due = arena_new_array(scratch, bool, count + 1),
    };

    if (!search.gaps || !search.is_due)
        return NULL;
    search.gaps->of = arena_new_array(scratch, struct gap, count + 1);
    if (!search.gaps->of || !find_cuts(&search))
        return NULL;
    find_gaps(&search);
    return search.gaps;
}

double gaps_filled(const struct axes *axes, const struct gaps *gaps, uint32_t op)
{
    double filled = filled_of(&gaps->of[op]);

    for (uint32_t place = 0; place < 2 && waste_is(axes->waste, op, "reduce|dot|convolution");
         place++) {
        uint32_t operand = op_graph_operand(axes->waste->graph, op, place);
        double   of = operand == NO_ID ? 1 : filled_of(&gaps->of[operand]);

        filled = of < filled ? of : filled;
    }
    return filled;
}
