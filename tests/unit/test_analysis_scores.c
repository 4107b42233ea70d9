#include "analyze/analysis.h"
#include "base/macros.h"
#include "model/op_graph.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>
#include <string.h>

enum { MOST_OPS = 8 };
struct instruction {
    const char *name, *type, *tensors;
    int64_t     ns;
    int         producers[2]; /* instructions before it; -1: none */
    int64_t     flops;        /* 0: not known */
};

/* One step in which a device runs the instructions one after the other. */
static void run_program_on(struct profile_builder *b, enum device_kind kind, const char *model,
                           const struct instruction *program, size_t count)
{
    struct op_edge edges[2 * MOST_OPS];
    size_t         edge_count = 0;
    struct err     err = { 0 };
    uint32_t       host, device, stream;
    int64_t        now = 0;

    host = builder_start_host(b, FORMAT_XSPACE);
    device = builder_device(b, host, "device 0", model, kind);
    stream = builder_timeline(b, host, device, "stream 7");
    builder_step(b, host, 0, 100000);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t op = builder_op(b, program[i].name, program[i].type, program[i].tensors);

        assert_int_equal(op, i);
        if (program[i].flops)
            b->profile.ops.items[op].flops = program[i].flops;
        builder_event(b, stream, builder_activity(b, program[i].name, ACTIVITY_KERNEL, op), now,
                      program[i].ns);
        now += program[i].ns;
        for (int p = 0; p < 2; p++)
            if (program[i].producers[p] >= 0)
                edges[edge_count++] =
                    (struct op_edge) { .from = (uint32_t)program[i].producers[p], .to = i };
    }
    b->profile.graph = op_graph_new(&b->arena, (uint32_t)count, edges, edge_count, &err);
    assert_non_null(b->profile.graph);
    builder_finish(b);
    assert_true(analysis_scores.run(&b->study, &err));
}

static void run_program(struct profile_builder *b, enum device_kind kind,
                        const struct instruction *program, size_t count)
{
    run_program_on(b, kind, "", program, count);
}

/* q and k of 2 x 1024 x 64 elements give 2 x 1024 x 1024 scores, eight times as many as both have:
 * product 100, fusion over the scores 50, its sums 5 (they are read, not handed on), product 30.
 * 185 ns, of which 130 in products. What follows the sums (7) and the second product (9) is no
 * part. */
static const struct instruction attention[] = {
    { "dot.1", "dot", "f16[2,1024,64] f16[2,64,1024] -> f16[2,1024,1024]", 100, { -1, -1 }, 0 },
    { "fusion.2", "fusion", "f16[2,1024,1024] -> f16[2,1024,1024]", 50, { 0, -1 }, 0 },
    { "fusion.3", "fusion", "f16[2,1024,1024] -> f16[2,1024]", 5, { 1, -1 }, 0 },
    { "fusion.4", "fusion", "f16[2,1024] -> f16[2,1024]", 7, { 2, -1 }, 0 },
    { "dot.5", "dot", "f16[2,1024,1024] f16[2,1024,64] -> f16[2,1024,64]", 30, { 1, -1 }, 0 },
    { "fusion.6", "fusion", "f16[2,1024,64] -> f16[2,1024,64]", 9, { 4, -1 }, 0 },
};

TEST(sums_what_works_on_scores)
{
    struct profile_builder b;

    run_program(&b, DEVICE_GPU, attention, sizeof attention / sizeof *attention);
    assert_float_equal(builder_cell(&b, "score_products", "op", "dot.1", "ns"), 185, 1e-9);
    assert_float_equal(builder_cell(&b, "score_products", "op", "dot.1", "product_ns"), 130, 1e-9);
    assert_float_equal(builder_cell(&b, "score_products", "op", "dot.1", "keys"), 1024, 0);
    assert_float_equal(builder_cell(&b, "score_products", "op", "dot.1", "elements"), 2097152, 0);
    assert_true(isnan(builder_cell(&b, "score_products", "op", "dot.1", "fused_ns")));
    builder_free(&b);
}

/* Two products of 2 * 2 * 1024 * 64 * 1024 = 268 435 456 operations each, at half of 989.4e12 a
 * second: 536 870 912 / 494.7e12 s = 1085.2 ns. */
TEST(tells_what_a_fused_form_takes)
{
    struct profile_builder b;
    struct instruction     program[ARRAY_COUNT(attention)];

    memcpy(program, attention, sizeof program);
    program[0].flops = program[4].flops = 268435456;
    run_program_on(&b, DEVICE_GPU, "NVIDIA H100 80GB HBM3", program, ARRAY_COUNT(program));
    assert_float_equal(builder_cell(&b, "score_products", "op", "dot.1", "fused_ns"), 1085.2, 0.5);
    builder_free(&b);
}

static void expect_no_scores(enum device_kind kind, const struct instruction *program, size_t count)
{
    struct profile_builder b;
    const struct table    *table;

    run_program(&b, kind, program, count);
    table = facts_find_table(&b.study.facts, "score_products");
    assert_non_null(table);
    assert_int_equal(table->row_count, 0);
    builder_free(&b);
}

TEST(other_products_are_none)
{
    /* A layer that widens eight times has a matrix of weights; scores nobody multiplies again may
     * be wanted; experts widen less than four times; and a CPU has no fused form. */
    static const struct instruction layer[] = {
        { "dot.1", "dot", "f16[2,1024,64] f16[64,512] -> f16[2,1024,512]", 100, { -1, -1 }, 0 },
        { "fusion.2", "fusion", "f16[2,1024,512] -> f16[2,1024,512]", 50, { 0, -1 }, 0 },
        { "dot.3", "dot", "f16[2,1024,512] f16[512,64] -> f16[2,1024,64]", 100, { 1, -1 }, 0 },
    };
    static const struct instruction experts[] = {
        { "dot.1", "dot", "f16[8,4096,64] f16[8,64,256] -> f16[8,4096,256]", 100, { -1, -1 }, 0 },
        { "fusion.2", "fusion", "f16[8,4096,256] -> f16[8,4096,256]", 50, { 0, -1 }, 0 },
        { "dot.3", "dot", "f16[8,4096,256] f16[8,256,64] -> f16[8,4096,64]", 100, { 1, -1 }, 0 },
    };

    expect_no_scores(DEVICE_GPU, layer, 3);
    expect_no_scores(DEVICE_GPU, experts, 3);
    expect_no_scores(DEVICE_GPU, attention, 3);
    expect_no_scores(DEVICE_CPU, attention, sizeof attention / sizeof *attention);
}
