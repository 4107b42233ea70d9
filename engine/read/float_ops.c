#include "read/float_ops.h"

#include "base/intern.h"
#include "base/macros.h"

/* Types that compute nothing. */
static const char still_types[] =
    "Const|Identity|IdentityN|Placeholder|PlaceholderWithDefault|Variable|VariableV2|"
    "VarHandleOp|VarIsInitializedOp|ReadVariableOp|AssignVariableOp|Assign|NoOp|Reshape|"
    "Transpose|Shape|ShapeN|Size|Rank|Squeeze|ExpandDims|Concat|ConcatV2|ConcatOffset|Split|"
    "SplitV|Slice|StridedSlice|Pack|Unpack|Gather|GatherV2|GatherNd|Tile|Pad|PadV2|Fill|"
    "ZerosLike|OnesLike|OneHot|StopGradient|PreventGradient|Enter|Exit|Merge|Switch|"
    "NextIteration|LoopCond|ControlTrigger|BroadcastGradientArgs|TensorArrayV3|"
    "TensorArrayReadV3|TensorArrayWriteV3|TensorArraySizeV3|TensorArrayGatherV3|"
    "TensorArrayScatterV3|TensorArrayGradV3|StackV2|StackPushV2|StackPopV2|SaveV2|RestoreV2|"
    "ShardedFilename|MergeV2Checkpoints|StringJoin|RefSwitch|RefIdentity|_Arg|_Retval|_Send|"
    "_Recv|_HostSend|_HostRecv";

/* Types that TensorFlow registers no formula for, counted as it counts the others: an element of a
 * function of one number is one operation, as its Log is. */
enum formula {
    OF_RESULT,      /* factor x N(out) */
    OF_INPUT,       /* factor x N(input index) */
    OF_REDUCTION,   /* N(in0) - N(out) */
    OF_FILTER_FROM, /* 2 N(in2) x filter, which is input 1, without its last `index` dimensions */
    OF_FILTER_TO,   /* the same with the filter's gradient, which is the result */
};
static const struct {
    const char  *types; /* with bars between them */
    enum formula formula;
    int64_t      factor;
    uint32_t     index;
} rows[] = {
    { "Abs|Ceil|Cos|Div|DivNoNan|Elu|Erf|Exp|Expm1|Floor|FloorDiv|FloorMod|Inv|LeakyRelu|"
      "Log1p|Relu|Relu6|ReluGrad|Relu6Grad|Rint|Round|Selu|Sigmoid",
      OF_RESULT, 1, 0 },
    { "SigmoidGrad", OF_RESULT, 3, 0 }, /* dy y (1 - y) */
    { "Sign|Sin|Softplus|Softsign|Sqrt", OF_RESULT, 1, 0 },
    { "SqrtGrad", OF_RESULT, 2, 0 }, /* dy / 2 / y */
    { "Tan|Tanh", OF_RESULT, 1, 0 },
    { "TanhGrad", OF_RESULT, 3, 0 }, /* dy (1 - y y) */
    { "LogSoftmax", OF_INPUT, 5, 0 },
    { "ApplyGradientDescent|ResourceApplyGradientDescent", OF_INPUT, 2, 2 },
    { "ApplyMomentum", OF_INPUT, 4, 3 }, /* a = a m + g, w = w - r a */
    { "ResourceApplyMomentum|ResourceApplyKerasMomentum", OF_INPUT, 4, 3 },
    { "ApplyAdam", OF_INPUT, 12, 9 }, /* m 3, v 4, root, sum, quotient, product, difference */
    { "ResourceApplyAdam", OF_INPUT, 12, 9 },
    { "Max|Min|Prod", OF_REDUCTION, 0, 0 },
    { "Conv3DBackpropInputV2", OF_FILTER_FROM, 0, 1 },
    { "Conv3DBackpropFilterV2", OF_FILTER_TO, 0, 1 },
    { "DepthwiseConv2dNativeBackpropInput", OF_FILTER_FROM, 0, 2 },
    { "DepthwiseConv2dNativeBackpropFilter", OF_FILTER_TO, 0, 2 },
};

