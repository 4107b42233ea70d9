/*
 * GraphDef: nodes of the main graph, then those of the function library, each under its function.
 * Upstream: tensorflow/core/framework/{graph,node_def,function}.proto
 */
#include "read/names_ahead.h"
#include "read/tf_model.h"

static bool read_attr(struct tf_model *model, uint32_t op, struct message entry, struct err *err)
{
    struct field field;
    struct str   name = { 0 }, value = { 0 };

    while (message_next(&entry, &field, err)) {
        if (field_is_bytes(&field, 1))
            name = field.bytes;
        else if (field_is_bytes(&field, 2))
            value = field.bytes;
    }
    if (entry.is_damaged)
        return err_in(err, "attr");
    if (!value.len)
        return true;
    return tf_attr_read(model, op, name, message_inside(&entry, value), err) ||
           err_in(err, "attr[\"%.*s\"]", STR_ARG(str_slice(name, 0, 60)));
}

/* Name and type come before anything that needs them, whatever the order in the file. */
static bool read_head(struct message node, struct str *name, struct str *type, struct err *err)
{
    struct field field;

    while (message_next(&node, &field, err)) {
        if (field_is_bytes(&field, 1))
            *name = field.bytes;
        else if (field_is_bytes(&field, 2))
            *type = field.bytes;
    }
    return !node.is_damaged;
}

static bool read_node(struct tf_model *model, uint32_t function, struct message node,
                      struct err *err)
{
    struct profile *profile = model->profile;
    struct str      name = { 0 }, type = { 0 };
    struct field    field;
    bool            is_new;
    uint32_t        op, type_name;

    if (!read_head(node, &name, &type, err))
        return false;
    op = tf_model_op(model, function, profile_intern(profile, name), &is_new);
    type_name = profile_intern(profile, type);
    if (op == NO_ID || type_name == NO_ID)
        return tf_model_full(err);
    if (model->states.items[op].is_defined) /* the first definition wins */
        return true;
    model->states.items[op].is_defined = true;
    profile->ops.items[op].type = type_name;
    while (message_next(&node, &field, err)) {
        if (field_is_bytes(&field, 3) && !tf_model_add_input(model, op, field.bytes))
            return tf_model_full(err);
        if (field_is_bytes(&field, 4) && field.bytes.len &&
            !tf_model_add_wish(model, op, field.bytes))
            return tf_model_full(err);
        if (field_is_bytes(&field, 5) &&
            !read_attr(model, op, message_inside(&node, field.bytes), err))
            return false;
    }
    return !node.is_damaged;
}

static bool read_function(struct tf_model *model, struct message function, struct err *err)
{
    struct message signature, again = function;
    struct field   field, inner;
    uint32_t       name = 0, index = 0;

    while (message_next(&again, &field, err)) {
        if (!field_is_bytes(&field, 1))
            continue;
        signature = message_inside(&function, field.bytes);
        while (message_next(&signature, &inner, err))
            if (field_is_bytes(&inner, 1))
                name = profile_intern(model->profile, inner.bytes);
        if (signature.is_damaged)
            return err_in(err, "signature");
    }
    while (message_next(&function, &field, err)) {
        if (!field_is_bytes(&field, 3))
            continue;
        if (!read_node(model, name, message_inside(&function, field.bytes), err))
            return err_in(err, "node_def[%u]", index);
        index++;
    }
    return !function.is_damaged;
}

static bool read_library(struct tf_model *model, struct message library, struct err *err)
{
    struct field field;
    uint32_t     index = 0;

    while (message_next(&library, &field, err)) {
        if (!field_is_bytes(&field, 1))
            continue;
        if (!read_function(model, message_inside(&library, field.bytes), err))
            return err_in(err, "library.function[%u]", index);
        index++;
    }
    return !library.is_damaged || err_in(err, "library");
}

bool tf_graph_read(struct tf_model *model, struct message graph, struct err *err)
{
    struct names_ahead ahead;
    struct field       field;
    uint32_t           index = 0;

    if (model->graph_source == TF_GRAPH_NONE)
        model->graph_source = TF_GRAPH_GIVEN;
    tf_model_expect_ops(model, message_guess(graph, 1));
    ahead = names_ahead_of(&model->profile->names, graph, 1);
    while (message_next(&graph, &field, err)) {
        struct message inner = message_inside(&graph, field.bytes);

        if (field_is_bytes(&field, 1)) {
            names_ahead_step(&ahead);
            if (!read_node(model, 0, inner, err))
                return err_in(err, "node[%u]", index);
            index++;
        } else if (field_is_bytes(&field, 2)) {
            if (!read_library(model, inner, err))
                return false;
        } else if (field.number > 5) {
            model->profile->unknown_fields++;
        }
    }
    return !graph.is_damaged;
}

/* The graphs in fields `number` of a run or of what holds it. */
static bool read_graphs(struct tf_model *model, struct message run, uint32_t number,
                        struct err *err)
{
    struct field field;
    uint32_t     index = 0;

    while (message_next(&run, &field, err)) {
        if (!field_is_bytes(&field, number))
            continue;
        model->graph_source = TF_GRAPH_PARTITIONS;
        if (!tf_graph_read(model, message_inside(&run, field.bytes), err))
            return err_in(err, "partition_graphs[%u]", index);
        index++;
    }
    return !run.is_damaged;
}

bool tf_partitions_read(struct tf_model *model, struct message run, struct err *err)
{
    bool         has_graph = false;
    struct field field;

    if (model->graph_source != TF_GRAPH_NONE && model->graph_source != TF_GRAPH_PARTITIONS)
        return true;
    for (struct message again = run; message_next(&again, &field, err);)
        has_graph |= field_is_bytes(&field, 3);
    if (has_graph)
        return read_graphs(model, run, 3, err);
    while (message_next(&run, &field, err))
        if (field_is_bytes(&field, 4) &&
            !read_graphs(model, message_inside(&run, field.bytes), 1, err))
            return err_in(err, "function_graphs");
    return !run.is_damaged;
}

static bool is_type(const struct tf_model *model, uint32_t op, struct str end)
{
    return str_ends(profile_str(model->profile, model->profile->ops.items[op].type), end);
}

/* What one partition sends, another receives under the same name. */
bool tf_partitions_join(struct tf_model *model)
{
    uint32_t      key = intern_find(&model->profile->names, STR("tensor_name"));
    struct id_map sender = { .arena = &model->scratch };

    if (model->graph_source != TF_GRAPH_PARTITIONS || key == NO_ID)
        return true;
    for (size_t i = 0; i < model->attrs.count; i++) {
        const struct tf_attr *attr = &model->attrs.items[i];

        if (attr->attr.name == key && is_type(model, attr->op, STR("Send")) &&
            !id_map_put(&sender, attr->attr.value, attr->op))
            return false;
    }
    for (size_t i = 0; i < model->attrs.count; i++) {
        const struct tf_attr *attr = &model->attrs.items[i];
        struct tf_input       input = { .op = attr->op,
                                        .sequence = (uint32_t)model->inputs.count,
                                        .is_control = true };

        if (attr->attr.name != key || !is_type(model, attr->op, STR("Recv")))
            continue;
        input.producer = id_map_get(&sender, attr->attr.value);
        if (input.producer != NO_ID && !vec_push(&model->inputs, &model->scratch, input))
            return false;
    }
    return true;
}
