/* op_profile: the time of ops by program, category and op, with what they use of the device. */
#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

static uint32_t instruction(struct profile_builder *b, const char *name, const char *module,
                            const char *category, int64_t flops, int64_t bytes)
{
    uint32_t   row = builder_op(b, name, category, NULL);
    struct op *op = &b->profile.ops.items[row];

    op->module = builder_name(b, module);
    op->category = builder_name(b, category);
    op->flops = flops;
    op->bytes = bytes;
    return row;
}

static void check(const struct profile_builder *b, const char *name, const char *column,
                  double expected)
{
    double value = builder_cell(b, "op_profile", "name", name, column);

    if (!(fabs(value - expected) < 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%s of %s is %g, not %g", column, name, value, expected);
}

static bool run_all(struct profile_builder *b)
{
    struct err err = { 0 };

    builder_finish(b);
    return analysis_devices.run(&b->study, &err) && analysis_ops.run(&b->study, &err) &&
           analysis_flops.run(&b->study, &err);
}

/*
 * One step of 500 us on a device of 1e15 operations and 1e12 bytes a second. Program train: conv.1
 * 100 us with 5e10 operations (5e14 a second, 0.5 of the peak) and 1e7 bytes (1e11, 0.1); fusion.2
 * 300 us with 3e8 (1e12, 0.001) and 7.5e7 (2.5e11, 0.25). Program eval: copy.3 100 us of unknown
 * cost. Wasted: 0.5 * 100 + 0.75 * 300 = 275 us, of 500 0.55. Of all ops of known cost 0.5 * 100 +
 * 0.001 * 300 = 50.3 of 400, 0.1 * 100 + 0.25 * 300 = 85 of 400.
 */
TEST(nodes_sum_what_their_ops_use)
{
    struct profile_builder b;
    uint32_t               host, device, line, ops[3];

    host = builder_start_host(&b, FORMAT_XSPACE);
    device = builder_device(&b, host, "TPU 0", "", DEVICE_TPU);
    b.profile.devices.items[device].peak_flops_per_s = 1e15;
    b.profile.devices.items[device].memory_bytes_per_s = 1e12;
    line = builder_timeline(&b, host, device, "XLA Ops");
    b.profile.timelines.items[line].kind = TIMELINE_OPS;
    ops[0] = instruction(&b, "conv.1", "train", "convolution", 50000000000, 10000000);
    ops[1] = instruction(&b, "fusion.2", "train", "loop fusion", 300000000, 75000000);
    ops[2] = instruction(&b, "copy.3", "eval", "data formatting", -1, -1);
    builder_step(&b, host, 0, 500000);
    builder_event(&b, line, builder_activity(&b, "conv.1", ACTIVITY_KERNEL, ops[0]), 0, 100000);
    builder_event(&b, line, builder_activity(&b, "fusion.2", ACTIVITY_KERNEL, ops[1]), 100000,
                  300000);
    builder_event(&b, line, builder_activity(&b, "copy.3", ACTIVITY_KERNEL, ops[2]), 400000,
                  100000);
    assert_true(run_all(&b));
    check(&b, "all ops", "self_ns", 500000);
    check(&b, "all ops", "calls", 3);
    check(&b, "all ops", "known_share", 0.8);
    check(&b, "all ops", "compute_use", 50.3 / 400);
    check(&b, "all ops", "memory_use", 85.0 / 400);
    check(&b, "all ops", "wasted_ns", 275000);
    check(&b, "all ops", "wasted_share", 0.55);
    check(&b, "train", "depth", 1);
    check(&b, "train", "self_ns", 400000);
    check(&b, "train", "known_share", 1);
    check(&b, "eval", "share", 0.2);
    assert_true(isnan(builder_cell(&b, "op_profile", "name", "eval", "wasted_ns")));
    check(&b, "loop fusion", "depth", 2);
    check(&b, "loop fusion", "wasted_share", 0.45);
    check(&b, "conv.1", "depth", 3);
    check(&b, "conv.1", "compute_use", 0.5);
    builder_free(&b);
}

/* Without accelerators the ops of the host, by type; none tells a program, so that there is one
 * tree. Dense 100 of 160 us. */
TEST(ops_of_hosts_stand_by_type)
{
    struct profile_builder b;
    uint32_t               host, main;

    host = builder_start_host(&b, FORMAT_XSPACE);
    main = builder_timeline(&b, host, NO_ID, "main");
    builder_step(&b, host, 0, 1000000);
    builder_event(
        &b, main,
        builder_activity(&b, "dense:MatMul", ACTIVITY_OP, builder_op(&b, "dense", "MatMul", NULL)),
        0, 100000);
    builder_event(
        &b, main,
        builder_activity(&b, "act:Relu", ACTIVITY_OP, builder_op(&b, "act", "Relu", NULL)), 200000,
        60000);
    assert_true(run_all(&b));
    check(&b, "MatMul", "depth", 1);
    check(&b, "MatMul", "share", 0.625);
    check(&b, "dense", "depth", 2);
    assert_true(isnan(builder_cell(&b, "op_profile", "tree", "program", "depth")));
    builder_free(&b);
}
