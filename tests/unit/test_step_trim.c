
#include "testing.h"

#include "analyze/step/step_trim.h"
#include "profile_builder.h"

struct recording {
    struct profile_builder b;
    struct arena           scratch;
    uint32_t               host, thread, stream;
};

static void start(struct recording *r)
{
    *r = (struct recording) { 0 };
    r->host = builder_start_host(&r->b, FORMAT_KINETO);
    r->thread = builder_timeline(&r->b, r->host, NO_ID, "main");
    r->stream = builder_timeline(
        &r->b, r->host, builder_device(&r->b, r->host, "GPU 0", "", DEVICE_GPU), "stream 7");
}

/* A call at a time and its kernel right behind it, in us. */
static void launch(struct recording *r, int64_t call_us, int64_t kernel_length_us)
{
    uint32_t from =
        builder_slice(&r->b, r->thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, call_us * 1000, 5000);

    builder_flow(&r->b, from,
                 builder_slice(&r->b, r->stream, "k", ACTIVITY_KERNEL, (call_us + 10) * 1000,
                               kernel_length_us * 1000),
                 FLOW_LAUNCH);
}

static const struct step *trim(struct recording *r)
{
    builder_finish(&r->b);
    r->b.study.steps.source = STEPS_MARKER;
    for (size_t i = 0; i < r->b.study.steps.list.count; i++)
        r->b.study.steps.list.items[i].marker_end_ns = r->b.study.steps.list.items[i].end_ns;
    assert_true(steps_trim(&r->b.study, &r->scratch));
    return r->b.study.steps.list.items;
}

static void release(struct recording *r)
{
    arena_free(&r->scratch);
    builder_free(&r->b);
}

/* One mark of 10 ms; its kernels run from 10 us to 12 ms. */
TEST(a_single_step_ends_with_its_work)
{
    struct recording r;

    start(&r);
    builder_step(&r.b, r.host, 0, 10000000);
    launch(&r, 0, 11990);
    assert_int_equal(trim(&r)[0].end_ns, 12000000);
    release(&r);
}

/* Two marks, kernels in the first only. Where neither has any, both stay. */
TEST(a_last_step_without_work_is_cut)
{
    for (int has_kernels = 0; has_kernels < 2; has_kernels++) {
        struct recording r;

        start(&r);
        builder_step(&r.b, r.host, 0, 9000000);
        builder_step(&r.b, r.host, 9000000, 9050000);
        builder_slice(&r.b, r.thread, "aten::add", ACTIVITY_OP, 9000000, 50000);
        if (has_kernels)
            launch(&r, 100, 500);
        assert_int_equal(trim(&r)[1].is_used, !has_kernels);
        release(&r);
    }
}

/* Three steps of 10 ms whose last op ends 1 ms before them, and a fourth of 17 ms with the same
 * ops: its tail of 8 ms is the profiler's, but for 1 ms. A tail in which an op runs stays. */
TEST(the_profilers_stop_is_no_part_of_a_step)
{
    for (int is_known = 0; is_known < 2; is_known++) {
        struct recording r;

        start(&r);
        for (int64_t i = 0; i < 4; i++) {
            builder_step(&r.b, r.host, i * 10000000, i * 10000000 + (i < 3 ? 10000000 : 17000000));
            builder_slice(&r.b, r.thread, "aten::mm", ACTIVITY_OP, i * 10000000, 9000000);
        }
        builder_slice(&r.b, r.thread, "profiler.py(1): stop", ACTIVITY_PYTHON, 39000000, 8000000);
        if (is_known)
            builder_slice(&r.b, r.thread, "aten::copy_", ACTIVITY_OP, 39000000, 7900000);
        assert_int_equal(trim(&r)[3].end_ns, is_known ? 47000000 : 40000000);
        release(&r);
    }
}

/* Steps of 10 ms that end 1, 7 and 1 ms behind their work; the last one's 7.5 ms are no longer than
 * those of another by a tenth of a step: what a loop does between its steps now and then. */
TEST(a_tail_that_others_have_too_is_kept)
{
    static const int64_t work_ns[] = { 9000000, 3000000, 9000000, 2500000 };
    struct recording     r;

    start(&r);
    for (int64_t i = 0; i < 4; i++) {
        builder_step(&r.b, r.host, i * 10000000, (i + 1) * 10000000);
        builder_slice(&r.b, r.thread, "aten::mm", ACTIVITY_OP, i * 10000000, work_ns[i]);
    }
    assert_int_equal(trim(&r)[3].end_ns, 40000000);
    release(&r);
}
