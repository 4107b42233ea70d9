#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

/*
 * One step of 2000 us; calls and kernels (us):
 *   A  called 0 for 5, runs 10..110: latency 10
 *   B  called 120 for 5, runs 130..330: latency 10
 *   C  called 140 for 5, runs 330..340: latency 190, but it waited behind B: 190 of them busy
 *   D  called 400 for 60, runs 470..480: a slow call, 70 us idle
 *   E  called 500 for 5, runs 650..660: a slow start, 150 us idle
 *   F  called 800, runs 790..795: before its call
 * Latencies 10, 10, 190, 70, 150, -10: median 40. Slow: D and E; excess 30 + 110.
 */
TEST(slow_launches_on_an_idle_device)
{
    static const int64_t us[][4] = {
        { 0, 5, 10, 100 },    { 120, 5, 130, 200 }, { 140, 5, 330, 10 },
        { 400, 60, 470, 10 }, { 500, 5, 650, 10 },  { 800, 5, 790, 5 },
    };
    static const struct {
        const char *fact;
        double      expected;
    } cases[] = {
        { "launch.linked_count", 6 },       { "launch.slow_count", 2 },
        { "launch.slow_share", 2.0 / 6 },   { "launch.slow_excess_ns", 140000 },
        { "launch.slow_worst_ns", 150000 }, { "launch.early_share", 1.0 / 6 },
    };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, stream;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    stream = builder_timeline(&b, host, gpu, "stream 7");
    builder_step(&b, host, 0, 2000000);
    for (size_t i = 0; i < ARRAY_COUNT(us); i++) {
        uint32_t from = builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH,
                                      us[i][0] * 1000, us[i][1] * 1000);
        uint32_t to =
            builder_slice(&b, stream, "k", ACTIVITY_KERNEL, us[i][2] * 1000, us[i][3] * 1000);

        builder_flow(&b, from, to, FLOW_LAUNCH);
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_launches.run(&b.study, &err));
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_true(fabs(builder_fact(&b, cases[i].fact) - cases[i].expected) < 1e-9);
    builder_free(&b);
}

TEST(without_links_nothing_is_said)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu;

    host = builder_start_host(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    builder_slice(&b, builder_timeline(&b, host, gpu, "stream 1"), "k", ACTIVITY_KERNEL, 0, 10);
    builder_step(&b, host, 0, 2000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_launches.run(&b.study, &err));
    assert_non_null(facts_why_absent(&b.study.facts, "launch.early_share"));
    builder_free(&b);
}
