#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

struct two_streams {
    uint32_t host, thread, compute, copy;
};

static struct two_streams build_gpu(struct profile_builder *b)
{
    struct two_streams s;
    uint32_t           gpu;

    s.host = builder_start_host(b, FORMAT_KINETO);
    gpu = builder_device(b, s.host, "GPU 0", "NVIDIA A100", DEVICE_GPU);
    s.thread = builder_timeline(b, s.host, NO_ID, "main");
    s.compute = builder_timeline(b, s.host, gpu, "stream 7");
    s.copy = builder_timeline(b, s.host, gpu, "stream 8");
    builder_step(b, s.host, 0, 1000000);
    return s;
}

/* Copies of 4 MB from pageable memory, 100 us each, at 0 and 250 us; a kernel runs 200..600 us and
 * hides the second. Exposed: 100 us of 1000. */
TEST(copies_are_exposed_where_no_kernel_runs)
{
    struct profile_builder b;
    struct err             err = { 0 };
    struct two_streams     s;
    uint32_t               copy;

    s = build_gpu(&b);
    copy = builder_activity(&b, "Memcpy HtoD (Pageable -> Device)", ACTIVITY_MEMCPY, NO_ID);
    b.profile.activities.items[copy].copy = COPY_H2D;
    builder_stat(&b, builder_event(&b, s.copy, copy, 0, 100000), STAT_BYTES, 4000000);
    builder_stat(&b, builder_event(&b, s.copy, copy, 250000, 100000), STAT_BYTES, 4000000);
    builder_slice(&b, s.compute, "k", ACTIVITY_KERNEL, 200000, 400000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_copies.run(&b.study, &err));
    assert_true(builder_fact(&b, "copies.h2d_count") == 2);
    assert_true(builder_fact(&b, "copies.h2d_bytes") == 8000000);
    assert_true(builder_fact(&b, "copies.h2d_ns") == 200000);
    assert_true(builder_fact(&b, "copies.h2d_exposed_ns") == 100000);
    assert_true(fabs(builder_fact(&b, "copies.h2d_exposed_share") - 0.1) < 1e-12);
    assert_true(builder_fact(&b, "copies.pageable_ns") == 200000);
    assert_true(builder_fact(&b, "copies.d2h_count") == 0);
    /* 8 MB in 200 us are 40 GB/s */
    assert_true(fabs(builder_cell(&b, "copies", "direction", "h2d", "bytes_per_s") - 40e9) < 1);
    builder_free(&b);
}

/* Copies to two devices, 100 us each, at 0 and 50 us: 150 us with one under way, 50 with both. A
 * second pair, at 400 and 500, goes one after the other: 200 us. Together 50 of 350. */
TEST(copies_to_two_devices_go_side_by_side)
{
    static const int64_t   starts[2][2] = { { 0, 400000 }, { 50000, 500000 } };
    struct profile_builder b;
    struct err             err = { 0 };
    struct two_streams     s = build_gpu(&b);
    uint32_t               copy = builder_activity(&b, "Memcpy HtoD", ACTIVITY_MEMCPY, NO_ID);
    uint32_t               other = builder_device(&b, s.host, "GPU 1", "NVIDIA A100", DEVICE_GPU);
    uint32_t               stream = builder_timeline(&b, s.host, other, "stream 9");

    b.profile.activities.items[copy].copy = COPY_H2D;
    for (int i = 0; i < 2; i++)
        builder_event(&b, s.copy, copy, starts[0][i], 100000);
    for (int i = 0; i < 2; i++)
        builder_event(&b, stream, copy, starts[1][i], 100000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_copies.run(&b.study, &err));
    assert_true(builder_fact(&b, "copies.h2d_devices") == 2);
    assert_true(fabs(builder_fact(&b, "copies.h2d_beside_share") - 50.0 / 350) < 1e-12);
    builder_free(&b);
}

