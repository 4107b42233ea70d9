/*
 * GraphNodeProto (scope, graph) and MultiGraphNodeProto (op, code): sizes from the leaves up, then
 * bytes from the root down, so that deep trees cost no copies.
 * Upstream: tensorflow/core/profiler/tfprof_output.proto
 */
#include "base/wire_out.h"
#include "view/rows.h"
#include "view/tensors.h"

#include <string.h>

struct number_field {
    enum view_value value;
    uint8_t         node_self, node_total, group_self, group_total; /* field numbers; 0 none */
};
static const struct number_field numbers[] = {
    { VALUE_EXEC_MICROS, 2, 6, 2, 6 },
    { VALUE_REQUESTED_BYTES, 3, 7, 3, 7 },
    { VALUE_PARAMETERS, 4, 8, 4, 8 },
    { VALUE_FLOAT_OPS, 13, 14, 5, 9 },
    { VALUE_ACCELERATOR_MICROS, 17, 19, 12, 14 },
    { VALUE_CPU_MICROS, 18, 20, 13, 15 },
    { VALUE_RUNS, 21, 22, 0, 0 },
    { VALUE_DEFINITIONS, 0, 23, 0, 0 },
    { VALUE_PEAK_BYTES, 24, 27, 16, 19 },
    { VALUE_RESIDUAL_BYTES, 25, 28, 17, 20 },
    { VALUE_OUTPUT_BYTES, 26, 29, 18, 21 },
};
enum {
    FIELDS_MAX = 32,
    NODE_DEVICES = 10,
    NODE_CHILDREN = 12,
    NODE_TENSOR = 15,
    NODE_INPUTS = 16,
    GROUP_NODES = 10,
    GROUP_CHILDREN = 11
};

/* A message: what stands before and behind its children, which stand in the order of fields. */
struct piece {
    struct str head, tail;
    size_t     bytes; /* with all below */
};
struct proto {
    const struct view      *view;
    const struct view_call *call;
    struct view_rows        rows;
    struct piece           *pieces; /* by shown row */
    bool                    is_group;
};

/* Numbers with fields in [from, to). */
static void put_numbers(struct text *text, const int64_t *self, const int64_t *total, bool is_group,
                        unsigned from, unsigned to)
{
    for (unsigned field = from; field < to; field++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            if (field == (is_group ? numbers[i].group_self : numbers[i].node_self) && self)
                wire_out_nonzero(text, field, self[numbers[i].value]);
            if (field == (is_group ? numbers[i].group_total : numbers[i].node_total) && total)
                wire_out_nonzero(text, field, total[numbers[i].value]);
        }
}

static void put_shape(struct text *text, unsigned field, const struct tensor *shape,
                      struct arena *arena)
{
    struct text dims = { .arena = arena };

    for (int i = 0; shape && i < (shape->rank > 0 ? shape->rank : 1); i++) {
        struct text dim = { .arena = arena };

        wire_out_nonzero(&dim, 1, shape->rank > 0 ? shape->dims[i] : 1);
        wire_out_bytes(&dims, 2, text_str(&dim));
    }
    if (!shape)
        wire_out_nonzero(&dims, 3, 1); /* unknown rank */
    wire_out_bytes(text, field, text_str(&dims));
}

static void put_inputs(struct text *text, const struct view_call *call, uint32_t node)
{
    const struct classic      *classic = call->classic;
    const struct classic_node *row = &classic->nodes.items[node];

    for (uint32_t i = 0; i < row->input_count; i++) {
        const struct classic_input *input = &classic->inputs.items[row->first_input + i];
        const struct tensor        *shape = NULL;
        struct text                 entry = { .arena = call->arena };
        uint32_t                    slot = call->options->is_compat ? 0 : input->slot;

        if (input->is_control && !call->options->is_compat)
            continue;
        if (input->node != NO_ID && slot < classic->nodes.items[input->node].output_count)
            shape = &classic->shapes.items[classic->nodes.items[input->node].first_output + slot];
        if (shape && shape->rank < 0)
            shape = NULL;
        wire_out_number(&entry, 1, input->index);
        put_shape(&entry, 2, shape, call->arena);
        wire_out_bytes(text, NODE_INPUTS, text_str(&entry));
    }
}

