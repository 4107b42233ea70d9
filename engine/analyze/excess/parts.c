#include "analyze/excess/parts.h"

#include "base/macros.h"

#include <math.h>
#include <string.h>

static const struct taken NONE = { .picked = 0 };

static bool is_type(const struct parts *parts, uint32_t op, const char *type)
{
    return compiled_is_type(parts->axes.waste->compiled, op, type);
}

static struct taken whole(void)
{
    struct taken part = { .picked = 1 };

    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        part.of[axis] = 1;
    return part;
}

/* In a loop each round cuts another part. */
static bool is_in_same(const struct parts *parts, uint32_t a, uint32_t b)
{
    const struct waste *waste = parts->axes.waste;

    return waste->profile->ops.items[compiled_timed(waste->compiled, a)].caller ==
           waste->profile->ops.items[compiled_timed(waste->compiled, b)].caller;
}

/* What is left along each axis of what `taker` cuts. */
static void cut(const struct parts *parts, uint32_t op, uint32_t taker, struct taken *part)
{
    const struct tensor *from = axes_shape(&parts->axes, op);
    const struct tensor *to = axes_shape(&parts->axes, taker);

    part->cut_key = is_type(parts, taker, "slice") ? parts->gaps->cut[taker] : taker + 1;
    for (int axis = 0; from && to && axis < from->rank; axis++)
        if (from->rank == to->rank && from->dims[axis] > 0)
            part->of[axis] *= (double)to->dims[axis] / (double)from->dims[axis];
}

/* Selection by numbers along axes that the operand has all of holds for its elements, too. */
static void hand_picked(const struct taken *taken, const struct axis_map *map, struct taken *part)
{
    uint8_t axes = 0, seen = 0;

    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        if (map->to[axis] & taken->picked_by) {
            axes |= (uint8_t)(1 << axis);
            seen |= map->to[axis];
        }
    if ((taken->picked_by & ~seen) == 0) {
        part->picked = taken->picked;
        part->picked_key = taken->picked_key;
        part->picked_by = axes;
    }
}

/* Axes that were put together share what is taken: the first of them tells it. */
static void hand_slabs(const struct taken *taken, const struct axis_map *map, struct taken *part)
{
    uint8_t told = 0;

    part->cut_key = taken->cut_key;
    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++) {
        for (int to = 0; to < TENSOR_MAX_RANK; to++)
            if (map->to[axis] & ~told & 1 << to)
                part->of[axis] *= taken->of[to];
        told |= map->to[axis];
    }
}

/* Adds what a mask picks; what another one picked before is the same, where they are equal. */
static void pick(struct taken *part, const struct one_hot *mask, uint8_t axes)
{
    if (part->picked_key == mask->key)
        return;
    part->picked /= (double)mask->length;
    part->picked_key = mask->key;
    part->picked_by |= axes;
}

static int find_axis(const struct axis_list *list, int axis)
{
    for (int i = 0; i < list->count; i++)
        if (list->ids[i] == axis)
            return i;
    return -1;
}

/* Axes of the operand at `place` of a dot that meet those of the other one; false: one of them
 * meets none. */
static bool meet(const struct axes *axes, uint32_t dot, uint32_t place, uint8_t others,
                 uint8_t *mine)
{
    struct axis_list summed = axes_summed(axes, dot, 1 - place);
    struct axis_list batch = axes_list(axes, dot, place ? axes->left_batch : axes->right_batch);
    struct axis_list my_summed = axes_summed(axes, dot, place);
    struct axis_list my_batch = axes_list(axes, dot, place ? axes->right_batch : axes->left_batch);

    *mine = 0;
    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++) {
        int in_sum = find_axis(&summed, axis), in_batch = find_axis(&batch, axis);

        if (!(others >> axis & 1))
            continue;
        if (in_sum >= 0 && in_sum < my_summed.count)
            *mine |= (uint8_t)(1 << my_summed.ids[in_sum]);
        else if (in_batch >= 0 && in_batch < my_batch.count)
            *mine |= (uint8_t)(1 << my_batch.ids[in_batch]);
        else
            return false;
    }
    return true;
}

