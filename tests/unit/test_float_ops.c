/* float_ops: formulas for types that TensorFlow registers none for, by shapes worked out by hand.
 */
#include "tf_sample.h"

#include "base/macros.h"
#include "read/float_ops.h"

extern const struct reader reader_graph;

#define DIM(n) "dim { size: " #n " } "
#define SHAPES(...) "attr { key: '_output_shapes' value { list { " __VA_ARGS__ " } } } "
#define SHAPE(...) SHAPES("shape { " __VA_ARGS__ "}")
#define NODE(name, type, inputs, shape)                                                            \
    "node { name: '" name "' op: '" type "' input: [" inputs "] " shape "}\n"

static const char graph[] = NODE("x", "Placeholder", "", SHAPE(DIM(4) DIM(10))) /* 40 elements */
    NODE("cells", "Placeholder", "", SHAPE(DIM(2) DIM(5) DIM(5) DIM(3)))        /* 150 */
    NODE("filter", "Placeholder", "", SHAPE(DIM(3) DIM(3) DIM(3) DIM(2)))       /* 54 */
    NODE("sizes", "Const", "", SHAPE(DIM(4)))
        NODE("gradient", "Placeholder", "", SHAPE(DIM(2) DIM(5) DIM(5) DIM(6))) /* 300 */
    NODE("relu", "Relu", "'x'", SHAPE(DIM(4) DIM(10))) NODE("tanh_grad", "TanhGrad", "'x', 'x'",
                                                            SHAPE(DIM(4) DIM(10)))
        NODE("sqrt_grad", "SqrtGrad", "'x', 'x'",
             SHAPE(DIM(4) DIM(10))) NODE("log_softmax", "LogSoftmax", "'x'", SHAPE(DIM(4) DIM(10)))
            NODE("max", "Max", "'x', 'sizes'", SHAPE(DIM(4)))
                NODE("descent", "ApplyGradientDescent", "'x', 'sizes', 'x'", SHAPE(DIM(4) DIM(10)))
                    NODE("deep_input", "DepthwiseConv2dNativeBackpropInput",
                         "'sizes', 'filter', 'gradient'", SHAPE(DIM(2) DIM(5) DIM(5) DIM(3)))
                        NODE("deep_filter", "DepthwiseConv2dNativeBackpropFilter",
                             "'cells', 'sizes', 'gradient'", SHAPE(DIM(3) DIM(3) DIM(3) DIM(2)))
                            NODE("negative", "Neg", "'x'", SHAPE(DIM(4) DIM(10))) NODE(
                                "moved", "Transpose", "'x', 'sizes'", SHAPE(DIM(10) DIM(4)))
                                NODE("unknown_type", "FusedBatchNormV3", "'cells'",
                                     SHAPE(DIM(2) DIM(5) DIM(5) DIM(3)))
                                    NODE("unknown_shape", "Relu", "'x'",
                                         SHAPES("shape { unknown_rank: true }"))
                                        NODE("unknown_dim", "Relu", "'x'", SHAPE(DIM(-1) DIM(10)))
                                            NODE("too_many", "Relu", "'x'",
                                                 SHAPE(DIM(4294967296) DIM(4294967296)));

static const struct {
    const char *name;
    int64_t     float_ops;
} rows[] = {
    { "relu", 40 },
    { "tanh_grad", 120 },   /* 3 x 40 */
    { "sqrt_grad", 80 },    /* 2 x 40 */
    { "log_softmax", 200 }, /* 5 x 40 */
    { "max", 36 },          /* 40 - 4 */
    { "descent", 80 },      /* 2 x 40, of the third input */
    { "deep_input", 5400 }, /* 2 x 300 x 3 x 3 */
    { "deep_filter", 5400 },
    { "negative", 40 }, /* TensorFlow's own */
    { "moved", 0 },
    { "unknown_type", FLOAT_OPS_UNKNOWN },
    { "unknown_shape", FLOAT_OPS_UNKNOWN },
    { "unknown_dim", FLOAT_OPS_UNKNOWN },
    { "too_many", FLOAT_OPS_UNKNOWN },
};

TEST(formulas)
{
    struct tf_sample    sample = { 0 };
    struct read_options options = { .is_classic = true };

    sample_bytes(&sample, "graph.pbtxt", STR(graph));
    assert_true(profile_init(&sample.profile, &sample.arena));
    assert_true(reader_graph.read(sample.inputs, sample.input_count, &options, &sample.profile,
                                  &sample.err));
    float_ops_fill(sample.profile.classic);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint32_t node = classic_find(sample.profile.classic, str_from(rows[i].name));

        print_message("%s\n", rows[i].name);
        assert_int_not_equal(node, NO_ID);
        assert_int_equal(sample.profile.classic->nodes.items[node].float_ops, rows[i].float_ops);
    }
    sample_free(&sample);
}
