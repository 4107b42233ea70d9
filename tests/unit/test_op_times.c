/* op_times: total and self time, medians, tiny calls and pauses between ops. */
#include "analyze/ops/op_times.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

static const struct op_time *find(const struct profile_builder *b, const struct op_times *times,
                                  const char *name)
{
    for (size_t i = 0; i < times->count; i++)
        if (str_equal(profile_str(&b->profile, times->rows[i].name), str_from(name)))
            return &times->rows[i];
    fail_msg("no row called %s", name);
    return NULL;
}

/*
 * Inside a run of 0..200 us: conv 10..60 with add 20..28 in it, then conv 70..130 and mul 135..139.
 * Outside the step another conv. conv: 110 us, self 102, median of 50 and 60; add 8; mul 4. Two of
 * the four calls are tiny. Pauses: 60..70 and 130..135.
 */
TEST(nested_calls)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct op_times        times;
    const struct op_time  *conv;
    uint32_t               host, thread, activity;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "main");
    builder_step(&b, host, 0, 200000);
    activity = builder_activity(&b, "conv", ACTIVITY_OP,
                                builder_op(&b, "conv", "Conv2D", "f32[8,8] i32[2] -> bf16[8,8]"));
    builder_slice(&b, thread, "run", ACTIVITY_RUN, 0, 200000);
    builder_event(&b, thread, activity, 10000, 50000);
    builder_slice(&b, thread, "add", ACTIVITY_OP, 20000, 8000);
    builder_event(&b, thread, activity, 70000, 60000);
    builder_slice(&b, thread, "mul", ACTIVITY_OP, 135000, 4000);
    builder_event(&b, thread, activity, 300000, 60000);
    builder_finish(&b);
    assert_true(op_times_make(&b.study, &scratch, &times));
    assert_int_equal(times.count, 3);
    conv = find(&b, &times, "conv");
    assert_ptr_equal(conv, &times.rows[0]);
    assert_int_equal(conv->calls, 2);
    assert_true(conv->total_ns == 110000 && conv->self_ns == 102000);
    assert_true(conv->median_ns == 55000);
    assert_int_equal(conv->dtype, DTYPE_F32);
    assert_string_equal(profile_str(&b.profile, conv->type).data, "Conv2D");
    assert_true(find(&b, &times, "add")->self_ns == 8000);
    assert_int_equal(times.call_count, 4);
    assert_int_equal(times.tiny_count, 2);
    assert_true(times.tiny_self_ns == 12000);
    assert_true(times.median_ns == 29000); /* of 4, 8, 50, 60 */
    assert_true(times.gap_ns == 15000);
    assert_true(times.step_count == 1);
    arena_free(&scratch);
    builder_free(&b);
}

/* A map's function on a thread of the pipeline takes 7 us, the same op of the model 2 us. */
TEST(what_a_pipeline_computes)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct op_times        times;
    uint32_t               host, thread, pipeline;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "tf_Compute/1");
    pipeline = builder_timeline(&b, host, NO_ID, "tf_data_private_threadpool/2");
    builder_step(&b, host, 0, 100000);
    builder_slice(&b, thread, "transpose", ACTIVITY_OP, 10000, 2000);
    builder_slice(&b, thread, "conv", ACTIVITY_OP, 20000, 5000);
    builder_slice(&b, pipeline, "transpose", ACTIVITY_OP, 10000, 7000);
    builder_finish(&b);
    assert_true(op_times_make(&b.study, &scratch, &times));
    assert_true(find(&b, &times, "transpose")->self_ns == 9000);
    assert_true(find(&b, &times, "transpose")->input_ns == 7000);
    assert_true(find(&b, &times, "conv")->input_ns == 0);
    arena_free(&scratch);
    builder_free(&b);
}

/* Two steps. conv takes 3 us and, in two calls, 4 and 2 of which add takes 1: 3 and 5 us of its
 * own. add is in one step alone, and mul has no time of its own in either. */
TEST(what_an_op_takes_at_its_fastest)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct op_times        times;
    uint32_t               host, thread;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "main");
    builder_step(&b, host, 0, 100000);
    builder_step(&b, host, 100000, 200000);
    builder_slice(&b, thread, "conv", ACTIVITY_OP, 10000, 3000);
    builder_slice(&b, thread, "mul", ACTIVITY_OP, 20000, 0);
    builder_slice(&b, thread, "conv", ACTIVITY_OP, 110000, 4000);
    builder_slice(&b, thread, "add", ACTIVITY_OP, 111000, 1000);
    builder_slice(&b, thread, "conv", ACTIVITY_OP, 120000, 2000);
    builder_slice(&b, thread, "mul", ACTIVITY_OP, 130000, 0);
    builder_finish(&b);
    assert_true(op_times_make(&b.study, &scratch, &times));
    assert_true(times.step_count == 2);
    assert_true(find(&b, &times, "conv")->fastest_ns == 3000);
    assert_true(find(&b, &times, "conv")->self_ns == 8000);
    assert_true(find(&b, &times, "add")->fastest_ns == 0);
    assert_true(find(&b, &times, "mul")->fastest_ns == 0);
    arena_free(&scratch);
    builder_free(&b);
}

