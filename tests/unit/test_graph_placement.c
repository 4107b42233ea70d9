/* graph_placement: small graphs over a CPU and a GPU, or two tasks; each op runs once. */
#include "analyze/program/graph_patterns.h"

#include "profile_builder.h"
#include "testing.h"

enum { CPU, GPU, PS, DEVICES };
struct drawn_op {
    const char *name, *type, *tensors;
    uint32_t    device;
    double      ns;
};
struct fixture {
    struct profile_builder b;
    struct pattern_search  search;
    double                 ns[16], runs[16];
};

static void draw(struct fixture *f, const struct drawn_op *ops, uint32_t count,
                 const struct op_edge *edges, size_t edge_count)
{
    static const char *const names[DEVICES] = { "/job:worker/replica:0/task:0/device:CPU:0",
                                                "/job:worker/replica:0/task:0/device:GPU:0",
                                                "/job:ps/replica:0/task:0/device:CPU:0" };
    struct err               err = { 0 };
    uint32_t                 host;

    *f = (struct fixture) { 0 };
    host = builder_start_host(&f->b, FORMAT_GRAPH);
    for (int i = 0; i < DEVICES; i++)
        builder_device(&f->b, host, names[i], "", i == GPU ? DEVICE_GPU : DEVICE_CPU);
    for (uint32_t i = 0; i < count; i++) {
        builder_op(&f->b, ops[i].name, ops[i].type, ops[i].tensors);
        f->b.profile.ops.items[i].device = ops[i].device;
        f->ns[i] = ops[i].ns;
        f->runs[i] = 1;
    }
    f->b.profile.graph = op_graph_new(&f->b.arena, count, edges, edge_count, &err);
    assert_non_null(f->b.profile.graph);
    builder_finish(&f->b);
    f->search = (struct pattern_search) { .profile = &f->b.profile,
                                          .names = f->b.study.facts.names,
                                          .arena = &f->b.arena,
                                          .ns = f->ns,
                                          .runs = f->runs,
                                          .accelerators = 1 };
}

/* 1000 x 4 bytes of a constant on the CPU go to a product on the GPU; one on the GPU does not
 * move, nor does one that only the CPU reads. */
TEST(constants_that_cross)
{
    static const struct drawn_op ops[] = {
        { "a", "Const", "-> f32[1000]", CPU, 1 },
        { "b", "Const", "-> f32[1000]", GPU, 1 },
        { "c", "Const", "-> f32[1000]", CPU, 1 },
        { "m", "MatMul", NULL, GPU, 9 },
        { "n", "Neg", NULL, CPU, 9 },
    };
    static const struct op_edge edges[] = { { 0, 3, false, 0 },
                                            { 1, 3, false, 0 },
                                            { 2, 4, false, 0 } };
    struct fixture              f;

    draw(&f, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    assert_true(patterns_find_constants(&f.search));
    assert_int_equal(f.search.found.count, 1);
    assert_int_equal(f.search.found.items[0].op, 0);
    assert_true(f.search.found.items[0].bytes == 4000);
    builder_free(&f.b);
}

/*
 * GPU product (800 bytes) -> CPU unique -> CPU cast (1600 bytes) -> GPU sum: 2400 bytes cross round
 * the CPU's 7 ns. A summary on the CPU is host work; a loss whose result stays there does not come
 * back.
 */
TEST(tensors_that_come_back)
{
    static const struct drawn_op ops[] = {
        { "m", "MatMul", "-> f32[200]", GPU, 9 }, { "u", "Unique", "-> f32[100]", CPU, 7 },
        { "c", "Cast", "-> f64[200]", CPU, 2 },   { "s", "Sum", NULL, GPU, 9 },
        { "h", "ScalarSummary", NULL, CPU, 3 },   { "l", "L2Loss", "-> f32[1]", CPU, 3 },
    };
    static const struct op_edge edges[] = { { 0, 1, false, 0 }, { 1, 2, false, 0 },
                                            { 2, 3, false, 0 }, { 0, 4, false, 0 },
                                            { 4, 3, false, 0 }, { 0, 5, false, 0 } };
    struct fixture              f;

    draw(&f, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    assert_true(patterns_find_crossings(&f.search));
    assert_int_equal(f.search.found.count, 1);
    assert_int_equal(f.search.found.items[0].op, 1);
    assert_true(f.search.found.items[0].bytes == 2400);
    assert_true(f.search.found.items[0].ns == 7);
    builder_free(&f.b);
}

/* A table of 5000 x 8 on the parameter server, read through an Identity for 32 rows on the worker;
 * the same on the worker itself is no matter. */
TEST(tables_of_another_task)
{
    static const struct drawn_op ops[] = {
        { "table", "VariableV2", "-> f32[5000,8]", PS, 1 },
        { "table/read", "Identity", NULL, PS, 1 },
        { "lookup", "GatherV2", "f32[5000,8] i64[32] i32[1]", CPU, 5 },
        { "near", "VariableV2", "-> f32[5000,8]", CPU, 1 },
        { "lookup_1", "GatherV2", "f32[5000,8] i64[32] i32[1]", CPU, 5 },
    };
    static const struct op_edge edges[] = { { 0, 1, false, 0 },
                                            { 1, 2, false, 0 },
                                            { 3, 4, false, 0 } };
    struct fixture              f;

    draw(&f, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    f.b.profile.ops.items[0].parameters = f.b.profile.ops.items[3].parameters = 40000;
    assert_true(patterns_find_remote_tables(&f.search));
    assert_int_equal(f.search.found.count, 1);
    assert_int_equal(f.search.found.items[0].op, 0);
    assert_true(f.search.found.items[0].bytes == 160000);
    assert_true(f.search.found.items[0].count == 5000);
    assert_true(f.search.found.items[0].elements == 32);
    builder_free(&f.b);
}

/* Only the 16 bit convolution with channels first on the GPU. */
TEST(layouts_of_convolutions)
{
    static const struct drawn_op ops[] = {
        { "a", "Conv2D", "f16[8,3,32,32] f16[3,3,3,16]", GPU, 40 },
        { "b", "Conv2D", "f32[8,3,32,32] f32[3,3,3,16]", GPU, 40 },
        { "c", "Conv2D", "f16[8,32,32,3] f16[3,3,3,16]", GPU, 40 },
        { "d", "Conv2D", "f16[8,3,32,32] f16[3,3,3,16]", CPU, 40 },
    };
    static const char *const    formats[] = { "NCHW", "NCHW", "NHWC", "NCHW" };
    static const struct op_edge edges[] = { { 0, 1, false, 0 } };
    struct fixture              f;

    draw(&f, ops, ARRAY_COUNT(ops), edges, ARRAY_COUNT(edges));
    for (uint32_t i = 0; i < ARRAY_COUNT(ops); i++) {
        struct attr attr = { builder_name(&f.b, "data_format"), builder_name(&f.b, formats[i]) };

        f.b.profile.ops.items[i].first_attr = (uint32_t)f.b.profile.attrs.count;
        f.b.profile.ops.items[i].attr_count = 1;
        assert_true(vec_push(&f.b.profile.attrs, &f.b.arena, attr));
    }
    assert_true(patterns_find_layouts(&f.search));
    assert_int_equal(f.search.found.count, 1);
    assert_int_equal(f.search.found.items[0].op, 0);
    assert_true(f.search.found.items[0].ns == 40);
    builder_free(&f.b);
}