/* One copy of 100 us from the host, whose memory kinds the recording tells or does not. */
static void check_pageable(const char *kinds, double pageable_bytes, double is_pageable)
{
    struct profile_builder b;
    struct err             err = { 0 };
    struct two_streams     s = build_gpu(&b);
    uint32_t               copy = builder_activity(&b, "MemcpyH2D", ACTIVITY_MEMCPY, NO_ID), tag;

    b.profile.activities.items[copy].copy = COPY_H2D;
    tag = builder_event(&b, s.copy, copy, 0, 100000);
    builder_stat(&b, tag, STAT_BYTES, 1048576);
    if (kinds)
        builder_stat(&b, tag, STAT_COPY_KIND, builder_name(&b, kinds));
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_copies.run(&b.study, &err));
    if (isnan(pageable_bytes)) {
        assert_true(isnan(builder_fact(&b, "copies.pageable_bytes")));
        assert_true(isnan(builder_cell(&b, "copies", NULL, NULL, "is_pageable")));
    } else {
        assert_true(builder_fact(&b, "copies.pageable_bytes") == pageable_bytes);
        assert_true(builder_cell(&b, "copies", NULL, NULL, "is_pageable") == is_pageable);
    }
    assert_true(builder_fact(&b, "copies.h2d_bytes") == 1048576);
    builder_free(&b);
}

/* Calls of a step of 1000 us are made at 100 and 200 us of the step before: its window is 1000 to
 * 2000, its calls lie in 0 to 1000. One copy runs at once, in the window before, one in the step,
 * and one of the step behind is made in it. Two are its own. */
TEST(copies_are_of_the_step_that_asked)
{
    static const int64_t   called_ns[] = { 100000, 200000, 1100000 };
    static const int64_t   ran_ns[] = { 110000, 1200000, 1500000 };
    struct profile_builder b;
    struct err             err = { 0 };
    struct two_streams     s;
    struct step           *step;
    uint32_t               copy;

    s = build_gpu(&b);
    copy = builder_activity(&b, "Memcpy HtoD (Pinned -> Device)", ACTIVITY_MEMCPY, NO_ID);
    b.profile.activities.items[copy].copy = COPY_H2D;
    for (size_t i = 0; i < 3; i++)
        builder_flow(
            &b, builder_slice(&b, s.thread, "cudaMemcpyAsync", ACTIVITY_LAUNCH, called_ns[i], 5000),
            builder_event(&b, s.copy, copy, ran_ns[i], 100000), FLOW_LAUNCH);
    step = &b.study.steps.list.items[0];
    *step = (struct step) { .start_ns = 1000000,
                            .end_ns = 2000000,
                            .called_end_ns = 1000000,
                            .host = step->host,
                            .timeline = s.thread,
                            .is_used = true,
                            .is_sampled = true };
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_copies.run(&b.study, &err));
    assert_true(builder_fact(&b, "copies.h2d_count") == 2);
    builder_free(&b);
}

TEST(pageable_memory_is_what_is_told)
{
    check_pageable("pageable -> device", 1048576, true);
    check_pageable("pinned -> device", 0, false);
    check_pageable("unknown -> device", NAN, false);
    check_pageable(NULL, NAN, false);
}

/* On the CPU the host's transfer calls stand alone; the nested one is the same transfer. */
TEST(host_transfers_count_once)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "python");
    builder_step(&b, host, 0, 100000);
    builder_slice(&b, thread, "DevicePut", ACTIVITY_TRANSFER, 1000, 20000);
    builder_slice(&b, thread, "BufferFromHostBuffer", ACTIVITY_TRANSFER, 2000, 10000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_copies.run(&b.study, &err));
    assert_true(builder_fact(&b, "copies.host_transfer_count") == 1);
    assert_true(builder_fact(&b, "copies.host_transfer_ns") == 20000);
    builder_free(&b);
}

/*
 * Kernel 100..300 us, launched at 90; aten::item holds a stream sync 150..310; the next kernel is
 * launched at 380 and starts at 400. Bubble: 310..400 = 90 us; the wait itself is free.
 * The launch call of 390 lasts 10 us and ends before its kernel: none blocks.
 */
