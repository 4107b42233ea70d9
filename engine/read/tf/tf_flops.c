/*
 * Floating point operations of TensorFlow's ops from their shapes, by the formulas that its Python
 * side registers, with one difference: batch matmuls look at adj_x, which is what the op has.
 * Upstream: tensorflow/python/profiler/internal/flops_registry.py
 */
#include "read/tf/tf_model.h"

#include <stdio.h>

enum formula {
    OF_INPUT,     /* a x N(in0) */
    OF_OUTPUT,    /* a x N(out) */
    OF_REDUCTION, /* N(in0) - N(out) */
    OF_L2,        /* 3 N(in0) - 1 */
    OF_ADD_N,     /* N(in0) (inputs - 1) */
    OF_POOL,      /* window x N(out) */
    OF_POOL_GRAD, /* a x window x N(in1), a 1: + N(in1) */
    OF_MATMUL,    /* 2 k N(out) */
    OF_BATCH_MATMUL,
    OF_FILTER,      /* 2 N(out) x product of the filter's dimensions but the last a ones */
    OF_CONV_INPUT,  /* 2 N(out) N(in1) / (channels of out x strides) */
    OF_CONV_FILTER, /* 2 N(in0) N(out) / (channels of in0 x strides) */
};

static const struct {
    const char  *types; /* with bars between them */
    enum formula formula;
    int64_t      a;
} rows[] = {
    { "Reciprocal|Square|Log|Neg|AssignSub|AssignAdd|Mean|BiasAdd", OF_INPUT, 1 },
    { "Rsqrt", OF_INPUT, 2 },
    { "Softmax", OF_INPUT, 5 },
    { "L2Loss", OF_L2, 0 },
    { "AddN", OF_ADD_N, 0 },
    { "Add|AddV2|Sub|Mul|RealDiv|Maximum|Minimum|Pow|GreaterEqual|Greater|LessEqual|Less|"
      "Equal|NotEqual",
      OF_OUTPUT, 1 },
    { "SquaredDifference", OF_OUTPUT, 2 },
    { "RsqrtGrad", OF_OUTPUT, 4 },
    { "Sum|ArgMax|ArgMin|BiasAddGrad", OF_REDUCTION, 0 },
    { "AvgPool|MaxPool", OF_POOL, 0 },
    { "AvgPoolGrad", OF_POOL_GRAD, 2 },
    { "MaxPoolGrad", OF_POOL_GRAD, 1 },
    { "MatMul", OF_MATMUL, 0 },
    { "BatchMatMul|BatchMatMulV2|BatchMatMulV3", OF_BATCH_MATMUL, 0 },
    { "Conv2D|Conv3D|Dilation2D", OF_FILTER, 1 },
    { "DepthwiseConv2dNative", OF_FILTER, 2 },
    { "Conv2DBackpropInput", OF_CONV_INPUT, 0 },
    { "Conv2DBackpropFilter", OF_CONV_FILTER, 0 },
};

/* Exact while below 2^53, which is as far as anyone measures; NaN-free: -1 is unknown. */
static double elements(const struct tensor *tensor)
{
    double count = 1;

    if (!tensor || tensor->rank < 0)
        return -1;
    for (int i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] < 0)
            return -1;
        count *= (double)tensor->dims[i];
    }
    return count;
}

static const struct tensor *tensor_at(const struct profile *profile, uint32_t first, uint32_t count,
                                      uint32_t index)
{
    return index < count ? &profile->tensors.items[first + index] : NULL;
}

static struct str attr(const struct profile *profile, const struct op *op, const char *name)
{
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *row = &profile->attrs.items[op->first_attr + i];

        if (str_equal(profile_str(profile, row->name), str_from(name)))
            return profile_str(profile, row->value);
    }
    return (struct str) { 0 };
}

/* Product of entries [from, to) of a list attribute; -1 where it is missing. */
static double list_product(const struct profile *profile, const struct op *op, const char *name,
                           size_t from, size_t to)
{
    struct str rest = attr(profile, op, name);
    double     product = 1;
    int64_t    value;

    if (!rest.len)
        return -1;
    for (size_t i = 0; i < to && rest.len; i++) {
        if (!str_to_int64(str_cut(&rest, ','), &value) || value < 1)
            return -1;
        product *= i >= from ? (double)value : 1;
    }
    return product;
}

static double dim(const struct tensor *tensor, int index)
{
    if (!tensor || index < 0 || index >= tensor->rank || tensor->dims[index] < 0)
        return -1;
    return (double)tensor->dims[index];
}

static double matmul(const struct profile *profile, const struct op *op, const struct tensor *in0,
                     bool is_batch)
{
    struct str flipped = attr(profile, op, is_batch ? "adj_x" : "transpose_a");
    int        rank = in0 ? in0->rank : -1;

    if (rank < 2)
        return -1;
    return dim(in0, str_equal(flipped, STR("true")) ? rank - 2 : rank - 1);
}

