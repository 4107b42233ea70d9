/* Cores that do the same: what one of them does a step, and what they do beside their instructions.
 */
#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

static uint32_t add_core(struct profile_builder *b, uint32_t host, const char *name)
{
    uint32_t device = builder_device(b, host, name, "TPU v6 Lite", DEVICE_TPU);
    uint32_t line = builder_timeline(b, host, device, "XLA Ops");

    b->profile.timelines.items[line].kind = TIMELINE_OPS;
    return line;
}

static uint32_t add_activity(struct profile_builder *b, const char *name, const char *type,
                             enum activity_kind kind, enum copy_direction copy, int64_t bytes)
{
    uint32_t op = builder_op(b, name, type, NULL);
    uint32_t activity = builder_activity(b, name, kind, op);

    b->profile.ops.items[op].bytes = bytes;
    b->profile.ops.items[op].flops = 1000;
    b->profile.activities.items[activity].copy = (uint8_t)copy;
    return activity;
}

static bool is_close(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

/* In one step both cores run "add", 100 and 300 us, and then an all-reduce, 200 and 100 us; a third
 * core works outside of the step only. A unit of the first runs an "add" of 700 us beside it. */
TEST(work_is_of_one_core)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, lines[4], add, reduce;

    host = builder_start_host(&b, FORMAT_XSPACE);
    lines[0] = add_core(&b, host, "/device:TPU:0");
    lines[1] = add_core(&b, host, "/device:TPU:1");
    lines[2] = add_core(&b, host, "/device:TPU:2");
    lines[3] = add_core(&b, host, "/device:TPU:0 SparseCore 0");
    b.profile.devices.items[3].unit_of = 1;
    builder_step(&b, host, 0, 1000000);
    add = add_activity(&b, "add", "add", ACTIVITY_KERNEL, COPY_NONE, 500);
    reduce = add_activity(&b, "all-reduce", "all-reduce", ACTIVITY_COLLECTIVE, COPY_NONE, 0);
    builder_event(&b, lines[0], add, 0, 100000);
    builder_event(&b, lines[1], add, 0, 300000);
    builder_event(&b, lines[0], reduce, 200000, 200000);
    builder_event(&b, lines[1], reduce, 300000, 100000);
    builder_event(&b, lines[2], add, 2000000, 100000);
    builder_event(&b, lines[3], add, 0, 700000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err) && analysis_ops.run(&b.study, &err) &&
                analysis_kernels.run(&b.study, &err) && analysis_flops.run(&b.study, &err) &&
                analysis_comm.run(&b.study, &err));
    assert_true(is_close(builder_fact(&b, "device.count"), 2));
    assert_true(
        is_close(builder_cell(&b, "devices", "unit_of", "/device:TPU:0", "busy_ns"), 700000));
    assert_true(is_close(builder_cell(&b, "ops", "device", "2 devices", "total_ns"), 200000));
    assert_true(is_close(builder_cell(&b, "ops", "device", "2 devices", "calls"), 1));
    assert_true(is_close(builder_cell(&b, "ops", "device", "2 devices", "mean_ns"), 200000));
    assert_true(is_close(builder_fact(&b, "ops.device_self_ns"), 200000));
    assert_true(is_close(builder_cell(&b, "kernels", "name", "add", "total_ns"), 200000));
    assert_true(is_close(builder_fact(&b, "kernels.count_per_step"), 2));
    assert_true(is_close(builder_fact(&b, "kernels.total_ns"), 350000));
    assert_true(is_close(builder_fact(&b, "flops.per_step"), 1000));
    assert_true(is_close(builder_fact(&b, "comm.count_per_step"), 1));
    assert_true(is_close(builder_fact(&b, "comm.ns"), 150000));
    assert_true(is_close(builder_fact(&b, "comm.exposed_ns"), 150000));
    assert_true(is_close(builder_cell(&b, "collectives", "name", "all-reduce", "ns"), 150000));
    builder_free(&b);
}

/*
 * Two copies of 1000 bytes to the core: the first from 0 to 200 us, the second from 10 to 310 us.
 * One was under way for 310 us, so each took 155. The core stood in the first's instructions for 10
 * + 100 us, in the second's for 10 + 10.
 */
