/* Floating point operations of HLO instructions, from shapes. */
#include "model/names.h"
#include "read/hlo/hlo_conv.h"
#include "read/hlo/hlo_module.h"

/* One operation an element: additions, comparisons and the transcendental ones alike. */
static bool is_elementwise(struct str opcode)
{
    return name_is(opcode, NAMES_HLO_ELEMENTWISE);
}

/* Two operations for each element that goes into each element that comes out. */
static int64_t product_flops(int64_t out, int64_t in)
{
    int64_t flops;

    return out < 0 || in < 0 || __builtin_mul_overflow(out, in, &flops) ||
                   __builtin_mul_overflow(flops, 2, &flops)
               ? -1
               : flops;
}

static int64_t dot_flops(const struct hlo_instruction *item, const struct tensor *left)
{
    int64_t in = 1;

    for (size_t i = 0; i < item->contracting_count; i++)
        if (left->rank < 0 || item->contracting[i] >= (uint64_t)left->rank ||
            left->dims[item->contracting[i]] < 0 ||
            __builtin_mul_overflow(in, left->dims[item->contracting[i]], &in))
            return -1;
    return product_flops(tensor_count(&item->shape), item->contracting_count ? in : -1);
}

/* A kernel has as many elements an output feature as go into one result; its input features count
 * a group's already. Places where it reaches into the padding do not count. */
static int64_t convolution_flops(const struct hlo_instruction *item, const struct tensor *input,
                                 const struct tensor *kernel)
{
    int64_t in = tensor_count(kernel), flops;

    if (in < 0 || item->kernel_output >= (uint64_t)kernel->rank ||
        kernel->dims[item->kernel_output] <= 0)
        return -1;
    flops = product_flops(tensor_count(&item->shape), in / kernel->dims[item->kernel_output]);
    return flops < 0 ? -1
                     : (int64_t)((double)flops * hlo_conv_share(item->window, item->dimensions,
                                                                input, &item->shape));
}

/* The dimensions in "lhs_contracting_dimensions":["1"] of a library call's settings. */
static void read_contracting(struct hlo_instruction *item)
{
    static const struct str key = STR_INIT("\"lhs_contracting_dimensions\":[");
    size_t                  at = str_search(item->config, key);
    struct str              rest = str_slice(item->config, at + key.len, item->config.len);

    rest = str_slice(rest, 0, str_find(rest, ']'));
    item->contracting_count = 0;
    while (rest.len && item->contracting_count < TENSOR_MAX_RANK) {
        struct str digits = str_trim(str_cut(&rest, ','));
        uint64_t   dimension;

        if (digits.len > 2 && digits.data[0] == '"')
            digits = str_slice(digits, 1, digits.len - 1);
        if (str_to_uint64(digits, &dimension))
            item->contracting[item->contracting_count++] = dimension;
    }
}

/* A call of a library for a product or a convolution does what the plain instruction would. The
 * first of its results is the array, others are for its own use. */
static int64_t call_flops(const struct hlo_module *module, const struct hlo_instruction *item)
{
    const struct hlo_instruction *first = hlo_operand(module, item, 0),
                                 *second = hlo_operand(module, item, 1);
    struct hlo_instruction plain = *item;
    struct tensor          result = item->shape, kernel, input;

    if (!first || !second)
        return -1;
    if (item->part_count)
        result = module->parts.items[item->first_part];
    plain.shape = result;
    kernel = second->shape;
    input = first->shape;
    if (str_starts(item->target, STR("__cublas$"))) {
        read_contracting(&plain);
        return dot_flops(&plain, &first->shape);
    }
    if (!str_starts(item->target, STR("__cudnn$conv")))
        return -1;
    if (str_ends(item->target, STR("BackwardInput"))) {
        plain.shape = first->shape;
        input = result;
    } else if (str_ends(item->target, STR("BackwardFilter"))) {
        plain.shape = second->shape;
        kernel = result;
    }
    return convolution_flops(&plain, &input, &kernel);
}

int64_t hlo_flops(const struct hlo_module *module, const struct hlo_instruction *item)
{
    const struct hlo_instruction *first = hlo_operand(module, item, 0),
                                 *second = hlo_operand(module, item, 1);

    if (is_elementwise(item->opcode))
        return tensor_count(&item->shape);
    if (str_equal(item->opcode, STR("reduce")))
        return first ? tensor_count(&first->shape) : -1;
    if (str_equal(item->opcode, STR("dot")))
        return first ? dot_flops(item, &first->shape) : -1;
    if (str_equal(item->opcode, STR("convolution")))
        return first && second ? convolution_flops(item, &first->shape, &second->shape) : -1;
    if (str_equal(item->opcode, STR("custom-call")))
        return call_flops(module, item);
    return -1;
}
