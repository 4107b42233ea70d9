#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "profile_builder.h"

/*
 * One step of 1000 us; two streams, launches on one thread (us):
 *   stream 1: A 100..300, C 500..600, E 980..1000   stream 2: B 200..350 (a copy)
 *   launches: A at 90, B at 95, C at 400 (late), E at 976 (late)
 *   the thread waits for input 0..85 and is inside a sync 605..975. Busy: 100..350, 500..600,
 * 980..1000 = 370. Idle 630: 0..100 input (85 of 100), 350..500 host-late (launch at 400 > 350),
 * 600..980 sync (370 of 380).
 */
TEST(gaps_have_causes)
{
    static const struct {
        const char *fact;
        double      expected;
    } cases[] = {
        { "device.count", 1 },
        { "device.busy_ns", 370000 },
        { "device.busy_share", 0.37 },
        { "device.idle_ns", 630000 },
        { "device.idle_input_ns", 100000 },
        { "device.idle_host_late_ns", 150000 },
        { "device.idle_sync_share", 0.38 },
        { "device.compute_ns", 320000 },
        { "device.longest_gap_ns", 380000 },
        { "device.gap_count", 3 },
    };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, one, two, from, to;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "NVIDIA A100", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    one = builder_timeline(&b, host, gpu, "stream 1");
    two = builder_timeline(&b, host, gpu, "stream 2");
    builder_step(&b, host, 0, 1000000);
    builder_slice(&b, thread, "next", ACTIVITY_INPUT_WAIT, 0, 85000);
    builder_slice(&b, thread, "cudaStreamSynchronize", ACTIVITY_SYNC, 605000, 370000);
    from = builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, 90000, 4000);
    to = builder_slice(&b, one, "A", ACTIVITY_KERNEL, 100000, 200000);
    builder_flow(&b, from, to, FLOW_LAUNCH);
    from = builder_slice(&b, thread, "cudaMemcpyAsync", ACTIVITY_LAUNCH, 95000, 4000);
    to = builder_slice(&b, two, "B", ACTIVITY_MEMCPY, 200000, 150000);
    builder_flow(&b, from, to, FLOW_LAUNCH);
    from = builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, 400000, 4000);
    to = builder_slice(&b, one, "C", ACTIVITY_KERNEL, 500000, 100000);
    builder_flow(&b, from, to, FLOW_LAUNCH);
    from = builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, 976000, 4000);
    to = builder_slice(&b, one, "E", ACTIVITY_KERNEL, 980000, 20000);
    builder_flow(&b, from, to, FLOW_LAUNCH);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_true(fabs(builder_fact(&b, cases[i].fact) - cases[i].expected) < 1e-6);
    assert_true(builder_cell(&b, "gaps", "cause", "sync", "ns") == 380000);
    assert_true(builder_cell(&b, "gaps", "after", "C", "ns") == 150000);
    assert_true(builder_cell(&b, "gaps", "host_activity", "next", "ns") == 100000);
    assert_true(builder_cell(&b, "devices", "device", "GPU 0", "kernels") == 3);
    builder_free(&b);
}

/* Of two devices the other works behind the step: the step's device is busy for 700 of 1000 us. */
TEST(devices_of_other_times_do_not_count)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "main");
    builder_slice(&b, thread, "op", ACTIVITY_OP, 0, 1000);
    builder_step(&b, host, 0, 1000000);
    for (int d = 0; d < 2; d++) {
        uint32_t gpu = builder_device(&b, host, d ? "GPU 1" : "GPU 0", "", DEVICE_GPU);

        builder_slice(&b, builder_timeline(&b, host, gpu, "stream 7"), "k", ACTIVITY_KERNEL,
                      d * 2000000, 700000);
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_float_equal(builder_fact(&b, "device.count"), 1, 0);
    assert_float_equal(builder_fact(&b, "device.busy_share"), 0.7, 1e-9);
    assert_float_equal(builder_fact(&b, "device.idle_share"), 0.3, 1e-9);
    builder_free(&b);
}

/* Data sheets: A100 156 TFLOP/s in TF32 and no type of 8 bit floats, H100 495 and 1979, V100
 * neither. */
TEST(makers_say_which_types_a_device_multiplies)
{
    static const struct {
        const char *model;
        double      tf32, f8, tf32_ratio, half_ratio, double_ratio; /* NaN: not known */
    } rows[] = {
        { "NVIDIA A100-SXM4-40GB", 156e12, 0, 156 / 19.5, 312 / 19.5, 156 / 19.5 },
        { "NVIDIA H100 80GB HBM3", 495e12, 1979e12, 495.0 / 67, 989.0 / 67, 495.0 / 67 },
        { "Tesla V100-SXM2-16GB", 0, 0, NAN, 125 / 15.7, 15.7 / 7.8 },
        { "NVIDIA GeForce RTX 3060", 12.7e12, 0, 1, 25.5 / 12.7, 12.7 / 0.2 },
        { "an accelerator of next year", NAN, NAN, NAN, NAN, NAN },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct profile_builder b;
        struct err             err = { 0 };
        uint32_t               host, gpu;
        double                 tf32, f8, tf32_ratio, half_ratio, double_ratio;

        host = builder_start_host(&b, FORMAT_KINETO);
        gpu = builder_device(&b, host, "GPU 0", rows[i].model, DEVICE_GPU);
        builder_step(&b, host, 0, 1000);
        builder_slice(&b, builder_timeline(&b, host, gpu, "stream 7"), "k", ACTIVITY_KERNEL, 0,
                      700);
        builder_finish(&b);
        assert_true(analysis_devices.run(&b.study, &err));
        tf32 = builder_fact(&b, "device.tf32_flops_per_s");
        f8 = builder_fact(&b, "device.f8_flops_per_s");
        assert_true(isnan(rows[i].tf32) ? isnan(tf32) : fabs(tf32 - rows[i].tf32) < 1);
        assert_true(isnan(rows[i].f8) ? isnan(f8) : fabs(f8 - rows[i].f8) < 1);
        tf32_ratio = builder_fact(&b, "device.tf32_of_f32");
        half_ratio = builder_fact(&b, "device.half_of_f32");
        assert_true(isnan(rows[i].tf32_ratio) ? isnan(tf32_ratio)
                                              : fabs(tf32_ratio - rows[i].tf32_ratio) < 1e-6);
        assert_true(isnan(rows[i].half_ratio) ? isnan(half_ratio)
                                              : fabs(half_ratio - rows[i].half_ratio) < 1e-6);
        double_ratio = builder_fact(&b, "device.f32_of_f64");
        assert_true(isnan(rows[i].double_ratio) ? isnan(double_ratio)
                                                : fabs(double_ratio - rows[i].double_ratio) < 1e-6);
        builder_free(&b);
    }
}

TEST(a_cpu_program_has_no_device)
{
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start(&b, FORMAT_XSPACE);
    builder_device(&b, builder_host(&b, "h"), "CPU", "", DEVICE_CPU);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_string_equal(facts_why_absent(&b.study.facts, "device.idle_share")->reason,
                        "the program ran on the CPU: there is no accelerator");
    assert_int_equal(b.study.devices->rows.count, 0);
    builder_free(&b);
}
