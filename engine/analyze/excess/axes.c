#include "analyze/excess/axes.h"

#include "base/macros.h"

static const struct axis_map NOWHERE = { { 0 } };

static uint8_t bit(int axis)
{
    return (uint8_t)(1 << axis);
}

const struct tensor *axes_shape(const struct axes *axes, uint32_t op)
{
    const struct tensor *shape = compiled_result(axes->waste->compiled, op);

    return shape && shape->rank >= 0 ? shape : NULL;
}

static uint32_t value_of(const struct axes *axes, uint32_t op, uint32_t name)
{
    const struct profile *profile = axes->waste->profile;
    const struct op      *row = &profile->ops.items[op];

    for (uint32_t i = 0; i < row->attr_count; i++)
        if (profile->attrs.items[row->first_attr + i].name == name)
            return profile->attrs.items[row->first_attr + i].value;
    return 0;
}

static struct str attr_of(const struct axes *axes, uint32_t op, uint32_t name)
{
    return profile_str(axes->waste->profile, value_of(axes, op, name));
}

struct axis_list axes_list(const struct axes *axes, uint32_t op, uint32_t name)
{
    struct str       text = attr_of(axes, op, name);
    struct axis_list list = { .count = 0 };

    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] >= '0' && text.data[i] < '0' + TENSOR_MAX_RANK &&
            list.count < TENSOR_MAX_RANK)
            list.ids[list.count++] = (int8_t)(text.data[i] - '0');
        else if (text.data[i] != ',')
            return (struct axis_list) { .count = -1 };
    return list;
}

static bool has_axis(const struct axis_list *list, int axis)
{
    for (int i = 0; i < list->count; i++)
        if (list->ids[i] == axis)
            return true;
    return false;
}

uint32_t axes_number(const struct axes *axes, uint32_t op, uint32_t name)
{
    struct str text = attr_of(axes, op, name);
    uint32_t   number = 0;

    for (size_t i = 0; i < text.len && number < UINT32_MAX / 16; i++)
        number = number * 10 + (uint32_t)(text.data[i] - '0');
    return number;
}

uint32_t axes_element(const struct axes *axes, uint32_t op)
{
    return axes_number(axes, op, axes->element);
}

uint32_t axes_places(const struct axes *axes, uint32_t op)
{
    return value_of(axes, op, axes->places);
}

static struct axis_map same_axes(const struct tensor *from, const struct tensor *to)
{
    struct axis_map map = NOWHERE;

    for (int axis = 0; from->rank == to->rank && axis < from->rank; axis++)
        map.to[axis] = bit(axis);
    return map;
}

/* Axes as long as no other of theirs, on both sides: a layout may have changed their order. */
static bool by_length(const struct tensor *from, const struct tensor *to, struct axis_map *map)
{
    *map = NOWHERE;
    for (int axis = 0; axis < from->rank; axis++) {
        int mine = 0, theirs = 0;

        for (int other = 0; other < from->rank; other++)
            mine += from->dims[other] == from->dims[axis];
        for (int other = 0; other < to->rank; other++)
            if (to->dims[other] == from->dims[axis]) {
                theirs++;
                map->to[axis] = bit(other);
            }
        if (from->dims[axis] != 1 && (mine > 1 || theirs != 1))
            return false;
        if (from->dims[axis] == 1)
            map->to[axis] = 0;
    }
    return true;
}

/* Runs of axes with as many elements on both sides. */
static struct axis_map by_position(const struct tensor *from, const struct tensor *to)
{
    struct axis_map map = NOWHERE;

    for (int axis = 0, other = 0; axis < from->rank && other < to->rank;) {
        int     first = axis;
        int64_t mine = from->dims[axis++], theirs = to->dims[other];
        uint8_t bits = bit(other++);

        while (mine != theirs && (mine < theirs ? axis < from->rank : other < to->rank))
            if (mine < theirs) {
                mine *= from->dims[axis++];
            } else {
                theirs *= to->dims[other];
                bits |= bit(other++);
            }
        for (int i = first; i < axis && mine == theirs; i++)
            map.to[i] = bits;
    }
    return map;
}

