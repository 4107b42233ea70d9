#include "analyze/ops/op_cost.h"

#include "base/macros.h"

#include <math.h>

/* Elements of a tensor; < 0 unknown. A scalar has one. */
static double element_count(const struct tensor *tensor)
{
    double count = 1;

    if (tensor->rank < 0)
        return -1;
    for (int i = 0; i < tensor->rank && i < TENSOR_MAX_RANK; i++) {
        if (tensor->dims[i] < 0)
            return -1;
        count *= (double)tensor->dims[i];
    }
    return count;
}

/* Products whose operands stand in row-major order, so that the shapes alone tell m, k and n. */
static const struct {
    const char *type;
    uint32_t    left; /* index of the left operand; the right one follows */
    bool        is_right_transposed;
} products[] = {
    { "aten::mm", 0, false },     { "aten::bmm", 0, false },     { "aten::matmul", 0, false },
    { "aten::addmm", 1, false },  { "aten::baddbmm", 1, false }, { "aten::linear", 0, true },
    { "MatMul", 0, false },       { "BatchMatMul", 0, false },   { "BatchMatMulV2", 0, false },
    { "_FusedMatMul", 0, false },
};

static double product_flops(const struct profile *profile, const struct op *op, uint32_t left,
                            bool is_right_transposed)
{
    const struct tensor *a, *b;
    double               elements, columns;

    if (op->input_count < left + 2)
        return -1;
    a = &profile->tensors.items[op->first_input + left];
    b = a + 1;
    if (a->rank < 2 || b->rank < 2 || a->rank > TENSOR_MAX_RANK || b->rank > TENSOR_MAX_RANK)
        return -1;
    elements = element_count(a);
    columns = (double)b->dims[is_right_transposed ? b->rank - 2 : b->rank - 1];
    if (elements < 0 || columns < 0)
        return -1;
    if (op->output_count > 0 && a->rank == 2 && b->rank == 2) {
        /* attributes may transpose either side, but (m·k)·(k·n) / (m·n) is always k squared */
        double result = element_count(&profile->tensors.items[op->first_output]);
        double other = element_count(b);

        if (result > 0 && other >= 0)
            return 2 * result * sqrt(elements * other / result);
    }
    return 2 * elements * columns;
}

double op_flops(const struct profile *profile, const struct op *op)
{
    struct str type = profile_str(profile, op->type);

    if (op->flops >= 0)
        return (double)op->flops;
    for (size_t i = 0; i < ARRAY_COUNT(products); i++)
        if (str_equal(type, str_from(products[i].type)))
            return product_flops(profile, op, products[i].left, products[i].is_right_transposed);
    return -1;
}

double op_bytes(const struct profile *profile, const struct op *op)
{
    double total = 0;

    if (op->bytes >= 0)
        return (double)op->bytes;
    if (op->output_count == 0)
        return -1;
    for (uint32_t i = 0; i < op->input_count + op->output_count; i++) {
        const struct tensor *tensor = &profile->tensors.items[op->first_input + i];
        double               count = element_count(tensor);
        unsigned             bits = dtype_bits((enum dtype)tensor->dtype);

        if (count < 0 || bits == 0)
            return -1;
        total += count * bits / 8;
    }
    return total;
}
