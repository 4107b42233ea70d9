/*
 * kineto_cost: what an op of PyTorch computes and moves, from the shapes of its arguments.
 * Operations count a multiplication and an addition as two; bytes are what must be read and written
 * once if caches hold nothing else.
 */
#include "read/kineto/kineto_cost.h"

#include "base/macros.h"
#include "model/names.h"

/* Products of sizes; -1 stands for unknown and for what does not fit. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;

    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

static int64_t last_dim(const struct tensor *tensor)
{
    return tensor->rank > 0 ? tensor->dims[tensor->rank - 1] : -1;
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
    { STR_INIT("aten::_int_mm"), 0, 1, false },
    { STR_INIT("aten::_grouped_mm"), 0, 1, false },
    { STR_INIT("aten::_scaled_grouped_mm"), 0, 1, false },
    { STR_INIT("aten::_weight_int8pack_mm"), 0, 1, true },
    { STR_INIT("mkldnn::_linear_pointwise"), 0, 1, true },
    { STR_INIT("aten::mkldnn_linear"), 0, 1, true },
};

/* PyTorch counts bytes of 4 bit floats, which hold two. */
static int64_t values_of(const struct tensor *tensor)
{
    return tensor->dtype == DTYPE_F4 ? 2 : 1;
}

static int64_t matmul_flops(const struct matmul *matmul, const struct kineto_operands *operands,
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
        *output_elements = times(tensor_count(left) / shared, free_size);
    return times(2 * values_of(left), times(tensor_count(left), free_size));
}

/* Products with two of four values left out: what is kept stands for whole / held as many. */
static const struct {
    struct str name;
    uint8_t    kept, other; /* operands */
    uint8_t    whole, held; /* held 0: by the type, as kept with the places of its values */
    bool       is_by_rows;  /* the other one's rows meet it, not its columns */
} sparse_matmuls[] = {
    { STR_INIT("aten::_cslt_sparse_mm"), 0, 1, 16, 0, false },
    { STR_INIT("aten::_sparse_semi_structured_mm"), 0, 2, 2, 1, false },
    { STR_INIT("aten::_sparse_semi_structured_addmm"), 1, 3, 2, 1, false },
    { STR_INIT("aten::_sparse_semi_structured_linear"), 1, 0, 2, 1, true },
};

/* Of the whole product, as peaks with such sparsity are told. 16 bit values and their places take 9
 * of 16 times what they stood for, 8 bit ones 10. */
static int64_t sparse_flops(size_t row, const struct kineto_operands *operands,
                            int64_t *output_elements)
{
    const struct tensor *kept = &operands->list[sparse_matmuls[row].kept];
    const struct tensor *other = &operands->list[sparse_matmuls[row].other];
    int64_t              held = sparse_matmuls[row].held, whole, shared, free_size;

    if (operands->count <= sparse_matmuls[row].kept ||
        operands->count <= sparse_matmuls[row].other || other->rank < 2 || tensor_count(kept) <= 0)
        return -1;
    shared = sparse_matmuls[row].is_by_rows ? last_dim(other) : other->dims[other->rank - 2];
    if (!held)
        held = dtype_bits(kept->dtype) == 16 ? 9 : 10;
    whole = times(tensor_count(kept), sparse_matmuls[row].whole) / held;
    if (shared <= 0 || whole <= 0)
        return -1;
    free_size = tensor_count(other) / shared;
    *output_elements = times(whole / shared, free_size);
    return times(2, times(whole, free_size));
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
static int64_t convolution_flops(const struct convolution     *convolution,
                                 const struct kineto_operands *operands,
                                 const struct kineto_event *event, int64_t *output_elements)
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
    return times(2, times(outputs, tensor_count(weight) / weight->dims[0]));
}

/* Gradients of the input and of the weight cost a forward pass each; output_mask tells which. */
static int64_t convolution_backward_flops(const struct kineto_operands *operands,
                                          const struct kineto_event    *event)
{
    const struct tensor *gradient = &operands->list[0], *weight = &operands->list[2];
    struct str           mask = concrete_input(event, 10);
    int64_t              passes = !mask.len || str_starts(mask, STR("[True, True")) ? 2 : 1;

    if (operands->count < 3 || weight->rank < 3 || weight->dims[0] <= 0)
        return -1;
    return times(2 * passes, times(tensor_count(gradient), tensor_count(weight) / weight->dims[0]));
}

