
#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/step/start_up.h"
#include "analyze/step/step_whole.h"
#include "profile_builder.h"

enum { MS = 1000000 };

struct recording {
    struct profile_builder b;
    struct arena           scratch;
    uint32_t               thread, stream;
};

static void start(struct recording *r)
{
    uint32_t host;

    *r = (struct recording) { 0 };
    host = builder_start_host(&r->b, FORMAT_KINETO);
    r->thread = builder_timeline(&r->b, host, NO_ID, "main");
    r->stream = builder_timeline(&r->b, host, builder_device(&r->b, host, "GPU 0", "", DEVICE_GPU),
                                 "stream 7");
}

/* A call and its kernel, in us. */
static void launch(struct recording *r, int64_t call_us, int64_t call_length_us, int64_t kernel_us,
                   int64_t kernel_length_us)
{
    uint32_t from = builder_slice(&r->b, r->thread, "cudaLaunchKernel", ACTIVITY_LAUNCH,
                                  call_us * 1000, call_length_us * 1000);

    builder_flow(&r->b, from,
                 builder_slice(&r->b, r->stream, "k", ACTIVITY_KERNEL, kernel_us * 1000,
                               kernel_length_us * 1000),
                 FLOW_LAUNCH);
}

static const struct step *finish(struct recording *r)
{
    builder_finish(&r->b);
    r->b.profile.start_ns = 0;
    r->b.profile.end_ns = 2000 * (int64_t)MS;
    assert_true(steps_whole_trace(&r->b.study, &r->scratch));
    assert_int_equal(r->b.study.steps.list.count, 1);
    return &r->b.study.steps.list.items[0];
}

static void release(struct recording *r)
{
    arena_free(&r->scratch);
    builder_free(&r->b);
}

/* The op that launches the first kernel begins 100 us before it: ten ops in ten. */
TEST(the_first_op_belongs_to_it)
{
    struct recording r;

    start(&r);
    for (int64_t i = 0; i < 10; i++) {
        builder_slice(&r.b, r.thread, "aten::add", ACTIVITY_OP, i * 1000000, 200000);
        launch(&r, i * 1000 + 50, 5, i * 1000 + 100, 900);
    }
    assert_int_equal(finish(&r)->start_ns, 0);
    assert_int_equal(r.b.study.steps.list.items[0].end_ns, 10 * MS);
    release(&r);
}

/* The host waits 400 ms for what was launched before the recording, then come 10 ms of kernels. */
TEST(a_wait_for_earlier_work_is_left_out)
{
    struct recording r;

    start(&r);
    launch(&r, 0, 5, 10, 1);
    builder_slice(&r.b, r.thread, "cudaStreamSynchronize", ACTIVITY_SYNC, 20000, 400 * MS);
    for (int64_t i = 0; i < 10; i++)
        launch(&r, 400100 + i * 10, 5, 400200 + i * 1000, 1000);
    assert_int_equal(finish(&r)->start_ns, 400100000);
    assert_int_equal(r.b.study.steps.list.items[0].end_ns, 410200000);
    release(&r);
}

/* Eight launches of 5 us, one of 300 ms while the device is idle; a wait for a kernel is none. */
TEST(first_use_is_no_cost_of_a_step)
{
    static const struct {
        int64_t kernel_us; /* of the other kernels: 8 of them against 300 ms */
        bool    is_used;
    } cases[] = { { 100000, true }, { 1000, false } };

    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct recording r;
        size_t           once = 0;
        int64_t          at_us = 0;

        start(&r);
        for (int64_t i = 0; i < 8; i++, at_us += cases[c].kernel_us) {
            launch(&r, at_us, 5, at_us + 10, cases[c].kernel_us - 100);
            if (i == 3) {
                at_us += cases[c].kernel_us;
                launch(&r, at_us, 300000, at_us + 300010, 1000);
                at_us += 301100;
            }
        }
        builder_slice(&r.b, r.thread, "cudaDeviceSynchronize", ACTIVITY_SYNC,
                      (at_us - cases[c].kernel_us) * 1000 + 10000, cases[c].kernel_us * 900);
        assert_int_equal(finish(&r)->is_used, cases[c].is_used);
        for (uint32_t event = 0; event < r.b.profile.event_count; event++)
            once += start_up_has(&r.b.study, event);
        assert_int_equal(once, 1);
        release(&r);
    }
}