static double filter(const struct tensor *in1, int64_t left_out)
{
    double product = 1;

    if (!in1 || in1->rank < 2)
        return -1;
    /* The depthwise filter is height, width, channels, multiplier; dilation has no multiplier. */
    for (int i = 0; i < in1->rank - (int)left_out; i++)
        product = dim(in1, i) < 0 ? -1 : product * dim(in1, i);
    return product;
}

struct shapes {
    const struct tensor *in0, *in1, *out;
    double               n0, n1, n_out;
};

static bool is_channels_last(const struct profile *profile, const struct op *op)
{
    return str_equal(attr(profile, op, "data_format"), STR("NHWC"));
}

/* 2 x a x b / (channels x strides); a and b known. */
static double conv_grad(const struct profile *profile, const struct op *op, double a, double b,
                        const struct tensor *channels_of)
{
    double strides = list_product(profile, op, "strides", 1, 3);
    double channels = channels_of ? dim(channels_of, channels_of->rank - 1) : -1;

    if (a < 0 || b < 0 || strides < 1 || channels < 1 || !is_channels_last(profile, op))
        return -1;
    return 2 * a * b / (channels * strides);
}

static double both(double factor, double a, double b)
{
    return a < 0 || b < 0 ? -1 : factor * a * b;
}

static double windowed(const struct profile *profile, const struct op *op, double factor, double n,
                       double extra)
{
    double window = list_product(profile, op, "ksize", 0, 4);

    return is_channels_last(profile, op) && window > 0 && n >= 0 ? factor * window * n + extra : -1;
}

static double apply(const struct profile *profile, const struct op *op, enum formula formula,
                    int64_t a, const struct shapes *s)
{
    switch (formula) {
    case OF_INPUT:
        return both((double)a, s->n0, 1);
    case OF_OUTPUT:
        return both((double)a, s->n_out, 1);
    case OF_REDUCTION:
        return s->n0 < 0 || s->n_out < 0 ? -1 : s->n0 - s->n_out;
    case OF_L2:
        return s->n0 < 0 ? -1 : 3 * s->n0 - 1;
    case OF_ADD_N:
        return op->input_count ? both(1, s->n0, (double)op->input_count - 1) : 0;
    case OF_POOL:
        return windowed(profile, op, 1, s->n_out, 0);
    case OF_POOL_GRAD:
        return windowed(profile, op, (double)a, s->n1, a == 1 ? s->n1 : 0);
    case OF_MATMUL:
    case OF_BATCH_MATMUL:
        return both(2, matmul(profile, op, s->in0, formula == OF_BATCH_MATMUL), s->n_out);
    case OF_FILTER:
        return both(2, filter(s->in1, a), s->n_out);
    case OF_CONV_INPUT:
        return conv_grad(profile, op, s->n_out, s->n1, s->out);
    case OF_CONV_FILTER:
        return conv_grad(profile, op, s->n0, s->n_out, s->in0);
    }
    return -1;
}

static int64_t flops_of(const struct profile *profile, const struct op *op, size_t row)
{
    struct shapes shapes = {
        .in0 = tensor_at(profile, op->first_input, op->input_count, 0),
        .in1 = tensor_at(profile, op->first_input, op->input_count, 1),
        .out = tensor_at(profile, op->first_output, op->output_count, 0),
    };
    double flops;

    if (!op->output_count && !op->input_count)
        return -1;
    shapes.n0 = elements(shapes.in0);
    shapes.n1 = elements(shapes.in1);
    shapes.n_out = elements(shapes.out);
    flops = apply(profile, op, rows[row].formula, rows[row].a, &shapes);
    return flops >= 0 && flops < 0x1p62 ? (int64_t)flops : -1;
}

/* An op, and what takes its place in a graph rewritten for oneDNN: the same inputs come first. */
static bool find_types(const struct profile *profile, uint32_t row, struct id_map *row_of_type)
{
    static const char *const prefixes[] = { "", "_Mkl", "_MklNative" };
    struct str               types = str_from(rows[row].types);

    while (types.len) {
        struct str plain = str_cut(&types, '|');

        for (size_t i = 0; i < ARRAY_COUNT(prefixes); i++) {
            char     name[64];
            uint32_t type;

            snprintf(name, sizeof name, "%s%.*s", prefixes[i], STR_ARG(plain));
            type = intern_find(&profile->names, str_from(name));
            if (type != NO_ID && !id_map_put(row_of_type, type, row))
                return false;
        }
    }
    return true;
}

bool tf_flops_fill(struct profile *profile, struct arena *scratch)
{
    struct id_map row_of_type = { .arena = scratch };

    for (uint32_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (!find_types(profile, i, &row_of_type))
            return false;
    for (size_t i = 0; i < profile->ops.count; i++) {
        struct op *op = &profile->ops.items[i];
        uint32_t   row = op->flops < 0 ? id_map_get(&row_of_type, op->type) : NO_ID;

        if (row != NO_ID)
            op->flops = flops_of(profile, op, row);
    }
    return true;
}