/* Times a mask, element by element or in a product that pairs all that the mask goes by. */
static void pick_masked(const struct parts *parts, uint32_t taker, uint32_t place,
                        struct taken *part)
{
    const struct axes *axes = &parts->axes;
    uint32_t other = place < 2 ? op_graph_operand(axes->waste->graph, taker, 1 - place) : NO_ID;
    const struct one_hot *mask;
    uint8_t               mine;

    if (other == NO_ID || axes->one_hot[other].axis == AXIS_NONE)
        return;
    mask = &axes->one_hot[other];
    if (is_type(parts, taker, "multiply"))
        pick(part, mask, mask->by);
    else if (is_type(parts, taker, "dot") && meet(axes, taker, place, mask->by, &mine))
        pick(part, mask, mine);
}

/* Times zeros, or chosen instead of some. */
static void leave_zeros(const struct parts *parts, uint32_t taker, uint32_t place,
                        struct taken *part)
{
    const struct op_graph *graph = parts->axes.waste->graph;
    const struct gap      *zeros = NULL;

    if (is_type(parts, taker, "multiply") && place < 2) {
        uint32_t other = op_graph_operand(graph, taker, 1 - place);

        zeros = other == NO_ID ? NULL : &parts->gaps->of[other];
    } else if (is_type(parts, taker, "select") && !place) {
        zeros = &parts->gaps->of[taker];
    }
    if (!zeros || !zeros->cut || part->cut_key == zeros->cut)
        return;
    part->cut_key = zeros->cut;
    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        part->of[axis] *= zeros->filled[axis];
}

/* What `taker` needs of its operand. */
static struct taken needed_by(const struct parts *parts, uint32_t op, uint32_t taker,
                              uint32_t place)
{
    const struct taken *taken = &parts->part[taker];
    bool                cuts = is_type(parts, taker, "slice|dynamic-slice");
    struct taken        part = whole();
    struct axis_map     map;

    if (parts->axes.waste->compiled->root[taker] == op)
        return axes_shape(&parts->axes, taker) ? *taken : part;
    if (cuts && (place || !is_in_same(parts, op, taker)))
        return part;
    map = axes_into(&parts->axes, taker, place);
    if (!is_type(parts, taker, "concatenate") && !is_type(parts, taker, "dynamic-update-slice"))
        hand_slabs(taken, &map, &part);
    if (taken->picked < 1)
        hand_picked(taken, &map, &part);
    if (cuts)
        cut(parts, op, taker, &part);
    leave_zeros(parts, taker, place, &part);
    pick_masked(parts, taker, place, &part);
    return part;
}

static bool is_none(const struct taken *part)
{
    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        if (part->of[axis] > 0)
            return false;
    return true;
}

/* Parts that several take are the same one, of the same cut, or lie beside each other. */
static void join(struct taken *part, const struct taken *other)
{
    bool is_first = is_none(part), is_same = part->cut_key && part->cut_key == other->cut_key;

    if (is_none(other))
        return;
    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        part->of[axis] = is_same ? fmax(part->of[axis], other->of[axis])
                                 : fmin(part->of[axis] + other->of[axis], 1);
    part->cut_key = is_first || is_same ? other->cut_key : 0;
    if (part->picked_key == other->picked_key && part->picked_key)
        part->picked = part->picked > other->picked ? part->picked : other->picked;
    else
        part->picked = part->picked + other->picked < 1 ? part->picked + other->picked : 1;
    part->picked_key = other->picked_key;
    part->picked_by |= other->picked_by;
}

/* In which places `taker` takes it: an op that is two operands has its place known of one alone. */
static uint32_t place_in(const struct parts *parts, uint32_t op, uint32_t taker)
{
    const struct op_graph *graph = parts->axes.waste->graph;

    for (uint32_t i = graph->first_producer[taker]; i < graph->first_producer[taker + 1]; i++)
        if (graph->producers[i] == op)
            return graph->producer_place[i];
    return UINT16_MAX;
}

static struct taken part_of(const struct parts *parts, uint32_t op)
{
    const struct waste *waste = parts->axes.waste;
    struct op_ids       consumers = op_graph_consumers(waste->graph, op);
    struct taken        part = NONE;

