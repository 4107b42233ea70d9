/* graph_patterns: small graphs drawn by hand, each op timed at one number. */
#include "analyze/analysis.h"
#include "base/macros.h"
#include "model/op_graph.h"
#include "profile_builder.h"
#include "testing.h"

#include <stdio.h>

struct drawn_op {
    const char *name, *type, *tensors;
    int64_t     ns; /* 0: not run */
    uint32_t    device;
};

static void draw(struct profile_builder *builder, const struct drawn_op *ops, size_t count,
                 const struct op_edge *edges, size_t edge_count)
{
    struct profile *profile = &builder->profile;
    struct err      err = { 0 };

    assert_true(vec_push(&profile->recorded_steps, &builder->arena, (struct recorded_step) { 0 }));
    for (uint32_t i = 0; i < count; i++) {
        struct op_run run = { .op = i,
                              .device = ops[i].device,
                              .duration_ns = ops[i].ns,
                              .scheduled_ns = -1,
                              .is_accelerator = ops[i].device > 0 };

        builder_op(builder, ops[i].name, ops[i].type, ops[i].tensors);
        profile->ops.items[i].device = ops[i].device;
        if (ops[i].ns)
            assert_true(vec_push(&profile->op_runs, &builder->arena, run));
    }
    profile->graph = op_graph_new(&builder->arena, (uint32_t)count, edges, edge_count, &err);
    assert_non_null(profile->graph);
    builder_finish(builder);
    assert_true(analysis_graph_patterns.run(&builder->study, &err));
}

static void start(struct profile_builder *builder, bool has_gpu)
{
    uint32_t host;

    host = builder_start_host(builder, FORMAT_GRAPH);
    builder_device(builder, host, "/device:CPU:0", "", DEVICE_CPU);
    if (has_gpu)
        builder_device(builder, host, "/device:GPU:0", "", DEVICE_GPU);
}

