#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/schedule/whatif.h"
#include "analyze/schedule/why.h"
#include "profile_builder.h"

enum { US = 1000 };

static void same(double value, double expected, double off)
{
    if (!(fabs(value - expected) <= off))
        fail_msg("%.9g is not %.9g", value, expected);
}

static uint32_t slice(struct profile_builder *b, uint32_t timeline, const char *name,
                      enum activity_kind kind, int64_t start_us, int64_t end_us)
{
    return builder_slice(b, timeline, name, kind, start_us * US, (end_us - start_us) * US);
}

static uint32_t launch(struct profile_builder *b, uint32_t thread, int64_t from_us, int64_t to_us)
{
    return slice(b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, from_us, to_us);
}

static void kernel(struct profile_builder *b, uint32_t call, uint32_t stream, const char *name,
                   enum activity_kind kind, int64_t start_us, int64_t end_us)
{
    builder_flow(b, call, slice(b, stream, name, kind, start_us, end_us), FLOW_LAUNCH);
}

/* Tells why_run and whatif_run of a step, as its analysis would. */
static void finish(struct profile_builder *b, uint32_t thread, double step_us)
{
    struct err err = { 0 };

    builder_finish(b);
    for (size_t i = 0; i < b->study.steps.list.count; i++)
        if (b->study.steps.list.items[i].host == b->study.steps.host)
            b->study.steps.list.items[i].timeline = thread;
    b->study.steps.median_ns = b->study.steps.mean_ns = step_us * US;
    b->study.path.leader = thread;
    assert_true(analysis_devices.run(&b->study, &err));
}

struct edit_case {
    enum whatif_kind kind;
    const char      *text;
    double           step_us;
};

static void check_edits(struct profile_builder *b, double now_us, const struct edit_case *cases,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct whatif      whatif = { .on_rank = -1 };
        struct whatif_edit edit;
        struct err         err = { 0 };

        assert_true(whatif_edit_scan(&edit, cases[i].kind, cases[i].text, &b->arena, &err));
        assert_true(vec_push(&whatif.edits, &b->arena, edit));
        assert_true(whatif_run(&whatif, &b->study, &b->arena, &err));
        same(whatif.error, 0, 1e-9);
        same(whatif.now.step_ns / US, now_us, 1e-6);
        if (fabs(whatif.each[0].step_ns / US - cases[i].step_us) > 1e-6)
            fail_msg("%s gives %g us, expected %g", whatif.edits.items[0].text,
                     whatif.each[0].step_ns / US, cases[i].step_us);
        same(whatif.together.step_ns, whatif.each[0].step_ns, 1e-6);
    }
}

/*
 * One step of 500 us on one thread and two streams (us); each launch takes 5, and kernels start 10
 * after their launch began where their stream is free:
 *   thread: input 0..20, launch A 30..35, launch C 40..45, launch B 50..55,
 *           sync 60..460 on everything, Python 460..500
 *   stream 1: A 40..250, B 250..450 (launched long before)       stream 2: the copy C 50..90
 * The sync returns 10 after B. Between kernels in the queue is no time.
 * Unedited: 20 + 10 (Python) + 10 + 210 + 200 + 10 + 40 = 500.
 *   kernel:B at half: 100 less = 400. Kernels at half: A 40..145, B ..245, sync ..255, step 295.
 *   The input gone: everything 20 earlier = 480.
 *   Syncs gone: the thread needs 60 + 40 = 100 a step (input, calls and Python), the device 410:
 *   in a long run of steps the device is always busy: 410.
 *   Copies gone: nothing waits for C, and its launch of 5 and nothing else; B was launched long
 *   before: the step stays 500. Kernel A gone: so are 210 and its launch of 5; B can start when its
 *   launch is done: it began at 50, now at 45, + 10 = 55, and ends at 255; + 10 + 40 = 305.
 *   Host at a half: input 10, Python 5, launch A begins at 15; A 25..235, B ..435, sync ..; what is
 *   left of the sync after B is host time, too: 5; Python 20: 435 + 5 + 20 = 460.
 *   Graph capture: of the thread's time 30..55 only a launch of 10 is left, so that it is in the
 *   sync at 40; A starts 10 after the launch began, as before: 500.
 */
