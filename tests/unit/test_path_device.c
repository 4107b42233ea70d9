#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/input/pipeline.h"
#include "analyze/replay/replay.h"
#include "profile_builder.h"

static void run_analyses(struct profile_builder *b, double step_ns)
{
    struct err err = { 0 };

    b->study.steps.median_ns = b->study.steps.mean_ns = step_ns;
    assert_true(analysis_devices.run(&b->study, &err));
    assert_true(path_begin(&b->study) && analysis_path.run(&b->study, &err));
    assert_true(analysis_composition.run(&b->study, &err));
}

struct expected {
    const char *fact;
    double      value;
};

static void expect(const struct profile_builder *b, const struct expected *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(builder_fact(b, expected[i].fact) - expected[i].value) < 1e-3))
            fail_msg("%s is %g, expected %g", expected[i].fact, builder_fact(b, expected[i].fact),
                     expected[i].value);
}

static void launch(struct profile_builder *b, uint32_t thread, int64_t launch_us, uint32_t stream,
                   const char *name, enum activity_kind kind, int64_t start_us, int64_t end_us)
{
    uint32_t from =
        builder_slice(b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, launch_us * 1000, 4000);
    uint32_t to = builder_slice(b, stream, name, kind, start_us * 1000, (end_us - start_us) * 1000);

    builder_flow(b, from, to, FLOW_LAUNCH);
}

/*
 * One step of 1000 us (us):
 *   stream 1: A 100..300, C 500..600, E 980..1000   stream 2: B 200..350, a copy
 *   thread: input 0..85, launches of 4 us at 90, 95, 400, 976, a sync 605..975
 * Computes 200 + 100 + 20 = 320; copies beside no kernel 300..350 = 50. Idle: 0..100 the thread
 * waits for input 0..85 and works 15; 350..500 it launches late: host 150; 600..980 it is in the
 * sync for 370 of 380. 320 + 50 + 85 + 165 + 380 = 1000.
 */
TEST(idle_time_is_the_hosts)
{
    static const struct expected expected[] = {
        { "part.compute_ns", 320000 }, { "part.copy_ns", 50000 },       { "part.input_ns", 85000 },
        { "part.host_ns", 165000 },    { "part.idle_sync_ns", 380000 }, { "part.idle_other_ns", 0 },
    };
    struct profile_builder b;
    struct replay_result   result;
    struct err             err = { 0 };
    struct edit no_sync = { .kind = EDIT_SCALE, .select = { .name = "cuda.*Synchronize" } };
    uint32_t    host, gpu, thread, one, two;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "NVIDIA A100", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    one = builder_timeline(&b, host, gpu, "stream 1");
    two = builder_timeline(&b, host, gpu, "stream 2");
    builder_step(&b, host, 0, 1000000);
    builder_slice(&b, thread, "next", ACTIVITY_INPUT_WAIT, 0, 85000);
    builder_slice(&b, thread, "cudaStreamSynchronize", ACTIVITY_SYNC, 605000, 370000);
    launch(&b, thread, 90, one, "A", ACTIVITY_KERNEL, 100, 300);
    launch(&b, thread, 95, two, "B", ACTIVITY_MEMCPY, 200, 350);
    launch(&b, thread, 400, one, "C", ACTIVITY_KERNEL, 500, 600);
    launch(&b, thread, 976, one, "E", ACTIVITY_KERNEL, 980, 1000);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = thread;
    run_analyses(&b, 1000000);
    expect(&b, expected, ARRAY_COUNT(expected));
    /* The idle time bears the name of the call that the thread was in. */
    assert_true(replay_run(&b.study, &no_sync, 1, &result, &err));
    assert_float_equal(result.selected_ns, 380000, 1);
    builder_free(&b);
}

/*
 * One step 10..500 us; everything was launched before it. Kernels K1 10..100 and K2 105..200, and
 * K3 230..400 that waits for another stream; a collective 350..430, K4 450..500; another, less busy
 * device computes 10..500 less 300.
 * Computes 90 + 95 + 170 + 50 = 405, collective beside no kernel 400..430 = 30. Idle: 5 launch,
 * 30 dependency, 430..450 without a known cause. 405 + 30 + 5 + 30 + 20 = 490.
 */