/*
 * Attention: where its arguments stand. Sizes are batch, heads, length, size of a head, or batch,
 * length, heads, size; without a batch sequences stand behind one another, and their borders are
 * one operand more.
 */
struct attention {
    struct str name;
    uint8_t    query; /* operand; keys and values follow */
    int8_t causal; /* argument that says whether, or which mask: "0" and "False" are none; -1: none
                      has it */
    bool is_head_first, is_backward;
};
static const struct attention attentions[] = {
    { STR_INIT("aten::_scaled_dot_product_flash_attention"), 0, 4, true, false },
    { STR_INIT("aten::_scaled_dot_product_flash_attention_for_cpu"), 0, 4, true, false },
    { STR_INIT("aten::_scaled_dot_product_efficient_attention"), 0, 6, true, false },
    { STR_INIT("aten::_scaled_dot_product_cudnn_attention"), 0, 6, true, false },
    { STR_INIT("aten::_scaled_dot_product_fused_attention_overrideable"), 0, 5, true, false },
    { STR_INIT("aten::_scaled_dot_product_flash_attention_backward"), 1, 11, true, true },
    { STR_INIT("aten::_scaled_dot_product_flash_attention_for_cpu_backward"), 1, 7, true, true },
    { STR_INIT("aten::_scaled_dot_product_efficient_attention_backward"), 1, 11, true, true },
    { STR_INIT("aten::_scaled_dot_product_cudnn_attention_backward"), 1, 14, true, true },
    { STR_INIT("aten::_flash_attention_forward"), 0, 8, false, false },
    { STR_INIT("aten::_flash_attention_backward"), 1, 11, false, true },
    { STR_INIT("aten::_efficient_attention_forward"), 0, 9, false, false },
    { STR_INIT("aten::_efficient_attention_backward"), 1, 14, false, true },
    { STR_INIT("aten::_cudnn_attention_forward"), 0, 10, true, false },
    { STR_INIT("flash_attn::_flash_attn_forward"), 0, 5, false, false },
    { STR_INIT("flash_attn::_flash_attn_varlen_forward"), 0, 9, false, false },
    { STR_INIT("flash_attn::_flash_attn_backward"), 1, 11, false, true },
    { STR_INIT("flash_attn::_flash_attn_varlen_backward"), 1, 15, false, true },
    { STR_INIT("aiter::mha_fwd"), 0, 5, false, false },
    { STR_INIT("aiter::fmha_v3_fwd"), 0, 5, false, false },
};

/* How many sequences stand behind one another: borders are one more. */
static double packed_count(const struct kineto_operands *operands, size_t borders)
{
    const struct tensor *tensor = &operands->list[borders];

    return borders < operands->count && tensor->rank == 1 && tensor->dims[0] > 1
               ? (double)tensor->dims[0] - 1
               : -1;
}

/* Pairs of a query and a key that see each other, over all heads; < 0 unknown. A causal mask ends
 * with the last key. */
static double attention_pairs(const struct attention *row, const struct kineto_operands *operands,
                              bool is_causal)
{
    const struct tensor *query = &operands->list[row->query], *key = query + 1;
    bool                 is_packed = query->rank == 3;
    int                  length = is_packed ? 0 : row->is_head_first ? 2 : 1;
    int                  heads = is_packed || row->is_head_first ? 1 : 2;
    double count = is_packed ? packed_count(operands, row->query + 3U) : (double)query->dims[0];
    double queries = (double)query->dims[length], keys = (double)key->dims[length];

    if (count <= 0 || queries <= 0 || keys <= 0)
        return -1;
    if (is_packed) { /* of unknown lengths: as if all were alike */
        queries /= count;
        keys /= count;
    }
    if (!is_causal)
        return count * (double)query->dims[heads] * queries * keys;
    if (keys >= queries)
        return count * (double)query->dims[heads] * (queries * keys - queries * (queries - 1) / 2);
    return count * (double)query->dims[heads] * keys * (keys + 1) / 2;
}

