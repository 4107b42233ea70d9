/* op_stats: both sides with their shares, with and without idle time. */
#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

static void check(const struct profile_builder *b, const char *where_op, const char *column,
                  double expected)
{
    double value = builder_cell(b, "op_stats", "op", where_op, column);

    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%s of %s is %g, not %g", column, where_op, value, expected);
}

static bool run_all(struct profile_builder *b)
{
    struct err err = { 0 };

    builder_finish(b);
    return analysis_devices.run(&b->study, &err) && analysis_ops.run(&b->study, &err) &&
           analysis_op_stats.run(&b->study, &err);
}

/*
 * One step of 1000 us. A thread runs Dense (a MatMul) 0..100 and Act 200..260; Dense launches a
 * kernel of tensor cores of 300 us and a helper of 100 us, Act one of 200 us. The GPU runs them
 * 110..410, 410..510 and 520..720, so it is idle 1000 - 600 = 400. device  Dense 400 of 600 = 2/3,
 * with idle 400 of 1000; Act 1/3, 200 of 1000; idle 400 of 1000; Dense and idle are alike, and idle
 * comes first: with idle 0.4, 0.8, 1. 300 of Dense's 400: 0.75 host    Dense 100 of 160 = 0.625,
 * Act 0.375; of the thread's 1000 us 840 are outside of ops: first calls   3 kernels and 2 ops: 3/5
 * on the device
 */
TEST(kernels_count_for_the_ops_that_launch_them)
{
    struct profile_builder b;
    uint32_t               host, main, stream, dense, act, from, to;

    host = builder_start_host(&b, FORMAT_XSPACE);
    main = builder_timeline(&b, host, NO_ID, "main");
    stream =
        builder_timeline(&b, host, builder_device(&b, host, "GPU 0", "", DEVICE_GPU), "stream 1");
    dense = builder_activity(&b, "gradient_tape/dense:MatMul", ACTIVITY_OP,
                             builder_op(&b, "gradient_tape/dense", "MatMul", NULL));
    act = builder_activity(&b, "act:Relu", ACTIVITY_OP, builder_op(&b, "act", "Relu", NULL));
    builder_step(&b, host, 0, 1000000);
    builder_event(&b, main, dense, 0, 100000);
    builder_event(&b, main, act, 200000, 60000);
    from = builder_slice(&b, main, "cuLaunchKernel", ACTIVITY_LAUNCH, 10000, 5000);
    to = builder_slice(&b, stream, "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn", ACTIVITY_KERNEL,
                       110000, 300000);
    builder_flow(&b, from, to, FLOW_LAUNCH);
    from = builder_slice(&b, main, "cuLaunchKernel", ACTIVITY_LAUNCH, 20000, 5000);
    to = builder_slice(&b, stream, "helper", ACTIVITY_KERNEL, 410000, 100000);
    builder_flow(&b, from, to, FLOW_LAUNCH);
    from = builder_slice(&b, main, "cuLaunchKernel", ACTIVITY_LAUNCH, 210000, 5000);
    to = builder_slice(&b, stream, "relu_kernel", ACTIVITY_KERNEL, 520000, 200000);
    builder_flow(&b, from, to, FLOW_LAUNCH);
    assert_true(run_all(&b));
    check(&b, "gradient_tape/dense", "self_ns", 400000);
    check(&b, "gradient_tape/dense", "calls", 2);
    check(&b, "gradient_tape/dense", "share", 2.0 / 3);
    check(&b, "gradient_tape/dense", "share_with_idle", 0.4);
    check(&b, "gradient_tape/dense", "cumulative_with_idle", 0.8);
    check(&b, "gradient_tape/dense", "tensor_core_share", 0.75);
    check(&b, "gradient_tape/dense", "tensor_core_eligible", 1);
    check(&b, "act", "cumulative_share", 1);
    check(&b, "act", "tensor_core_eligible", 0);
    check(&b, "IDLE", "share_with_idle", 0.4);
    assert_true(fabs(builder_cell(&b, "op_stats", "where", "host", "self_ns") - 840000) < 1e-6);
    assert_true(fabs(builder_fact(&b, "op_stats.device_calls_share") - 0.6) < 1e-9);
    assert_true(fabs(builder_fact(&b, "op_stats.host_idle_share") - 0.84) < 1e-9);
    assert_true(builder_fact(&b, "op_stats.trains") == 1);
    builder_free(&b);
}

/* Instructions of a core are called what they were made from: two fusions of one op are 300 of 400
 * us, what sends to the host the other 100; nothing says that the program trains. */
TEST(instructions_count_for_what_they_were_made_from)
{
    struct profile_builder b;
    uint32_t               host, line, ops[3];

    host = builder_start_host(&b, FORMAT_XSPACE);
    line = builder_timeline(&b, host, builder_device(&b, host, "TPU 0", "", DEVICE_TPU), "XLA Ops");
    b.profile.timelines.items[line].kind = TIMELINE_OPS;
    ops[0] = builder_op(&b, "fusion.1", "fusion", NULL);
    ops[1] = builder_op(&b, "fusion.2", "fusion", NULL);
    ops[2] = builder_op(&b, "send-done", "send-done", NULL);
    b.profile.ops.items[ops[0]].origin = builder_name(&b, "jit(f)/jit(main)/add");
    b.profile.ops.items[ops[1]].origin = builder_name(&b, "jit(f)/jit(main)/add");
    b.profile.ops.items[ops[2]].origin = builder_name(&b, "log:XlaSendToHost");
    builder_step(&b, host, 0, 400000);
    builder_event(&b, line, builder_activity(&b, "fusion.1", ACTIVITY_KERNEL, ops[0]), 0, 200000);
    builder_event(&b, line, builder_activity(&b, "fusion.2", ACTIVITY_KERNEL, ops[1]), 200000,
                  100000);
    builder_event(&b, line, builder_activity(&b, "send-done", ACTIVITY_KERNEL, ops[2]), 300000,
                  100000);
    assert_true(run_all(&b));
    check(&b, "jit(f)/jit(main)/add", "share", 0.75);
    check(&b, "jit(f)/jit(main)/add", "calls", 2);
    assert_true(isnan(builder_cell(&b, "op_stats", NULL, NULL, "tensor_core_share")));
    assert_true(fabs(builder_fact(&b, "op_stats.outside_compiled_share") - 0.25) < 1e-9);
    assert_true(builder_fact(&b, "op_stats.trains") == 0);
    builder_free(&b);
}

/* Eager ops are calls without scopes: a gradient of one is told by its type, an addition is none,
 * and neither is a transposed convolution, whose op other convolutions' gradients have. */
TEST(eager_gradients_are_told_by_type)
{
    static const struct {
        const char *call;
        double      trains;
    } rows[] = { { "EagerLocalExecute: ReluGrad", 1 },
                 { "EagerLocalExecute: AddV2", 0 },
                 { "EagerLocalExecute: Conv2DBackpropInput", 0 },
                 { "EagerLocalExecute: Conv2DBackpropFilter", 1 } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct profile_builder b;
        uint32_t               host, thread;

        host = builder_start_host(&b, FORMAT_XSPACE);
        thread = builder_timeline(&b, host, NO_ID, "python");
        builder_step(&b, host, 0, 400000);
        builder_slice(&b, thread, rows[i].call, ACTIVITY_DISPATCH, 0, 200000);
        builder_slice(&b, thread, "MatMul:MatMul", ACTIVITY_OP, 200000, 100000);
        assert_true(run_all(&b));
        assert_true(builder_fact(&b, "op_stats.trains") == rows[i].trains);
        builder_free(&b);
    }
}
