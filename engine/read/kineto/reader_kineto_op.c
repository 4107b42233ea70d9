#include "read/kineto/kineto_cost.h"

/* scan is behind '['; takes the numbers and the bracket. */
static void scan_dims(struct json_scan *scan, struct tensor *tensor)
{
    tensor->rank = 0;
    while (json_item(scan)) {
        int64_t size;

        if (!str_to_int64(json_scalar(scan), &size) || size < 0)
            size = -1;
        if (tensor->rank >= 0 && tensor->rank < TENSOR_MAX_RANK)
            tensor->dims[tensor->rank++] = size;
        else
            tensor->rank = -1; /* more dimensions than we hold */
    }
}

static void add_operand(struct kineto *kineto, const struct tensor *tensor)
{
    kineto->is_full |= !vec_push(&kineto->profile->tensors, kineto->profile->arena, *tensor);
}

/* One argument: dimensions, or for a list of tensors several of them. */
static void scan_operand(struct kineto *kineto, struct json_scan *scan, struct str type)
{
    struct tensor tensor = { .dtype = (uint8_t)kineto_dtype(type), .rank = -1 };

    if (json_peek(scan) != '[') {
        json_skip(scan);
        return;
    }
    scan->at++;
    if (json_peek(scan) == '[') {
        while (json_item(scan)) {
            struct tensor member = { .rank = -1 };

            if (json_peek(scan) != '[') {
                json_skip(scan);
                continue;
            }
            scan->at++;
            scan_dims(scan, &member);
            add_operand(kineto, &member);
        }
        return;
    }
    scan_dims(scan, &tensor);
    if ((tensor.rank || tensor.dtype != DTYPE_UNKNOWN) && kineto_is_tensor_type(type))
        add_operand(kineto, &tensor);
}

static void scan_operands(struct kineto *kineto, const struct kineto_event *event)
{
    struct str       dims = event->fields[FIELD_DIMS];
    struct str       types = kineto_has(event, FIELD_TYPES) ? event->fields[FIELD_TYPES] : STR("");
    struct json_scan scan = { .at = dims.data, .end = dims.data + dims.len };
    struct json_scan type_scan = { .at = types.data, .end = types.data + types.len };
    bool             has_types = json_open(&type_scan, '[');

    if (!json_open(&scan, '['))
        return;
    while (json_item(&scan)) {
        struct str type = STR("");

        if (has_types && json_item(&type_scan))
            type = json_scalar(&type_scan);
        else
            has_types = false;
        scan_operand(kineto, &scan, type);
    }
}

uint32_t kineto_add_op(struct kineto *kineto, const struct kineto_event *event, uint32_t name)
{
    struct profile *profile = kineto->profile;
    struct op       op = OP_UNKNOWN;

    op.name = op.type = name;
    op.first_input = (uint32_t)profile->tensors.count;
    op.is_eager = true;
    if (kineto_has(event, FIELD_DIMS)) {
        struct kineto_operands operands;

        scan_operands(kineto, event);
        operands = (struct kineto_operands) { .list = profile->tensors.items + op.first_input,
                                              .count = profile->tensors.count - op.first_input };
        kineto_cost(profile_str(profile, name), event, &operands, &op);
        profile->has_shapes = true;
    }
    op.flops = kineto_integer(event, FIELD_FLOPS, op.flops);
    op.input_count = (uint32_t)(profile->tensors.count - op.first_input);
    op.first_output = (uint32_t)profile->tensors.count;
    if (!vec_push(&profile->ops, profile->arena, op)) {
        kineto->is_full = true;
        return NO_ID;
    }
    return (uint32_t)profile->ops.count - 1;
}