    for (size_t i = 0; i < consumers.count; i++) {
        uint32_t     taker = consumers.ids[i];
        struct taken needed;

        if (compiled_holds(waste->compiled, taker) && waste->compiled->root[taker] != op)
            continue; /* the parameter that stands for it */
        needed = needed_by(parts, op, taker, place_in(parts, op, taker));
        join(&part, &needed);
    }
    return consumers.count ? part : whole();
}

double parts_cut(const struct parts *parts, uint32_t op)
{
    const struct tensor *shape = axes_shape(&parts->axes, op);
    double               taken = 1;

    for (int axis = 0; shape && axis < shape->rank; axis++)
        taken *= parts->part[op].of[axis];
    return taken;
}

double parts_filled(const struct parts *parts, uint32_t op)
{
    return gaps_filled(&parts->axes, parts->gaps, op);
}

/* Whether a mask is made for products alone, which pick by its numbers as well. */
static bool feeds_products(const struct parts *parts, uint32_t op, int farthest)
{
    const struct waste *waste = parts->axes.waste;
    struct op_ids       consumers = op_graph_consumers(waste->graph, op);
    bool                ok = consumers.count > 0 && farthest > 0;

    for (size_t i = 0; ok && i < consumers.count; i++) {
        uint32_t taker = consumers.ids[i];

        if (compiled_holds(waste->compiled, taker) && waste->compiled->root[taker] != op)
            continue; /* the parameter that stands for it is a consumer, too */
        ok = is_type(parts, taker, "dot") || (parts->axes.one_hot[taker].axis != AXIS_NONE &&
                                              feeds_products(parts, taker, farthest - 1));
    }
    return ok;
}

/* A product with zeros is none. */
double parts_picked(const struct parts *parts, uint32_t op)
{
    enum { FARTHEST = 12 };
    const struct axes    *axes = &parts->axes;
    const struct one_hot *own = &axes->one_hot[op];
    double                taken = parts->part[op].picked;

    if (own->axis != AXIS_NONE && feeds_products(parts, op, FARTHEST))
        return 1 / (double)own->length;
    for (uint32_t place = 0; is_type(parts, op, "dot") && place < 2; place++) {
        uint32_t operand = op_graph_operand(axes->waste->graph, op, place);
        double   length = operand == NO_ID || axes->one_hot[operand].axis == AXIS_NONE
                              ? 1
                              : (double)axes->one_hot[operand].length;

        taken = length > 1 && 1 / length < taken ? 1 / length : taken;
    }
    return taken;
}

static bool grows(const struct taken *part, const struct taken *than)
{
    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        if (part->of[axis] > than->of[axis])
            return true;
    return part->picked > than->picked;
}

/* What makes the operands of an op is to be looked at again. */
static void mark_makers(const struct waste *waste, uint32_t op, bool *is_due)
{
    struct op_ids makers = op_graph_producers(waste->graph, op);

    for (size_t i = 0; i < makers.count; i++)
        is_due[makers.ids[i]] = true;
}

/* From users to makers, until nothing changes; parts only grow. */
static bool find_parts(struct parts *parts)
{
    enum { MOST_ROUNDS = 24 };
    const struct waste *waste = parts->axes.waste;
    struct arena       *scratch = waste->ledger->scratch;
    uint32_t            count = waste->graph->vertex_count;
    bool *is_due = arena_new_array(scratch, bool, (size_t)count + 1), has_changed = true;

    parts->part = arena_new_array(scratch, struct taken, (size_t)count + 1);
    if (!is_due || !parts->part)
        return false;
    memset(is_due, true, count);
    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = count; op-- > 0;) {
            struct taken part;

            if (!is_due[op])
                continue;
            is_due[op] = false;
            part = part_of(parts, op);
            if (grows(&part, &parts->part[op])) {
                parts->part[op] = part, has_changed = true;
                mark_makers(waste, op, is_due);
            }
        }
    }
    for (uint32_t op = 0; has_changed && op < count; op++)
        parts->part[op] = whole();
    waste->ledger->part = parts->part;
    return true;
}

bool parts_open(struct parts *parts, const struct waste *waste)
{
    struct ledger *ledger = waste->ledger;

    parts->part = ledger->part;
    if (!axes_open(&parts->axes, waste))
        return false;
    if (!ledger->gaps)
        ledger->gaps = gaps_find(&parts->axes);
    parts->gaps = ledger->gaps;
    return parts->gaps && (parts->part || find_parts(parts));
}
