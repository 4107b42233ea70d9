/* step_classes: each moment of a step in one class. */
#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

static struct err err;

static void check(const struct profile_builder *b, const char *table, const char *key_column,
                  const char *key, const char *column, double expected)
{
    double value = builder_cell(b, table, key_column, key, column);

    if (fabs(value - expected) > 1e-9)
        fail_msg("%s.%s of %s is %g, not %g", table, column, key ? key : "row 0", value, expected);
}

/*
 * A step of 1000 us on two devices of one host (us):
 *   host   waits for input 0..200, launches 150..500, runs an op 450..700
 *   GPU 0  copies from the host 100..300, computes 250..600, copies to the host 550..650
 *   GPU 1  a collective 0..400
 * By order computing, d2h, copy, input, collective, launch, h2d, …, host, other:
 *   GPU 0  compute 250..600 = 350, d2h 600..650 = 50, input 0..200 = 200, launch 200..250 = 50,
 *          h2d none (input and launch cover 100..250), host 650..700 = 50, other 300; it does
 *          something 100..650, so it is idle 450
 *   GPU 1  input 200, collective 200..400 = 200, launch 400..500 = 100, host 500..700 = 200, other
 * 300 Input's share is 200 of 1000 on both.
 */
TEST(each_moment_has_one_class)
{
    struct profile_builder b;
    uint32_t               host, main, first, second;

    host = builder_start_host(&b, FORMAT_KINETO);
    main = builder_timeline(&b, host, NO_ID, "main");
    first =
        builder_timeline(&b, host, builder_device(&b, host, "GPU 0", "", DEVICE_GPU), "stream 1");
    second =
        builder_timeline(&b, host, builder_device(&b, host, "GPU 1", "", DEVICE_GPU), "stream 1");
    builder_step(&b, host, 0, 1000000);
    builder_slice(&b, main, "next", ACTIVITY_INPUT_WAIT, 0, 200000);
    builder_slice(&b, main, "cudaLaunchKernel", ACTIVITY_LAUNCH, 150000, 350000);
    builder_slice(&b, main, "op", ACTIVITY_OP, 450000, 250000);
    builder_slice(&b, first, "HtoD", ACTIVITY_MEMCPY, 100000, 200000);
    builder_slice(&b, first, "k", ACTIVITY_KERNEL, 250000, 350000);
    builder_slice(&b, first, "DtoH", ACTIVITY_MEMCPY, 550000, 100000);
    builder_slice(&b, second, "nccl", ACTIVITY_COLLECTIVE, 0, 400000);
    for (size_t i = 0; i < b.profile.activities.count; i++) {
        struct activity *activity = &b.profile.activities.items[i];
        struct str       name = profile_str(&b.profile, activity->name);

        activity->copy = str_equal(name, STR("HtoD"))   ? COPY_H2D
                         : str_equal(name, STR("DtoH")) ? COPY_D2H
                                                        : COPY_NONE;
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err) && analysis_step_classes.run(&b.study, &err));
    static const struct {
        const char *device, *column;
        double      expected_us;
    } cases[] = {
        { "GPU 0", "compute_ns", 350 }, { "GPU 0", "d2h_ns", 50 },
        { "GPU 0", "input_ns", 200 },   { "GPU 0", "launch_ns", 50 },
        { "GPU 0", "h2d_ns", 0 },       { "GPU 0", "host_ns", 50 },
        { "GPU 0", "other_ns", 300 },   { "GPU 0", "idle_ns", 450 },
        { "GPU 1", "input_ns", 200 },   { "GPU 1", "compute_ns", 0 },
        { "GPU 1", "launch_ns", 100 },  { "GPU 1", "host_ns", 200 },
        { "GPU 1", "other_ns", 300 },   { "GPU 1", "collective_ns", 200 },
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        check(&b, "step_classes", "device", cases[i].device, cases[i].column,
              cases[i].expected_us * 1000);
    check(&b, "step_classes", "bottleneck", "compute", "duration_ns", 1000000);
    check(&b, "step_input", NULL, NULL, "cores", 2);
    check(&b, "step_input", NULL, NULL, "input_share", 0.2);
    /* (350 + 0) / 2 and (0 + 200) / 2 */
    assert_true(fabs(builder_fact(&b, "classes.compute_ns") - 175000) < 1e-6);
    assert_true(fabs(builder_fact(&b, "classes.collective_ns") - 100000) < 1e-6);
    builder_free(&b);
}

/*
 * Instructions of a core: a loop 0..600 holds an infeed 100..200 and a copy 300..400, which its
 * program asks for: computing 400, input 100, copies 100. A second core waits 400..1000 in its
 * infeed; of a second step 200.
 */