static struct axis_map through_reshape(const struct tensor *from, const struct tensor *to)
{
    struct axis_map map;

    return by_length(from, to, &map) ? map : by_position(from, to);
}

/* Batch axes first, then what stays of the left operand, then of the right one. */
static struct axis_map through_dot(const struct axes *axes, uint32_t op, uint32_t place,
                                   const struct tensor *from)
{
    struct axis_list batch = axes_list(axes, op, place ? axes->right_batch : axes->left_batch);
    struct axis_list inner = axes_summed(axes, op, place);
    struct axis_map  map = NOWHERE;
    int              next = batch.count, kept = 0;

    if (batch.count < 0 || inner.count < 0 || place > 1)
        return map;
    if (place) { /* behind those of the left one */
        uint32_t             left = op_graph_operand(axes->waste->graph, op, 0);
        struct axis_list     other = axes_summed(axes, op, 0);
        const struct tensor *shape = left == NO_ID ? NULL : axes_shape(axes, left);

        kept = shape ? shape->rank - batch.count - other.count : TENSOR_MAX_RANK;
        next += kept;
    }
    for (int i = 0; i < batch.count; i++)
        map.to[batch.ids[i]] = bit(i);
    for (int axis = 0; axis < from->rank; axis++)
        if (!has_axis(&batch, axis) && !has_axis(&inner, axis) && next < TENSOR_MAX_RANK)
            map.to[axis] = bit(next++);
    return map;
}

/* Of a convolution's input the rows of the batch stay apart. */
static struct axis_map through_convolution(const struct axes *axes, uint32_t op, uint32_t place)
{
    struct axis_list from = axes_list(axes, op, axes->left_batch);
    struct axis_list to = axes_list(axes, op, axes->made_batch);
    struct axis_map  map = NOWHERE;

    if (!place && from.count == 1 && to.count == 1)
        map.to[from.ids[0]] = bit(to.ids[0]);
    return map;
}

struct axis_list axes_summed(const struct axes *axes, uint32_t op, uint32_t place)
{
    return axes_list(axes, op, place ? axes->right_inner : axes->left_inner);
}

/* A broadcast tells where axes go, a transpose where they come from, a reduction which go. */
static struct axis_map by_list(const struct axes *axes, uint32_t op, const struct tensor *from)
{
    struct axis_list list = axes_list(axes, op, axes->axes);
    struct axis_map  map = NOWHERE;
    int              next = 0;

    if (list.count < 0)
        return map;
    if (waste_is(axes->waste, op, "broadcast"))
        for (int axis = 0; axis < from->rank && axis < list.count; axis++)
            map.to[axis] = bit(list.ids[axis]);
    else if (waste_is(axes->waste, op, "transpose"))
        for (int axis = 0; axis < list.count; axis++)
            map.to[list.ids[axis]] = bit(axis);
    else
        for (int axis = 0; axis < from->rank; axis++)
            map.to[axis] = has_axis(&list, axis) ? 0 : bit(next++);
    return map;
}

struct axis_map axes_into(const struct axes *axes, uint32_t op, uint32_t place)
{
    static const char kept[] =
        "parameter|copy|slice|dynamic-slice|convert|dynamic-update-slice|concatenate|"
        "fusion|call";
    uint32_t             operand = op_graph_operand(axes->waste->graph, op, place);
    const struct tensor *from = operand == NO_ID ? NULL : axes_shape(axes, operand);
    const struct tensor *to = axes_shape(axes, op);

    if (!from || !to)
        return NOWHERE;
    if (waste_is(axes->waste, op, "broadcast|transpose|reduce"))
        return place ? NOWHERE : by_list(axes, op, from);
    if (waste_is(axes->waste, op, kept))
        return same_axes(from, to);
    if (waste_is(axes->waste, op, "bitcast|reshape"))
        return through_reshape(from, to);
    if (waste_is(axes->waste, op, "dot"))
        return through_dot(axes, op, place, from);
    if (waste_is(axes->waste, op, "convolution"))
        return through_convolution(axes, op, place);
    return linear_is_elementwise(axes->waste, op) ? same_axes(from, to) : NOWHERE;
}

