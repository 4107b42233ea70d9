/*
 * classic_model: a timeline of two steps as nodes of the classic views. Times in microseconds:
 *
 *   main    0       Net_0 ------------------------------------ 1000   2000 Net_0 ---- 2500
 *             0     aten::linear ----------------------- 1000         2000 linear --- 2500
 *                     100 aten::mm ------ 400
 *   stream            600 gemm --- 800   (launched by mm)   850 fill 860 (by none)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the ones above. */
#include "analyze/classic_model.h"
#include "base/macros.h"
#include "model/classic.h"
#include "profile_builder.h"

#include <cmocka.h>

enum { MICRO_NS = 1000, MEMORY_BYTES = 4096, FREED_BYTES = 1024 };

static void add_memory(struct profile_builder *builder, uint32_t tag, enum memory_event_kind kind,
                       int64_t bytes)
{
    struct memory_event event = { .kind = (uint8_t)kind,
                                  .bytes = bytes,
                                  .time_ns = 200 * MICRO_NS,
                                  .event = builder->rows[tag] };

    assert_true(vec_push(&builder->profile.memory_events, &builder->arena, event));
}

static void build(struct profile_builder *builder)
{
    uint32_t host, device, thread, stream, mm, gemm;

    builder_start(builder, FORMAT_KINETO);
    host = builder_host(builder, "h");
    device = builder_device(builder, host, "gpu", "NVIDIA A100", DEVICE_GPU);
    thread = builder_timeline(builder, host, NO_ID, "main");
    stream = builder_timeline(builder, host, device, "stream 7");
    builder_slice(builder, thread, "nn.Module: Net_0", ACTIVITY_PYTHON, 0, 1000 * MICRO_NS);
    builder_slice(builder, thread, "aten::linear", ACTIVITY_OP, 0, 1000 * MICRO_NS);
    mm = builder_slice(builder, thread, "aten::mm", ACTIVITY_OP, 100 * MICRO_NS, 300 * MICRO_NS);
    gemm = builder_slice(builder, stream, "void gemm<float>(int)", ACTIVITY_KERNEL, 600 * MICRO_NS,
                         200 * MICRO_NS);
    builder_slice(builder, stream, "fill", ACTIVITY_KERNEL, 850 * MICRO_NS, 10 * MICRO_NS);
    builder_slice(builder, thread, "nn.Module: Net_0", ACTIVITY_PYTHON, 2000 * MICRO_NS,
                  500 * MICRO_NS);
    builder_slice(builder, thread, "aten::linear", ACTIVITY_OP, 2000 * MICRO_NS, 500 * MICRO_NS);
    builder_flow(builder, mm, gemm, FLOW_LAUNCH);
    builder_step(builder, host, 0, 2000 * MICRO_NS);
    builder_step(builder, host, 2000 * MICRO_NS, 4000 * MICRO_NS);
    builder_finish(builder);
    add_memory(builder, mm, MEMORY_ALLOCATE, MEMORY_BYTES);
    add_memory(builder, mm, MEMORY_FREE, -FREED_BYTES);
}

static const struct {
    const char *name, *type, *device;
    int64_t     step; /* -1: the mean of the steps in which it ran */
    int64_t     values[MEASURE_COUNT];
} rows[] = {
    /* 1000 less what mm takes of it; then 500; (700 + 500) / 2. */
    { "Net_0/aten::linear",
      "aten::linear",
      "/device:cpu:0",
      0,
      { [MEASURE_RUNS] = 1, [MEASURE_EXEC_MICROS] = 700, [MEASURE_CPU_MICROS] = 700 } },
    { "Net_0/aten::linear",
      "aten::linear",
      "/device:cpu:0",
      1,
      { [MEASURE_RUNS] = 1, [MEASURE_EXEC_MICROS] = 500, [MEASURE_CPU_MICROS] = 500 } },
    { "Net_0/aten::linear",
      "aten::linear",
      "/device:cpu:0",
      -1,
      { [MEASURE_RUNS] = 1, [MEASURE_EXEC_MICROS] = 600, [MEASURE_CPU_MICROS] = 600 } },
    /* Its own 300 and the kernel's 200; it ran in one step alone. */
    { "Net_0/aten::mm",
      "aten::mm",
      "/device:cpu:0",
      -1,
      { [MEASURE_RUNS] = 1,
        [MEASURE_EXEC_MICROS] = 500,
        [MEASURE_CPU_MICROS] = 300,
        [MEASURE_ACCELERATOR_MICROS] = 200,
        [MEASURE_REQUESTED_BYTES] = MEMORY_BYTES,
        [MEASURE_RESIDUAL_BYTES] = MEMORY_BYTES - FREED_BYTES } },
    { "Net_0/aten::mm", "aten::mm", "/device:cpu:0", 1, { 0 } },
    { "fill",
      "fill",
      "/device:gpu:0",
      0,
      { [MEASURE_RUNS] = 1, [MEASURE_EXEC_MICROS] = 10, [MEASURE_ACCELERATOR_MICROS] = 10 } },
};

static void nodes_have_their_own_time(void **state)
{
    struct profile_builder builder;
    const struct classic  *classic;

    (void)state;
    build(&builder);
    assert_true(classic_model_make(&builder.study, &builder.profile));
    classic = builder.profile.classic;
    assert_int_equal(classic->nodes.count, 3);
    assert_int_equal(classic->steps.count, 2);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint32_t node = classic_find(classic, str_from(rows[i].name));

        print_message("%s, step %d\n", rows[i].name, (int)rows[i].step);
        assert_int_not_equal(node, NO_ID);
        assert_true(str_equal(classic_type(classic, node), str_from(rows[i].type)));
        assert_true(str_equal(classic_device(classic, node), str_from(rows[i].device)));
        for (int m = 0; m < MEASURE_COUNT; m++)
            assert_int_equal(classic_value(classic, node, (enum classic_measure)m, rows[i].step),
                             rows[i].values[m]);
        assert_int_equal(classic->nodes.items[node].float_ops, FLOAT_OPS_UNKNOWN);
    }
    builder_free(&builder);
}

/* A budget that is too small is told, whatever it cuts off. */
static void small_budgets_are_refused(void **state)
{
    (void)state;
    for (size_t budget = 0; budget < 4096; budget += 256) {
        struct profile_builder builder;

        build(&builder);
        builder.arena.budget_bytes = builder.arena.used_bytes + budget;
        if (!classic_model_make(&builder.study, &builder.profile))
            assert_null(builder.profile.classic);
        builder_free(&builder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_have_their_own_time),
        cmocka_unit_test(small_budgets_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