TEST(a_sync_costs_its_bubble)
{
    struct profile_builder b;
    struct err             err = { 0 };
    struct two_streams     s;
    uint32_t               launch, kernel;

    s = build_gpu(&b);
    launch = builder_slice(&b, s.thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, 90000, 5000);
    kernel = builder_slice(&b, s.compute, "k", ACTIVITY_KERNEL, 100000, 200000);
    builder_flow(&b, launch, kernel, FLOW_LAUNCH);
    builder_slice(&b, s.thread, "aten::item", ACTIVITY_OP, 140000, 200000);
    builder_slice(&b, s.thread, "cudaStreamSynchronize", ACTIVITY_SYNC, 150000, 160000);
    launch = builder_slice(&b, s.thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, 380000, 10000);
    kernel = builder_slice(&b, s.compute, "k", ACTIVITY_KERNEL, 400000, 600000);
    builder_flow(&b, launch, kernel, FLOW_LAUNCH);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_syncs.run(&b.study, &err));
    assert_true(builder_fact(&b, "sync.count_per_step") == 1);
    assert_true(builder_fact(&b, "sync.wait_ns") == 160000);
    assert_true(builder_fact(&b, "sync.bubble_ns") == 90000);
    assert_true(builder_cell(&b, "syncs", "owner", "aten::item", "bubble_ns") == 90000);
    assert_true(builder_fact(&b, "launch.count_per_step") == 2);
    assert_true(builder_fact(&b, "launch.median_ns") == 7500);
    assert_true(builder_fact(&b, "launch.latency_median_ns") == 15000);
    assert_true(builder_fact(&b, "launch.queue_empty_share") == 1);
    assert_true(builder_fact(&b, "launch.blocking_share") == 0);
    builder_free(&b);
}

/*
 * Two replays of a graph of three kernels, launched at 90 and 95 us; kernels of 30 us run from 100
 * us on. At its launch the first has nothing before it, the second the first: depths 0 and 1, and
 * latencies of 10 and 95 us, in the middle 0.5 and 52.5 us.
 */
TEST(a_graph_is_one_launch)
{
    struct profile_builder b;
    struct err             err = { 0 };
    struct two_streams     s;

    s = build_gpu(&b);
    for (int replay = 0; replay < 2; replay++) {
        uint32_t launch = builder_slice(&b, s.thread, "cudaGraphLaunch", ACTIVITY_LAUNCH,
                                        90000 + replay * 5000, 4000);

        for (int k = 0; k < 3; k++)
            builder_flow(&b, launch,
                         builder_slice(&b, s.compute, "k", ACTIVITY_KERNEL,
                                       100000 + (replay * 3 + k) * 30000, 30000),
                         FLOW_LAUNCH);
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_syncs.run(&b.study, &err));
    assert_true(builder_fact(&b, "launch.queue_depth_median") == 0.5);
    assert_true(builder_fact(&b, "launch.queue_empty_share") == 0.5);
    assert_true(builder_fact(&b, "launch.latency_median_ns") == 52500);
    builder_free(&b);
}

/*
 * One gap of the device from 300 to 400 us. Waits of three threads end in it, at 310, 320 and 350,
 * and wait for the same work: 400 - 310 = 90 us of idle time behind them, not 90 + 80 + 50.
 */
TEST(waits_of_several_threads_share_a_bubble)
{
    struct profile_builder b;
    struct err             err = { 0 };
    struct two_streams     s;
    uint32_t               second, third, host;

    s = build_gpu(&b);
    host = b.profile.timelines.items[s.thread].host;
    second = builder_timeline(&b, host, NO_ID, "second");
    third = builder_timeline(&b, host, NO_ID, "third");
    builder_slice(&b, s.compute, "k", ACTIVITY_KERNEL, 100000, 200000);
    builder_slice(&b, s.compute, "k", ACTIVITY_KERNEL, 400000, 600000);
    builder_slice(&b, s.thread, "cudaStreamSynchronize", ACTIVITY_SYNC, 150000, 160000);
    builder_slice(&b, second, "cudaEventSynchronize", ACTIVITY_SYNC, 150000, 170000);
    builder_slice(&b, third, "cudaDeviceSynchronize", ACTIVITY_SYNC, 150000, 200000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_syncs.run(&b.study, &err));
    assert_true(builder_fact(&b, "sync.count_per_step") == 3);
    assert_true(builder_fact(&b, "sync.bubble_ns") == 90000);
    assert_true(builder_cell(&b, "syncs", "name", "cudaStreamSynchronize", "bubble_ns") == 90000);
    builder_free(&b);
}