TEST(loops_hold_other_instructions)
{
    struct profile_builder b;
    uint32_t               host, first, second;

    host = builder_start_host(&b, FORMAT_XSPACE);
    first =
        builder_timeline(&b, host, builder_device(&b, host, "TPU 0", "", DEVICE_TPU), "XLA Ops");
    second =
        builder_timeline(&b, host, builder_device(&b, host, "TPU 1", "", DEVICE_TPU), "XLA Ops");
    b.profile.timelines.items[first].kind = TIMELINE_OPS;
    b.profile.timelines.items[second].kind = TIMELINE_OPS;
    builder_step(&b, host, 0, 1000000);
    builder_slice(&b, first, "while", ACTIVITY_KERNEL, 0, 600000);
    builder_slice(&b, first, "infeed", ACTIVITY_INPUT_WAIT, 100000, 100000);
    builder_slice(&b, first, "copy-done", ACTIVITY_MEMCPY, 300000, 100000);
    builder_slice(&b, second, "fusion", ACTIVITY_KERNEL, 0, 400000);
    builder_slice(&b, second, "infeed", ACTIVITY_INPUT_WAIT, 400000, 600000);
    builder_step(&b, host, 1000000, 2000000);
    builder_slice(&b, second, "infeed", ACTIVITY_INPUT_WAIT, 1000000, 200000);
    builder_slice(&b, second, "fusion", ACTIVITY_KERNEL, 1200000, 800000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err) && analysis_step_classes.run(&b.study, &err));
    check(&b, "step_classes", "device", "TPU 0", "compute_ns", 400000);
    check(&b, "step_classes", "device", "TPU 0", "input_ns", 100000);
    check(&b, "step_classes", "device", "TPU 0", "copy_ns", 100000);
    check(&b, "step_classes", "device", "TPU 0", "other_ns", 400000);
    check(&b, "step_input", NULL, NULL, "least_share", 0.1);
    check(&b, "step_input", "where", "TPU 1", "most_share", 0.6);
    check(&b, "step_input", "where", "TPU 1", "input_share", 0.35);
    /* Of TPU 1, which has most in both steps: 0.6 and 0.2. */
    assert_true(fabs(builder_fact(&b, "classes.input_least_share") - 0.2) < 1e-9);
    assert_true(fabs(builder_fact(&b, "classes.input_most_share") - 0.6) < 1e-9);
    assert_true(fabs(builder_fact(&b, "classes.input_mean_share") - 0.4) < 1e-9);
    assert_true(fabs(builder_fact(&b, "classes.input_deviation") - 0.2) < 1e-9);
    builder_free(&b);
}

/* Two hosts without accelerators: the second waits for input 600 of 1000 us beside an op that
 * counts 400 of it; the first has an op and a collective. A call that holds the program counts for
 * nothing. */
TEST(hosts_without_accelerators)
{
    struct profile_builder b;
    uint32_t               hosts[2], lines[2];

    builder_start(&b, FORMAT_XSPACE);
    for (int i = 0; i < 2; i++) {
        hosts[i] = builder_host(&b, i ? "second" : "first");
        lines[i] = builder_timeline(&b, hosts[i], NO_ID, "python");
    }
    builder_step(&b, hosts[0], 0, 1000000);
    builder_step(&b, hosts[1], 0, 1000000);
    b.study.steps.list.items[1].number = b.study.steps.list.items[0].number;
    builder_slice(&b, lines[0], "FunctionRun", ACTIVITY_RUN, 0, 1000000);
    builder_slice(&b, lines[0], "MatMul", ACTIVITY_OP, 100000, 200000);
    builder_slice(&b, lines[0], "all-reduce", ACTIVITY_COLLECTIVE, 400000, 500000);
    builder_slice(&b, lines[1], "IteratorGetNext", ACTIVITY_INPUT_WAIT, 0, 600000);
    builder_slice(&b, builder_timeline(&b, hosts[1], NO_ID, "pool"), "DecodeJpeg", ACTIVITY_OP,
                  200000, 800000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err) && analysis_step_classes.run(&b.study, &err));
    check(&b, "step_classes", "host", "first", "collective_ns", 500000);
    check(&b, "step_classes", "host", "first", "host_ns", 200000);
    check(&b, "step_classes", "host", "first", "other_ns", 300000);
    check(&b, "step_classes", "host", "second", "input_ns", 600000);
    check(&b, "step_classes", "host", "second", "host_ns", 400000);
    check(&b, "step_classes", "bottleneck", "input", "duration_ns", 1000000);
    check(&b, "step_input", "where", "second", "cores", 2);
    builder_free(&b);
}
