/*
 * classic_model: a timeline of two steps as nodes of the classic views. Times in microseconds:
 *
 *   main    0       Net_0 ------------------------------------ 1000   2000 Net_0 ---- 2500
 *             0     aten::linear ----------------------- 1000         2000 linear --- 2500
 *                     100 aten::mm ------ 400
 *   stream            600 gemm --- 800   (launched by mm)   850 fill 860 (by none)
 */
#include "analyze/classic/classic_model.h"
#include "base/macros.h"
#include "model/classic.h"
#include "profile_builder.h"
#include "testing.h"

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

    host = builder_start_host(builder, FORMAT_KINETO);
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
    int64_t     step; /* -1: the mean of all steps */
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
    /* Its own 300 and the kernel's 200 in one of two steps; it did run. */
    { "Net_0/aten::mm",
      "aten::mm",
      "/device:cpu:0",
      -1,
      { [MEASURE_RUNS] = 1,
        [MEASURE_EXEC_MICROS] = 250,
        [MEASURE_CPU_MICROS] = 150,
        [MEASURE_ACCELERATOR_MICROS] = 100,
        [MEASURE_REQUESTED_BYTES] = MEMORY_BYTES / 2,
        [MEASURE_RESIDUAL_BYTES] = (MEMORY_BYTES - FREED_BYTES) / 2 } },
    { "Net_0/aten::mm", "aten::mm", "/device:cpu:0", 1, { 0 } },
    { "fill",
      "fill",
      "/device:gpu:0",
      0,
      { [MEASURE_RUNS] = 1, [MEASURE_EXEC_MICROS] = 10, [MEASURE_ACCELERATOR_MICROS] = 10 } },
};

