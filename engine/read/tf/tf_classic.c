/* From collected rows to the model's order: nodes by name, everything of a node together. */
#include "read/tf/tf_classic.h"

#include "base/sort.h"
#include "model/classic.h"

#include <stdlib.h>
#include <string.h>

bool tf_classic_start(struct tf_model *model, bool has_times)
{
    struct tf_classic *classic = arena_new(&model->scratch, struct tf_classic);

    model->classic = classic;
    if (!classic)
        return false;
    classic->has_times = has_times;
    classic->row_of_step.arena = &model->scratch;
    classic->classic = arena_new(model->profile->arena, struct classic);
    return classic->classic != NULL;
}

/* NULL: full. */
static struct tf_classic_op *state_of(struct tf_model *model, uint32_t op)
{
    struct tf_classic *classic = model->classic;

    if (op >= classic->ops.count) {
        if (!vec_reserve(&classic->ops, &model->scratch, op - classic->ops.count + 1))
            return NULL;
        classic->ops.count = (size_t)op + 1;
    }
    return &classic->ops.items[op];
}

bool tf_classic_shape(struct tf_model *model, uint32_t op, const struct tensor *shape)
{
    struct tf_classic    *classic = model->classic;
    struct tf_classic_op *state = classic ? state_of(model, op) : NULL;

    if (!state || !vec_push(&classic->shapes, &model->scratch, *shape))
        return !classic;
    state->shape = (uint32_t)classic->shapes.count;
    return true;
}

bool tf_classic_output(struct tf_model *model, const struct tf_output *output)
{
    return !model->classic || vec_push(&model->classic->outputs, &model->scratch, *output);
}

bool tf_classic_float_ops(struct tf_model *model, uint32_t op, int64_t float_ops)
{
    struct tf_classic    *classic = model->classic;
    struct tf_classic_op *state;

    if (!classic || float_ops == 0)
        return true;
    state = state_of(model, op);
    if (!state || !vec_push(&classic->float_ops, &model->scratch, float_ops))
        return false;
    state->float_ops = (uint32_t)classic->float_ops.count;
    return true;
}

bool tf_classic_device(struct tf_model *model, uint32_t op, struct str name)
{
    struct tf_classic_op *state = model->classic ? state_of(model, op) : NULL;
    uint32_t              interned = state ? profile_intern(model->profile, name) : NO_ID;

    if (interned != NO_ID)
        state->device = interned;
    return !model->classic || interned != NO_ID;
}

/* The first trace of an op counts. */
bool tf_classic_code(struct tf_model *model, uint32_t op, uint32_t source)
{
    struct tf_classic    *classic = model->classic;
    struct tf_classic_op *state;

    if (!classic)
        return true;
    classic->has_code = true;
    if (source == NO_ID)
        return true;
    state = state_of(model, op);
    if (state && !state->source)
        state->source = source + 1;
    return state != NULL;
}

void tf_classic_misses_streams(struct tf_model *model)
{
    if (model->classic)
        model->classic->misses_streams = true;
}

bool tf_classic_step(struct tf_model *model, int64_t step)
{
    struct tf_classic *classic = model->classic;

    return !classic || id_map_get(&classic->row_of_step, (uint64_t)step) != NO_ID ||
           (id_map_put(&classic->row_of_step, (uint64_t)step, (uint32_t)classic->steps.count) &&
            vec_push(&classic->steps, &model->scratch, step));
}