/* AXIS_NONE: there are several, or none. */
static int only_axis(uint8_t bits)
{
    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++)
        if (bits == bit(axis))
            return axis;
    return AXIS_NONE;
}

/* The axis that numbers count along, from constants alone; an array of numbers is one, too. */
static int counted_axis(const struct axes *axes, uint32_t op)
{
    enum { FARTHEST = 16 };
    int axis = AXIS_NONE; /* of the result of `op`, found from the far end: maps are put together */
    struct axis_map maps[FARTHEST];
    int             steps = 0;

    for (; steps < FARTHEST; steps++) {
        uint32_t operand = op_graph_operand(axes->waste->graph, op, 0);

        if (waste_is(axes->waste, op, "iota")) {
            struct axis_list list = axes_list(axes, op, axes->axes);

            axis = list.count > 0 ? list.ids[0] : 0;
            break;
        }
        if (operand == NO_ID ||
            !waste_is(axes->waste, op, "broadcast|bitcast|convert|copy|reshape|parameter"))
            return AXIS_NONE;
        maps[steps] = axes_into(axes, op, 0);
        op = operand;
    }
    if (steps == FARTHEST)
        return AXIS_NONE;
    while (steps-- > 0 && axis != AXIS_NONE)
        axis = only_axis(maps[steps].to[axis]);
    return axis;
}

/* Whether it is the same all along an axis, because it is spread over it. */
static bool is_spread(const struct axes *axes, uint32_t op, int axis)
{
    enum { FARTHEST = 16 };

    for (int steps = 0; steps < FARTHEST; steps++) {
        uint32_t        operand = op_graph_operand(axes->waste->graph, op, 0);
        struct axis_map map;
        int             from = AXIS_NONE;

        if (operand == NO_ID)
            return false;
        map = axes_into(axes, op, 0);
        for (int i = 0; i < TENSOR_MAX_RANK; i++)
            if (map.to[i] & bit(axis))
                from = i;
        if (waste_is(axes->waste, op, "broadcast") && from == AXIS_NONE)
            return true;
        if (from == AXIS_NONE ||
            (compiled_works(axes->waste->compiled, op) && !waste_is(axes->waste, op, "convert")))
            return false;
        axis = from;
        op = operand;
    }
    return false;
}

/* Numbers that the program itself holds: data that it was traced with. */
static bool is_literal(const struct axes *axes, uint32_t op)
{
    enum { FARTHEST = 16 };

    for (int steps = 0; steps < FARTHEST; steps++) {
        uint32_t operand = op_graph_operand(axes->waste->graph, op, 0);

        if (operand == NO_ID)
            return waste_is(axes->waste, op, "constant") &&
                   compiled_elements(axes->waste->compiled, op) > 1;
        op = operand;
    }
    return false;
}

static const struct one_hot NOT_ONE_HOT = { .axis = AXIS_NONE };

/* Numbers that count along an axis are equal to one that is given. */
static struct one_hot of_comparison(const struct axes *axes, uint32_t op)
{
    const struct tensor *shape = axes_shape(axes, op);
    struct one_hot       hot = NOT_ONE_HOT;

    if (!shape || !str_equal(attr_of(axes, op, axes->compares), STR("EQ")))
        return hot;
    for (uint32_t place = 0; place < 2 && hot.axis == AXIS_NONE; place++) {
        uint32_t counts = op_graph_operand(axes->waste->graph, op, place);
        uint32_t given = op_graph_operand(axes->waste->graph, op, 1 - place);
        int      axis;

        if (counts == NO_ID || given == NO_ID ||
            (!axes->waste->compiled->from[given] && !is_literal(axes, given)))
            continue;
        axis = counted_axis(axes, counts);
        if (axis == AXIS_NONE || !is_spread(axes, given, axis))
            continue;
        hot.axis = (int8_t)axis;
        hot.length = shape->dims[axis];
        hot.by = bit(axis);
        hot.key = compiled_maker(axes->waste->compiled, given) + 1;
        for (int i = 0; i < shape->rank; i++)
            if (shape->dims[i] > 1 && !is_spread(axes, given, i))
                hot.by |= bit(i);
    }
    return hot;
}