TEST(idle_time_is_the_devices)
{
    static const struct expected expected[] = {
        { "part.compute_ns", 405000 },   { "part.communication_ns", 30000 },
        { "part.idle_launch_ns", 5000 }, { "part.idle_dependency_ns", 30000 },
        { "part.idle_other_ns", 20000 }, { "part.host_ns", 0 },
    };
    struct profile_builder b;
    uint32_t               host, gpu, other, thread, one, two, three, wait, awaited;

    host = builder_start_host(&b, FORMAT_KINETO);
    other = builder_device(&b, host, "GPU 1", "NVIDIA A100", DEVICE_GPU);
    gpu = builder_device(&b, host, "GPU 0", "NVIDIA A100", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    one = builder_timeline(&b, host, gpu, "stream 1");
    two = builder_timeline(&b, host, gpu, "stream 2");
    three = builder_timeline(&b, host, other, "stream 3");
    builder_step(&b, host, 10000, 500000);
    launch(&b, thread, 0, one, "K1", ACTIVITY_KERNEL, 10, 100);
    launch(&b, thread, 1, one, "K2", ACTIVITY_KERNEL, 105, 200);
    wait = builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, 2000, 4000);
    awaited = builder_slice(&b, one, "K3", ACTIVITY_KERNEL, 230000, 170000);
    builder_flow(&b, wait, awaited, FLOW_LAUNCH);
    builder_flow(&b, wait, awaited, FLOW_SYNC);
    launch(&b, thread, 3, two, "allreduce", ACTIVITY_COLLECTIVE, 350, 430);
    launch(&b, thread, 4, one, "K4", ACTIVITY_KERNEL, 450, 500);
    launch(&b, thread, 5, three, "other", ACTIVITY_KERNEL, 10, 300);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = thread;
    run_analyses(&b, 490000);
    expect(&b, expected, ARRAY_COUNT(expected));
    builder_free(&b);
}

/*
 * One step of 1000 us (us): main reads two results, 100..500 and 520..1000. A pool thread launches
 * the copies: works 200..250 and 600..650, launches of 4 us at 240 and 640.
 *   stream: K 0..100, launched by main before; copies 250..260, 650..660;
 *   L 990..1000, by main at 980
 * Computes 110, copies 20. Idle 100..250: the pool works 50, before that main waits 100.
 * 260..650: the pool works 50; else main waits, 340 less the 20 between the calls, which are
 * its own. 660..990: main launches late, but is in the call: synchronising.
 *   host 50 + 50 + 20 = 120, idle 100 + 320 + 330 = 750; 110 + 20 + 120 + 750 = 1000
 * What the device waits for inside of the calls: 750 idle, 100 of the pool's work for them.
 */
TEST(reading_is_the_callers_wait)
{
    static const struct expected expected[] = {
        { "part.compute_ns", 110000 },
        { "part.copy_ns", 20000 },
        { "part.host_ns", 120000 },
        { "part.idle_sync_ns", 750000 },
    };
    static const enum part of_calls[] = { PART_HOST, PART_IDLE_SYNC };
    struct profile_builder b;
    struct replay_result   result;
    struct err             err = { 0 };
    struct edit            no_reads = { .kind = EDIT_SCALE,
                                        .select = { .kind_mask = KIND_BIT(ACTIVITY_SYNC) } };
    uint32_t               host, gpu, thread, pool, one;

    for (size_t i = 0; i < ARRAY_COUNT(of_calls); i++)
        no_reads.select.part_mask |= UINT32_C(1) << of_calls[i];
    host = builder_start_host(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, host, "GPU 0", "NVIDIA H100", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "python3");
    pool = builder_timeline(&b, host, NO_ID, "pjrt_async_work_runner");
    one = builder_timeline(&b, host, gpu, "stream 1");
    builder_step(&b, host, 0, 1000000);
    launch(&b, thread, -10, one, "K", ACTIVITY_KERNEL, 0, 100);
    builder_slice(&b, thread, "float", ACTIVITY_SYNC, 100000, 400000);
    builder_slice(&b, thread, "float", ACTIVITY_SYNC, 520000, 480000);
    builder_slice(&b, pool, "D2H Dispatch", ACTIVITY_OTHER, 200000, 50000);
    launch(&b, pool, 240, one, "copy", ACTIVITY_MEMCPY, 250, 260);
    builder_slice(&b, pool, "D2H Dispatch", ACTIVITY_OTHER, 600000, 50000);
    launch(&b, pool, 640, one, "copy", ACTIVITY_MEMCPY, 650, 660);
    launch(&b, thread, 980, one, "L", ACTIVITY_KERNEL, 990, 1000);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = thread;
    run_analyses(&b, 1000000);
    expect(&b, expected, ARRAY_COUNT(expected));
    assert_true(replay_run(&b.study, &no_reads, 1, &result, &err));
    assert_float_equal(result.selected_ns, 850000, 1);
    builder_free(&b);
}

