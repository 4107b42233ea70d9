/*
 * GraphDef: nodes of the main graph, then those of the function library, each under its function.
 * Upstream: tensorflow/core/framework/{graph,node_def,function}.proto
 */
#include "read/tf/names_ahead.h"
#include "read/tf/tf_model.h"

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

struct head {
    struct str name, type;
    bool       is_first; /* the name is the first field, the one that names_ahead looks at */
    uint32_t   hash;     /* of the name */
};

/* Name and type come before anything that needs them: mostly also in the file, which is then read
 * once. Returns where to go on. */
static struct message read_head(struct message node, struct head *head, struct err *err)
{
    const struct message all = node;
    struct field         field;
    bool                 has_other = false;

    for (const char *at = node.at;
         (!head->name.len || !head->type.len) && message_next(&node, &field, err); at = node.at) {
        if (field_is_bytes(&field, 1)) {
            head->name = field.bytes;
            head->is_first = at == all.at;
        } else if (field_is_bytes(&field, 2)) {
            head->type = field.bytes;
        } else {
            has_other = true;
        }
    }
    return node.is_damaged || !has_other ? node : all;
}

/* The op's row, named and typed; NO_ID: full. `is_new`: its definition, not a second one. */
static uint32_t define_op(struct tf_model *model, uint32_t function, const struct head *head,
                          bool *is_new)
{
    struct profile *profile = model->profile;
    uint32_t        name = intern_add_hashed(&profile->names, head->name, head->hash);
    uint32_t        op = tf_model_op(model, function, name, is_new);
    uint32_t        type = profile_intern(profile, head->type);

    if (op == NO_ID || type == NO_ID)
        return NO_ID;
    *is_new = !model->states.items[op].is_defined;
    model->states.items[op].is_defined = true;
    if (*is_new)
        profile->ops.items[op].type = type;
    return op;
}

/* `hash`: of the node's first field, if that is its name; NULL: not known. */
static bool read_node(struct tf_model *model, uint32_t function, struct message node,
                      const uint32_t *hash, struct err *err)
{
    struct head  head = { 0 };
    struct field field;
    bool         is_new;
    uint32_t     op;

    node = read_head(node, &head, err);
    if (node.is_damaged)
        return false;
    head.hash = hash && head.is_first ? *hash : intern_hash(head.name);
    op = define_op(model, function, &head, &is_new);
    if (op == NO_ID)
        return tf_model_full(err);
    while (is_new && message_next(&node, &field, err)) {
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
        if (!read_node(model, name, message_inside(&function, field.bytes), NULL, err))
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
    uint32_t           index = 0, hash;

    if (model->graph_source == TF_GRAPH_NONE)
        model->graph_source = TF_GRAPH_GIVEN;
    tf_model_expect_ops(model, message_guess(graph, 1));
    ahead = names_ahead_of(&model->profile->names, graph, 1);
    while (message_next(&graph, &field, err)) {
        struct message inner = message_inside(&graph, field.bytes);

        if (field_is_bytes(&field, 1)) {
            hash = names_ahead_step(&ahead);
            if (!read_node(model, 0, inner, &hash, err))
                return err_in(err, "node[%u]", index);
            index++;
        } else if (field_is_bytes(&field, 2)) {
            if (!read_library(model, inner, err))
                return false;
        } else if (field.number > 5) {
            profile_add_unknown(model->profile, UNKNOWN_FIELD,
                                profile_intern(model->profile, STR("of GraphDef")), 1);
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
                                        .index = (1U << TF_INPUT_INDEX_BITS) - 1, /* the last */
                                        .is_control = true,
                                        .is_resolved = true };

        if (attr->attr.name != key || !is_type(model, attr->op, STR("Recv")))
            continue;
        input.from = id_map_get(&sender, attr->attr.value);
        if (input.from != NO_ID && !vec_push(&model->inputs, &model->scratch, input))
            return false;
    }
    return true;
}
