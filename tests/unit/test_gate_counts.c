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

/* Two steps of two runs of a session each, of one op and of three: four ops a step, not two a run.
 */
TEST(runs_of_a_session_that_make_a_step)
{
    struct profile_builder builder;
    struct count_value    *counts;
    uint32_t               host = builder_start_host(&builder, FORMAT_GRAPH);

    for (uint32_t row = 0; row < 4; row++) {
        struct recorded_step recorded = { .number = row,
                                          .start_ns = (int64_t)row * STEP_NS / 2,
                                          .duration_ns = STEP_NS / 2 };
        struct op_run        run = { .step = row, .device = NO_ID, .duration_ns = 100 };

        assert_true(vec_push(&builder.profile.recorded_steps, builder.profile.arena, recorded));
        for (int i = 0; i < (row % 2 ? 3 : 1); i++)
            assert_true(vec_push(&builder.profile.op_runs, builder.profile.arena, run));
    }
    for (int64_t step = 0; step < 2; step++)
        builder_step(&builder, host, step * STEP_NS, (step + 1) * STEP_NS);
    builder_finish(&builder);
    counts = counts_make(&builder.study, &builder.arena);
    assert_non_null(counts);
    assert_true(counts[COUNT_OPS].value == 4);
    assert_true(counts[COUNT_OPS].is_steady);
    builder_free(&builder);
}

/* Steps are a device's, 10000 ns after the host called for their work: the ops of a step are those
 * of the time when it was called for, three in each, though none ran while it did. */
TEST(ops_of_a_host_that_runs_ahead)
{
    enum { AHEAD_NS = 10000 };
    struct profile_builder builder;
    struct count_value    *counts;
    uint32_t               host, thread;

    host = builder_start_host(&builder, FORMAT_KINETO);
    thread = builder_timeline(&builder, host, NO_ID, "python");
    for (int64_t step = 0; step < 2; step++) {
        for (int64_t i = 0; i < 3; i++)
            builder_slice(&builder, thread, "aten::mm", ACTIVITY_OP, step * STEP_NS + i * 100, 50);
        builder_step(&builder, host, AHEAD_NS + step * STEP_NS, AHEAD_NS + (step + 1) * STEP_NS);
    }
    builder_finish(&builder);
    for (size_t i = 0; i < builder.study.steps.list.count; i++) {
        struct step *step = &builder.study.steps.list.items[i];

        step->called_start_ns = step->start_ns - AHEAD_NS;
        step->called_end_ns = step->end_ns - AHEAD_NS;
    }
    counts = counts_make(&builder.study, &builder.arena);
    assert_non_null(counts);
    assert_true(counts[COUNT_OPS].value == 3);
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
