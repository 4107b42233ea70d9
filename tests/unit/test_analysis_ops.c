#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

/*
 * Two steps of 100 us. Each runs, inside one executor run of a thread:
 *   Add 0..20 us holding Mul 5..10 us, then MatMul 24..64 us. Outside of steps a MatMul that
 * must not count. Add: total 20, self 15. Gap between Add and MatMul: 4 us.
 */
static void build_two_steps(struct profile_builder *b)
{
    uint32_t host, thread, run, add, mul, matmul;

    host = builder_start_host(b, FORMAT_XSPACE);
    thread = builder_timeline(b, host, NO_ID, "worker");
    run = builder_activity(b, "FunctionRun", ACTIVITY_RUN, NO_ID);
    add = builder_activity(b, "m/Add", ACTIVITY_OP, builder_op(b, "m/Add", "AddV2", NULL));
    mul = builder_activity(b, "m/Mul", ACTIVITY_OP, builder_op(b, "m/Mul", "Mul", NULL));
    matmul = builder_activity(
        b, "m/d/MatMul", ACTIVITY_OP,
        builder_op(b, "m/d/MatMul", "MatMul", "f32[32,128] f32[128,64] -> f32[32,64]"));
    for (int64_t base = 0; base < 200000; base += 100000) {
        builder_step(b, host, base, base + 100000);
        builder_event(b, thread, run, base, 90000);
        builder_event(b, thread, add, base, 20000);
        builder_event(b, thread, mul, base + 5000, 5000);
        builder_event(b, thread, matmul, base + 24000, 40000);
    }
    builder_event(b, thread, matmul, 300000, 50000);
    builder_finish(b);
}

TEST(ops_are_summed_a_step)
{
    static const struct {
        const char *op, *column;
        double      expected;
    } cells[] = {
        { "m/Add", "total_ns", 20000 },       { "m/Add", "self_ns", 15000 },
        { "m/Mul", "self_ns", 5000 },         { "m/d/MatMul", "calls", 1 },
        { "m/d/MatMul", "self_ns", 40000 },   { "m/d/MatMul", "share", 0.4 },
        { "m/d/MatMul", "median_ns", 40000 },
    };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               shapes;

    build_two_steps(&b);
    assert_true(analysis_ops.run(&b.study, &err));
    for (size_t i = 0; i < ARRAY_COUNT(cells); i++)
        assert_true(fabs(builder_cell(&b, "ops", "name", cells[i].op, cells[i].column) -
                         cells[i].expected) < 1e-9);
    shapes = (uint32_t)builder_cell(&b, "ops", "name", "m/d/MatMul", "shapes");
    assert_string_equal(intern_str(b.study.facts.names, shapes).data, "[32,128]x[128,64]->[32,64]");
    shapes = (uint32_t)builder_cell(&b, "ops", "name", "m/d/MatMul", "scope");
    assert_string_equal(intern_str(b.study.facts.names, shapes).data, "m/d");
    assert_true(builder_fact(&b, "ops.count_per_step") == 3);
    assert_true(builder_fact(&b, "ops.median_ns") == 20000);
    assert_true(builder_fact(&b, "ops.tiny_count") == 1);
    assert_true(builder_fact(&b, "ops.self_ns") == 60000);
    assert_true(builder_fact(&b, "ops.gap_ns") == 4000);
    assert_true(builder_cell(&b, "op_types", "type", "MatMul", "self_ns") == 40000);
    builder_free(&b);
}

/* Recorded runs: two steps; the numbered stream repeats what stream:all has and must not count. */
TEST(recorded_runs_are_summed_a_step)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               op;

    builder_start(&b, FORMAT_GRAPH);
    op = builder_op(&b, "conv", "Conv2D", NULL);
    for (uint32_t step = 0; step < 2; step++) {
        struct recorded_step recorded = { .number = step, .duration_ns = 10000 };
        struct op_run        runs[] = {
                   { .op = op, .step = step, .device = NO_ID, .duration_ns = 3000 },
                   { .op = op,
                     .step = step,
                     .device = NO_ID,
                     .stream = builder_name(&b, "/gpu:0/stream:all"),
                     .duration_ns = 5000,
                     .is_accelerator = true },
                   { .op = op,
                     .step = step,
                     .device = NO_ID,
                     .stream = builder_name(&b, "/gpu:0/stream:14"),
                     .duration_ns = 5000,
                     .is_accelerator = true },
        };

        assert_true(vec_push(&b.profile.recorded_steps, &b.arena, recorded));
        for (size_t i = 0; i < ARRAY_COUNT(runs); i++)
            assert_true(vec_push(&b.profile.op_runs, &b.arena, runs[i]));
    }
    builder_finish(&b);
    assert_true(analysis_ops.run(&b.study, &err));
    assert_true(builder_cell(&b, "ops", "kind", "kernel", "self_ns") == 5000);
    assert_true(builder_cell(&b, "ops", "kind", "op", "self_ns") == 3000);
    assert_true(builder_fact(&b, "ops.device_self_ns") == 5000);
    builder_free(&b);
}

