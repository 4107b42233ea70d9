#include "read/kineto/reader_kineto.h"

enum { MAX_OPERANDS = 64 };

struct operands {
    struct tensor list[MAX_OPERANDS];
    size_t        count;
};

/* Products of sizes; -1 stands for unknown and for what does not fit. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;

    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

static int64_t element_count(const struct tensor *tensor)
{
    int64_t count = tensor->rank < 0 ? -1 : 1;

    for (int i = 0; i < tensor->rank; i++)
        count = times(count, tensor->dims[i]);
    return count;
}

static int64_t last_dim(const struct tensor *tensor)
{
    return tensor->rank > 0 ? tensor->dims[tensor->rank - 1] : -1;
}

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

static void add_operand(struct operands *operands, const struct tensor *tensor)
{
    if (operands->count < MAX_OPERANDS)
        operands->list[operands->count++] = *tensor;
}

/* One argument: dimensions, or for a list of tensors several of them. */
static void scan_operand(struct json_scan *scan, struct str type, struct operands *operands)
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
            add_operand(operands, &member);
        }
        return;
    }
    scan_dims(scan, &tensor);
    if ((tensor.rank || tensor.dtype != DTYPE_UNKNOWN) && kineto_is_tensor_type(type))
        add_operand(operands, &tensor);
}

static void scan_operands(const struct kineto_event *event, struct operands *operands)
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
        scan_operand(&scan, type, operands);
    }
}

/* Number `wanted` of the concrete inputs: the texts of scalar arguments, by position. */
static struct str concrete_input(const struct kineto_event *event, int wanted)
{
    struct str text = kineto_has(event, FIELD_CONCRETE) ? event->fields[FIELD_CONCRETE] : STR("");
    struct json_scan scan = { .at = text.data, .end = text.data + text.len };

    if (!json_open(&scan, '['))
        return STR("");
    for (int i = 0; json_item(&scan); i++) {
        struct str value = json_scalar(&scan);

        if (i == wanted)
            return value;
    }
    return STR("");
}

/* "[2, 1]" -> its number `index`, or the last one when there are fewer (one for all dimensions). */
static int64_t list_number(struct str list, int index, int64_t preset)
{
    int64_t number = preset;

    if (str_starts(list, STR("[")))
        list = str_slice(list, 1, list.len - 1);
    for (int i = 0; i <= index && list.len; i++) {
        struct str part = str_trim(str_cut(&list, ','));

        if (!str_to_int64(part, &number))
            return -1;
    }
    return number;
}

struct matmul { /* which operands multiply, and where the second one's free size stands */
    struct str name;
    uint8_t    left, right;
    bool       is_first_dim;
};
static const struct matmul matmuls[] = {
    { STR_INIT("aten::mm"), 0, 1, false },
    { STR_INIT("aten::addmm"), 1, 2, false },
    { STR_INIT("aten::addmm_"), 1, 2, false },
    { STR_INIT("aten::_addmm_activation"), 1, 2, false },
    { STR_INIT("aten::bmm"), 0, 1, false },
    { STR_INIT("aten::baddbmm"), 1, 2, false },
    { STR_INIT("aten::baddbmm_"), 1, 2, false },
    { STR_INIT("aten::_scaled_mm"), 0, 1, false },
    { STR_INIT("mkldnn::_linear_pointwise"), 0, 1, true },
    { STR_INIT("aten::mkldnn_linear"), 0, 1, true },
};

static int64_t matmul_flops(const struct matmul *matmul, const struct operands *operands,
                            int64_t *output_elements)
{
    const struct tensor *left, *right;
    int64_t              free_size, shared;

    if (operands->count <= matmul->right)
        return -1;
    left = &operands->list[matmul->left];
    right = &operands->list[matmul->right];
    if (left->rank < 2 || right->rank < 2)
        return -1;
    free_size = matmul->is_first_dim ? right->dims[0] : last_dim(right);
    shared = last_dim(left);
    if (shared > 0)
        *output_elements = times(element_count(left) / shared, free_size);
    return times(2, times(element_count(left), free_size));
}