/* Recorded runs: the accelerator's time is a row of its own, and where there is a "stream:all" the
 * numbered streams only repeat it. */
TEST(recorded_runs)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct op_times        times;
    uint32_t               cpu, gpu, all, one;

    builder_start(&b, FORMAT_GRAPH);
    cpu = builder_device(&b, builder_host(&b, "h"), "/device:CPU:0", "", DEVICE_CPU);
    gpu = builder_device(&b, 0, "/device:GPU:0", "", DEVICE_GPU);
    all = builder_name(&b, "stream:all");
    one = builder_name(&b, "stream:16");
    builder_op(&b, "m", "MatMul", NULL);
    assert_true(vec_push(&b.profile.recorded_steps, &b.arena, (struct recorded_step) { 0 }));
    for (int i = 0; i < 3; i++) {
        const struct op_run runs[] = {
            { .op = 0, .device = cpu, .duration_ns = 30 },
            { .op = 0, .device = gpu, .stream = all, .duration_ns = 500, .is_accelerator = true },
            { .op = 0, .device = gpu, .stream = one, .duration_ns = 500, .is_accelerator = true },
        };

        assert_true(vec_push(&b.profile.op_runs, &b.arena, runs[i]));
    }
    builder_finish(&b);
    assert_true(op_times_make(&b.study, &scratch, &times));
    assert_int_equal(times.count, 2);
    assert_int_equal(times.rows[0].kind, ACTIVITY_KERNEL);
    assert_true(times.rows[0].total_ns == 500 && times.rows[0].calls == 1);
    assert_true(times.rows[1].total_ns == 30);
    arena_free(&scratch);
    builder_free(&b);
}

TEST(the_widest_type_counts)
{
    static const struct {
        const char *tensors;
        bool        is_eager;
        enum dtype  dtype;
    } cases[] = {
        { "f16[4] f32[4] -> f16[4]", false, DTYPE_F32 },
        { "i64[4] bf16[4] -> bf16[4]", false, DTYPE_BF16 },
        { "i64[4] -> i32[4]", false, DTYPE_I64 },
        { "f32[4] f64[] -> f32[4]", true, DTYPE_F32 }, /* a Python number */
        { "f32[4] f64[] -> f32[4]", false, DTYPE_F64 },
        { "f64[4] f64[] -> f64[4]", true, DTYPE_F64 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct profile_builder b;
        uint32_t               op;

        builder_start(&b, FORMAT_KINETO);
        op = builder_op(&b, "x", "x", cases[i].tensors);
        b.profile.ops.items[op].is_eager = cases[i].is_eager;
        print_message("%s\n", cases[i].tensors);
        assert_int_equal(op_dtype(&b.profile, &b.profile.ops.items[op]), cases[i].dtype);
        builder_free(&b);
    }
}

/* In a step of 100 us: an op that prepares a summary is an op, what Python prints is none. The
 * eager execution of a collective only hands it to another thread: it ran once, for 30 us. That of
 * a MatMul is the MatMul. */
TEST(every_op_once)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct op_times        times;
    const struct op_time  *reduce;
    uint32_t               python, pool, tag;

    builder_start(&b, FORMAT_XSPACE);
    python = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "python");
    pool = builder_timeline(&b, 0, NO_ID, "collective_ops");
    builder_step(&b, 0, 0, 100000);
    builder_event(&b, python,
                  builder_activity(&b, "write_summary/Max:Max", ACTIVITY_OUTPUT,
                                   builder_op(&b, "write_summary/Max", "Max", NULL)),
                  0, 10000);
    builder_slice(&b, python, "print", ACTIVITY_OUTPUT, 10000, 10000);
    tag = builder_slice(&b, python, "EagerLocalExecute: CollectiveReduceV2", ACTIVITY_DISPATCH,
                        20000, 20000);
    builder_stat(&b, tag, STAT_EAGER_OP, builder_name(&b, "CollectiveReduceV2"));
    tag = builder_slice(&b, python, "EagerLocalExecute: MatMul", ACTIVITY_DISPATCH, 40000, 20000);
    builder_stat(&b, tag, STAT_EAGER_OP, builder_name(&b, "MatMul"));
    builder_event(
        &b, pool,
        builder_activity(&b, "CollectiveReduceV2:CollectiveReduceV2", ACTIVITY_COLLECTIVE,
                         builder_op(&b, "CollectiveReduceV2", "CollectiveReduceV2", NULL)),
        25000, 30000);
    builder_finish(&b);
    assert_true(op_times_make(&b.study, &scratch, &times));
    assert_int_equal(times.count, 3);
    reduce = find(&b, &times, "CollectiveReduceV2");
    assert_int_equal(reduce->calls, 1);
    assert_true(reduce->total_ns == 30000);
    assert_true(find(&b, &times, "MatMul")->total_ns == 20000);
    assert_true(find(&b, &times, "write_summary/Max")->total_ns == 10000);
    arena_free(&scratch);
    builder_free(&b);
}