uint32_t tf_classic_exec_row(struct tf_model *model, uint32_t op, int64_t step)
{
    struct tf_classic    *classic = model->classic;
    struct tf_classic_op *state = state_of(model, op);
    struct classic_exec   exec = { .step = step };
    struct tf_exec        info = { .op = op };

    if (!state || !tf_classic_step(model, step) || classic->execs.count >= NO_ID - 1)
        return NO_ID;
    info.step_row = id_map_get(&classic->row_of_step, (uint64_t)step);
    info.before = state->last_exec;
    /* Steps are read one after the other: a later one than the op's last is new to it. */
    for (uint32_t at = state->last_exec; at; at = classic->execs.items[at - 1].before) {
        uint32_t known = classic->execs.items[at - 1].step_row;

        if (known == info.step_row)
            return at - 1;
        if (at == state->last_exec && known < info.step_row)
            break;
    }
    if (!vec_push(&classic->execs, &model->scratch, info) ||
        !vec_push(&classic->classic->execs, model->profile->arena, exec))
        return NO_ID;
    state->last_exec = (uint32_t)classic->execs.count;
    return state->last_exec - 1;
}

struct ordered {     /* an op by its name */
    uint64_t    key; /* the first bytes behind those that all names share, as a number */
    const char *name;
    uint32_t    len, op;
};

static int compare_names(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    int                   order;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    order = str_compare((struct str) { a->name, a->len }, (struct str) { b->name, b->len });
    return order ? order : (a->op > b->op) - (a->op < b->op);
}

/* Most of what sorting looks at would be the same first bytes again and again, each far away. */
static void sort_names(struct ordered *order, size_t count)
{
    size_t shared = count ? order[0].len : 0;

    for (size_t i = 1; i < count; i++) {
        if (shared > order[i].len)
            shared = order[i].len;
        while (shared && memcmp(order[0].name, order[i].name, shared) != 0)
            shared--;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t at = shared; at < shared + sizeof order->key; at++)
            order[i].key =
                order[i].key << 8 | (at < order[i].len ? (unsigned char)order[i].name[at] : 0);
    if (count)
        qsort(order, count, sizeof *order, compare_names);
}

/* Nodes of the main graph by name; node_of[op] is an op's node, NO_ID for those of functions. */
static bool make_nodes(struct tf_model *model, struct classic *classic, uint32_t *node_of)
{
    const struct profile *profile = model->profile;
    size_t                count = profile->ops.count, used = 0;
    struct ordered       *order = arena_new_array(&model->scratch, struct ordered, count);

    if (!order || !vec_reserve(&classic->nodes, profile->arena, count))
        return false;
    for (uint32_t op = 0; op < count; op++) {
        node_of[op] = NO_ID;
        if (profile->ops.items[op].module == 0) {
            struct str name = profile_str(profile, profile->ops.items[op].name);

            order[used++] = (struct ordered) { 0, name.data, (uint32_t)name.len, op };
        }
    }
    sort_names(order, used);
    for (size_t i = 0; i < used; i++) {
        uint32_t                    op = order[i].op;
        const struct tf_classic_op *state = state_of(model, op);
        struct classic_node         node = { .op = op };

        if (!state)
            return false;
        node.device = state->device;
        node.source = state->source - 1; /* 0 none: NO_ID */
        node.float_ops =
            state->float_ops ? model->classic->float_ops.items[state->float_ops - 1] : 0;
        node.shape = state->shape ? (uint32_t)classic->shapes.count : NO_ID;
        if (state->shape && !vec_push(&classic->shapes, profile->arena,
                                      model->classic->shapes.items[state->shape - 1]))
            return false;
        node_of[op] = (uint32_t)classic->nodes.count;
        classic->nodes.items[classic->nodes.count++] = node;
    }
    return true;
}

static int compare_outputs(const void *left, const void *right)
{
    const struct tf_output *a = left, *b = right;

    return IN_ORDER(COMPARE(a->op, b->op), COMPARE(a->slot, b->slot));
}

/* Graphs tell them in order. */
static void sort_outputs(struct tf_classic *collected)
{
    for (size_t i = 1; i < collected->outputs.count; i++)
        if (compare_outputs(&collected->outputs.items[i - 1], &collected->outputs.items[i]) > 0) {
            qsort(collected->outputs.items, collected->outputs.count, sizeof(struct tf_output),
                  compare_outputs);
            return;
        }
}