/*
 * One step of 1000 us (us): main is in a call 0..500 that waits for a pool thread, which nothing
 * tells. The pool thread converts an array 100..300 and launches its copy, 4 us, at 320.
 *   stream: the copy 330..340, K 410..1000, launched by main at 400
 * The device waits for the copy 0..330: of that 200 the pool thread converts and 4 it launches; the
 * other 126, in its pauses, are main's, and so are the 70 until K.
 */
TEST(pauses_of_a_launching_thread)
{
    static const struct expected expected[] = {
        { "part.compute_ns", 590000 },
        { "part.copy_ns", 10000 },
        { "part.host_ns", 400000 },
    };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, pool, one;

    host = builder_start_host(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, host, "GPU 0", "NVIDIA H100", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "python3");
    pool = builder_timeline(&b, host, NO_ID, "pjrt_async_work_runner");
    one = builder_timeline(&b, host, gpu, "stream 1");
    builder_step(&b, host, 0, 1000000);
    builder_slice(&b, thread, "Execute", ACTIVITY_DISPATCH, 0, 500000);
    builder_slice(&b, pool, "H2D Dispatch", ACTIVITY_TRANSFER, 100000, 200000);
    launch(&b, pool, 320, one, "MemcpyH2D", ACTIVITY_MEMCPY, 330, 340);
    launch(&b, thread, 400, one, "K", ACTIVITY_KERNEL, 410, 1000);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = thread;
    run_analyses(&b, 1000000);
    expect(&b, expected, ARRAY_COUNT(expected));
    assert_true(analysis_runtime.run(&b.study, &err));
    assert_float_equal(builder_fact(&b, "transfer.beside_ns"), 200000, 1);
    assert_float_equal(builder_fact(&b, "transfer.path_ns"), 0, 1);
    builder_free(&b);
}

/* Nothing was recorded of main from 105 us on, when it has launched K, until a call at `next_us`;
 * the device computes until 800. With `pool`, another thread launches K. */
static double unseen_waits(int64_t next_us, bool is_pool)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, pool, one;
    double                 count;

    host = builder_start_host(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, host, "GPU 0", "NVIDIA H100", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "python3");
    pool = builder_timeline(&b, host, NO_ID, "pool");
    one = builder_timeline(&b, host, gpu, "stream 1");
    builder_step(&b, host, 0, 1000000);
    builder_slice(&b, thread, "Execute", ACTIVITY_DISPATCH, 0, 100000);
    launch(&b, is_pool ? pool : thread, 101, one, "K", ACTIVITY_KERNEL, 110, 800);
    builder_slice(&b, thread, "holds", ACTIVITY_OTHER, next_us * 1000, 10000);
    launch(&b, thread, next_us + 20, one, "L", ACTIVITY_KERNEL, next_us + 30, 1000);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = thread;
    run_analyses(&b, 1000000);
    assert_true(analysis_runtime.run(&b.study, &err));
    count = builder_fact(&b, "sync.unseen_count");
    builder_free(&b);
    return count;
}

/* It goes on 50 us behind the device, of 745 in which it did nothing: it waited. 150 us are more
 * than an eighth of 845, and 20 us before the device is done it cannot have waited for that. */
TEST(a_thread_that_goes_on_behind_its_work_waited)
{
    assert_float_equal(unseen_waits(850, false), 1, 0);
    assert_float_equal(unseen_waits(950, false), 0, 0);
    assert_float_equal(unseen_waits(780, false), 0, 0);
    assert_float_equal(unseen_waits(850, true), 0, 0);
}
