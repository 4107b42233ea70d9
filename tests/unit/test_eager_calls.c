/* eager_calls: calls by phase, and the backward nodes that belong to them. */
#include "analyze/eager/eager_calls.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

/*
 * One step. Forward: linear (number 10, 20 us, with a copy of 3 us inside), relu (number 11, 5 us).
 * zero_grad clears one gradient of 6 elements in 2 us. Backward: node 11 of 4 us, 1 us later node
 * 10 of 16 us with a sparse embedding gradient inside a call, 300 us later a node without a number
 * of 10 us. The update runs one call. A call behind the step does not count.
 *
 * Pauses between nodes: 1 us (300 is other work). relu owns node 11 and the pause behind it: 4 + 1;
 * linear owns node 10: 16.
 */
TEST(phases_and_nodes)
{
    static const char        node_name[] = "autograd::engine::evaluate_function: X";
    struct profile_builder   b;
    struct arena             scratch = { 0 };
    struct eager_calls       calls;
    const struct eager_call *list;
    uint32_t                 host, thread, op;

    host = builder_start_host(&b, FORMAT_KINETO);
    thread = builder_timeline(&b, host, NO_ID, "python");
    builder_step(&b, host, 0, 1000000);
    op = builder_op(&b, "aten::linear", "aten::linear", "f32[4,8] f32[2,8]");
    builder_stat(
        &b,
        builder_event(&b, thread, builder_activity(&b, "aten::linear", ACTIVITY_OP, op), 0, 20000),
        STAT_SEQUENCE, 10);
    builder_slice(&b, thread, "aten::copy_", ACTIVITY_OP, 5000, 3000);
    builder_stat(&b, builder_slice(&b, thread, "aten::relu", ACTIVITY_OP, 21000, 5000),
                 STAT_SEQUENCE, 11);
    builder_slice(&b, thread, "Optimizer.zero_grad#SGD.zero_grad", ACTIVITY_ANNOTATION, 30000,
                  5000);
    op = builder_op(&b, "aten::zero_", "aten::zero_", "f32[2,3]");
    builder_event(&b, thread, builder_activity(&b, "aten::zero_", ACTIVITY_OP, op), 31000, 2000);
    builder_stat(&b, builder_slice(&b, thread, node_name, ACTIVITY_EXECUTOR, 100000, 4000),
                 STAT_SEQUENCE, 11);
    builder_stat(&b, builder_slice(&b, thread, node_name, ACTIVITY_EXECUTOR, 105000, 16000),
                 STAT_SEQUENCE, 10);
    builder_slice(&b, thread, "aten::embedding_backward", ACTIVITY_OP, 106000, 8000);
    builder_slice(&b, thread, "aten::embedding_sparse_backward", ACTIVITY_OP, 107000, 5000);
    builder_slice(&b, thread, node_name, ACTIVITY_EXECUTOR, 421000, 10000);
    builder_slice(&b, thread, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, 500000, 50000);
    builder_slice(&b, thread, "aten::_foreach_add_", ACTIVITY_OP, 510000, 9000);
    builder_slice(&b, thread, "aten::relu", ACTIVITY_OP, 1100000, 5000);
    builder_finish(&b);
    assert_true(eager_calls_make(&b.study, &scratch, &calls));
    list = calls.list.items;
    assert_int_equal(calls.list.count, 5);
    assert_int_equal(list[0].phase, PHASE_FORWARD);
    assert_int_equal(list[0].sequence, 10);
    assert_true(list[0].conversion_ns == 3000);
    assert_true(fabs(list[0].backward_ns - 16000.0) < 1e-6);
    assert_true(fabs(list[1].backward_ns - 5000.0) < 1e-6);
    assert_int_equal(list[2].phase, PHASE_CLEAR);
    assert_int_equal(list[3].phase, PHASE_BACKWARD);
    assert_true(list[3].is_sparse && !list[1].is_sparse);
    assert_int_equal(list[4].phase, PHASE_UPDATE);
    assert_int_equal(calls.nodes.count, 3);
    assert_int_equal(calls.ranges.count, 2);
    assert_true(calls.cleared.count == 1 && calls.cleared.ns == 2000);
    assert_true(calls.cleared.elements == 6);
    arena_free(&scratch);
    builder_free(&b);
}

/* 2 x rows x inner x columns, by the op's order of operands. */
TEST(operations_of_products)
{
    static const struct {
        const char *type, *tensors;
        double      flops, elements;
    } cases[] = {
        { "aten::mm", "f32[4,8] f32[8,3]", 2 * 4 * 8 * 3, 32 },
        { "aten::linear", "f32[5,4,8] f32[3,8] f32[3]", 2 * 5 * 4 * 8 * 3, 160 },
        { "aten::addmm", "f32[3] f32[4,8] f32[8,3]", 2 * 4 * 8 * 3, 32 },
        { "aten::bmm", "f32[2,4,8] f32[2,8,3]", 2 * 2 * 4 * 8 * 3, 64 },
        /* input and state of 4 rows, weights 20x8 and 20x5 */
        { "aten::lstm_cell", "f32[4,8] f32[4,5] f32[20,8] f32[20,5]",
          2 * 4 * 20 * 8 + 2 * 4 * 20 * 5, 160 },
        { "aten::relu", "f32[4,8]", 0, 32 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct profile_builder b;
        uint32_t               op;

        builder_start(&b, FORMAT_KINETO);
        op = builder_op(&b, cases[i].type, cases[i].type, cases[i].tensors);
        print_message("%s\n", cases[i].type);
        assert_true(eager_product_flops(&b.profile, op) == cases[i].flops);
        assert_true(eager_elements(&b.profile, op) == cases[i].elements);
        builder_free(&b);
    }
}

TEST(base_names)
{
    static const char *const cases[][2] = {
        { "aten::add_", "add" },
        { "aten::_foreach_mul_", "foreach_mul" },
        { "aten::mm", "mm" },
        { "my::op_", "my::op" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct str name = eager_base_name(str_from(cases[i][0]));

        assert_true(str_equal(name, str_from(cases[i][1])));
    }
}
