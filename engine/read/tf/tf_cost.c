/*
 * CostGraphDef of a run: what TensorFlow's own cost model knew of each op when the step ended. It
 * fills in for ops of which the step's own records lack time or memory, and it is the graph of ops
 * where none is given.
 * Upstream: tensorflow/core/framework/cost_graph.proto
 */
#include "read/tf/tf_model.h"

struct cost {
    uint32_t op;
    int64_t  temporary_bytes, persistent_bytes, output_bytes, micros;
};
struct costs { /* of one run */
    struct tf_model *model;
    int64_t          number; /* of its step */
    struct id_map    op_of;  /* device's name << 32 | id: ids count anew in each partition */
    uint64_t         timed, sized;
};

static bool read_output(struct tf_model *model, struct message info, struct tf_output *output,
                        struct cost *cost, struct err *err)
{
    struct field field;
    bool         has_shape = false;

    while (message_next(&info, &field, err)) {
        if (field_is_number(&field, 1))
            tf_add(&cost->output_bytes, field_int64(&field));
        else if (field_is_number(&field, 4))
            output->dtype = tf_dtype(field.value);
        if (!field_is_bytes(&field, 3))
            continue;
        has_shape = true;
        output->shape = tf_shape_of(&model->shapes, message_inside(&info, field.bytes), err);
        if (output->shape == NO_ID)
            return err_in(err, "shape");
    }
    if (info.is_damaged)
        return false;
    return !has_shape || output->op == NO_ID || output->slot > UINT16_MAX ||
           vec_push(&model->outputs, &model->scratch, *output) || tf_model_full(err);
}

/* The shapes of its results, where no run told them, and the numbers. */
static bool read_cost(struct tf_model *model, struct message node, struct cost *cost,
                      struct err *err)
{
    bool             is_first = !model->states.items[cost->op].is_measured;
    struct tf_output output = { .op = is_first ? cost->op : NO_ID };
    struct field     field;

    while (message_next(&node, &field, err)) {
        if (field_is_number(&field, 6) || field_is_number(&field, 10) ||
            field_is_number(&field, 11))
            tf_add(&cost->temporary_bytes, field_int64(&field));
        else if (field_is_number(&field, 12) || field_is_number(&field, 16))
            tf_add(&cost->persistent_bytes, field_int64(&field));
        else if (field_is_number(&field, 9))
            tf_add(&cost->micros, field_int64(&field));
        if (!field_is_bytes(&field, 5))
            continue;
        if (!read_output(model, message_inside(&node, field.bytes), &output, cost, err))
            return err_in(err, "output_info[%u]", output.slot);
        output = (struct tf_output) { .op = output.op, .slot = output.slot + 1 };
    }
    model->states.items[cost->op].is_measured = true;
    return !node.is_damaged;
}

static bool add_run(struct costs *costs, const struct cost *cost, uint32_t step)
{
    struct tf_model *model = costs->model;
    struct op_run    run = { .op = cost->op,
                             .step = step,
                             .device = model->profile->ops.items[cost->op].device,
                             .start_ns = -1,
                             .scheduled_ns = -1,
                             .duration_ns = cost->micros * 1000 };

    if (cost->micros == 0 || run.device == NO_ID ||
        model->states.items[cost->op].last_step == step + 1)
        return true;
    costs->timed++;
    return vec_push(&model->profile->op_runs, model->profile->arena, run);
}

static bool add_memory(struct costs *costs, const struct cost *cost, uint32_t step)
{
    struct tf_model *model = costs->model;
    uint32_t         row = model->states.items[cost->op].memory_row;
    int64_t          own_bytes = cost->temporary_bytes + cost->persistent_bytes;
    struct op_memory memory = { .op = cost->op,
                                .step = step,
                                .requested_bytes = own_bytes,
                                .peak_bytes = own_bytes,
                                .residual_bytes = cost->persistent_bytes,
                                .output_bytes = cost->output_bytes,
                                .temporary_bytes = cost->temporary_bytes,
                                .persistent_bytes = cost->persistent_bytes };

    if (own_bytes + cost->output_bytes == 0 ||
        (row && model->profile->op_memory.items[row - 1].step == step))
        return true;
    costs->sized++;
    return tf_model_add_memory(model, &memory);
}

struct head {
    struct str name, device;
    uint32_t   id;
};

static bool read_head(struct message node, struct head *head, struct err *err)
{
    struct field field;

    while (message_next(&node, &field, err)) {
        if (field_is_bytes(&field, 1))
            head->name = field.bytes;
        else if (field_is_bytes(&field, 2))
            head->device = field.bytes;
        else if (field_is_number(&field, 3))
            head->id = (uint32_t)field.value;
    }
    return !node.is_damaged;
}

static uint64_t key_of(struct tf_model *model, const struct head *head, uint32_t id)
{
    return (uint64_t)profile_intern(model->profile, head->device) << 32 | id;
}