/*
 * One thread waits for its result until 310 us and is in its request until 320. Another, which
 * never waits, launches the next kernel at 395: the device is idle 300..400 us, of which the wait's
 * thread goes on for 10. Where that thread launches the kernel, it is the wait's 90 us. Late
 * launches of the thread that waits: before 100 us, and those 100 where they are its own.
 */
static void check_server(bool is_own, double bubble_ns, double late_ns)
{
    struct profile_builder b;
    struct err             err = { 0 };
    struct two_streams     s = build_gpu(&b);
    uint32_t               other, first, second, launches[2];

    other = builder_timeline(&b, b.profile.timelines.items[s.thread].host, NO_ID, "other");
    first = builder_slice(&b, s.compute, "k", ACTIVITY_KERNEL, 100000, 200000);
    second = builder_slice(&b, s.compute, "k", ACTIVITY_KERNEL, 400000, 600000);
    builder_slice(&b, s.thread, "request", ACTIVITY_ANNOTATION, 80000, 240000);
    launches[0] = builder_slice(&b, s.thread, "launch", ACTIVITY_LAUNCH, 90000, 5000);
    builder_slice(&b, s.thread, "synchronizeStream", ACTIVITY_SYNC, 150000, 160000);
    launches[1] =
        builder_slice(&b, is_own ? s.thread : other, "launch", ACTIVITY_LAUNCH, 395000, 2000);
    /* the other thread's pause is longer than Python takes between calls */
    builder_slice(&b, s.thread, "request", ACTIVITY_ANNOTATION, 900000, 1000);
    builder_flow(&b, launches[0], first, FLOW_LAUNCH);
    builder_flow(&b, launches[1], second, FLOW_LAUNCH);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_syncs.run(&b.study, &err));
    assert_true(builder_fact(&b, "sync.bubble_ns") == bubble_ns);
    assert_true(builder_fact(&b, "sync.late_ns") == late_ns);
    builder_free(&b);
}

static uint32_t add_source(struct profile_builder *b, const char *file, uint32_t line)
{
    struct source_line source = { .file = builder_name(b, file), .line = line, .caller = NO_ID };

    assert_true(vec_push(&b->profile.sources, &b->arena, source));
    return (uint32_t)b->profile.sources.count - 1;
}

static void in_python(struct profile_builder *b, uint32_t thread, const char *name,
                      const char *file, int64_t start_us)
{
    uint32_t activity = builder_activity(b, name, ACTIVITY_PYTHON, NO_ID);

    b->profile.activities.items[activity].source = add_source(b, file, 12);
    builder_event(b, thread, activity, start_us * 1000, 50000);
}

/* A wait inside of a library's function, which train_step calls: its file is the one that the
 * compiled op comes from, while profiler.py, a name without a folder too, is not. */
TEST(a_wait_is_of_the_programs_own_function)
{
    struct profile_builder b;
    struct err             err = { 0 };
    struct two_streams     s = build_gpu(&b);
    uint32_t               op = builder_op(&b, "fusion.1", "fusion", NULL);

    b.profile.format = FORMAT_XSPACE;
    b.profile.ops.items[op].source = add_source(&b, "/home/u/train.py", 3);
    in_python(&b, s.thread, "$train.py:12 train_step", "train.py", 100);
    in_python(&b, s.thread, "$profiler.py:12 wrapper", "profiler.py", 100);
    builder_slice(&b, s.thread, "np.asarray(jax.Array)", ACTIVITY_SYNC, 110000, 10000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_syncs.run(&b.study, &err));
    assert_true(builder_cell(&b, "syncs", "owner", "$train.py:12 train_step", "wait_ns") == 10000);
    assert_true(builder_cell(&b, "syncs", "owner", "$train.py:12 train_step", "source_line") == 12);
    builder_free(&b);
}

TEST(waits_of_a_server_hold_no_other_request)
{
    check_server(true, 90000, 200000);
    check_server(false, 10000, 100000);
}