TEST(copies_beside_the_core_share_the_link)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, line, starts[2], dones[2];

    host = builder_start_host(&b, FORMAT_XSPACE);
    line = add_core(&b, host, "/device:TPU:0");
    builder_step(&b, host, 0, 1000000);
    starts[0] = add_activity(&b, "copy-start", "copy-start", ACTIVITY_MEMCPY, COPY_H2D, 1000);
    starts[1] = add_activity(&b, "copy-start.2", "copy-start", ACTIVITY_MEMCPY, COPY_H2D, 1000);
    dones[0] = add_activity(&b, "copy-done", "copy-done", ACTIVITY_MEMCPY, COPY_H2D, 1000);
    dones[1] = add_activity(&b, "copy-done.2", "copy-done", ACTIVITY_MEMCPY, COPY_H2D, 1000);
    builder_event(&b, line, starts[0], 0, 10000);
    builder_event(&b, line, starts[1], 10000, 10000);
    builder_event(&b, line, dones[0], 100000, 100000);
    builder_slice(&b, line, "add", ACTIVITY_KERNEL, 200000, 100000);
    builder_event(&b, line, dones[1], 300000, 10000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err) && analysis_copies.run(&b.study, &err) &&
                analysis_async_ops.run(&b.study, &err));
    assert_true(is_close(builder_fact(&b, "copies.h2d_count"), 2));
    assert_true(is_close(builder_fact(&b, "copies.h2d_bytes"), 2000));
    assert_true(is_close(builder_fact(&b, "copies.h2d_ns"), 310000));
    assert_true(is_close(builder_fact(&b, "copies.h2d_exposed_ns"), 130000));
    assert_true(is_close(builder_cell(&b, "async_ops", "name", "copy-start", "ns"), 155000));
    assert_true(
        is_close(builder_cell(&b, "async_ops", "name", "copy-start", "exposed_ns"), 110000));
    assert_true(is_close(builder_cell(&b, "async_ops", "name", "copy-start", "hidden_ns"), 45000));
    assert_true(
        is_close(builder_cell(&b, "async_ops", "name", "copy-start.2", "hidden_ns"), 135000));
    assert_true(is_close(builder_cell(&b, "async_ops", "name", "copy-start.2", "span_ns"), 300000));
    assert_true(is_close(builder_fact(&b, "async.hidden_share"), 180.0 / 310));
    builder_free(&b);
}

/*
 * A core begins two all-reduces of 1000 bytes, 0..10 and 10..20 us, computes 20..100, ends the
 * first 100..200, computes 200..300, and ends the second 300..310. Two collectives, not four: one
 * is under way for 310 us, of which the core computes 180.
 */
TEST(what_is_begun_and_ended_is_one_collective)
{
    struct profile_builder    b;
    struct err                err = { 0 };
    uint32_t                  line, starts[2], dones[2];
    const enum copy_direction none = COPY_NONE;

    builder_start(&b, FORMAT_XSPACE);
    line = add_core(&b, builder_host(&b, "h"), "/device:TPU:0");
    builder_step(&b, 0, 0, 1000000);
    starts[0] =
        add_activity(&b, "all-reduce-start", "all-reduce-start", ACTIVITY_COLLECTIVE, none, 0);
    starts[1] =
        add_activity(&b, "all-reduce-start.2", "all-reduce-start", ACTIVITY_COLLECTIVE, none, 0);
    dones[0] = add_activity(&b, "all-reduce-done", "all-reduce-done", ACTIVITY_COLLECTIVE, none, 0);
    dones[1] =
        add_activity(&b, "all-reduce-done.2", "all-reduce-done", ACTIVITY_COLLECTIVE, none, 0);
    builder_event(&b, line, starts[0], 0, 10000);
    builder_event(&b, line, starts[1], 10000, 10000);
    builder_slice(&b, line, "add", ACTIVITY_KERNEL, 20000, 80000);
    builder_event(&b, line, dones[0], 100000, 100000);
    builder_slice(&b, line, "add", ACTIVITY_KERNEL, 200000, 100000);
    builder_event(&b, line, dones[1], 300000, 10000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err) && analysis_comm.run(&b.study, &err));
    assert_true(is_close(builder_fact(&b, "comm.count_per_step"), 2));
    assert_true(is_close(builder_fact(&b, "comm.ns"), 310000));
    assert_true(is_close(builder_fact(&b, "comm.exposed_ns"), 130000));
    assert_true(
        is_close(builder_cell(&b, "collectives", "name", "all-reduce-start", "ns"), 200000));
    assert_true(
        is_close(builder_cell(&b, "collectives", "name", "all-reduce-start.2", "ns"), 300000));
    builder_free(&b);
}

/* A convolution that a library does in two kernels, twice: two calls, not four; a second device
 * that only copies does not halve them. */
TEST(kernels_of_an_op_are_one_call)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, line, other, op, kernels[2];

    host = builder_start_host(&b, FORMAT_XSPACE);
    line = builder_timeline(&b, host, builder_device(&b, host, "/device:GPU:0", "", DEVICE_GPU),
                            "Stream #1");
    other = builder_timeline(&b, host, builder_device(&b, host, "/device:GPU:1", "", DEVICE_GPU),
                             "Stream #1");
    builder_step(&b, host, 0, 1000000);
    op = builder_op(&b, "conv", "custom-call", NULL);
    b.profile.ops.items[op].flops = 1000;
    kernels[0] = builder_activity(&b, "im2col", ACTIVITY_KERNEL, op);
    kernels[1] = builder_activity(&b, "gemm", ACTIVITY_KERNEL, op);
    for (int i = 0; i < 4; i++)
        builder_event(&b, line, kernels[i % 2], i * 100000, 50000);
    builder_slice(&b, other, "copy", ACTIVITY_MEMCPY, 0, 1000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err) && analysis_ops.run(&b.study, &err) &&
                analysis_flops.run(&b.study, &err));
    assert_true(is_close(builder_fact(&b, "flops.per_step"), 2000));
    assert_true(is_close(builder_cell(&b, "roofline", "op", "conv", "calls"), 2));
    assert_true(is_close(builder_cell(&b, "roofline", "op", "conv", "ns"), 200000));
    builder_free(&b);
}