/* The same where axes have gone; not where one that tells which number it is was summed over. */
static struct one_hot moved(const struct axes *axes, uint32_t op, uint32_t place)
{
    uint32_t        operand = op_graph_operand(axes->waste->graph, op, place);
    struct one_hot  from = operand == NO_ID ? NOT_ONE_HOT : axes->one_hot[operand];
    struct one_hot  to = { .axis = AXIS_NONE, .length = from.length, .key = from.key };
    struct axis_map map;

    if (from.axis == AXIS_NONE)
        return NOT_ONE_HOT;
    map = axes_into(axes, op, place);
    for (int axis = 0; axis < TENSOR_MAX_RANK; axis++) {
        if (!(from.by >> axis & 1))
            continue;
        if (!map.to[axis])
            return NOT_ONE_HOT;
        to.by |= map.to[axis];
    }
    for (int8_t axis = TENSOR_MAX_RANK; axis-- > 0;)
        if (map.to[from.axis] & bit(axis))
            to.axis = axis;
    return to;
}

static bool is_same(const struct one_hot *a, const struct one_hot *b)
{
    return a->axis == b->axis && a->key == b->key && a->axis != AXIS_NONE;
}

/* Zeros stay zeros: times anything, and in sums of arrays that are zero in the same places. */
static struct one_hot one_hot_of(const struct axes *axes, uint32_t op)
{
    static const char handed[] = "convert|bitcast|reshape|copy|transpose|parameter|multiply|and|"
                                 "broadcast|dot|negate";
    uint32_t          root = axes->waste->compiled->root[op];

    if (root != NO_ID)
        return axes_shape(axes, op) ? axes->one_hot[root] : NOT_ONE_HOT;
    if (waste_is(axes->waste, op, "compare"))
        return of_comparison(axes, op);
    if (waste_is(axes->waste, op, "add|subtract")) {
        struct one_hot left = moved(axes, op, 0), right = moved(axes, op, 1);

        return is_same(&left, &right) ? left : NOT_ONE_HOT;
    }
    for (uint32_t place = 0; waste_is(axes->waste, op, handed) && place < 2; place++) {
        struct one_hot hot = moved(axes, op, place);

        if (hot.axis != AXIS_NONE)
            return hot;
    }
    return NOT_ONE_HOT;
}

static bool find_one_hot(struct axes *axes)
{
    enum { MOST_ROUNDS = 16 };
    const struct waste *waste = axes->waste;
    bool                has_changed = true;

    axes->one_hot =
        arena_new_array(waste->ledger->scratch, struct one_hot, waste->profile->ops.count + 1);
    if (!axes->one_hot)
        return false;
    for (size_t op = 0; op < waste->profile->ops.count; op++)
        axes->one_hot[op] = NOT_ONE_HOT;
    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
            struct one_hot hot =
                axes->one_hot[op].axis == AXIS_NONE ? one_hot_of(axes, op) : NOT_ONE_HOT;

            if (hot.axis != AXIS_NONE)
                axes->one_hot[op] = hot, has_changed = true;
        }
    }
    waste->ledger->one_hot = axes->one_hot;
    return true;
}

bool axes_open(struct axes *axes, const struct waste *waste)
{
    const struct intern *names = &waste->profile->names;

    *axes = (struct axes) { .waste = waste,
                            .axes = intern_find(names, STR("axes")),
                            .left_batch = intern_find(names, STR("left_batch")),
                            .left_inner = intern_find(names, STR("left_inner")),
                            .right_batch = intern_find(names, STR("right_batch")),
                            .right_inner = intern_find(names, STR("right_inner")),
                            .made_batch = intern_find(names, STR("made_batch")),
                            .element = intern_find(names, STR("element")),
                            .compares = intern_find(names, STR("compares")),
                            .places = intern_find(names, STR("places")),
                            .one_hot = waste->ledger->one_hot };
    return axes->one_hot || find_one_hot(axes);
}
