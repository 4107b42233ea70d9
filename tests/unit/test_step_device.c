
#include "testing.h"

#include "analyze/ops/op_times.h"
#include "analyze/step/step_device.h"
#include "analyze/step/window.h"
#include "profile_builder.h"

/*
 * Three steps of 100 us on the host, each of which launches one kernel at its beginning. Kernels of
 * 1000 us end at 1010, 2010 and 3010: the steps end there. Kernels of 90 us end within their steps
 * (at 95, 195 and 295), which stay.
 */
TEST(steps_end_with_their_work)
{
    static const struct {
        enum profile_format format;
        enum step_source    source;
        int64_t             kernel_ns, lag_ns;
        int64_t             start_ns[3], end_ns[3];
    } cases[] = {
        { FORMAT_KINETO,
          STEPS_MARKER,
          1000000,
          10000,
          { 0, 1010000, 2010000 },
          { 1010000, 2010000, 3010000 } },
        { FORMAT_KINETO,
          STEPS_MARKER,
          90000,
          5000,
          { 0, 100000, 200000 },
          { 100000, 200000, 300000 } },
        { FORMAT_XSPACE,
          STEPS_MARKER,
          1000000,
          10000,
          { 0, 1010000, 2010000 },
          { 1010000, 2010000, 3010000 } },
        { FORMAT_KINETO,
          STEPS_INFERRED,
          1000000,
          10000,
          { 0, 1010000, 2010000 },
          { 1010000, 2010000, 3010000 } },
    };

    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct profile_builder b;
        struct arena           scratch = { 0 };
        uint32_t               host, gpu, thread, stream;

        builder_start(&b, cases[c].format);
        host = builder_host(&b, "h");
        gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
        thread = builder_timeline(&b, host, NO_ID, "main");
        stream = builder_timeline(&b, host, gpu, "stream 7");
        for (int64_t i = 0; i < 3; i++) {
            int64_t  begins = cases[c].kernel_ns > 100000 ? i * cases[c].kernel_ns : i * 100000;
            uint32_t from = builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH,
                                          i * 100000 + 1000, 1000);
            uint32_t to = builder_slice(&b, stream, "k", ACTIVITY_KERNEL, begins + cases[c].lag_ns,
                                        cases[c].kernel_ns);

            builder_flow(&b, from, to, FLOW_LAUNCH);
            builder_step(&b, host, i * 100000, (i + 1) * 100000);
        }
        builder_finish(&b);
        b.study.steps.source = cases[c].source;
        assert_true(steps_follow_device(&b.study, &scratch));
        for (size_t i = 0; i < 3; i++) {
            assert_true(b.study.steps.list.items[i].start_ns == cases[c].start_ns[i]);
            assert_true(b.study.steps.list.items[i].end_ns == cases[c].end_ns[i]);
        }
        arena_free(&scratch);
        builder_free(&b);
    }
}

/*
 * A runtime's thread launches after the three steps of 100 us, so that launches tell nothing. With
 * two kernels a step of 400 and 500 us from 350 us on, steps end at 1250, 2150 and 3050. Seven
 * kernels are not the same for each step, and six that differ are no steps that do the same.
 */
TEST(later_launches_go_by_order)
{
    static const struct {
        const char *names[7];
        size_t      count;
        int64_t     end_ns[3];
    } cases[] = {
        { { "a", "b", "a", "b", "a", "b" }, 6, { 1250000, 2150000, 3050000 } },
        { { "a", "b", "a", "b", "a", "b", "a" }, 7, { 100000, 200000, 300000 } },
        { { "a", "b", "c", "d", "e", "f" }, 6, { 100000, 200000, 300000 } },
    };

    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct profile_builder b;
        struct arena           scratch = { 0 };
        uint32_t               host, gpu, thread, stream;
        int64_t                now = 350000;

        host = builder_start_host(&b, FORMAT_XSPACE);
        gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
        thread = builder_timeline(&b, host, NO_ID, "execute");
        stream = builder_timeline(&b, host, gpu, "stream 7");
        for (size_t i = 0; i < cases[c].count; i++) {
            int64_t  length_ns = i % 2 ? 500000 : 400000;
            uint32_t from = builder_slice(&b, thread, "cuLaunchKernel", ACTIVITY_LAUNCH,
                                          310000 + (int64_t)i * 2000, 1000);
            uint32_t to =
                builder_slice(&b, stream, cases[c].names[i], ACTIVITY_KERNEL, now, length_ns);

            builder_flow(&b, from, to, FLOW_LAUNCH);
            now += length_ns;
        }
        for (int64_t i = 0; i < 3; i++)
            builder_step(&b, host, i * 100000, (i + 1) * 100000);
        builder_finish(&b);
        b.study.steps.source = STEPS_MARKER;
        assert_true(steps_follow_device(&b.study, &scratch));
        for (size_t i = 0; i < 3; i++)
            assert_true(b.study.steps.list.items[i].end_ns == cases[c].end_ns[i]);
        arena_free(&scratch);
        builder_free(&b);
    }
}

