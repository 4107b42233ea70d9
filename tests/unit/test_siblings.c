/* Which instructions of a program do the same and need nothing of each other. */
#include "analyze/ops/siblings.h"
#include "model/op_graph.h"

#include "profile_builder.h"
#include "testing.h"

enum { ROUNDS = 20, PARTS = 3 };

static const char product[] = "f32[8,16] f32[16,16] -> f32[8,16]";
static const char gradient[] = "f32[8,16] f32[8,16] -> f32[16,16]";

static void add_edge(struct op_edge *edges, size_t *count, uint32_t from, uint32_t to)
{
    edges[(*count)++] = (struct op_edge) { .from = from, .to = to };
}

/* A parameter; then in each round a product, an elementwise fusion of it, and a product of the
 * shapes of a gradient that takes the fusion's result. Rounds of a chain take the fusion's result
 * of the round before, others the parameter. */
static uint32_t *count_rounds(struct profile_builder *b, uint32_t rounds, bool is_chain)
{
    struct op_edge edges[PARTS * ROUNDS];
    size_t         edge_count = 0;
    uint32_t       last = 0, *counts;
    struct err     err = { 0 };

    builder_start(b, FORMAT_XSPACE);
    builder_op(b, "x", "parameter", "-> f32[8,16]");
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t dot = builder_op(b, "dot", "dot", product);
        uint32_t relu = builder_op(b, "relu", "fusion", "f32[8,16] -> f32[8,16]");

        add_edge(edges, &edge_count, is_chain ? last : 0, dot);
        add_edge(edges, &edge_count, dot, relu);
        add_edge(edges, &edge_count, relu, builder_op(b, "grad", "dot", gradient));
        last = relu;
    }
    b->profile.graph =
        op_graph_new(&b->arena, (uint32_t)b->profile.ops.count, edges, edge_count, &err);
    assert_non_null(b->profile.graph);
    assert_true(siblings_count(&b->profile, &b->arena, &counts));
    assert_non_null(counts);
    return counts;
}

/* Instruction `part` of a round: 0 the product, 1 the fusion, 2 the gradient. */
static uint32_t count_of(const uint32_t *counts, uint32_t round, uint32_t part)
{
    return counts[1 + PARTS * round + part];
}

TEST(rounds_of_a_loop_are)
{
    struct profile_builder b;
    const uint32_t        *counts = count_rounds(&b, ROUNDS, false);

    assert_int_equal(counts[0], 0); /* a parameter does nothing */
    for (uint32_t i = 0; i < ROUNDS; i++)
        for (uint32_t part = 0; part < PARTS; part++)
            assert_int_equal(count_of(counts, i, part), ROUNDS);
    builder_free(&b);
}

/* Products of layers wait for each other; those of the weights' gradients do not. */
TEST(layers_are_not)
{
    struct profile_builder b;
    const uint32_t        *counts = count_rounds(&b, ROUNDS, true);

    for (uint32_t i = 0; i < ROUNDS; i++) {
        assert_int_equal(count_of(counts, i, 0), 0);
        assert_int_equal(count_of(counts, i, 1), 0);
        assert_int_equal(count_of(counts, i, 2), ROUNDS);
    }
    builder_free(&b);
}

TEST(few_are_not_told)
{
    struct profile_builder b;
    const uint32_t        *counts = count_rounds(&b, SIBLINGS_FEWEST - 1, false);

    assert_int_equal(count_of(counts, 0, 0), 0);
    builder_free(&b);
}