TEST(losses_over_classes)
{
    /* 10 the product, 2 the bias, 5 the loss, 7 + 3 their gradients; without gradients it is an
     * evaluation */
    static const struct drawn_op ops[] = {
        { "fc/MatMul", "MatMul", NULL, 10, 0 },
        { "fc/BiasAdd", "BiasAdd", NULL, 2, 0 },
        { "loss", "SparseSoftmaxCrossEntropyWithLogits", "f32[8,70000] i32[8] -> f32[8]", 5, 0 },
        { "gradients/loss_grad/Mul", "Mul", NULL, 3, 0 },
        { "gradients/fc/MatMul_grad/MatMul_1", "MatMul", NULL, 7, 0 },
        { "eval", "SparseSoftmaxCrossEntropyWithLogits", "f32[8,70000] i32[8] -> f32[8]", 5, 0 },
    };
    static const struct op_edge edges[] = { { 0, 1, false, 0 }, { 1, 2, false, 0 } };
    struct profile_builder      builder;

    start(&builder, false);
    draw(&builder, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    assert_true(builder_cell(&builder, "graph_patterns", "op", "loss", "ns") == 27);
    assert_true(builder_cell(&builder, "graph_patterns", "op", "loss", "elements") == 70000);
    assert_int_equal(facts_find_table(&builder.study.facts, "graph_patterns")->row_count, 1);
    assert_true(builder_fact(&builder, "graph_patterns.accelerators") == 0);
    builder_free(&builder);
}

TEST(norms_and_biases)
{
    static const struct drawn_op ops[] = {
        { "a/Conv2D", "Conv2D", NULL, 100, 0 },
        { "a/BiasAdd", "BiasAdd", NULL, 6, 0 },
        { "a/BatchNorm/FusedBatchNorm", "FusedBatchNormV3", NULL, 9, 0 },
        { "gradients/a/BiasAdd_grad/BiasAddGrad", "BiasAddGrad", NULL, 4, 0 },
        /* a batch norm of small ops: 1 + 2 + 8 with its gradient */
        { "b/batch_normalization/moments/mean", "Mean", NULL, 1, 0 },
        { "b/batch_normalization/batchnorm/Rsqrt", "Rsqrt", NULL, 2, 0 },
        { "gradients/b/batch_normalization/batchnorm/mul_grad/Mul", "Mul", NULL, 8, 0 },
        /* a bias whose convolution has no norm behind it */
        { "c/Conv2D", "Conv2D", NULL, 100, 0 },
        { "c/BiasAdd", "BiasAdd", NULL, 6, 0 },
        { "c/Relu", "Relu", NULL, 6, 0 },
    };
    static const struct op_edge edges[] = { { 0, 1, false, 0 },
                                            { 1, 2, false, 0 },
                                            { 4, 5, false, 0 },
                                            { 7, 8, false, 0 },
                                            { 8, 9, false, 0 } };
    struct profile_builder      builder;

    start(&builder, false);
    draw(&builder, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    assert_int_equal(facts_find_table(&builder.study.facts, "graph_patterns")->row_count, 2);
    assert_true(builder_cell(&builder, "graph_patterns", "pattern", "bias-before-norm", "ns") ==
                10);
    assert_true(builder_cell(&builder, "graph_patterns", "op", "b/batch_normalization", "ns") ==
                11);
    builder_free(&builder);
}

TEST(placement)
{
    static const struct drawn_op ops[] = {
        { "w", "VariableV2", "-> f32[1000,500]", 1, 0 },
        { "w/read", "Identity", NULL, 1, 0 },
        { "x/MatMul", "MatMul", NULL, 50, 1 },
        { "x/xent", "SoftmaxCrossEntropyWithLogits", "f32[8,10] f32[8,10] -> f32[8]", 30, 0 },
        { "x/summary", "ScalarSummary", NULL, 30, 0 },
        { "alone", "Mul", NULL, 30, 0 },
    };
    static const struct op_edge edges[] = {
        { 0, 1, false, 0 }, { 1, 2, false, 0 }, { 2, 3, false, 0 }, { 2, 4, false, 0 }
    };
    struct profile_builder builder;

    start(&builder, true);
    builder.profile.graph = NULL;
    draw(&builder, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    assert_true(builder_cell(&builder, "graph_patterns", "pattern", "cpu-fallback", "ns") == 30);
    assert_true(builder_cell(&builder, "graph_patterns", "op", "x/xent", "bytes") == 32);
    assert_true(builder_fact(&builder, "graph_patterns.accelerators") == 1);
    assert_int_equal(facts_find_table(&builder.study.facts, "graph_patterns")->row_count, 1);
    builder_free(&builder);
}

TEST(cells_in_sequence)
{
    enum { CELLS = 40 };
    struct drawn_op        ops[CELLS * 2];
    struct op_edge         edges[CELLS * 2];
    char                   names[CELLS * 2][32];
    size_t                 edge_count = 0;
    struct profile_builder builder;

    for (int i = 0; i < CELLS; i++) {
        snprintf(names[i], sizeof names[i], i ? "rnn/cell_%d/MatMul" : "rnn/cell/MatMul", i);
        snprintf(names[CELLS + i], sizeof names[i], "heads/MatMul_%d", i + 1);
        ops[i] = (struct drawn_op) { names[i], "MatMul", NULL, 3, 0 };
        ops[CELLS + i] = (struct drawn_op) { names[CELLS + i], "MatMul", NULL, 3, 0 };
        if (i)
            edges[edge_count++] = (struct op_edge) { .from = (uint32_t)i - 1, .to = (uint32_t)i };
    }
    start(&builder, false);
    draw(&builder, ops, ARRAY_COUNT(ops), edges, edge_count);
    /* the heads do not wait for each other */
    assert_int_equal(facts_find_table(&builder.study.facts, "graph_patterns")->row_count, 1);
    assert_true(builder_cell(&builder, "graph_patterns", "op", "rnn/cell/MatMul", "count") == 40);
    assert_true(builder_cell(&builder, "graph_patterns", "op", "rnn/cell/MatMul", "ns") == 120);
    builder_free(&builder);
}

/* Products that ran as one op with their bias: the time, 5 each, is the bias's. Layers that nobody
 * ran have no time under either name. */
TEST(cells_that_ran_with_their_bias)
{
    enum { CELLS = 10 };
    struct drawn_op        ops[CELLS * 4];
    struct op_edge         edges[CELLS * 4];
    char                   names[CELLS * 4][32];
    size_t                 edge_count = 0;
    struct profile_builder builder;

    for (uint32_t i = 0; i < CELLS * 2; i++) {
        uint32_t bias = CELLS * 2 + i;

        snprintf(names[i], sizeof names[i], i < CELLS ? "MatMul_%u" : "idle/MatMul_%u", i + 1);
        snprintf(names[bias], sizeof names[i], i < CELLS ? "Bias_%u" : "idle/Bias_%u", i + 1);
        ops[i] = (struct drawn_op) { names[i], "MatMul", NULL, 0, 0 };
        ops[bias] = (struct drawn_op) { names[bias], "BiasAdd", NULL, i < CELLS ? 5 : 0, 0 };
        edges[edge_count++] = (struct op_edge) { .from = i, .to = bias };
        if (i % CELLS)
            edges[edge_count++] = (struct op_edge) { .from = bias - 1, .to = i };
    }
    start(&builder, false);
    draw(&builder, ops, ARRAY_COUNT(ops), edges, edge_count);
    assert_int_equal(facts_find_table(&builder.study.facts, "graph_patterns")->row_count, 1);
    assert_true(builder_cell(&builder, "graph_patterns", "op", "MatMul_1", "count") == 10);
    assert_true(builder_cell(&builder, "graph_patterns", "op", "MatMul_1", "ns") == 50);
    builder_free(&builder);
}

TEST(feeds_and_fetches)
{
    static const struct drawn_op ops[] = {
        { "_arg_x_0_0", "_arg_x_0_0", "-> f32[16,16]", 1, 0 },
        { "x", "Placeholder", "-> f32[16,16]", 0, 0 },
        { "_retval_loss_0_0", "_retval_loss_0_0", NULL, 1, 0 },
        { "next", "IteratorGetNext", NULL, 1, 0 },
    };
    static const struct op_edge edges[] = { { 0, 2, false, 0 } };
    struct profile_builder      builder;

    start(&builder, false);
    draw(&builder, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    assert_true(builder_fact(&builder, "graph_patterns.feeds") == 1);
    assert_true(builder_fact(&builder, "graph_patterns.feed_bytes") == 16 * 16 * 4);
    assert_true(builder_fact(&builder, "graph_patterns.fetches") == 1);
    assert_true(builder_fact(&builder, "graph_patterns.iterators") == 1);
    builder_free(&builder);
}

TEST(budget_is_kept)
{
    for (size_t budget = 64; budget < 64 << 10; budget += 512) {
        struct arena         arena = { .budget_bytes = budget };
        struct arena         whole = { 0 };
        struct profile       profile;
        struct study         study = { .profile = &profile, .arena = &arena };
        struct err           err = { 0 };
        const struct op_edge edges[] = { { 0, 1, false, 0 } };

        assert_true(profile_init(&profile, &whole));
        for (int i = 0; i < 2; i++)
            assert_true(vec_push(&profile.ops, &whole, (struct op) { .device = NO_ID }));
        assert_true(vec_push(&profile.recorded_steps, &whole, (struct recorded_step) { 0 }));
        assert_true(vec_push(&profile.op_runs, &whole, (struct op_run) { .duration_ns = 1 }));
        profile.graph = op_graph_new(&whole, 2, edges, 1, &err);
        facts_init(&study.facts, &arena, &profile.names);
        if (!analysis_graph_patterns.run(&study, &err))
            assert_int_equal(err.code, ERR_LIMIT);
        arena_free(&arena);
        arena_free(&whole);
    }
}

/* Of each joined row one of three parts is a copy: 4 for making copies, 2 for their gradient, and a
 * third of 30 + 60 of the product there and back and of 9 + 3 of joining. Joined weights are not.
 */
TEST(tiled_rows)
{
    static const struct drawn_op ops[] = {
        { "tile", "Tile", "f32[4,1,8] i32[3] -> f32[4,50,8]", 4, 0 },
        { "gradients/tile_grad/Sum", "Sum", NULL, 2, 0 },
        { "concat", "ConcatV2", "f32[4,50,16] f32[4,50,8] -> f32[4,50,24]", 9, 0 },
        { "gradients/concat_grad/Slice", "Slice", NULL, 3, 0 },
        { "reshape", "Reshape", "f32[4,50,24] -> f32[200,24]", 1, 0 },
        { "weights", "ConcatV2", "f32[16,5] f32[8,5] -> f32[24,5]", 1, 0 },
        { "product", "MatMul", "f32[200,24] f32[24,5] -> f32[200,5]", 30, 0 },
        { "gradients/product_grad/MatMul", "MatMul", NULL, 60, 0 },
    };
    static const struct op_edge edges[] = { { 0, 2, false, 1 },
                                            { 2, 4, false, 0 },
                                            { 4, 6, false, 0 },
                                            { 5, 6, false, 1 },
                                            { 2, 7, false, 0 } };
    struct profile_builder      builder;

    start(&builder, false);
    draw(&builder, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    assert_int_equal(facts_find_table(&builder.study.facts, "graph_patterns")->row_count, 1);
    assert_true(builder_cell(&builder, "graph_patterns", "op", "product", "ns") == 4 + 2 + 34);
    builder_free(&builder);
}