static void put_double(struct text *text, double number)
{
    char bytes[sizeof number];

    memcpy(bytes, &number, sizeof number);
    text_add(text, (struct str) { bytes, sizeof bytes });
}

/* The original's reader of the first format knows no floats of 16 bits. */
static bool is_refused(const struct classic_checkpoint *checkpoint,
                       const struct classic_variable *variable, const struct view_call *call)
{
    enum { TYPE_BFLOAT16 = 14, TYPE_HALF = 19 };

    return call->options->is_compat && checkpoint->is_v1 &&
           (variable->type == TYPE_BFLOAT16 || variable->type == TYPE_HALF);
}

/* TFProfTensorProto, when values are selected. */
static void put_tensor(struct text *text, const struct view_call *call, struct str name)
{
    const struct classic_checkpoint *checkpoint = call->classic->checkpoint;
    const struct classic_variable   *variable;
    struct classic_tensor            tensor = { 0 };
    struct text                      message = { .arena = call->arena };
    struct text                      values = { .arena = call->arena };
    struct err                       why = { 0 };

    if (!checkpoint || !(call->options->selected & 1u << ATTRIBUTE_TENSOR_VALUE))
        return;
    variable = classic_variable_find(checkpoint, name);
    if (!variable || is_refused(checkpoint, variable, call) ||
        !checkpoint->read(checkpoint, variable, call->arena, &tensor, &why))
        return;
    wire_out_nonzero(&message, 1, tensor.type);
    if (!tensor_is_shown(tensor.type, call->options->is_compat))
        tensor.count = 0;
    for (size_t i = 0; i < tensor.count; i++) {
        if (tensor.kind == TENSOR_NUMBERS)
            put_double(&values, call->options->is_compat ? tensor_short_number(tensor.numbers[i])
                                                         : tensor.numbers[i]);
        else if (tensor.kind == TENSOR_INTEGERS)
            wire_out_varint(&values, (uint64_t)tensor.integers[i]);
        else if (tensor.kind == TENSOR_STRINGS)
            wire_out_bytes(&message, 4, tensor.strings[i]);
    }
    if (values.len)
        wire_out_bytes(&message, tensor.kind == TENSOR_NUMBERS ? 2 : 3, text_str(&values));
    wire_out_bytes(text, NODE_TENSOR, text_str(&message));
}

/* Fields of a node before and behind its children. */
static void put_node_head(struct text *text, const struct view_call *call, struct str name,
                          uint32_t node, const int64_t *self, const int64_t *total)
{
    if (name.len)
        wire_out_bytes(text, 1, name);
    put_numbers(text, self, total, false, 2, NODE_DEVICES);
    if (node != NO_ID && call->classic->nodes.items[node].device)
        wire_out_bytes(text, NODE_DEVICES, classic_device(call->classic, node));
}

/* Values of a variable stand with its own row alone; name empty: not asked for. */
static void put_node_tail(struct text *text, const struct view_call *call, struct str name,
                          uint32_t node, const int64_t *self, const int64_t *total)
{
    put_numbers(text, self, total, false, NODE_CHILDREN + 1, NODE_TENSOR);
    if (node != NO_ID && name.len)
        put_tensor(text, call, name);
    if (node != NO_ID)
        put_inputs(text, call, node);
    put_numbers(text, self, total, false, NODE_INPUTS + 1, FIELDS_MAX);
}

static void put_members(struct text *text, const struct view_call *call, const struct view_row *row)
{
    for (uint32_t i = 0; i < row->member_count; i++) {
        uint32_t            node = row->members[i];
        struct str          name = classic_name(call->classic, node);
        struct view_numbers self = values_of_node(call->classic, node, call->options->step);
        struct text         member = { .arena = call->arena };

        put_node_head(&member, call, name, node, self.values, self.values);
        put_node_tail(&member, call, (struct str) { 0 }, node, self.values, self.values);
        wire_out_bytes(text, GROUP_NODES, text_str(&member));
    }
}