/* All but the last dimensions; FLOAT_OPS_UNKNOWN where one is not known. */
static int64_t elements(const struct tensor *tensor, uint32_t left_out)
{
    int64_t count = 1;

    if (!tensor || tensor->rank < (int)left_out)
        return FLOAT_OPS_UNKNOWN;
    for (int i = 0; i < tensor->rank - (int)left_out; i++)
        if (tensor->dims[i] < 0 || __builtin_mul_overflow(count, tensor->dims[i], &count))
            return FLOAT_OPS_UNKNOWN;
    return count;
}

static int64_t product(int64_t a, int64_t b, int64_t c)
{
    int64_t result;

    if (a < 0 || b < 0 || c < 0 || __builtin_mul_overflow(a, b, &result) ||
        __builtin_mul_overflow(result, c, &result))
        return FLOAT_OPS_UNKNOWN;
    return result;
}

static int64_t elements_in(const struct profile *profile, const struct op *op, uint32_t index,
                           uint32_t left_out)
{
    return index < op->input_count
               ? elements(&profile->tensors.items[op->first_input + index], left_out)
               : FLOAT_OPS_UNKNOWN;
}

static int64_t elements_out(const struct profile *profile, const struct op *op, uint32_t left_out)
{
    return op->output_count ? elements(&profile->tensors.items[op->first_output], left_out)
                            : FLOAT_OPS_UNKNOWN;
}

static int64_t apply(const struct profile *profile, const struct op *op, size_t row)
{
    uint32_t index = rows[row].index;
    int64_t  in, out;

    switch (rows[row].formula) {
    case OF_RESULT:
        return product(rows[row].factor, elements_out(profile, op, 0), 1);
    case OF_INPUT:
        return product(rows[row].factor, elements_in(profile, op, index, 0), 1);
    case OF_REDUCTION:
        in = elements_in(profile, op, 0, 0);
        out = elements_out(profile, op, 0);
        return in < 0 || out < 0 || out > in ? FLOAT_OPS_UNKNOWN : in - out;
    case OF_FILTER_FROM:
        return product(2, elements_in(profile, op, 2, 0), elements_in(profile, op, 1, index));
    case OF_FILTER_TO:
        return product(2, elements_in(profile, op, 2, 0), elements_out(profile, op, index));
    }
    return FLOAT_OPS_UNKNOWN;
}

enum { STILL = ARRAY_COUNT(rows) }; /* behind the rows */

/* False: past the budget. */
static bool find_types(const struct profile *profile, struct str types, uint32_t row,
                       struct id_map *row_of_type)
{
    while (types.len) {
        uint32_t type = intern_find(&profile->names, str_cut(&types, '|'));

        if (type != NO_ID && !id_map_put(row_of_type, type, row))
            return false;
    }
    return true;
}

static bool find_all_types(const struct profile *profile, struct id_map *row_of_type)
{
    bool is_found = find_types(profile, str_from(still_types), STILL, row_of_type);

    for (uint32_t i = 0; i < ARRAY_COUNT(rows) && is_found; i++)
        is_found = find_types(profile, str_from(rows[i].types), i, row_of_type);
    return is_found;
}

void float_ops_fill(struct classic *classic)
{
    const struct profile *profile = classic->profile;
    struct arena          scratch = { 0 };
    struct id_map         row_of_type = { .arena = &scratch };
    bool                  is_found = find_all_types(profile, &row_of_type);

    for (size_t i = 0; i < classic->nodes.count; i++) {
        struct classic_node *node = &classic->nodes.items[i];
        const struct op     *op = &profile->ops.items[node->op];
        uint32_t             row;

        if (node->float_ops)
            continue;
        row = is_found ? id_map_get(&row_of_type, op->type) : NO_ID;
        if (row == STILL)
            node->float_ops = 0;
        else if (op->flops >= 0)
            node->float_ops = op->flops;
        else
            node->float_ops = row == NO_ID ? FLOAT_OPS_UNKNOWN : apply(profile, op, row);
    }
    arena_free(&scratch);
}