struct convolution { /* positions of its arguments */
    struct str name;
    int8_t     padding, stride, dilation; /* -1: has none */
};
static const struct convolution convolutions[] = {
    { STR_INIT("aten::mkldnn_convolution"), 3, 4, 5 },
    { STR_INIT("aten::cudnn_convolution"), 2, 3, 4 },
    { STR_INIT("aten::miopen_convolution"), 3, 4, 5 },
    { STR_INIT("aten::miopen_depthwise_convolution"), 3, 4, 5 },
    { STR_INIT("aten::_slow_conv2d_forward"), 5, 4, -1 },
    { STR_INIT("aten::_conv_depthwise2d"), 5, 4, 6 },
    { STR_INIT("aten::convolution_overrideable"), 4, 3, 5 },
};

/* Two for each weight that meets each output: weight elements of one filter times output elements.
 */
static int64_t convolution_flops(const struct convolution *convolution,
                                 const struct operands *operands, const struct kineto_event *event,
                                 int64_t *output_elements)
{
    const struct tensor *input = &operands->list[0], *weight = &operands->list[1];
    struct str           padding = concrete_input(event, convolution->padding);
    struct str           stride = concrete_input(event, convolution->stride);
    struct str           dilation =
        convolution->dilation < 0 ? STR("[1]") : concrete_input(event, convolution->dilation);
    int64_t outputs;

    if (operands->count < 2 || input->rank < 3 || weight->rank != input->rank ||
        weight->dims[0] <= 0 || !padding.len || !stride.len || !dilation.len)
        return -1;
    outputs = times(input->dims[0], weight->dims[0]);
    for (int i = 2; i < input->rank; i++) {
        int64_t pad = list_number(padding, i - 2, -1), step = list_number(stride, i - 2, -1);
        int64_t spread = times(list_number(dilation, i - 2, -1), weight->dims[i] - 1);
        int64_t room;

        if (pad < 0 || pad > INT32_MAX || step < 1 || spread < 0 || input->dims[i] > INT32_MAX)
            return -1;
        room = input->dims[i] + 2 * pad - spread - 1;
        if (room < 0)
            return -1;
        outputs = times(outputs, room / step + 1);
    }
    *output_elements = outputs;
    return times(2, times(outputs, element_count(weight) / weight->dims[0]));
}

/* Gradients of the input and of the weight cost a forward pass each; output_mask tells which. */
static int64_t convolution_backward_flops(const struct operands     *operands,
                                          const struct kineto_event *event)
{
    const struct tensor *gradient = &operands->list[0], *weight = &operands->list[2];
    struct str           mask = concrete_input(event, 10);
    int64_t              passes = !mask.len || str_starts(mask, STR("[True, True")) ? 2 : 1;

    if (operands->count < 3 || weight->rank < 3 || weight->dims[0] <= 0)
        return -1;
    return times(2 * passes,
                 times(element_count(gradient), element_count(weight) / weight->dims[0]));
}

/* Two products of queries x keys x head size; backward has five of them. */
static int64_t attention_flops(const struct operands *operands, bool is_backward)
{
    size_t               first = is_backward;
    const struct tensor *query = &operands->list[first], *key = &operands->list[first + 1];

    if (operands->count < first + 2 || query->rank != 4 || key->rank != 4)
        return -1;
    return times(is_backward ? 10 : 4, times(element_count(query), key->dims[2]));
}