/* children of the op view are a chain: each row holds the next. */
static uint32_t parent_of(const struct proto *proto, size_t at)
{
    return proto->view == &view_op ? (at ? (uint32_t)at - 1 : NO_ID) : proto->rows.shown[at].parent;
}

static void make_piece(struct proto *proto, size_t at)
{
    const struct view_row *row = &proto->rows.items[proto->rows.shown[at].id];
    /* The original fills in what its text shows as "--". */
    const int64_t *self = row->is_accounted || proto->call->options->is_compat ? row->self : NULL;
    struct text    head = { .arena = proto->call->arena }, tail = { .arena = proto->call->arena };

    if (proto->is_group) {
        wire_out_bytes(&head, 1, row->name);
        put_numbers(&head, self, row->total, true, 2, GROUP_NODES);
        put_members(&head, proto->call, row);
        put_numbers(&tail, self, row->total, true, GROUP_CHILDREN + 1, FIELDS_MAX);
    } else {
        put_node_head(&head, proto->call, row->name, row->node, self, row->total);
        put_node_tail(&tail, proto->call, row->name, row->node, self, row->total);
    }
    proto->call->text->is_cut |= head.is_cut || tail.is_cut;
    proto->pieces[at].head = text_str(&head);
    proto->pieces[at].tail = text_str(&tail);
    proto->pieces[at].bytes += head.len + tail.len;
}

/* Writes row `at`, whose parents are open; `open` holds rows whose tails are still to come. */
static void write(const struct proto *proto, uint32_t *open)
{
    struct text *text = proto->call->text;
    unsigned     field = proto->is_group ? GROUP_CHILDREN : NODE_CHILDREN;
    size_t       depth = 0;

    for (size_t at = 0; at < proto->rows.shown_count; at++) {
        uint32_t parent = parent_of(proto, at);

        while (depth > 0 && open[depth - 1] != parent)
            text_add(text, proto->pieces[open[--depth]].tail);
        if (parent != NO_ID || proto->view == &view_op) {
            wire_out_head(text, field, proto->pieces[at].bytes);
        }
        text_add(text, proto->pieces[at].head);
        open[depth++] = (uint32_t)at;
    }
    while (depth > 0)
        text_add(text, proto->pieces[open[--depth]].tail);
}

bool rows_proto(const struct view *view, const struct view_call *call, struct err *err)
{
    struct proto proto = { .view = view, .call = call, .is_group = view->layout == LAYOUT_GROUPS };
    size_t       count;
    uint32_t    *open;
    unsigned     field = proto.is_group ? GROUP_CHILDREN : NODE_CHILDREN;

    if (!view->rows(call, &proto.rows))
        return err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
    count = proto.rows.shown_count;
    proto.pieces = arena_new_array(call->arena, struct piece, count);
    open = arena_new_array(call->arena, uint32_t, count + 1);
    if (!proto.pieces || !open)
        return err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
    for (size_t at = count; at-- > 0;) {
        uint32_t parent = parent_of(&proto, at);

        make_piece(&proto, at);
        if (parent != NO_ID)
            proto.pieces[parent].bytes += proto.pieces[at].bytes +
                                          wire_out_varint_bytes(field << 3) +
                                          wire_out_varint_bytes(proto.pieces[at].bytes);
    }
    if (view == &view_op) { /* the root is no row */
        wire_out_bytes(call->text, 1, STR("_TFProfRoot"));
        put_numbers(call->text, NULL, proto.rows.root.values, true, 2, GROUP_CHILDREN);
        write(&proto, open);
        put_numbers(call->text, NULL, proto.rows.root.values, true, GROUP_CHILDREN + 1, FIELDS_MAX);
    } else {
        write(&proto, open);
    }
    return true;
}
