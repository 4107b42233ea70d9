/* kernel_times: kernels by the op that launched them, and which count as tiny. */
#include "analyze/analysis.h"
#include "analyze/kernel/kernel_times.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

/*
 * Two ops launch the same kernel: mm 30 and 50 us, add 8 us. Another kernel of 9.999 us has no
 * launch. One of mm's runs outside the step. By time: mm 80 (2 calls, 30 to 50), the lone one
 * 9.999, add 8. Tiny: 8 and 9.999. Median of 8, 9.999, 30, 50: 19.9995.
 */
TEST(by_kernel_and_op)
{
    static const struct {
        uint32_t op; /* 0 mm, 1 add, 2 no launch */
        int64_t  launch_ns, start_ns, ns;
    } runs[] = { { 0, 1000, 10000, 30000 },
                 { 0, 50000, 60000, 50000 },
                 { 1, 120000, 130000, 8000 },
                 { 2, 0, 150000, 9999 },
                 { 0, 990000, 1100000, 70000 } };
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct kernel_times    times;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, stream, ops[2];

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    stream = builder_timeline(&b, host, gpu, "stream 7");
    builder_step(&b, host, 0, 1000000);
    ops[0] = builder_activity(&b, "aten::mm", ACTIVITY_OP,
                              builder_op(&b, "aten::mm", "aten::mm", "f32[4,4] f32[4,4]"));
    ops[1] = builder_activity(&b, "aten::add", ACTIVITY_OP, NO_ID);
    for (size_t i = 0; i < ARRAY_COUNT(runs); i++) {
        const char *name = runs[i].op == 2 ? "alone" : "kernel";
        uint32_t    kernel =
            builder_slice(&b, stream, name, ACTIVITY_KERNEL, runs[i].start_ns, runs[i].ns);

        if (runs[i].op == 2)
            continue;
        builder_event(&b, thread, ops[runs[i].op], runs[i].launch_ns - 500, 5000);
        builder_flow(
            &b,
            builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, runs[i].launch_ns, 1000),
            kernel, FLOW_LAUNCH);
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(kernel_times_get(&b.study, &scratch, &times));
    assert_int_equal(times.count, 3);
    assert_int_equal(times.rows[0].op_activity, ops[0]);
    assert_int_equal(times.rows[0].op, 0);
    assert_int_equal(times.rows[0].calls, 2);
    assert_true(times.rows[0].total_ns == 80000);
    assert_true(times.rows[0].min_ns == 30000 && times.rows[0].max_ns == 50000);
    assert_int_equal(times.rows[1].op_activity, NO_ID);
    assert_int_equal(times.rows[2].op_activity, ops[1]);
    assert_int_equal(times.rows[2].op, NO_ID);
    assert_int_equal(times.call_count, 4);
    assert_int_equal(times.tiny_count, 2);
    assert_true(times.tiny_ns == 17999);
    assert_true(times.total_ns == 97999);
    assert_true(times.median_ns == 19999.5);
    arena_free(&scratch);
    builder_free(&b);
}

TEST(without_devices_there_are_none)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct kernel_times    times;

    builder_start_host(&b, FORMAT_KINETO);
    builder_finish(&b);
    assert_true(kernel_times_get(&b.study, &scratch, &times));
    assert_int_equal(times.count, 0);
    arena_free(&scratch);
    builder_free(&b);
}
