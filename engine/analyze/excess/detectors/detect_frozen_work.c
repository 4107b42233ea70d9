/* frozen_work: a program that trains multiplies arrays that it never changes with each other, layer
 * by layer, before anything that it trains has a part in it: features of frozen weights, made again
 * in each step. Where the data come again, so do they. frozen_teacher: what is made so meets no
 * weights that are trained, but what comes of them: targets that another network gives. */
#include "analyze/excess/axes.h"

static const double LEAST_SHARE = 0.05; /* of the steps */

struct finder {
    struct waste *waste;
    struct axes   axes;
    bool         *is_frozen; /* by op: made by such a product, or of what is */
};

/* Arguments that no step changes, alone. */
static bool is_given(const struct finder *finder, uint32_t op)
{
    return finder->waste->compiled->from[op] == FROM_INPUT;
}

static bool is_product(const struct finder *finder, uint32_t op)
{
    return compiled_is_type(finder->waste->compiled, op, "dot|convolution");
}

static bool has_axis(const struct tensor *array, int64_t length)
{
    for (int axis = 0; axis < array->rank; axis++)
        if (array->dims[axis] == length)
            return true;
    return false;
}

/* Rows of the one with rows of the other: what differs by example on both sides is no weight. A
 * convolution with a filter for each row, as vmap makes it, has one picture, whose channels are the
 * rows, and filters of one channel. */
static bool is_row_by_row(const struct finder *finder, uint32_t op)
{
    const struct op_graph *graph = finder->waste->graph;
    struct axis_list       rows = axes_list(&finder->axes, op, finder->axes.left_batch);
    uint32_t               left = op_graph_operand(graph, op, 0);
    uint32_t               right = op_graph_operand(graph, op, 1);
    const struct tensor   *pictures, *filters;

    if (!waste_is(finder->waste, op, "convolution"))
        return rows.count > 0;
    pictures = left == NO_ID ? NULL : axes_shape(&finder->axes, left);
    filters = right == NO_ID ? NULL : axes_shape(&finder->axes, right);
    if (rows.count != 1 || !pictures || !filters || rows.ids[0] >= pictures->rank ||
        pictures->dims[rows.ids[0]] != 1 || !has_axis(filters, 1))
        return false;
    for (int axis = 0; axis < pictures->rank; axis++)
        if (pictures->dims[axis] > 1 && has_axis(filters, pictures->dims[axis]))
            return true;
    return false;
}

static bool is_frozen(const struct finder *finder, uint32_t op)
{
    struct op_ids producers = op_graph_producers(finder->waste->graph, op);
    size_t        given = 0;

    if (!is_given(finder, op))
        return false;
    for (size_t i = 0; i < producers.count; i++) {
        if (finder->is_frozen[producers.ids[i]])
            return true;
        given += is_given(finder, producers.ids[i]);
    }
    return given > 1 && is_product(finder, op) && !is_row_by_row(finder, op);
}

/* Gradients are made in it. */
static bool trains(const struct finder *finder, uint32_t program)
{
    const struct profile *profile = finder->waste->profile;

    for (uint32_t op = 0; op < profile->ops.count; op++)
        if (profile->ops.items[op].program == program &&
            str_contains(profile_str(profile, profile->ops.items[op].origin), STR("transpose(jvp")))
            return true;
    return false;
}

static void spread(struct finder *finder)
{
    enum { MOST_ROUNDS = 24 };
    bool has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++)
            if (!finder->is_frozen[op] && is_frozen(finder, op))
                finder->is_frozen[op] = has_changed = true;
    }
}

/* Weights that are trained multiply what is frozen. */
static bool feeds_trained(const struct finder *finder, uint32_t program)
{
    const struct waste *waste = finder->waste;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        struct op_ids producers = op_graph_producers(waste->graph, op);
        bool          has_frozen = false, has_weights = false;

        if (waste->profile->ops.items[op].program != program || !is_product(finder, op))
            continue;
        for (size_t i = 0; i < producers.count; i++) {
            has_frozen |= finder->is_frozen[producers.ids[i]];
            has_weights |= waste->compiled->from[producers.ids[i]] == FROM_STATE;
        }
        if (has_frozen && has_weights)
            return true;
    }
    return false;
}

/* In programs where trained weights multiply what is frozen, or in the others. */
static bool find_frozen(struct ledger *ledger, const struct detector *self, bool is_fed,
                        const char *detail)
{
    struct waste  waste;
    struct finder finder = { .waste = &waste };
    uint32_t      program = NO_ID;
    bool          is_trained = false;

    finder.is_frozen =
        arena_new_array(ledger->scratch, bool, ledger->study->profile->ops.count + 1);
    if (!finder.is_frozen || !waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    if (!axes_open(&finder.axes, &waste))
        return false;
    spread(&finder);
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++) {
        if (!finder.is_frozen[op])
            continue;
        if (waste.profile->ops.items[op].program != program) {
            program = waste.profile->ops.items[op].program;
            is_trained = trains(&finder, program) && feeds_trained(&finder, program) == is_fed;
        }
        if (is_trained)
            waste_mark(&waste, op, 1);
    }
    return waste_claim(&waste, self, LEAST_SHARE, detail);
}

static bool find_features(struct ledger *ledger, const struct detector *self)
{
    return find_frozen(ledger, self, true,
                       "made of arguments alone that no step changes, before what is trained");
}

static bool find_teacher(struct ledger *ledger, const struct detector *self)
{
    return find_frozen(ledger, self, false,
                       "made of arguments alone that no step changes, beside what is trained");
}

const struct detector detector_frozen_work = { "frozen-work", CAUSE_REPEAT, GRADE_SIZES,
                                               find_features };
const struct detector detector_frozen_teacher = { "frozen-teacher", CAUSE_REPEAT, GRADE_SIZES,
                                                  find_teacher };