/* The op of a node; NO_ID for the ends of a graph, which are none, and past the budget. */
static uint32_t find_op(struct costs *costs, const struct head *head, bool *is_full)
{
    struct tf_model *model = costs->model;
    bool             is_new;
    uint32_t         name, op;

    if (!head->name.len || str_fits(head->name, "_SOURCE|_SINK"))
        return NO_ID;
    name = profile_intern(model->profile, head->name);
    op = tf_model_op(model, 0, name, &is_new);
    *is_full = op == NO_ID || !id_map_put(&costs->op_of, key_of(model, head, head->id), op);
    if (*is_full)
        return NO_ID;
    if (is_new)
        model->profile->ops.items[op].type = name;
    if (head->device.len && model->profile->ops.items[op].device == NO_ID) {
        model->profile->ops.items[op].device = tf_model_device(model, head->device);
        *is_full = model->profile->ops.items[op].device == NO_ID;
    }
    return *is_full ? NO_ID : op;
}

static bool read_node(struct costs *costs, struct message node, struct err *err)
{
    struct head head = { 0 };
    struct cost cost = { 0 };
    bool        is_full = false;
    uint32_t    step;

    if (!read_head(node, &head, err))
        return false;
    cost.op = find_op(costs, &head, &is_full);
    if (cost.op == NO_ID)
        return !is_full || tf_model_full(err);
    if (!read_cost(costs->model, node, &cost, err))
        return false;
    step = tf_model_step(costs->model, costs->number);
    return (step != NO_ID && add_run(costs, &cost, step) && add_memory(costs, &cost, step)) ||
           tf_model_full(err);
}

static bool add_edge(struct tf_model *model, uint32_t op, uint32_t producer, uint32_t slot,
                     bool is_control)
{
    struct tf_input input = {
        .op = op, .from = producer, .slot = slot, .is_control = is_control, .is_resolved = true
    };

    return producer == NO_ID || tf_model_push_input(model, input);
}

static bool read_input(struct costs *costs, const struct head *head, uint32_t op,
                       struct message info, struct err *err)
{
    struct field field;
    uint32_t     node = 0, slot = 0;

    while (message_next(&info, &field, err)) {
        if (field_is_number(&field, 1))
            node = (uint32_t)field.value;
        else if (field_is_number(&field, 2))
            slot = (uint32_t)field.value;
    }
    if (info.is_damaged)
        return err_in(err, "input_info");
    return add_edge(costs->model, op, id_map_get(&costs->op_of, key_of(costs->model, head, node)),
                    slot, false) ||
           tf_model_full(err);
}

/* Control inputs: a packed list, or one number. */
static bool read_controls(struct costs *costs, const struct head *head, uint32_t op,
                          const struct field *field)
{
    int64_t ids[256];
    size_t  count = field_numbers(field, ids, 0, ARRAY_COUNT(ids));

    for (size_t i = 0; i < count && i < ARRAY_COUNT(ids); i++)
        if (!add_edge(costs->model, op,
                      id_map_get(&costs->op_of, key_of(costs->model, head, (uint32_t)ids[i])), 0,
                      true))
            return false;
    return true;
}

/* What an op waits for; nodes name others by ids that may come later. */
static bool read_edges(struct costs *costs, struct message node, struct err *err)
{
    struct tf_model *model = costs->model;
    struct head      head = { 0 };
    struct field     field;
    uint32_t         op;

    if (!read_head(node, &head, err))
        return false;
    op = id_map_get(&costs->op_of, key_of(model, &head, head.id));
    if (op == NO_ID || model->states.items[op].is_defined)
        return true;
    model->states.items[op].is_defined = true;
    while (message_next(&node, &field, err)) {
        if (field_is_bytes(&field, 4) &&
            !read_input(costs, &head, op, message_inside(&node, field.bytes), err))
            return false;
        if (field.number == 8 && !read_controls(costs, &head, op, &field))
            return tf_model_full(err);
    }
    return !node.is_damaged;
}

static bool each_node(struct costs *costs, struct message graph,
                      bool (*read)(struct costs *costs, struct message node, struct err *err),
                      struct err *err)
{
    struct field field;
    uint32_t     index = 0;

    while (message_next(&graph, &field, err)) {
        if (!field_is_bytes(&field, 1))
            continue;
        if (!read(costs, message_inside(&graph, field.bytes), err))
            return err_in(err, "cost_graph.node[%u]", index);
        index++;
    }
    return !graph.is_damaged || err_in(err, "cost_graph");
}

bool tf_cost_read(struct tf_model *model, struct message graph, int64_t number, struct err *err)
{
    struct costs    costs = { .model = model, .number = number, .op_of.arena = &model->scratch };
    struct profile *profile = model->profile;

    if (!each_node(&costs, graph, read_node, err))
        return false;
    if (model->graph_source == TF_GRAPH_NONE || model->graph_source == TF_GRAPH_COSTS) {
        model->graph_source = TF_GRAPH_COSTS;
        if (!each_node(&costs, graph, read_edges, err))
            return false;
    }
    return (!costs.timed ||
            profile_note(profile, NULL, costs.timed,
                         "times of ops taken from the cost graph: the step has no record")) &&
           (!costs.sized ||
            profile_note(profile, NULL, costs.sized,
                         "memory of ops taken from the cost graph: the step has no record"));
}
