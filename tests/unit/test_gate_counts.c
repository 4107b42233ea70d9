/* counts: what a step does, step by step. */
#include "gate/counts.h"
#include "profile_builder.h"
#include "testing.h"

enum { STEP_NS = 1000 };

/* Two steps of three eager ops and one op of a graph: four ops each. The function that holds the
 * graph and the wait for input are none. */
TEST(eager_executions_are_ops)
{
    static const char *const names[] = { "Mul", "Mul", "Cast", "__inference_f", "IteratorGetNext" };
    struct profile_builder   builder;
    struct count_value      *counts;
    uint32_t                 host, thread;

    host = builder_start_host(&builder, FORMAT_XSPACE);
    thread = builder_timeline(&builder, host, NO_ID, "python");
    for (int64_t step = 0; step < 2; step++) {
        for (int64_t i = 0; i < 5; i++) {
            uint32_t event = builder_slice(&builder, thread, "EagerExecute", ACTIVITY_DISPATCH,
                                           step * STEP_NS + i * 100, 50);

            builder_stat(&builder, event, STAT_EAGER_OP, builder_name(&builder, names[i]));
            builder_stat(&builder, event, STAT_IS_FUNCTION, i == 3);
        }
        builder_slice(&builder, thread, "mul:Mul", ACTIVITY_OP, step * STEP_NS + 310, 20);
        builder_step(&builder, host, step * STEP_NS, (step + 1) * STEP_NS);
    }
    builder_finish(&builder);
    counts = counts_make(&builder.study, &builder.arena);
    assert_non_null(counts);
    assert_true(counts[COUNT_OPS].value == 4);
    assert_true(counts[COUNT_OPS].is_steady);
    builder_free(&builder);
}

/* Two steps, in each of which one op runs; what it ran on its device are three kernels, no ops. */
TEST(kernels_of_an_op_are_no_ops)
{
    struct profile_builder builder;
    struct count_value    *counts;

    builder_start(&builder, FORMAT_PROFILE);
    for (uint32_t step = 0; step < 2; step++) {
        struct recorded_step recorded = { .number = step,
                                          .start_ns = (int64_t)step * STEP_NS,
                                          .duration_ns = STEP_NS };
        struct op_run        run = { .step = step, .device = NO_ID, .duration_ns = 100 };

        assert_true(vec_push(&builder.profile.recorded_steps, builder.profile.arena, recorded));
        for (int i = 0; i < 4; i++) {
            run.is_accelerator = i > 0;
            run.start_ns = (int64_t)step * STEP_NS + i * 100;
            assert_true(vec_push(&builder.profile.op_runs, builder.profile.arena, run));
        }
    }
    builder_finish(&builder);
    counts = counts_make(&builder.study, &builder.arena);
    assert_non_null(counts);
    assert_true(counts[COUNT_OPS].value == 1);
    builder_free(&builder);
}

/* Three steps of 2, 2 and 5 ops, an op that prepares a summary among them: 3 in the mean, 2 to 5.
 * What Python prints is no op. */
TEST(of_steps_that_differ_the_mean_counts)
{
    static const int       ops[] = { 1, 1, 4 };
    struct profile_builder builder;
    struct count_value    *counts;
    uint32_t               host, thread, add, summary;

    host = builder_start_host(&builder, FORMAT_XSPACE);
    thread = builder_timeline(&builder, host, NO_ID, "python");
    add =
        builder_activity(&builder, "Add", ACTIVITY_OP, builder_op(&builder, "Add", "AddV2", NULL));
    summary = builder_activity(&builder, "s", ACTIVITY_OUTPUT,
                               builder_op(&builder, "s", "HistogramSummary", NULL));
    for (int64_t step = 0; step < 3; step++) {
        for (int i = 0; i < ops[step]; i++)
            builder_event(&builder, thread, add, step * STEP_NS + i * 100, 50);
        builder_event(&builder, thread, summary, step * STEP_NS + 600, 50);
        builder_slice(&builder, thread, "print", ACTIVITY_OUTPUT, step * STEP_NS + 700, 50);
        builder_step(&builder, host, step * STEP_NS, (step + 1) * STEP_NS);
    }
    builder_finish(&builder);
    counts = counts_make(&builder.study, &builder.arena);
    assert_non_null(counts);
    assert_true(counts[COUNT_OPS].value == 3);
    assert_true(counts[COUNT_OPS].low == 2 && counts[COUNT_OPS].high == 5);
    assert_false(counts[COUNT_OPS].is_steady);
    builder_free(&builder);
}