/* Slots are claims: gaps count only up to what was told. */
static bool place_list(struct tf_model *model, struct classic *classic, struct classic_node *node,
                       const struct tf_output *outputs, size_t count)
{
    static const struct tensor unknown = { .rank = -1 };
    struct arena              *arena = model->profile->arena;

    node->first_output = (uint32_t)classic->shapes.count;
    for (size_t i = 0; i < count; i++) {
        for (; node->output_count < outputs[i].slot; node->output_count++)
            if (!vec_push(&classic->shapes, arena, unknown))
                return false;
        if (node->output_count > outputs[i].slot) /* told again: the first stays */
            continue;
        node->output_count++;
        if (!vec_push(&classic->shapes, arena, model->shapes.rows.items[outputs[i].shape]))
            return false;
    }
    return true;
}

/* Most ops have one result, and most results one of few shapes, which then share a row. */
static bool place_outputs(struct tf_model *model, struct classic *classic, const uint32_t *node_of)
{
    struct tf_classic      *collected = model->classic;
    const struct tf_output *outputs = collected->outputs.items;
    uint32_t               *row_of =
        arena_new_array(&model->scratch, uint32_t, model->shapes.rows.count); /* + 1 */
    size_t end;

    sort_outputs(collected);
    for (size_t i = 0; row_of && i < collected->outputs.count; i = end) {
        struct classic_node *node;

        for (end = i + 1; end < collected->outputs.count && outputs[end].op == outputs[i].op;)
            end++;
        if (node_of[outputs[i].op] == NO_ID)
            continue;
        node = &classic->nodes.items[node_of[outputs[i].op]];
        if (end - i == 1 && outputs[i].slot == 0 && row_of[outputs[i].shape]) {
            node->first_output = row_of[outputs[i].shape] - 1;
            node->output_count = 1;
            continue;
        }
        if (!place_list(model, classic, node, outputs + i, end - i))
            return false;
        if (end - i == 1 && outputs[i].slot == 0)
            row_of[outputs[i].shape] = node->first_output + 1;
    }
    return row_of != NULL;
}

/* Inputs come sorted by op. */
static bool place_inputs(struct tf_model *model, struct classic *classic, const uint32_t *node_of)
{
    if (!vec_reserve(&classic->inputs, model->profile->arena, model->inputs.count))
        return false;
    for (size_t i = 0; i < model->inputs.count; i++) {
        const struct tf_input *input = &model->inputs.items[i];
        struct classic_node   *node;
        struct classic_input   placed = { .node = NO_ID,
                                          .index = input->index,
                                          .slot = input->slot,
                                          .is_control = input->is_control };

        if (node_of[input->op] == NO_ID)
            continue;
        node = &classic->nodes.items[node_of[input->op]];
        if (input->from != NO_ID)
            placed.node = node_of[input->from];
        if (node->input_count++ == 0)
            node->first_input = (uint32_t)classic->inputs.count;
        classic->inputs.items[classic->inputs.count++] = placed;
    }
    return true;
}

bool tf_classic_finish(struct tf_model *model)
{
    struct profile    *profile = model->profile;
    struct tf_classic *collected = model->classic;
    struct classic    *classic;
    uint32_t          *node_of;

    if (!collected)
        return true;
    classic = collected->classic;
    node_of = arena_new_array(&model->scratch, uint32_t, profile->ops.count);
    if (!node_of)
        return false;
    classic->profile = profile;
    classic->has_code = collected->has_code;
    classic->misses_streams = collected->misses_streams;
    for (size_t i = 0; i < collected->steps.count; i++)
        if (!vec_push(&classic->steps, profile->arena, collected->steps.items[i]))
            return false;
    if (classic->steps.count)
        qsort(classic->steps.items, classic->steps.count, sizeof(int64_t), sort_by_int64);
    profile->classic = classic;
    return make_nodes(model, classic, node_of) && place_outputs(model, classic, node_of) &&
           place_inputs(model, classic, node_of) && tf_classic_place_execs(model, classic, node_of);
}
