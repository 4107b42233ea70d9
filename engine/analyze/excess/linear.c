#include "analyze/excess/linear.h"
#include "base/macros.h"
#include "model/names.h"

static bool is_type(const struct waste *waste, uint32_t op, const char *types)
{
    return compiled_is_type(waste->compiled, op, types);
}

bool linear_is_elementwise(const struct waste *waste, uint32_t op)
{
    return is_type(waste, op, name_list_words(NAMES_HLO_ELEMENTWISE)) ||
           is_type(waste, op, "convert|select|and|or|not|clamp|is-finite");
}

bool linear_is_thin(const struct waste *waste, uint32_t op)
{
    uint32_t maker = compiled_maker(waste->compiled, op);

    return is_type(waste, maker, "broadcast|iota|constant") ||
           compiled_elements(waste->compiled, maker) <= 1;
}

/* All that it takes besides `op` is thin; nothing besides: it takes the same twice. */
static bool others_are_thin(const struct waste *waste, uint32_t op, uint32_t taker)
{
    struct op_ids producers = op_graph_producers(waste->graph, taker);

    for (size_t i = 0; i < producers.count; i++)
        if (producers.ids[i] != op && !linear_is_thin(waste, producers.ids[i]))
            return false;
    return producers.count > 1;
}

enum linear_role linear_role(const struct waste *waste, uint32_t op, uint32_t taker)
{
    static const char same[] = "bitcast|reshape|copy|transpose|convert|negate|parameter|tuple|"
                               "get-tuple-element|while";
    bool              is_held = waste->compiled->root[taker] == op;

    if (is_held || is_type(waste, taker, same))
        return LINEAR_SAME;
    if (is_type(waste, taker, "multiply"))
        return others_are_thin(waste, op, taker) ? LINEAR_SCALED : LINEAR_NOT;
    if (is_type(waste, taker, "add|subtract"))
        return others_are_thin(waste, op, taker) ? LINEAR_SCALED : LINEAR_SUM;
    if (is_type(waste, taker, "dot|convolution"))
        return LINEAR_PRODUCT;
    if (is_type(waste, taker, "reduce"))
        return waste->adds[taker] ? LINEAR_REDUCED : LINEAR_NOT;
    return is_type(waste, taker, "slice|concatenate|pad|dynamic-slice") ? LINEAR_CUT : LINEAR_NOT;
}

static bool add(struct linear_reach *reach, uint32_t op)
{
    for (size_t i = 0; i < reach->count; i++)
        if (reach->ops[i] == op)
            return true;
    if (reach->count == LINEAR_MOST)
        return false;
    reach->ops[reach->count++] = op;
    return true;
}

/* Of a tuple's elements those of the shape of `like`: one of the tuple's operands. */
static bool is_only_one(const struct waste *waste, uint32_t tuple, uint32_t like)
{
    const struct op     *row = &waste->profile->ops.items[tuple];
    const struct tensor *shape =
        &waste->profile->tensors.items[waste->profile->ops.items[like].first_output];
    size_t count = 0;

    for (uint32_t i = 0; i < row->output_count; i++)
        count += same_dims(&waste->profile->tensors.items[row->first_output + i], shape);
    return count == 1;
}

static bool has_shape(const struct waste *waste, uint32_t op, uint32_t like)
{
    const struct op *row = &waste->profile->ops.items[op], *of = &waste->profile->ops.items[like];

    return row->output_count && of->output_count &&
           same_dims(&waste->profile->tensors.items[row->first_output],
                     &waste->profile->tensors.items[of->first_output]);
}

/* Elements of its shape that are taken out of a tuple, or of what holds or carries one. */
static bool add_elements(const struct waste *waste, uint32_t from, uint32_t like,
                         struct linear_reach *takers)
{
    struct op_ids consumers = op_graph_consumers(waste->graph, from);

    for (size_t i = 0; i < consumers.count; i++) {
        uint32_t consumer = consumers.ids[i];

        if (is_type(waste, consumer, "get-tuple-element")
                ? has_shape(waste, consumer, like) && !add(takers, consumer)
                : is_type(waste, consumer, "conditional"))
            return false;
    }
    return true;
}

/* Into the rounds of a loop and out of it: elements of the parameters of what it calls. */
static bool add_carried(const struct waste *waste, uint32_t loop, uint32_t like,
                        struct linear_reach *takers)
{
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (waste->profile->ops.items[op].caller == loop + 1 && is_type(waste, op, "parameter") &&
            !add_elements(waste, op, like, takers))
            return false;
    return add_elements(waste, loop, like, takers);
}

/* A tuple is a program's result, what a fusion gives, or what a loop carries. */
static bool add_tuple(const struct waste *waste, uint32_t tuple, uint32_t like,
                      struct linear_reach *takers)
{
    struct op_ids consumers = op_graph_consumers(waste->graph, tuple);
    uint32_t      caller = waste->profile->ops.items[tuple].caller;

    if (!is_only_one(waste, tuple, like))
        return false;
    if (caller && is_type(waste, caller - 1, "while")) /* as it came in: it was followed there */
        return is_type(waste, like, "get-tuple-element");
    if (!consumers.count)
        return false;
    for (size_t i = 0; i < consumers.count; i++) {
        uint32_t consumer = consumers.ids[i];
        bool     ok = is_type(waste, consumer, "while") ? add_carried(waste, consumer, like, takers)
                      : waste->compiled->root[consumer] == tuple
                          ? add_elements(waste, consumer, like, takers)
                          : false;

        if (!ok)
            return false;
    }
    return true;
}

bool linear_takers(const struct waste *waste, uint32_t op, struct linear_reach *takers)
{
    const struct op *row = &waste->profile->ops.items[op];
    struct op_ids    consumers = op_graph_consumers(waste->graph, op);

    if (!consumers.count || row->output_count != 1)
        return false;
    for (size_t i = 0; i < consumers.count; i++) {
        uint32_t consumer = consumers.ids[i];
        bool     is_passed_in =
            compiled_holds(waste->compiled, consumer) && waste->compiled->root[consumer] != op;

        if (is_passed_in) /* the parameter that stands for it is a consumer, too */
            continue;
        if (is_type(waste, consumer, "tuple") ? !add_tuple(waste, consumer, op, takers)
                                              : !add(takers, consumer))
            return false;
    }
    return true;
}

int64_t linear_identity(const struct waste *waste, uint32_t op)
{
    const struct op     *row = &waste->profile->ops.items[op];
    struct op_ids        producers = op_graph_producers(waste->graph, op);
    const struct tensor *shape;

    if (!is_type(waste, op, "compare") || producers.count != 2 || !row->output_count ||
        waste_calls(waste, op) <= 0 ||
        !str_ends(profile_str(waste->profile, row->origin), STR("/eq")))
        return 0;
    for (size_t i = 0; i < producers.count; i++)
        if (waste->compiled->from[compiled_maker(waste->compiled, producers.ids[i])])
            return 0;
    shape = &waste->profile->tensors.items[row->first_output];
    return shape->rank == 2 && shape->dims[0] == shape->dims[1] ? shape->dims[0] : 0;
}