/* 100 ms of compiling, 90 of them in a pass of it, before each kernel of 10 ms: twice is start-up,
 * 200 of 221 ms, and two calls of it; nine times is what the program does. */
TEST(compiling_once_is_no_cost_of_a_step)
{
    for (int again = 0; again < 2; again++) {
        struct recording r;
        size_t           once = 0;

        start(&r);
        launch(&r, 0, 5, 10, 1000);
        for (int64_t i = 0; i < (again ? 9 : 2); i++) {
            builder_slice(&r.b, r.thread, "compile_inner", ACTIVITY_COMPILE, (2 + i * 110) * MS,
                          100 * MS);
            builder_slice(&r.b, r.thread, "a pass", ACTIVITY_COMPILE, (5 + i * 110) * MS, 90 * MS);
            launch(&r, 102000 + i * 110000, 5, 102010 + i * 110000, 9000);
        }
        assert_int_equal(finish(&r)->is_used, again);
        for (uint32_t event = 0; event < r.b.profile.event_count; event++)
            once += start_up_has(&r.b.study, event);
        assert_int_equal(once, again ? 0 : 2);
        release(&r);
    }
}

/* A launch of 300 ms, then kernels of 10 ms, one after the other or a tenth of the time: 200 ms
 * that they fill stand for a step, 200 ms of which they take 20 do not. */
TEST(start_up_before_work_that_fills_the_rest)
{
    for (int filled = 0; filled < 2; filled++) {
        struct recording r;

        start(&r);
        launch(&r, 0, 5, 10, 1000);
        launch(&r, 1100, 300000, 301200, 1000);
        for (int64_t i = 0; i < 20; i++)
            launch(&r, 302200 + i * 10000, 5, 302300 + i * 10000, filled ? 9800 : 1000);
        assert_int_equal(finish(&r)->is_used, filled);
        release(&r);
    }
}

/* A first launch of 12 ms in 19 ms, behind which this rank's collective waits for the other one,
 * for 9 ms of it: kernels take 1 of the 7 ms that are left. Had they taken the 9, it were no
 * start-up. */
TEST(start_up_while_a_collective_waits)
{
    for (int works = 0; works < 2; works++) {
        struct recording r;
        uint32_t         from;

        start(&r);
        launch(&r, 0, 5, 10, 500);
        from = builder_slice(&r.b, r.thread, "cudaLaunchKernelExC", ACTIVITY_LAUNCH, 550000, 5000);
        builder_flow(&r.b, from,
                     builder_slice(&r.b, r.stream, "ncclDevKernel_SendRecv",
                                   works ? ACTIVITY_KERNEL : ACTIVITY_COLLECTIVE, 600000, 9 * MS),
                     FLOW_LAUNCH);
        from = builder_slice(&r.b, r.thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, 600000, 12 * MS);
        builder_flow(&r.b, from,
                     builder_slice(&r.b, r.stream, "sgemm", ACTIVITY_KERNEL, 12650000, 100000),
                     FLOW_LAUNCH);
        for (int64_t i = 0; i < 8; i++)
            launch(&r, 13000 + i * 800, 5, 13010 + i * 800, 50);
        assert_int_equal(finish(&r)->is_used, works);
        release(&r);
    }
}

/* Two ranks load the same kernel in 12 of 14 ms, one of them 1 ms behind the other: its first
 * launch is one too, and neither has a step. */
