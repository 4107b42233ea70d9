/* graph_scopes: batch norms and cells found by the names of their ops; times are per step. */
#include "analyze/program/graph_patterns.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

#include <stdio.h>

struct drawn_op {
    const char *name, *type;
    double      ns, gradient_ns;
};
struct fixture {
    struct profile_builder b;
    struct pattern_search  search;
    double                 ns[64], gradient_ns[64];
};

static void draw(struct fixture *f, const struct drawn_op *ops, uint32_t count,
                 const struct op_edge *edges, size_t edge_count)
{
    struct err err = { 0 };

    *f = (struct fixture) { 0 };
    builder_start(&f->b, FORMAT_GRAPH);
    for (uint32_t i = 0; i < count; i++) {
        builder_op(&f->b, ops[i].name, ops[i].type, NULL);
        f->ns[i] = ops[i].ns;
        f->gradient_ns[i] = ops[i].gradient_ns;
    }
    f->b.profile.graph = op_graph_new(&f->b.arena, count, edges, edge_count, &err);
    assert_non_null(f->b.profile.graph);
    builder_finish(&f->b);
    f->search = (struct pattern_search) { .profile = &f->b.profile,
                                          .names = f->b.study.facts.names,
                                          .arena = &f->b.arena,
                                          .ns = f->ns,
                                          .gradient_ns = f->gradient_ns };
}

/*
 * "a/BatchNorm" in small ops: 1 + 2 + 3, and 4 of its gradients. "b/batch_normalization" has a
 * fused op, "c/BatchNorm" no Rsqrt, "d/BatchNorm" is an op and no scope.
 */
TEST(batch_norms_in_small_ops)
{
    static const struct drawn_op ops[] = {
        { "a/BatchNorm/mean", "Mean", 1, 0 },
        { "a/BatchNorm/batchnorm/Rsqrt", "Rsqrt", 2, 0 },
        { "a/BatchNorm/batchnorm/mul", "Mul", 3, 0 },
        { "gradients/a/BatchNorm/batchnorm/mul_grad/Mul", "Mul", 4, 0 },
        { "b/batch_normalization/FusedBatchNormV3", "FusedBatchNormV3", 50, 0 },
        { "b/batch_normalization/Rsqrt", "Rsqrt", 1, 0 },
        { "c/BatchNorm/mul", "Mul", 9, 0 },
        { "d/BatchNorm", "Rsqrt", 9, 0 },
    };
    static const struct op_edge edges[] = { { 0, 1, false, 0 } };
    struct fixture              f;

    draw(&f, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    assert_true(patterns_find_batch_norms(&f.search));
    assert_int_equal(f.search.found.count, 1);
    assert_string_equal(intern_str(f.search.names, f.search.found.items[0].subject).data,
                        "a/BatchNorm");
    assert_true(f.search.found.items[0].ns == 10);
    assert_int_equal(f.search.found.items[0].op, 1);
    builder_free(&f.b);
}

/* A bias between a convolution and a norm that trains: 5 + 6; not before one in inference, nor
 * behind a product. */
TEST(biases_before_norms)
{
    static const struct drawn_op ops[] = {
        { "a/Conv2D", "Conv2D", 90, 0 },        { "a/BiasAdd", "BiasAdd", 5, 6 },
        { "a/norm", "FusedBatchNormV3", 9, 0 }, { "b/MatMul", "MatMul", 90, 0 },
        { "b/BiasAdd", "BiasAdd", 5, 6 },       { "b/norm", "FusedBatchNormV3", 9, 0 },
        { "c/Conv2D", "Conv2D", 90, 0 },        { "c/BiasAdd", "BiasAdd", 5, 6 },
        { "c/norm", "FusedBatchNormV3", 9, 0 },
    };
    static const struct op_edge edges[] = { { 0, 1, false, 0 }, { 1, 2, false, 0 },
                                            { 3, 4, false, 0 }, { 4, 5, false, 0 },
                                            { 6, 7, false, 0 }, { 7, 8, false, 0 } };
    struct fixture              f;
    struct op                  *inference;
    struct attr                 attr;

    draw(&f, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    attr = (struct attr) { builder_name(&f.b, "is_training"), builder_name(&f.b, "false") };
    inference = &f.b.profile.ops.items[8];
    inference->first_attr = (uint32_t)f.b.profile.attrs.count;
    inference->attr_count = 1;
    assert_true(vec_push(&f.b.profile.attrs, &f.b.arena, attr));
    assert_true(patterns_find_biases(&f.search));
    assert_int_equal(f.search.found.count, 1);
    assert_int_equal(f.search.found.items[0].op, 1);
    assert_true(f.search.found.items[0].ns == 11);
    builder_free(&f.b);
}

/* Eight products in a row are a cell written out (8 x (2 + 1)), seven are not; products beside
 * each other never are. */
TEST(cells_wait_for_each_other)
{
    for (uint32_t count = 7; count <= 8; count++) {
        struct drawn_op ops[16];
        struct op_edge  edges[16];
        char            names[16][32];
        struct fixture  f;

        for (uint32_t i = 0; i < count; i++) {
            snprintf(names[i], sizeof names[i], i ? "rnn/cell_%u/MatMul" : "rnn/cell/MatMul", i);
            snprintf(names[8 + i], sizeof names[8 + i], i ? "heads/MatMul_%u" : "heads/MatMul", i);
        }
        for (uint32_t i = 0; i < 2 * count; i++) {
            ops[i] =
                (struct drawn_op) { i < count ? names[i] : names[8 + i - count], "MatMul", 2, 1 };
            if (i > 0 && i < count)
                edges[i - 1] = (struct op_edge) { .from = i - 1, .to = i };
        }
        draw(&f, ops, 2 * count, edges, count - 1);
        assert_true(patterns_find_cells(&f.search));
        assert_int_equal(f.search.found.count, count == 8 ? 1 : 0);
        if (count == 8) {
            assert_true(f.search.found.items[0].ns == 24);
            assert_true(f.search.found.items[0].count == 8);
            assert_int_equal(f.search.found.items[0].op, 0);
        }
        builder_free(&f.b);
    }
}

/* Two layers of eight steps, whose products ran as one op with bias and activation: eight of each
 * layer, 8 x (2 + 1), where the numbers of layers are not taken for those of steps. */
TEST(layers_are_cells_of_their_own)
{
    enum { STEPS = 8, OPS = 2 * STEPS * 3 };
    static const char *const types[] = { "MatMul", "BiasAdd", "Sigmoid" };
    struct drawn_op          ops[OPS];
    struct op_edge           edges[2 * OPS];
    char                     names[OPS][32];
    size_t                   count = 0;
    struct fixture           f;

    for (uint32_t i = 0; i < OPS; i++) {
        uint32_t layer = i / (3 * STEPS), step = i / 3 % STEPS, part = i % 3;

        snprintf(names[i], sizeof names[i], step ? "rnn/cell_%u/%s_%u" : "rnn/cell_%u/%s", layer,
                 types[part], step);
        ops[i] = (struct drawn_op) { names[i], types[part], part == 2 ? 2 : 0, part == 0 ? 1 : 0 };
        if (part || step)
            edges[count++] = (struct op_edge) { .from = i - 1, .to = i };
        if (part == 0 && layer)
            edges[count++] = (struct op_edge) { .from = i - 3 * STEPS + 2, .to = i };
    }
    draw(&f, ops, OPS, edges, count);
    assert_true(patterns_find_cells(&f.search));
    assert_int_equal(f.search.found.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(f.search.found.items[i].ns == 24);
        assert_true(f.search.found.items[i].count == STEPS);
    }
    builder_free(&f.b);
}