/* Three recordings of two steps of 100 us, 1 ms apart, each step with a kernel inside: the kernels
 * launched in two of them are a third of all, and still theirs. */
TEST(steps_with_pauses_keep_their_own_work)
{
    static const int64_t   starts_us[] = { 0, 100, 1000, 1100, 2000, 2100 };
    struct profile_builder b;
    struct arena           scratch = { 0 };
    uint32_t               host, thread, stream;

    host = builder_start_host(&b, FORMAT_KINETO);
    thread = builder_timeline(&b, host, NO_ID, "main");
    stream =
        builder_timeline(&b, host, builder_device(&b, host, "GPU 0", "", DEVICE_GPU), "stream 7");
    for (size_t i = 0; i < ARRAY_COUNT(starts_us); i++) {
        int64_t  start_ns = starts_us[i] * 1000;
        uint32_t from =
            builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, start_ns + 1000, 1000);
        uint32_t to = builder_slice(&b, stream, "k", ACTIVITY_KERNEL, start_ns + 10000, 50000);

        builder_flow(&b, from, to, FLOW_LAUNCH);
        builder_step(&b, host, start_ns, start_ns + 100000);
    }
    builder_finish(&b);
    b.study.steps.source = STEPS_MARKER;
    assert_true(steps_follow_device(&b.study, &scratch));
    for (size_t i = 0; i < ARRAY_COUNT(starts_us); i++)
        assert_true(b.study.steps.list.items[i].end_ns == starts_us[i] * 1000 + 100000);
    arena_free(&scratch);
    builder_free(&b);
}

/*
 * Three steps of 100 us on the host, each of which calls an op that launches a kernel of 1000 us:
 * the steps are 0 to 1010, 1010 to 2010 and 2010 to 3010 us. By those the three calls, at 1, 101
 * and 201 us, would all be of the first step; one was made in each. Sums are those of the steps:
 * 3010 us.
 */
TEST(calls_are_of_the_step_that_they_were_made_in)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct windows         windows, called;
    struct op_times        times;
    uint32_t               host, thread, stream, call;

    host = builder_start_host(&b, FORMAT_KINETO);
    thread = builder_timeline(&b, host, NO_ID, "main");
    stream =
        builder_timeline(&b, host, builder_device(&b, host, "GPU 0", "", DEVICE_GPU), "stream 7");
    call = builder_activity(&b, "aten::mm", ACTIVITY_OP,
                            builder_op(&b, "aten::mm", "aten::mm", "f32[64,64] f32[64,64]"));
    for (int64_t i = 0; i < 3; i++) {
        uint32_t from, to;

        builder_event(&b, thread, call, i * 100000 + 1000, 3000);
        from =
            builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, i * 100000 + 2000, 1000);
        to = builder_slice(&b, stream, "k", ACTIVITY_KERNEL, 10000 + i * 1000000, 1000000);
        builder_flow(&b, from, to, FLOW_LAUNCH);
        builder_step(&b, host, i * 100000, (i + 1) * 100000);
    }
    builder_finish(&b);
    b.study.steps.source = STEPS_MARKER;
    assert_true(steps_follow_device(&b.study, &scratch));
    assert_true(windows_make(&b.study, &scratch, &windows));
    assert_true(windows_make_called(&b.study, &scratch, &called));
    assert_int_equal(called.count, 3);
    assert_true(called.total_ns == windows.total_ns && called.total_ns == 3010000);
    for (int64_t i = 0; i < 3; i++) {
        assert_int_equal(windows_find(&windows, i * 100000 + 1000), 0);
        assert_int_equal(windows_find(&called, i * 100000 + 1000), i);
    }
    b.study.steps.list.items[0].is_sampled = false; /* without the first step two are left */
    assert_true(op_times_make(&b.study, &scratch, &times));
    for (size_t i = 0; i < times.count; i++)
        if (times.rows[i].kind == ACTIVITY_OP)
            assert_true(times.rows[i].calls == 2);
    arena_free(&scratch);
    builder_free(&b);
}
