#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

static void add_kernel(struct profile_builder *b, uint32_t thread, int64_t launch_us,
                       uint32_t stream, const char *name, int64_t start_us, int64_t us)
{
    uint32_t from =
        builder_slice(b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, launch_us * 1000, 1000);
    uint32_t to = builder_slice(b, stream, name, ACTIVITY_KERNEL, start_us * 1000, us * 1000);

    builder_flow(b, from, to, FLOW_LAUNCH);
}

/*
 * One step of 1000 us, twenty slices of 50 us.
 *   stream 7:  A 0..200, C 500..700     stream 9: B 150..250 (50 of it beside A)
 *   stream 20: an all-reduce 300..500; C was launched at 400 and starts at 500: it waited. Nothing
 *   computes from 300 to 500: 200 us. A second all-reduce 750..900 has no kernel behind it.
 * Use of a slice: 0..250 all, 250..300 none, 300..700 all, 700..750 none, 750..900 all, then
 * none: 3 falls. 16 of 20 slices are full and 4 empty: p5 0, p95 1.
 */
TEST(streams_and_waits)
{
    static const struct {
        const char *fact;
        double      expected;
    } cases[] = {
        { "streams.count", 2 }, { "streams.waits_per_step", 1 }, { "streams.comm_wait_ns", 200000 },
        { "device.use_p5", 0 }, { "device.use_p95", 1 },         { "device.use_swings", 3 },
    };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, seven, nine, twenty;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    seven = builder_timeline(&b, host, gpu, "stream 7");
    nine = builder_timeline(&b, host, gpu, "stream 9");
    twenty = builder_timeline(&b, host, gpu, "stream 20");
    builder_step(&b, host, 0, 1000000);
    add_kernel(&b, thread, -10, seven, "A", 0, 200);
    add_kernel(&b, thread, 100, nine, "B", 150, 100);
    add_kernel(&b, thread, 400, seven, "C", 500, 200);
    builder_slice(&b, thread, "cudaStreamWaitEvent", ACTIVITY_OTHER, 398000, 1000);
    builder_slice(&b, twenty, "ncclAllReduce", ACTIVITY_COLLECTIVE, 300000, 200000);
    builder_slice(&b, twenty, "ncclAllReduce", ACTIVITY_COLLECTIVE, 750000, 150000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_streams.run(&b.study, &err));
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_true(builder_fact(&b, cases[i].fact) == cases[i].expected);
    assert_true(builder_cell(&b, "stream_pairs", "a", "stream 7", "a_ns") == 400000);
    assert_true(builder_cell(&b, "stream_pairs", "b", "stream 9", "b_ns") == 100000);
    assert_true(builder_cell(&b, "stream_pairs", NULL, NULL, "overlap_ns") == 50000);
    assert_true(builder_cell(&b, "stream_pairs", NULL, NULL, "small_share") == 0);
    assert_true(builder_cell(&b, "comm_waits", "kernel", "C", "ns") == 200000);
    assert_int_equal(facts_find_table(&b.study.facts, "comm_waits")->row_count, 1);
    builder_free(&b);
}

/* Launched at 500, when the collective had ended: the host was late, nobody waited for it. */
TEST(a_late_launch_waits_for_nobody)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, seven;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    seven = builder_timeline(&b, host, gpu, "stream 7");
    builder_step(&b, host, 0, 1000000);
    builder_slice(&b, builder_timeline(&b, host, gpu, "stream 20"), "ncclAllReduce",
                  ACTIVITY_COLLECTIVE, 300000, 200000);
    add_kernel(&b, thread, 500, seven, "C", 505, 200);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_streams.run(&b.study, &err));
    assert_true(builder_fact(&b, "streams.comm_wait_ns") == 0);
    builder_free(&b);
}

TEST(a_small_grid_leaves_room)
{
    struct kernel_config   small = { .grid = { 4, 2, 1 } }, large = { .grid = { 9, 12, 1 } };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu, one, two, tag;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    b.profile.devices.items[gpu].sm_count = 108;
    assert_true(vec_push(&b.profile.kernel_configs, &b.arena, small));
    assert_true(vec_push(&b.profile.kernel_configs, &b.arena, large));
    one = builder_timeline(&b, host, gpu, "stream 1");
    two = builder_timeline(&b, host, gpu, "stream 2");
    builder_step(&b, host, 0, 1000000);
    builder_slice(&b, one, "A", ACTIVITY_KERNEL, 0, 500000);
    /* 300 us of 8 blocks, 100 us of 108: three quarters leave room */
    tag = builder_slice(&b, two, "S", ACTIVITY_KERNEL, 500000, 300000);
    builder_stat(&b, tag, STAT_KERNEL_CONFIG, 0);
    tag = builder_slice(&b, two, "L", ACTIVITY_KERNEL, 800000, 100000);
    builder_stat(&b, tag, STAT_KERNEL_CONFIG, 1);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_streams.run(&b.study, &err));
    assert_true(builder_cell(&b, "stream_pairs", "b", "stream 2", "small_share") == 0.75);
    assert_true(builder_cell(&b, "stream_pairs", "b", "stream 2", "b_kernels") == 2);
    builder_free(&b);
}

TEST(a_cpu_program_has_none)
{
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start_host(&b, FORMAT_KINETO);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_streams.run(&b.study, &err));
    assert_non_null(facts_why_absent(&b.study.facts, "device.use_p5"));
    assert_non_null(facts_why_absent(&b.study.facts, "comm_waits"));
    builder_free(&b);
}