/* Forward: scores and their sum of values. Backward: scores again, and the gradients of scores,
 * values, queries and keys. */
static int64_t attention_flops(const struct attention *row, const struct kineto_operands *operands,
                               const struct kineto_event *event, int64_t *output_elements)
{
    const struct tensor *query = &operands->list[row->query], *key = query + 1, *value = query + 2;
    struct str           causal = concrete_input(event, row->causal);
    double               pairs, flops;

    if (operands->count < row->query + 3U || (query->rank != 4 && query->rank != 3) ||
        key->rank != query->rank || value->rank != query->rank || last_dim(query) <= 0)
        return -1;
    pairs = attention_pairs(row, operands,
                            causal.len && !str_equal(causal, STR("False")) &&
                                !str_equal(causal, STR("0")));
    flops = pairs * (row->is_backward ? 6 * (double)last_dim(query) + 4 * (double)last_dim(value)
                                      : 2 * (double)last_dim(query) + 2 * (double)last_dim(value));
    *output_elements = row->is_backward
                           ? tensor_count(query) + tensor_count(key) + tensor_count(value)
                           : times(tensor_count(query) / last_dim(query), last_dim(value));
    return flops < 0 || flops > 9e18 ? -1 : (int64_t)flops;
}

/* All experts in one op: operands are the tokens, the weights of both products (experts, out, in),
 * and the experts' shares (tokens, experts of a token). What weights of experts that no token can
 * go to count too much: no more experts are asked than there are shares. */
static int64_t idle_experts_bytes(const struct kineto_operands *operands)
{
    int64_t bytes = 0, asked;

    if (operands->count < 4 || operands->list[1].rank != 3 || operands->list[2].rank != 3)
        return 0;
    asked = tensor_count(&operands->list[3]);
    for (size_t i = 1; i <= 2; i++) {
        const struct tensor *weights = &operands->list[i];
        int64_t              idle = weights->dims[0] - asked;

        if (asked >= 0 && idle > 0)
            bytes += times(tensor_count(weights) / weights->dims[0],
                           times(idle, values_of(weights) * dtype_bits(weights->dtype))) /
                     8;
    }
    return bytes;
}

/* Tokens x experts of a token, times the two products of an expert. */
static int64_t experts_flops(const struct kineto_operands *operands, int64_t *output_elements)
{
    const struct tensor *tokens = &operands->list[0], *first = &operands->list[1];
    const struct tensor *second = &operands->list[2], *shares = &operands->list[3];

    if (operands->count < 4 || tokens->rank != 2 || first->rank != 3 || second->rank != 3 ||
        shares->rank != 2)
        return -1;
    *output_elements = tensor_count(tokens);
    return times(2, times(tensor_count(shares), times(first->dims[1], first->dims[2]) +
                                                    times(second->dims[1], second->dims[2])));
}

static int64_t shape_flops(struct str name, const struct kineto_operands *operands,
                           const struct kineto_event *event, int64_t *output_elements)
{
    for (size_t i = 0; i < ARRAY_COUNT(matmuls); i++)
        if (str_equal(name, matmuls[i].name))
            return matmul_flops(&matmuls[i], operands, output_elements);
    for (size_t i = 0; i < ARRAY_COUNT(sparse_matmuls); i++)
        if (str_equal(name, sparse_matmuls[i].name))
            return sparse_flops(i, operands, output_elements);
    for (size_t i = 0; i < ARRAY_COUNT(convolutions); i++)
        if (str_equal(name, convolutions[i].name))
            return convolution_flops(&convolutions[i], operands, event, output_elements);
    for (size_t i = 0; i < ARRAY_COUNT(attentions); i++)
        if (str_equal(name, attentions[i].name))
            return attention_flops(&attentions[i], operands, event, output_elements);
    if (str_equal(name, STR("aten::convolution_backward")))
        return convolution_backward_flops(operands, event);
    if (name_is(name, NAMES_FUSED_EXPERTS))
        return experts_flops(operands, output_elements);
    return -1;
}