/* Eager executions stand for their ops: two Mul of 20 and 30 us; a function and a wait do not. */
TEST(eager_executions_are_ops)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread, event;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "python");
    builder_step(&b, host, 0, 1000000);
    for (int64_t i = 0; i < 4; i++) {
        static const char *names[] = { "Mul", "Mul", "__inference_step", "IteratorGetNext" };

        event = builder_slice(&b, thread, "EagerExecute", ACTIVITY_DISPATCH, i * 100000,
                              (i + 2) * 10000);
        builder_stat(&b, event, STAT_EAGER_OP, builder_name(&b, names[i]));
        builder_stat(&b, event, STAT_IS_FUNCTION, i == 2);
    }
    builder_finish(&b);
    assert_true(analysis_ops.run(&b.study, &err));
    assert_true(builder_fact(&b, "ops.count_per_step") == 2);
    assert_true(builder_fact(&b, "ops.eager_share") == 1);
    assert_true(builder_cell(&b, "ops", "name", "Mul", "self_ns") == 50000);
    builder_free(&b);
}

TEST(no_ops_is_said)
{
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start_host(&b, FORMAT_KINETO);
    builder_finish(&b);
    assert_true(analysis_ops.run(&b.study, &err));
    assert_non_null(facts_why_absent(&b.study.facts, "ops.self_ns"));
    assert_non_null(facts_why_absent(&b.study.facts, "op_types"));
    builder_free(&b);
}

/*
 * One step 0..100 us. Outer 80..180 us reaches over its end and holds Inner 85..95 us and, behind
 * the end, Inner 120..150 us with Leaf 125..130 us in it. What is counted is what begins in the
 * step: Outer, of whose 100 us 100 - 10 - 30 = 60 are its own, and one Inner of 10 us.
 */
TEST(ops_over_the_edge_keep_their_self_time)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread;

    host = builder_start_host(&b, FORMAT_KINETO);
    thread = builder_timeline(&b, host, NO_ID, "main");
    builder_step(&b, host, 0, 100000);
    builder_slice(&b, thread, "Outer", ACTIVITY_OP, 80000, 100000);
    builder_slice(&b, thread, "Inner", ACTIVITY_OP, 85000, 10000);
    builder_slice(&b, thread, "Inner", ACTIVITY_OP, 120000, 30000);
    builder_slice(&b, thread, "Leaf", ACTIVITY_OP, 125000, 5000);
    builder_finish(&b);
    assert_true(analysis_ops.run(&b.study, &err));
    assert_true(builder_cell(&b, "ops", "name", "Outer", "self_ns") == 60000);
    assert_true(builder_cell(&b, "ops", "name", "Inner", "self_ns") == 10000);
    assert_true(builder_cell(&b, "ops", "name", "Inner", "calls") == 1);
    assert_true(builder_fact(&b, "ops.distinct") == 2);
    builder_free(&b);
}

/* 100 us: Add takes 20, then the op that prepares a summary 30: two ops that take 50. Printing from
 * Python is none. */
TEST(ops_that_prepare_output_are_ops)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread, add, summary;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "main");
    add = builder_activity(&b, "Add", ACTIVITY_OP, builder_op(&b, "Add", "AddV2", NULL));
    summary =
        builder_activity(&b, "s", ACTIVITY_OUTPUT, builder_op(&b, "s", "HistogramSummary", NULL));
    builder_step(&b, host, 0, 100000);
    builder_event(&b, thread, add, 0, 20000);
    builder_event(&b, thread, summary, 20000, 30000);
    builder_slice(&b, thread, "print", ACTIVITY_OUTPUT, 60000, 10000);
    builder_finish(&b);
    assert_true(analysis_ops.run(&b.study, &err));
    assert_true(builder_fact(&b, "ops.count_per_step") == 2);
    assert_true(builder_fact(&b, "ops.self_ns") == 50000);
    builder_free(&b);
}
