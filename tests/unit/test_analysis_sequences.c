#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

/*
 * One step: Init, then 10 times Slice (2 us), MatMul (4 us), Add (1 us) with 1 us pauses between
 * all, then Loss. The sequence of three repeats 10 times; one occurrence spans 2+1+4+1+1 = 9 us, 7
 * in ops.
 */
TEST(a_loop_is_found_once)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread, slice, matmul, add, text;
    int64_t                now = 1000;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "python");
    builder_step(&b, host, 0, 200000);
    slice = builder_activity(&b, "Slice", ACTIVITY_OP, NO_ID);
    matmul = builder_activity(&b, "MatMul", ACTIVITY_OP, NO_ID);
    add = builder_activity(&b, "Add", ACTIVITY_OP, NO_ID);
    builder_slice(&b, thread, "Init", ACTIVITY_OP, 0, 500);
    for (int i = 0; i < 10; i++) {
        builder_event(&b, thread, slice, now, 2000);
        builder_event(&b, thread, matmul, now + 3000, 4000);
        builder_event(&b, thread, add, now + 8000, 1000);
        now += 10000;
    }
    builder_slice(&b, thread, "Loss", ACTIVITY_OP, now, 500);
    builder_finish(&b);
    assert_true(analysis_sequences.run(&b.study, &err));
    assert_true(builder_fact(&b, "sequences.count") == 1);
    assert_true(builder_fact(&b, "sequences.top_repeats") == 10);
    assert_true(builder_fact(&b, "sequences.top_ns") == 90000);
    assert_true(builder_cell(&b, "sequences", NULL, NULL, "length") == 3);
    assert_true(builder_cell(&b, "sequences", NULL, NULL, "gap_ns") == 20000);
    assert_true(fabs(builder_cell(&b, "sequences", NULL, NULL, "mean_op_ns") - 7000.0 / 3) < 1e-9);
    text = (uint32_t)builder_cell(&b, "sequences", NULL, NULL, "ops");
    assert_string_equal(intern_str(b.study.facts.names, text).data, "Slice > MatMul > Add");
    builder_free(&b);
}

/* Nine dispatches of each of two ops, one of them with an op inside, which speaks for it. */
TEST(dispatches_stand_for_ops)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread, text;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "python");
    builder_step(&b, host, 0, 200000);
    for (int64_t now = 0; now < 90000; now += 10000) {
        builder_slice(&b, thread, "PjitFunction(dot)", ACTIVITY_DISPATCH, now, 4000);
        builder_slice(&b, thread, "wrapped_dot", ACTIVITY_OP, now + 1000, 1000);
        builder_slice(&b, thread, "PjitFunction(add)", ACTIVITY_DISPATCH, now + 5000, 4000);
    }
    builder_finish(&b);
    assert_true(analysis_sequences.run(&b.study, &err));
    text = (uint32_t)builder_cell(&b, "sequences", NULL, NULL, "ops");
    assert_string_equal(intern_str(b.study.facts.names, text).data,
                        "wrapped_dot > PjitFunction(add)");
    assert_true(builder_cell(&b, "sequences", NULL, NULL, "repeats") == 9);
    builder_free(&b);
}

TEST(few_repeats_are_no_loop)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "python");
    builder_step(&b, host, 0, 200000);
    for (int64_t now = 0; now < 70000; now += 10000) {
        builder_slice(&b, thread, "a", ACTIVITY_OP, now, 4000);
        builder_slice(&b, thread, "b", ACTIVITY_OP, now + 5000, 4000);
    }
    builder_finish(&b);
    assert_true(analysis_sequences.run(&b.study, &err));
    assert_true(builder_fact(&b, "sequences.count") == 0);
    builder_free(&b);
}

/* Nine items of a batch that a loader makes, and nine rounds of the program's own behind it. */
TEST(a_loaders_rounds_are_told)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread, item, decode, own, add;

    host = builder_start_host(&b, FORMAT_KINETO);
    thread = builder_timeline(&b, host, NO_ID, "python");
    builder_step(&b, host, 0, 200000);
    item = builder_activity(&b, "aten::select", ACTIVITY_OP, NO_ID);
    decode = builder_activity(&b, "aten::div", ACTIVITY_OP, NO_ID);
    own = builder_activity(&b, "aten::mul", ACTIVITY_OP, NO_ID);
    add = builder_activity(&b, "aten::add", ACTIVITY_OP, NO_ID);
    builder_slice(&b, thread, "enumerate(DataLoader)", ACTIVITY_INPUT_WAIT, 0, 90000);
    for (int64_t now = 0; now < 90000; now += 10000) {
        builder_event(&b, thread, item, now, 4000);
        builder_event(&b, thread, decode, now + 5000, 4000);
        builder_event(&b, thread, own, now + 100000, 3000);
        builder_event(&b, thread, add, now + 104000, 3000);
    }
    builder_finish(&b);
    assert_true(analysis_sequences.run(&b.study, &err));
    assert_true(builder_fact(&b, "sequences.count") == 2);
    assert_true(builder_cell(&b, "sequences", "first_op", "aten::select", "input_share") == 1);
    assert_true(builder_cell(&b, "sequences", "first_op", "aten::mul", "input_share") == 0);
    builder_free(&b);
}