static int64_t shape_flops(struct str name, const struct operands *operands,
                           const struct kineto_event *event, int64_t *output_elements)
{
    for (size_t i = 0; i < ARRAY_COUNT(matmuls); i++)
        if (str_equal(name, matmuls[i].name))
            return matmul_flops(&matmuls[i], operands, output_elements);
    for (size_t i = 0; i < ARRAY_COUNT(convolutions); i++)
        if (str_equal(name, convolutions[i].name))
            return convolution_flops(&convolutions[i], operands, event, output_elements);
    if (str_equal(name, STR("aten::convolution_backward")))
        return convolution_backward_flops(operands, event);
    /* Two spellings each of the fused implementations: with and without what runs them. */
    if (str_starts(name, STR("aten::_scaled_dot_product_")) && !str_ends(name, STR("_math")))
        return attention_flops(operands, str_contains(name, STR("_backward")));
    return -1;
}

/* Ops that only look at the same memory in another way. */
static bool is_view(struct str name)
{
    static const char *const views[] = {
        "aten::view",         "aten::t",
        "aten::transpose",    "aten::permute",
        "aten::expand",       "aten::as_strided",
        "aten::slice",        "aten::select",
        "aten::detach",       "detach",
        "aten::alias",        "aten::unsqueeze",
        "aten::squeeze",      "aten::reshape",
        "aten::_unsafe_view", "aten::narrow",
        "aten::unbind",       "aten::split",
        "aten::chunk",        "aten::_reshape_alias",
        "aten::view_as",      "aten::expand_as",
        "aten::flatten",      "aten::numpy_T",
        "aten::lift_fresh",   "aten::resolve_conj",
        "aten::resolve_neg",  "aten::result_type",
    };

    for (size_t i = 0; i < ARRAY_COUNT(views); i++)
        if (str_equal(name, str_from(views[i])))
            return true;
    return false;
}

static int64_t operand_bytes(const struct operands *operands)
{
    int64_t bytes = operands->count ? 0 : -1;

    for (size_t i = 0; i < operands->count && bytes >= 0; i++) {
        const struct tensor *tensor = &operands->list[i];
        int64_t              more = times(element_count(tensor), dtype_bits(tensor->dtype) / 8);

        if (!dtype_bits(tensor->dtype) || more < 0 || __builtin_add_overflow(bytes, more, &bytes))
            return -1;
    }
    return bytes;
}

static void add_sizes(const struct kineto_event *event, struct str name,
                      const struct operands *operands, struct op *op)
{
    int64_t output_elements = -1, output_bytes;

    op->flops = shape_flops(name, operands, event, &output_elements);
    op->bytes = is_view(name) ? 0 : operand_bytes(operands);
    if (op->bytes >= 0 && output_elements >= 0) {
        output_bytes = times(output_elements, dtype_bits(operands->list[0].dtype) / 8);
        if (output_bytes < 0 || __builtin_add_overflow(op->bytes, output_bytes, &op->bytes))
            op->bytes = -1;
    }
}

uint32_t kineto_add_op(struct kineto *kineto, const struct kineto_event *event, uint32_t name)
{
    struct profile *profile = kineto->profile;
    struct operands operands = { 0 };
    struct op       op = {
              .name = name,
              .type = name,
              .device = NO_ID,
              .source = NO_ID,
              .graph_node = NO_ID,
              .flops = -1,
              .bytes = -1,
              .parameters = -1,
              .first_input = (uint32_t)profile->tensors.count,
              .is_eager = true,
    };

    operands.count = 0;
    if (kineto_has(event, FIELD_DIMS)) {
        scan_operands(event, &operands);
        add_sizes(event, profile_str(profile, name), &operands, &op);
        profile->has_shapes = true;
    }
    op.flops = kineto_integer(event, FIELD_FLOPS, op.flops);
    for (size_t i = 0; i < operands.count; i++)
        kineto->is_full |= !vec_push(&profile->tensors, profile->arena, operands.list[i]);
    op.input_count = (uint32_t)operands.count;
    op.first_output = (uint32_t)profile->tensors.count;
    if (!vec_push(&profile->ops, profile->arena, op)) {
        kineto->is_full = true;
        return NO_ID;
    }
    return (uint32_t)profile->ops.count - 1;
}