TEST(each_rank_loads_its_own_kernels)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    uint32_t               hosts[2], call, add, gemm;

    hosts[0] = builder_start_host(&b, FORMAT_KINETO);
    hosts[1] = builder_host(&b, "rank 1");
    call = builder_activity(&b, "cudaLaunchKernel", ACTIVITY_LAUNCH, NO_ID);
    add = builder_activity(&b, "add", ACTIVITY_KERNEL, NO_ID);
    gemm = builder_activity(&b, "gemm", ACTIVITY_KERNEL, NO_ID);
    for (int64_t h = 0; h < 2; h++) {
        uint32_t thread = builder_timeline(&b, hosts[h], NO_ID, "main");
        uint32_t device = builder_device(&b, hosts[h], "GPU 0", "", DEVICE_GPU);
        uint32_t stream = builder_timeline(&b, hosts[h], device, "stream 7");

        for (int64_t i = 0; i < 8; i++) {
            int64_t  at = h * MS + (i ? 13 * MS + i * 100000 : 0), ns = i == 1 ? 12 * MS : 5000;
            uint32_t from;

            if (i == 1)
                at = h * MS + 500000;
            from = builder_event(&b, thread, call, at, ns);
            builder_flow(
                &b, from,
                builder_event(&b, stream, i == 1 ? add : gemm, at + ns + 1000, i ? 20000 : 3 * MS),
                FLOW_LAUNCH);
        }
    }
    builder_finish(&b);
    assert_true(steps_whole_trace(&b.study, &scratch));
    assert_int_equal(b.study.steps.list.count, 2);
    assert_false(b.study.steps.list.items[0].is_used);
    assert_false(b.study.steps.list.items[1].is_used);
    arena_free(&scratch);
    builder_free(&b);
}

/* Two bursts of 1 ms with 100 ms between them of which nothing is known; known, they are a step. */
TEST(a_pause_is_no_step)
{
    struct recording r;

    for (int known = 0; known < 2; known++) {
        start(&r);
        launch(&r, 0, 5, 10, 1000);
        launch(&r, 101000, 5, 101010, 1000);
        if (known)
            builder_slice(&r.b, r.thread, "train.py(7): load", ACTIVITY_PYTHON, 1500000, 99 * MS);
        assert_int_equal(finish(&r)->is_used, known);
        release(&r);
    }
}

/* One kernel of 900 ms in a recording of two seconds tells nothing of a step: 45 %. One of 1.2 s
 * does. */
TEST(one_kernel_is_a_step_where_it_is_most)
{
    static const struct {
        int64_t kernel_us;
        bool    is_used;
    } cases[] = { { 900000, false }, { 1200000, true } };

    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct recording r;

        start(&r);
        launch(&r, 100, 5, 110, cases[c].kernel_us);
        assert_true(finish(&r)->is_used == cases[c].is_used);
        release(&r);
    }
}

/* Two kernels: without a step they are no count of one, and why not is said; in a step they are. */
TEST(without_a_step_nothing_is_of_one)
{
    for (int known = 0; known < 2; known++) {
        struct study_options options = { .threads = 1 };
        struct study         study;
        struct recording     r;
        struct err           err = { 0 };
        double               count = 0;

        start(&r);
        launch(&r, 0, 5, 10, 1000);
        launch(&r, 101000, 5, 101010, 1000);
        if (known)
            builder_slice(&r.b, r.thread, "train.py(7): load", ACTIVITY_PYTHON, 1500000, 99 * MS);
        assert_int_equal(finish(&r)->is_used, known);
        assert_true(study_run(&study, &r.b.profile, &options, &r.scratch, &err));
        assert_int_equal(facts_get(&study.facts, "kernels.count_per_step", &count), known);
        assert_true(count == 2 * known);
        assert_non_null(facts_find(&study.facts, "kernels.distinct"));
        if (!known)
            assert_string_equal(facts_why_absent(&study.facts, "kernels.count_per_step")->reason,
                                facts_why_absent(&study.facts, "step.ns")->reason);
        release(&r);
    }
}

TEST(helps_tell_what_is_of_a_step)
{
    static const struct {
        const char *help;
        bool        is_of_step;
    } rows[] = {
        { "kernels a step", true },           { "a step's time in Python", true },
        { "idle time a step: input", true },  { "time a stepwise thing", false },
        { "steps of the host", false },       { "schema steps", false },
        { "data stepped over a step", true }, { "", false },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fact_spec spec = { "a.name", UNIT_COUNT, rows[i].help };

        assert_int_equal(fact_is_of_step(&spec), rows[i].is_of_step);
    }
}