TEST(edits_change_a_step)
{
    static const struct edit_case cases[] = {
        { WHATIF_SCALE, "kernel:^B$=0.5", 400 },
        { WHATIF_SCALE, "kernel=0.5", 295 },
        { WHATIF_PARALLEL, "kernel=2", 295 },
        { WHATIF_NO_INPUT_WAIT, NULL, 480 },
        { WHATIF_DROP, "sync", 410 },
        { WHATIF_DROP, "copy", 500 },
        { WHATIF_DROP, "kernel:A", 305 },
        { WHATIF_SCALE, "host=0.5", 460 },
        { WHATIF_MERGE, "kernel", 500 },
        { WHATIF_GRAPH_CAPTURE, NULL, 500 },
        { WHATIF_NETWORK, "x2", 500 },
    };
    struct profile_builder b;
    uint32_t               host, gpu, thread, one, two, a, c, late;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "NVIDIA A100", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    one = builder_timeline(&b, host, gpu, "stream 1");
    two = builder_timeline(&b, host, gpu, "stream 2");
    builder_step(&b, host, 0, 500 * US);
    slice(&b, thread, "next", ACTIVITY_INPUT_WAIT, 0, 20);
    a = launch(&b, thread, 30, 35);
    c = launch(&b, thread, 40, 45);
    late = launch(&b, thread, 50, 55);
    slice(&b, thread, "cudaDeviceSynchronize", ACTIVITY_SYNC, 60, 460);
    kernel(&b, a, one, "A", ACTIVITY_KERNEL, 40, 250);
    kernel(&b, late, one, "B", ACTIVITY_KERNEL, 250, 450);
    kernel(&b, c, two, "C", ACTIVITY_MEMCPY, 50, 90);
    finish(&b, thread, 500);
    check_edits(&b, 500, cases, ARRAY_COUNT(cases));
    builder_free(&b);
}

/*
 * One step of 300 us without a sync; the copy C 20..120 stands between the kernels A 10..20 and
 * B 120..280 on one stream; all launched at its begin (0..5, 5..10, 10..15), A on the free stream
 * after 10. The thread goes on to 300, alone from 15 on: it needs 300 by itself.
 * With the host at a tenth (30) the device holds the step: 10 + 100 + 160 = 270. With the copy
 * moved to a stream of its own as well: A and B, 170.
 */
TEST(moved_work_runs_beside)
{
    struct profile_builder b;
    struct whatif          whatif = { .on_rank = -1 };
    struct whatif_edit     edit;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, stream, calls[3];

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "NVIDIA A100", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    stream = builder_timeline(&b, host, gpu, "stream 1");
    builder_step(&b, host, 0, 300 * US);
    for (int i = 0; i < 3; i++)
        calls[i] = launch(&b, thread, 5 * i, 5 * i + 5);
    kernel(&b, calls[0], stream, "A", ACTIVITY_KERNEL, 10, 20);
    kernel(&b, calls[1], stream, "C", ACTIVITY_MEMCPY, 20, 120);
    kernel(&b, calls[2], stream, "B", ACTIVITY_KERNEL, 120, 280);
    finish(&b, thread, 300);
    assert_true(whatif_edit_scan(&edit, WHATIF_SCALE, "host=0.1", &b.arena, &err));
    assert_true(vec_push(&whatif.edits, &b.arena, edit));
    assert_true(whatif_edit_scan(&edit, WHATIF_MOVE, "copy", &b.arena, &err));
    assert_true(vec_push(&whatif.edits, &b.arena, edit));
    assert_true(whatif_run(&whatif, &b.study, &b.arena, &err));
    same(whatif.now.step_ns / US, 300, 1e-6);
    same(whatif.each[0].step_ns / US, 270, 1e-6);
    same(whatif.each[1].step_ns / US, 300, 1e-6);
    same(whatif.together.step_ns / US, 170, 1e-6);
    builder_free(&b);
}

/*
 * Two ranks, one step of 1000 us (us). Rank 0: op 0..300, all-reduce 300..900, op 900..1000. Rank
 * 1: op 0..700, json 700..800, all-reduce 800..900, op 900..1000. The transfer takes 100 once rank
 * 1, 500 late, has come. The network twice as fast: 50 less. Rank 1's json gone: it comes 100
 * earlier: 900. Rank 1 like the other: rank 0 works 1000 - 600 = 400 a step, rank 1 1000 - 100 =
 * 900; both then work 400 and transfer for 100: 500 in a long run. All-reduces gone: rank 0 does
 * not wait: 400.
 */