TEST(nodes_have_their_own_time)
{
    struct profile_builder builder;
    const struct classic  *classic;

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

/* Frames of a program around ops; times in microseconds. A step's mark begins in one function and
 * ends in another. The gradient runs on a thread of its own:
 *
 *   main   0    main.py:1 --------------------------------------------------- 1000
 *            0  step.py:2 - 100           300 loss.py:3 ------------------ 900
 *              50 (mark) ------- 200      400 mm --- 500   600 mm -- 800
 *   engine      (as first mm) 600 evaluate -------- 900;  600 mm --- 700
 */
static void build_lines(struct profile_builder *builder)
{
    static const char *const files[] = { "main.py", "step.py", "loss.py" };
    uint32_t                 host, main, engine, forward, gradient;

    host = builder_start_host(builder, FORMAT_KINETO);
    main = builder_timeline(builder, host, NO_ID, "main");
    engine = builder_timeline(builder, host, NO_ID, "engine");
    builder_slice(builder, main, "main.py", ACTIVITY_PYTHON, 0, 1000 * MICRO_NS);
    builder_slice(builder, main, "step.py", ACTIVITY_PYTHON, 0, 100 * MICRO_NS);
    builder_slice(builder, main, "mark", ACTIVITY_OTHER, 50 * MICRO_NS, 150 * MICRO_NS);
    builder_slice(builder, main, "aten::zeros", ACTIVITY_OP, 110 * MICRO_NS, 10 * MICRO_NS);
    builder_slice(builder, main, "loss.py", ACTIVITY_PYTHON, 300 * MICRO_NS, 600 * MICRO_NS);
    forward = builder_slice(builder, main, "aten::mm", ACTIVITY_OP, 400 * MICRO_NS, 100 * MICRO_NS);
    builder_slice(builder, main, "aten::mm", ACTIVITY_OP, 600 * MICRO_NS, 200 * MICRO_NS);
    gradient =
        builder_slice(builder, engine, "evaluate", ACTIVITY_OTHER, 600 * MICRO_NS, 300 * MICRO_NS);
    builder_slice(builder, engine, "aten::mm", ACTIVITY_OP, 600 * MICRO_NS, 100 * MICRO_NS);
    builder_flow(builder, forward, gradient, FLOW_FORWARD_BACKWARD);
    builder_step(builder, host, 0, 1000 * MICRO_NS);
    builder_finish(builder);
    for (uint32_t i = 0; i < ARRAY_COUNT(files); i++) {
        struct source_line line = { .file = builder_name(builder, files[i]),
                                    .line = i + 1,
                                    .caller = NO_ID };

        for (size_t n = 0; n < builder->profile.activities.count; n++)
            if (builder->profile.activities.items[n].name == line.file)
                builder->profile.activities.items[n].source = i;
        assert_true(vec_push(&builder->profile.sources, &builder->arena, line));
    }
}

TEST(ops_are_of_the_lines_that_called_them)
{
    static const struct {
        const char *name;
        bool        is_gradient;
        uint32_t    lines[3]; /* innermost first, 0 behind the last */
        int64_t     micros;
    } nodes[] = {
        { "aten::mm", false, { 3, 1 }, 300 }, /* 100 + 200 */
        { "aten::mm", true, { 3, 1 }, 100 },
        { "aten::zeros", false, { 1 }, 10 }, /* step.py had ended, though the mark had not */
    };
    struct profile_builder builder;
    const struct classic  *lines;

    build_lines(&builder);
    assert_true(classic_model_make(&builder.study, &builder.profile));
    assert_null(builder.profile.classic->lines);
    assert_int_equal(builder.profile.classic->nodes.count, 2); /* mm and zeros, whoever called */
    assert_true(classic_model_add_lines(&builder.study, &builder.profile));
    lines = builder.profile.classic->lines;
    assert_non_null(lines);
    assert_true(lines->has_code);
    assert_int_equal(lines->nodes.count, ARRAY_COUNT(nodes));
    for (uint32_t i = 0; i < ARRAY_COUNT(nodes); i++) {
        uint32_t source = lines->nodes.items[i].source;

        assert_string_equal(classic_name(lines, i).data, nodes[i].name);
        assert_int_equal(lines->nodes.items[i].is_gradient, nodes[i].is_gradient);
        assert_int_equal(classic_value(lines, i, MEASURE_EXEC_MICROS, 0), nodes[i].micros);
        for (size_t n = 0; nodes[i].lines[n]; n++) {
            assert_int_equal(builder.profile.sources.items[source].line, nodes[i].lines[n]);
            source = builder.profile.sources.items[source].caller;
        }
        assert_true(source == NO_ID);
    }
    builder_free(&builder);
}

TEST(without_frames_there_are_no_lines)
{
    struct profile_builder builder;

    build(&builder);
    assert_true(classic_model_make(&builder.study, &builder.profile));
    assert_true(classic_model_add_lines(&builder.study, &builder.profile));
    assert_null(builder.profile.classic->lines);
    builder_free(&builder);
}

/* A budget that is too small is told, whatever it cuts off. */
TEST(small_budgets_are_refused)
{
    for (size_t budget = 0; budget < 4096; budget += 256) {
        struct profile_builder builder;

        build(&builder);
        builder.arena.budget_bytes = builder.arena.used_bytes + budget;
        if (!classic_model_make(&builder.study, &builder.profile))
            assert_null(builder.profile.classic);
        builder_free(&builder);
    }
}

/* Eager executions are their ops: Mul of 20 and 30 us with a nested one of 5, a function is none.
 */
TEST(eager_executions_are_ops)
{
    static const struct {
        const char *name;
        int64_t     start_us, duration_us;
        bool        is_function;
    } events[] = { { "Mul", 0, 20, false },
                   { "Mul", 100, 30, false },
                   { "Cast", 110, 5, false },
                   { "__inference_f", 200, 40, true } };
    struct profile_builder builder;
    uint32_t               host, thread, mul;

    host = builder_start_host(&builder, FORMAT_XSPACE);
    thread = builder_timeline(&builder, host, NO_ID, "python");
    for (size_t i = 0; i < ARRAY_COUNT(events); i++) {
        uint32_t event =
            builder_slice(&builder, thread, "EagerExecute", ACTIVITY_DISPATCH,
                          events[i].start_us * MICRO_NS, events[i].duration_us * MICRO_NS);

        builder_stat(&builder, event, STAT_EAGER_OP, builder_name(&builder, events[i].name));
        builder_stat(&builder, event, STAT_IS_FUNCTION, events[i].is_function);
    }
    builder_step(&builder, host, 0, 300 * MICRO_NS);
    builder_finish(&builder);
    assert_true(classic_model_make(&builder.study, &builder.profile));
    assert_int_equal(builder.profile.classic->nodes.count, 2);
    mul = classic_find(builder.profile.classic, STR("Mul"));
    assert_true(str_equal(classic_type(builder.profile.classic, mul), STR("Mul")));
    assert_int_equal(classic_value(builder.profile.classic, mul, MEASURE_RUNS, -1), 2);
    assert_int_equal(classic_value(builder.profile.classic, mul, MEASURE_EXEC_MICROS, -1), 45);
    builder_free(&builder);
}