/* Ops that only look at the same memory in another way. */
static bool is_view(struct str name)
{
    return name_is(name, NAMES_ATEN_VIEW);
}

static int64_t operand_bytes(const struct kineto_operands *operands)
{
    int64_t bytes = operands->count ? 0 : -1;

    for (size_t i = 0; i < operands->count && bytes >= 0; i++) {
        const struct tensor *tensor = &operands->list[i];
        int64_t more = times(tensor_count(tensor), values_of(tensor) * dtype_bits(tensor->dtype));

        more = more < 0 ? -1 : more / 8;
        if (!dtype_bits(tensor->dtype) || more < 0 || __builtin_add_overflow(bytes, more, &bytes))
            return -1;
    }
    return bytes;
}

/* What an op gives out, beside what it takes. */
enum result {
    RESULT_FIRST,    /* as large as its first operand */
    RESULT_LARGEST,  /* as its operands broadcast */
    RESULT_FLAGS,    /* the same in one byte each */
    RESULT_ALL,      /* as all operands together */
    RESULT_AND_FLAGS /* as the first operand, and a byte each beside it */
};
static const struct {
    const char *names; /* behind "aten::"; with '_' behind it the result goes where the first
                         operand stands */
    enum result result;
} results[] = {
    { "add|sub|rsub|mul|div|pow|maximum|minimum|lerp|addcmul|addcdiv|masked_fill", RESULT_LARGEST },
    { "eq|ne|lt|le|gt|ge", RESULT_FLAGS },
    { "neg|abs|exp|log|sin|cos|sqrt|rsqrt|reciprocal|clamp|clamp_min|relu|leaky_relu|gelu|"
      "silu|tanh|sigmoid|hardswish|cumsum|flip|roll|gelu_backward|silu_backward|"
      "tanh_backward|sigmoid_backward|threshold_backward|_softmax|_log_softmax|"
      "_softmax_backward_data|_log_softmax_backward_data|native_layer_norm|"
      "native_layer_norm_backward|_fused_rms_norm|native_group_norm|"
      "native_group_norm_backward|native_batch_norm|native_batch_norm_backward|"
      "cudnn_batch_norm|cudnn_batch_norm_backward|miopen_batch_norm|"
      "miopen_batch_norm_backward",
      RESULT_FIRST },
    { "native_dropout", RESULT_AND_FLAGS },
    { "cat", RESULT_ALL },
};

/* Elements of operands that are broadcast to each other; those of the largest where they do not
 * fit. */
static int64_t broadcast_elements(const struct kineto_operands *operands)
{
    struct tensor whole = { .rank = 0 };
    int64_t       largest = 0;

    for (size_t i = 0; i < operands->count; i++)
        largest =
            tensor_count(&operands->list[i]) > largest ? tensor_count(&operands->list[i]) : largest;
    for (size_t i = 0; i < operands->count; i++) {
        const struct tensor *tensor = &operands->list[i];
        struct tensor        next = tensor->rank > whole.rank ? *tensor : whole;

        for (int j = 1; j <= tensor->rank && j <= whole.rank; j++) {
            int64_t a = whole.dims[whole.rank - j], b = tensor->dims[tensor->rank - j];

            if (a != b && a != 1 && b != 1)
                return largest;
            next.dims[next.rank - j] = a > b ? a : b;
        }
        whole = next;
    }
    return tensor_count(&whole);
}

static int64_t result_bytes(enum result result, const struct kineto_operands *operands)
{
    int64_t elements = tensor_count(&operands->list[0]), size = 0;

    for (size_t i = 0; i < operands->count; i++) {
        int64_t bytes = dtype_bits(operands->list[i].dtype) / 8;

        size = bytes > size ? bytes : size;
    }
    switch (result) {
    case RESULT_FIRST:
        return times(elements, dtype_bits(operands->list[0].dtype) / 8);
    case RESULT_LARGEST:
        return times(broadcast_elements(operands), size);
    case RESULT_FLAGS:
        return broadcast_elements(operands);
    case RESULT_ALL:
        return operand_bytes(operands);
    case RESULT_AND_FLAGS:
        return times(elements, dtype_bits(operands->list[0].dtype) / 8 + 1);
    }
    return -1;
}