TEST(ranks_wait_for_each_other)
{
    static const struct edit_case cases[] = {
        { WHATIF_NETWORK, "x2", 950 },
        { WHATIF_DROP, "host:json", 900 },
        { WHATIF_RANK, "1=median", 500 },
        { WHATIF_DROP, "comm", 400 },
    };
    struct profile_builder b;
    struct why             why;
    struct err             err = { 0 };
    uint32_t               hosts[2], threads[2];

    builder_start(&b, FORMAT_KINETO);
    for (int r = 0; r < 2; r++) {
        hosts[r] = builder_host(&b, r ? "h1" : "h0");
        b.profile.hosts.items[hosts[r]].rank = r;
        threads[r] = builder_timeline(&b, hosts[r], NO_ID, "main");
        builder_step(&b, hosts[r], 0, 1000 * US);
        slice(&b, threads[r], "forward", ACTIVITY_OP, 0, r ? 700 : 300);
        if (r)
            slice(&b, threads[r], "json", ACTIVITY_PYTHON, 700, 800);
        slice(&b, threads[r], "gloo:all_reduce", ACTIVITY_COLLECTIVE, r ? 800 : 300, 900);
        slice(&b, threads[r], "update", ACTIVITY_OP, 900, 1000);
    }
    finish(&b, threads[0], 1000);
    b.study.steps.host = hosts[0];
    for (size_t i = 0; i < b.study.steps.list.count; i++)
        b.study.steps.list.items[i].timeline =
            threads[b.study.steps.list.items[i].host == hosts[1]];
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct whatif      whatif = { .on_rank = -1 };
        struct whatif_edit edit;

        assert_true(whatif_edit_scan(&edit, cases[i].kind, cases[i].text, &b.arena, &err));
        assert_true(vec_push(&whatif.edits, &b.arena, edit));
        assert_true(whatif_run(&whatif, &b.study, &b.arena, &err));
        same(whatif.now.step_ns / US, 1000, 1e-6);
        same(whatif.each[0].step_ns / US, cases[i].step_us, 0.01);
    }
    /* Rank 1 takes 400 more in the op and 100 in json. */
    assert_true(why_run(&why, &b.study, "collective:all_reduce", &b.arena, &err));
    same(why.duration_ns / US, 500, 1e-6);
    assert_int_equal(why.causes.count, 2);
    assert_string_equal(why.causes.items[0].name, "forward");
    same(why.causes.items[0].ns - why.causes.items[0].usual_ns, 400 * US, 1e-6);
    assert_string_equal(why.causes.items[1].name, "json");
    same(why.causes.items[1].ns - why.causes.items[1].usual_ns, 100 * US, 1e-6);
    builder_free(&b);
}

static uint32_t collective_half(struct profile_builder *b, const char *name)
{
    return builder_activity(b, name, ACTIVITY_COLLECTIVE, builder_op(b, name, name, NULL));
}

/* A core whose "add" takes add_us, and which stands in the end of the all-reduce until 810. */
static uint32_t build_core(struct profile_builder *b, uint32_t rank, int64_t add_us)
{
    uint32_t host = builder_host(b, rank ? "h1" : "h0");
    uint32_t line = builder_timeline(
        b, host, builder_device(b, host, "/device:TPU:0", "TPU v6 Lite", DEVICE_TPU), "ops");
    uint32_t begin = collective_half(b, "all-reduce-start");
    uint32_t end = collective_half(b, "all-reduce-done");

    b->profile.hosts.items[host].rank = (int32_t)rank;
    b->profile.timelines.items[line].kind = TIMELINE_OPS;
    builder_step(b, host, 0, 1000 * US);
    slice(b, line, "add", ACTIVITY_KERNEL, 0, add_us);
    builder_event(b, line, begin, add_us * US, 10 * US);
    slice(b, line, "mul", ACTIVITY_KERNEL, add_us + 10, add_us + 100);
    builder_event(b, line, end, (add_us + 100) * US, (710 - add_us) * US);
    slice(b, line, "update", ACTIVITY_KERNEL, 810, 1000);
    return line;
}

/*
 * Cores of two hosts begin an all-reduce and end it later. Core 0 begins at 100 and stands in the
 * end from 200 on; core 1 begins at 700 only, after its "add" of 700; both go on at 810, 100 after
 * core 1 had begun. With an "add" of 100 there, core 1 has begun at 110, and core 0 goes on 100
 * after it stands in the end, at 300: a step of 490.
 */
TEST(cores_wait_for_what_they_began)
{
    struct profile_builder b;
    struct whatif          whatif = { .on_rank = -1 };
    struct whatif_edit     edit;
    struct err             err = { 0 };
    uint32_t               lines[2];

    builder_start(&b, FORMAT_XSPACE);
    lines[0] = build_core(&b, 0, 100);
    lines[1] = build_core(&b, 1, 700);
    finish(&b, lines[0], 1000);
    for (size_t i = 0; i < b.study.steps.list.count; i++)
        b.study.steps.list.items[i].timeline =
            lines[b.study.steps.list.items[i].host != b.study.steps.host];
    assert_true(whatif_edit_scan(&edit, WHATIF_RANK, "1=median", &b.arena, &err));
    assert_true(vec_push(&whatif.edits, &b.arena, edit));
    assert_true(whatif_run(&whatif, &b.study, &b.arena, &err));
    same(whatif.now.step_ns / US, 1000, 1e-6);
    same(whatif.each[0].step_ns / US, 490, 0.01);
    builder_free(&b);
}

/*
 * One step of 400 us: kernel A 20..120, launched at 10..15; a sync 20..130 that waits for it,
 * Python 130..280, launch of B 280..285, B 290..390. The device is idle 120..290: going back 10
 * from launch to B, 150 of Python, 10 to leave the sync; before it ended A.
 */
TEST(gaps_have_causes)
{
    static const double    expected_us[] = { 10, 150, 10 };
    struct profile_builder b;
    struct why             why;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, stream, a, late;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "NVIDIA A100", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    stream = builder_timeline(&b, host, gpu, "stream 1");
    builder_step(&b, host, 0, 400 * US);
    a = launch(&b, thread, 10, 15);
    slice(&b, thread, "cudaStreamSynchronize", ACTIVITY_SYNC, 20, 130);
    late = launch(&b, thread, 280, 285);
    kernel(&b, a, stream, "A", ACTIVITY_KERNEL, 20, 120);
    kernel(&b, late, stream, "B", ACTIVITY_KERNEL, 290, 390);
    finish(&b, thread, 400);
    assert_true(why_run(&why, &b.study, "gap", &b.arena, &err));
    same(why.duration_ns / US, 170, 1e-6);
    assert_int_equal(why.causes.count, ARRAY_COUNT(expected_us));
    for (size_t i = 0; i < ARRAY_COUNT(expected_us); i++)
        same(why.causes.items[i].ns / US, expected_us[i], 1e-6);
    assert_int_equal(why.causes.items[0].class, PART_IDLE_LAUNCH);
    assert_int_equal(why.causes.items[1].class, PART_HOST);
    assert_int_equal(why.causes.items[2].class, PART_IDLE_SYNC);
    assert_string_equal(why.began, "A");
    assert_false(why_run(&why, &b.study, "gab", &b.arena, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_string_equal(err.advice, "did you mean 'gap'?");
    builder_free(&b);
}

struct bad_edit {
    enum whatif_kind kind;
    const char      *text, *message, *advice;
};

TEST(bad_edits_are_explained)
{
    static const struct bad_edit cases[] = {
        { WHATIF_SCALE, "kernl:x=2", "--scale kernl:x=2: 'kernl' is nothing that can be selected",
          "did you mean 'kernel'?" },
        { WHATIF_SCALE, "kernel:x", "--scale kernel:x: no factor", "as in --scale kernel:x=0.5" },
        { WHATIF_SCALE, "kernel:x=fast", "--scale kernel:x=fast: 'fast' is no factor",
          "as in kernel:gemm=0.5" },
        { WHATIF_DROP, "kernel:", "--drop kernel:: no name behind 'kernel:'", "" },
        { WHATIF_RANK, "3", "--rank 3: not a rank and what becomes of it",
          "as in --rank 3=median" },
        { WHATIF_NETWORK, "x0", "--network x0: a network without speed is no network", "" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct whatif_edit edit;

        assert_false(whatif_edit_scan(&edit, cases[i].kind, cases[i].text, &arena, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_string_equal(err.text, cases[i].message);
        assert_string_equal(err.advice, cases[i].advice);
        arena_free(&arena);
    }
}