/* Rows that are looked up are read and written; the rest of the table is not touched. */
static int64_t lookup_bytes(struct str name, const struct kineto_operands *operands,
                            const struct kineto_event *event)
{
    const struct tensor *table = &operands->list[0], *indices = &operands->list[1];
    bool                 is_embedding = str_equal(name, STR("aten::embedding"));
    int64_t              dim = is_embedding ? 0 : list_number(concrete_input(event, 1), 0, -1);
    int64_t              row = tensor_count(table), index_bytes;

    if (operands->count < 2 || dim < 0 || dim >= table->rank || table->dims[dim] <= 0)
        return -1;
    row = times(row < 0 ? -1 : row / table->dims[dim], dtype_bits(table->dtype) / 8);
    index_bytes = times(tensor_count(indices), dtype_bits(indices->dtype) / 8);
    row = times(times(2, row), tensor_count(indices));
    return row < 0 || index_bytes < 0 ? -1 : row + index_bytes;
}

/* One element of the table for each index, which is read and written. */
static int64_t gather_bytes(const struct kineto_operands *operands)
{
    const struct tensor *table = &operands->list[0], *indices = &operands->list[1];

    return operands->count < 2 ? -1
                               : times(tensor_count(indices), 2 * (dtype_bits(table->dtype) / 8) +
                                                                  dtype_bits(indices->dtype) / 8);
}

enum { MANY_OPERANDS = 64 };
/* Operands and results; < 0 unknown. Results that no row tells are not counted, so the sum is at
 * least what moves. */
static int64_t shape_bytes(struct str name, const struct kineto_operands *operands,
                           const struct kineto_event *event)
{
    int64_t    bytes = operand_bytes(operands), more = 0;
    struct str own = str_starts(name, STR("aten::")) ? str_slice(name, 6, name.len) : STR("");
    bool       is_in_place;

    if (is_view(name))
        return 0;
    if (operands->count >= MANY_OPERANDS) /* lists, of which some are written as well */
        return -1;
    if (str_equal(name, STR("aten::embedding")) || str_equal(name, STR("aten::index_select")))
        return lookup_bytes(name, operands, event);
    if (str_equal(name, STR("aten::gather")))
        return gather_bytes(operands);
    if (name_is(name, NAMES_ATEN_INDEX)) /* by a list of indices, whose shapes are not recorded */
        return -1;
    is_in_place = str_ends(own, STR("_"));
    own = str_slice(own, 0, own.len - is_in_place);
    for (size_t i = 0; i < ARRAY_COUNT(results) && bytes >= 0; i++)
        if (str_fits(own, results[i].names))
            more = result_bytes(is_in_place ? RESULT_FIRST : results[i].result, operands);
    if (name_is(name, NAMES_FUSED_EXPERTS) && bytes >= 0)
        bytes -= idle_experts_bytes(operands);
    return bytes < 0 || more < 0 || __builtin_add_overflow(bytes, more, &bytes) ? -1 : bytes;
}

void kineto_cost(struct str name, const struct kineto_event *event,
                 const struct kineto_operands *operands, struct op *op)
{
    int64_t output_elements = -1, output_bytes;

    op->flops = shape_flops(name, operands, event, &output_elements);
    op->bytes = shape_bytes(name, operands, event);
    if (op->bytes >= 0 && output_elements >= 0) {
        int64_t bits = dtype_bits(operands->list[0].dtype);

        /* products of eight bits and fewer give sixteen, whole numbers 32 */
        bool is_whole = operands->list[0].dtype == DTYPE_I8;

        output_bytes = times(output_elements, is_whole ? 4 : bits <= 8 ? 2 : bits / 8);
        if (output_bytes < 0 || __builtin_add_overflow(op->bytes, output_bytes, &op->bytes))
            op->bytes = -1;
    }
}
