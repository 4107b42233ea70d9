#include "analyze/analysis.h"
#include "profile_builder.h"
#include "testing.h"

extern const struct analysis analysis_devices, analysis_path, analysis_composition,
    analysis_activities, analysis_runtime;

/*
 * Two steps of 100 us on one thread. In each:
 *   0..40    a call that traces a function ("traced-nonXla", third trace so far), in it 5..25
 * compiling 40..60   two eager ops of 10 us each 60..70   a callback, 70..75 a transfer, 75..80
 * garbage collection, 80..90 writing a summary 90..100  waiting for a result, of which nothing runs
 * elsewhere Run 9 of program 4 works 0..20 us on another thread in the first step only.
 */
static void build(struct profile_builder *b)
{
    uint32_t host, python, worker, run;

    builder_start(b, FORMAT_XSPACE);
    host = builder_host(b, "h");
    python = builder_timeline(b, host, NO_ID, "python");
    worker = builder_timeline(b, host, NO_ID, "worker");
    for (int64_t t = 0; t < 200000; t += 100000) {
        uint32_t call = builder_slice(b, python, "step", ACTIVITY_OTHER, t, 40000);

        builder_stat(b, call, STAT_FUNCTION_CALL, builder_name(b, "traced-nonXla"));
        builder_stat(b, call, STAT_TRACING_COUNT, 3);
        builder_slice(b, python, "graph_building", ACTIVITY_TRACING, t + 5000, 20000);
        for (int64_t op = 40000; op < 60000; op += 10000)
            builder_stat(b,
                         builder_slice(b, python, "EagerExecute", ACTIVITY_DISPATCH, t + op, 10000),
                         STAT_IS_FUNCTION, 0);
        builder_slice(b, python, "io_callback", ACTIVITY_CALLBACK, t + 60000, 10000);
        builder_slice(b, python, "device_put", ACTIVITY_TRANSFER, t + 70000, 5000);
        builder_slice(b, python, "gc", ACTIVITY_GC, t + 75000, 5000);
        builder_slice(b, python, "WriteSummary", ACTIVITY_OUTPUT, t + 80000, 10000);
        builder_slice(b, python, "block_until_ready", ACTIVITY_SYNC, t + 90000, 10000);
        builder_step(b, host, t, t + 100000);
    }
    run = builder_slice(b, worker, "dot", ACTIVITY_OP, 0, 20000);
    builder_stat(b, run, STAT_RUN_ID, 9);
    builder_stat(b, run, STAT_PROGRAM, 4);
    builder_finish(b);
    for (size_t i = 0; i < b->study.steps.list.count; i++)
        b->study.steps.list.items[i].timeline = python;
    b->study.steps.median_ns = b->study.steps.mean_ns = 100000;
}

static void run_all(struct profile_builder *b)
{
    struct err err = { 0 };

    assert_true(path_begin(&b->study) && analysis_path.run(&b->study, &err));
    assert_true(analysis_composition.run(&b->study, &err));
    assert_true(analysis_activities.run(&b->study, &err));
    assert_true(analysis_runtime.run(&b->study, &err));
}

/* A step of 100 us: from 30 on five times a graph function of 5 us and an op of 5 us behind it, the
 * last one 75..80; then ops 85..90 and 95..100. The longest row has three ops, from 75 to 100, with
 * Python between them. */
TEST(longest_row_of_eager_ops)
{
    struct profile_builder b;
    uint32_t               host, python;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    python = builder_timeline(&b, host, NO_ID, "python");
    for (int64_t t = 0; t < 200000; t += 100000) {
        for (int64_t call = 0; call < 5; call++) {
            int64_t start_ns = t + 30000 + call * 10000;

            builder_stat(&b, builder_slice(&b, python, "call", ACTIVITY_DISPATCH, start_ns, 5000),
                         STAT_IS_FUNCTION, 1);
            builder_stat(&b,
                         builder_slice(&b, python, "op", ACTIVITY_DISPATCH, start_ns + 5000, 5000),
                         STAT_IS_FUNCTION, 0);
        }
        for (int64_t op = 85000; op < 100000; op += 10000)
            builder_stat(&b, builder_slice(&b, python, "op", ACTIVITY_DISPATCH, t + op, 5000),
                         STAT_IS_FUNCTION, 0);
        builder_step(&b, host, t, t + 100000);
    }
    builder_finish(&b);
    for (size_t i = 0; i < b.study.steps.list.count; i++)
        b.study.steps.list.items[i].timeline = python;
    b.study.steps.median_ns = b.study.steps.mean_ns = 100000;
    run_all(&b);
    assert_float_equal(builder_fact(&b, "eager.ops"), 7, 1e-9);
    assert_float_equal(builder_fact(&b, "eager.function_calls"), 5, 1e-9);
    assert_float_equal(builder_fact(&b, "eager.row_ops"), 3, 1e-9);
    assert_float_equal(builder_fact(&b, "eager.row_host_ns"), 25000, 1);
    builder_free(&b);
}

TEST(counts_what_the_runtime_does)
{
    static const struct {
        const char *fact;
        double      expected;
    } rows[] = {
        { "retrace.calls", 1 },         { "retrace.path_ns", 40000 }, { "retrace.steps_share", 1 },
        { "retrace.count", 3 },         { "compile.count", 1 },       { "compile.path_ns", 20000 },
        { "compile.path_share", 0.2 },  { "eager.ops", 2 },           { "eager.row_ops", 2 },
        { "eager.row_host_ns", 20000 }, { "eager.path_ns", 20000 },   { "callback.count", 1 },
        { "callback.path_ns", 10000 },  { "transfer.path_ns", 5000 }, { "gc.path_ns", 5000 },
        { "output.path_ns", 10000 },    { "output.steps_share", 1 },  { "sync.count", 1 },
        { "sync.path_ns", 10000 },      { "sync.turns", 0.5 },        { "runs.count", 0.5 },
        { "runs.programs", 1 },         { "runs.median_ns", 20000 },
    };
    struct profile_builder b;

    build(&b);
    run_all(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("%s\n", rows[i].fact);
        assert_float_equal(builder_fact(&b, rows[i].fact), rows[i].expected, 1e-6);
    }
    builder_free(&b);
}

static uint32_t add_source(struct profile_builder *b, const char *file)
{
    struct source_line source = { .file = builder_name(b, file), .line = 12, .caller = NO_ID };

    assert_true(vec_push(&b->profile.sources, &b->arena, source));
    return (uint32_t)b->profile.sources.count - 1;
}

static void in_python(struct profile_builder *b, uint32_t thread, const char *name,
                      const char *file, int64_t start_ns, int64_t duration_ns)
{
    uint32_t activity = builder_activity(b, name, ACTIVITY_PYTHON, NO_ID);

    b->profile.activities.items[activity].source = add_source(b, file);
    builder_event(b, thread, activity, start_ns, duration_ns);
}

/* The program's function calls another one, in `file`, that starts a program and in the first of
 * two steps waits for it; in the second step its caller waits. */
static double library_waits(const char *file)
{
    struct profile_builder b;
    uint32_t               host, python, op;
    double                 share;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    python = builder_timeline(&b, host, NO_ID, "python");
    op = builder_op(&b, "fusion.1", "fusion", NULL);
    b.profile.has_python_frames = true;
    b.profile.ops.items[op].source = add_source(&b, "/home/u/train.py");
    in_python(&b, python, "$train.py:12 train", "train.py", 0, 200000);
    for (int64_t t = 0; t < 200000; t += 100000) {
        in_python(&b, python, "$_jit.py:12 _call", file, t, t ? 20000 : 90000);
        builder_slice(&b, python, "PjitFunction(step)", ACTIVITY_DISPATCH, t + 1000, 10000);
        builder_slice(&b, python, "Await", ACTIVITY_SYNC, t + 30000, 50000);
        builder_step(&b, host, t, t + 100000);
    }
    builder_finish(&b);
    for (size_t i = 0; i < b.study.steps.list.count; i++)
        b.study.steps.list.items[i].timeline = python;
    b.study.steps.median_ns = b.study.steps.mean_ns = 100000;
    run_all(&b);
    share = builder_fact(&b, "sync.library_steps_share");
    builder_free(&b);
    return share;
}

/* Four calls of a program, each result read by two waits before the next call: three turns, as no
 * call follows the last. Read after all calls: none. A wait inside of a call is the runtime's. */
TEST(results_that_are_read_at_the_end_are_no_turns)
{
    for (int is_loop = 0; is_loop <= 1; is_loop++) {
        struct profile_builder b;
        uint32_t               host, python;

        host = builder_start_host(&b, FORMAT_XSPACE);
        python = builder_timeline(&b, host, NO_ID, "python");
        for (int64_t i = 0; i < 4; i++) {
            int64_t call_ns = is_loop ? i * 20000 : i * 5000;
            int64_t read_ns = is_loop ? call_ns + 6000 : 40000 + i * 5000;

            builder_slice(&b, python, "PjitFunction(f)", ACTIVITY_DISPATCH, call_ns, 4000);
            builder_slice(&b, python, "CommonPjRtBuffer::Await", ACTIVITY_SYNC, call_ns + 1000,
                          1000);
            builder_slice(&b, python, "_value", ACTIVITY_SYNC, read_ns, 1000);
            builder_slice(&b, python, "_value", ACTIVITY_SYNC, read_ns + 2000, 1000);
        }
        builder_step(&b, host, 0, 100000);
        builder_finish(&b);
        b.study.steps.list.items[0].timeline = python;
        b.study.steps.median_ns = b.study.steps.mean_ns = 100000;
        run_all(&b);
        assert_float_equal(builder_fact(&b, "sync.turns"), (is_loop ? 3 : 0), 1e-9);
        builder_free(&b);
    }
}

/* A file that something compiled comes from is the program's own, and waits because it wants to. */
TEST(a_library_waits_for_what_it_starts)
{
    assert_float_equal(library_waits("_jit.py"), 0.5, 0);
    assert_float_equal(library_waits("train.py"), 0, 0);
}

static void program_run(struct profile_builder *b, uint32_t worker, const char *module,
                        int64_t number, int64_t start_ns, int64_t duration_ns)
{
    uint32_t op = builder_slice(b, worker, "fusion", ACTIVITY_OP, start_ns, duration_ns);

    builder_stat(b, op, STAT_RUN_ID, number);
    builder_stat(b, op, STAT_PROGRAM, number % 2);
    builder_stat(b, op, STAT_MODULE_NAME, builder_name(b, module));
}

/* A call of a library takes 60 us, 10 of them in calling a program that runs for 60 us: 50 us are
 * its own work. Another one, of 30 us, is around a program of 2 us: that is what could be spared.
 */
TEST(what_a_library_does_around_a_long_program)
{
    struct profile_builder b;
    uint32_t               host, python, worker, op;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    python = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "worker");
    op = builder_op(&b, "fusion.1", "fusion", NULL);
    b.profile.has_python_frames = true;
    b.profile.ops.items[op].source = add_source(&b, "/home/u/train.py");
    in_python(&b, python, "$train.py:12 train", "train.py", 0, 200000);
    for (int64_t step = 0, t = 0; step < 2; step++, t += 100000) {
        in_python(&b, python, "$compilation.py:12 __call__", "compilation.py", t, 60000);
        builder_slice(&b, python, "PjitFunction(train_step)", ACTIVITY_DISPATCH, t + 20000, 10000);
        program_run(&b, worker, "jit_train_step", 2 * step, t + 22000, 60000);
        in_python(&b, python, "$metric.py:12 update", "metric.py", t + 60000, 30000);
        builder_slice(&b, python, "PjitFunction(add)", ACTIVITY_DISPATCH, t + 70000, 5000);
        program_run(&b, worker, "jit_add", 2 * step + 1, t + 85000, 2000);
        builder_step(&b, host, t, t + 100000);
    }
    builder_finish(&b);
    for (size_t i = 0; i < b.study.steps.list.count; i++)
        b.study.steps.list.items[i].timeline = python;
    b.study.steps.median_ns = b.study.steps.mean_ns = 100000;
    run_all(&b);
    assert_float_equal(builder_fact(&b, "runs.count"), 2, 0);
    assert_float_equal(builder_fact(&b, "runs.around_ns"), 50000, 1e-6);
    builder_free(&b);
}

/* In each step x[i] is two programs and one of a name that begins alike is the program's own. */
TEST(programs_that_take_parts_out_of_arrays)
{
    static const char *const modules[] = { "jit_dynamic_slice", "jit_squeeze",
                                           "jit_squeeze_windows" };
    struct profile_builder   b;
    uint32_t                 host, python, worker;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    python = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "worker");
    for (int64_t step = 0; step < 2; step++) {
        for (int64_t i = 0; i < 3; i++) {
            int64_t  start_ns = step * 100000 + i * 20000;
            uint32_t op = builder_slice(&b, worker, "fusion", ACTIVITY_OP, start_ns + 2000, 10000);

            builder_slice(&b, python, "PjitFunction(f)", ACTIVITY_DISPATCH, start_ns, 2000);
            builder_stat(&b, op, STAT_RUN_ID, 3 * step + i);
            builder_stat(&b, op, STAT_PROGRAM, i + 1);
            builder_stat(&b, op, STAT_MODULE_NAME, builder_name(&b, modules[i]));
        }
        builder_step(&b, host, step * 100000, (step + 1) * 100000);
    }
    builder_finish(&b);
    for (size_t i = 0; i < b.study.steps.list.count; i++)
        b.study.steps.list.items[i].timeline = python;
    b.study.steps.median_ns = b.study.steps.mean_ns = 100000;
    run_all(&b);
    assert_float_equal(builder_fact(&b, "runs.count"), 3, 1e-9);
    assert_float_equal(builder_fact(&b, "runs.picks"), 2, 1e-9);
    builder_free(&b);
}

/* In each step of 100 us a graph function runs three times and another one once; the last call of
 * the first is of a graph for another shape. */
static void call_functions(struct profile_builder *b, bool is_last_unseen)
{
    static const char *const calls[] = { "EagerLocalExecute: __inference_grads_21",
                                         "EagerLocalExecute: __inference_score_7",
                                         "EagerLocalExecute: __inference_grads_21",
                                         "EagerLocalExecute: __inference_grads_35" };
    uint32_t                 host, python, worker;

    builder_start(b, FORMAT_XSPACE);
    host = builder_host(b, "h");
    python = builder_timeline(b, host, NO_ID, "python");
    worker = builder_timeline(b, host, NO_ID, "worker");
    for (int64_t step = 0, run = 1; step < 2; step++) {
        for (int64_t i = 0; i < 4; i++, run++) {
            int64_t  at_ns = step * 100000 + i * 20000;
            uint32_t op;

            if (!is_last_unseen || run < 8)
                builder_slice(b, python, calls[i], ACTIVITY_DISPATCH, at_ns, 15000);
            op = builder_slice(b, worker, "MatMul", ACTIVITY_OP, at_ns + 2000, 10000);
            builder_stat(b, op, STAT_EXECUTOR_STEP, 100 + run);
        }
        builder_step(b, host, step * 100000, (step + 1) * 100000);
    }
    builder_finish(b);
    for (size_t i = 0; i < b->study.steps.list.count; i++)
        b->study.steps.list.items[i].timeline = python;
    b->study.steps.median_ns = b->study.steps.mean_ns = 100000;
    run_all(b);
}

TEST(runs_of_graph_functions_have_the_names_of_the_calls_around_them)
{
    struct profile_builder b;

    call_functions(&b, false);
    assert_float_equal(builder_fact(&b, "runs.count"), 4, 1e-9);
    assert_float_equal(builder_fact(&b, "runs.programs"), 2, 1e-9);
    assert_float_equal(builder_fact(&b, "runs.main_count"), 3, 1e-9);
    assert_float_equal(builder_fact(&b, "runs.main_program"),
                       facts_name(&b.study.facts, STR("grads")), 0);
    builder_free(&b);
}

TEST(runs_are_told_apart_only_where_each_has_its_call)
{
    struct profile_builder b;

    call_functions(&b, true);
    assert_float_equal(builder_fact(&b, "runs.programs"), 1, 1e-9);
    assert_float_equal(builder_fact(&b, "runs.main_count"), 4, 1e-9);
    builder_free(&b);
}

/* The call of 40 us holds tracing of 20 us: 40 us of the path inside it, 20 us in it alone. */
TEST(activities_carry_their_part_of_the_path)
{
    struct profile_builder b;

    build(&b);
    run_all(&b);
    assert_float_equal(builder_cell(&b, "activities", "name", "step", "path_ns"), 40000, 1e-6);
    assert_float_equal(builder_cell(&b, "activities", "name", "step", "path_self_ns"), 20000, 1e-6);
    assert_float_equal(builder_cell(&b, "activities", "name", "EagerExecute", "events"), 2, 1e-9);
    assert_float_equal(builder_cell(&b, "activities", "name", "WriteSummary", "steps_share"), 1,
                       1e-9);
    assert_float_equal(builder_cell(&b, "activities", "name", "dot", "events"), 0.5, 1e-9);
    builder_free(&b);
}

/* Python makes a batch for 30 us, a call of a program takes 10 us, the batch is handed over for 5
 * us; 15 us of Python and a call of 40 us follow. Only the first 30 us make the batch.
 */
TEST(work_before_a_transfer_makes_the_batch)
{
    struct profile_builder b;
    uint32_t               host, python;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    python = builder_timeline(&b, host, NO_ID, "python");
    builder_slice(&b, python, "batch", ACTIVITY_PYTHON, 0, 30000);
    builder_slice(&b, python, "PjitFunction(split)", ACTIVITY_DISPATCH, 30000, 10000);
    builder_slice(&b, python, "DevicePut", ACTIVITY_TRANSFER, 40000, 5000);
    builder_slice(&b, python, "log", ACTIVITY_PYTHON, 45000, 15000);
    builder_slice(&b, python, "PjitFunction(train)", ACTIVITY_DISPATCH, 60000, 40000);
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = python;
    b.study.steps.median_ns = b.study.steps.mean_ns = 100000;
    run_all(&b);
    assert_float_equal(builder_fact(&b, "host.lead_ns"), 95000, 1e-6);
    assert_float_equal(builder_fact(&b, "transfer.before_ns"), 30000, 1e-6);
    builder_free(&b);
}

/* Two calls on the host: the one at 0 us, with another inside it, launches a kernel that works 15
 * to 20 us; the one at 20 us two, from 40 to 44 and 44 to 45 us. Two runs of 5 us, of two programs.
 */
TEST(calls_are_runs_where_nothing_names_them)
{
    static const struct {
        int64_t launch_ns, start_ns, duration_ns;
    } works[] = { { 1000, 15000, 5000 }, { 22000, 40000, 4000 }, { 23000, 44000, 1000 } };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, python, stream;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    python = builder_timeline(&b, host, NO_ID, "python");
    stream = builder_timeline(&b, host, builder_device(&b, host, "GPU 0", "", DEVICE_GPU), "7");
    builder_slice(&b, python, "PjitFunction(add)", ACTIVITY_DISPATCH, 0, 10000);
    builder_slice(&b, python, "PjitFunction(mul)", ACTIVITY_DISPATCH, 2000, 3000);
    builder_slice(&b, python, "PjitFunction(mul)", ACTIVITY_DISPATCH, 20000, 10000);
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        uint32_t from =
            builder_slice(&b, python, "cuLaunch", ACTIVITY_LAUNCH, works[i].launch_ns, 500);
        uint32_t to = builder_slice(&b, stream, "k", ACTIVITY_KERNEL, works[i].start_ns,
                                    works[i].duration_ns);

        builder_flow(&b, from, to, FLOW_LAUNCH);
    }
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = python;
    b.study.steps.median_ns = b.study.steps.mean_ns = 100000;
    assert_true(analysis_devices.run(&b.study, &err));
    run_all(&b);
    assert_float_equal(builder_fact(&b, "runs.count"), 2, 1e-9);
    assert_float_equal(builder_fact(&b, "runs.programs"), 2, 1e-9);
    assert_float_equal(builder_fact(&b, "runs.median_ns"), 5000, 1e-6);
    builder_free(&b);
}

/* A kernel of the step before works until 20 us while Python prepares until 60 us, when the step's
 * own kernel is launched: 40 us of Python that the device waited for came before it. */
TEST(python_before_the_launch_prepares)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, python, stream, from, to;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    python = builder_timeline(&b, host, NO_ID, "python");
    stream = builder_timeline(&b, host, builder_device(&b, host, "GPU 0", "", DEVICE_GPU), "7");
    builder_slice(&b, stream, "k", ACTIVITY_KERNEL, 0, 20000);
    builder_slice(&b, python, "$load.py:3 load", ACTIVITY_PYTHON, 0, 60000);
    from = builder_slice(&b, python, "cuLaunch", ACTIVITY_LAUNCH, 60000, 1000);
    to = builder_slice(&b, stream, "k", ACTIVITY_KERNEL, 61000, 39000);
    builder_flow(&b, from, to, FLOW_LAUNCH);
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = python;
    b.study.steps.median_ns = b.study.steps.mean_ns = 100000;
    assert_true(analysis_devices.run(&b.study, &err));
    run_all(&b);
    assert_float_equal(builder_fact(&b, "host.python_before_ns"), 40000, 1e-6);
    builder_free(&b);
}

/* A function of Python with its place. */
static uint32_t function(struct profile_builder *b, const char *file, uint32_t line)
{
    struct source_line source = { .file = builder_name(b, file), .line = line, .caller = NO_ID };
    uint32_t           activity = builder_activity(b, file, ACTIVITY_PYTHON, NO_ID);

    assert_true(vec_push(&b->profile.sources, &b->arena, source));
    b->profile.activities.items[activity].source = (uint32_t)b->profile.sources.count - 1;
    return activity;
}

/* Line 7 of the program calls a package's function 10 us long, line 9 calls it for 20 us, which
 * calls a function written in C: both lie at line 9. A thread of the package's own lies in it. */
TEST(activities_lie_at_the_program_s_own_lines)
{
    struct profile_builder b;
    uint32_t               host, python, other, called;

    builder_start(&b, FORMAT_KINETO);
    b.profile.framework = builder_name(&b, "pytorch");
    host = builder_host(&b, "h");
    python = builder_timeline(&b, host, NO_ID, "python");
    other = builder_timeline(&b, host, NO_ID, "other");
    called = function(&b, "torch/functional.py", 3);
    builder_event(&b, python, function(&b, "run.py", 7), 0, 12000);
    builder_event(&b, python, called, 1000, 10000);
    builder_event(&b, python, function(&b, "run.py", 9), 20000, 22000);
    builder_event(&b, python, called, 21000, 20000);
    builder_slice(&b, python, "<built-in function print>", ACTIVITY_PYTHON, 25000, 5000);
    builder_event(&b, other, function(&b, "torch/storage.py", 40), 0, 50000);
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = python;
    b.study.steps.median_ns = b.study.steps.mean_ns = 100000;
    run_all(&b);
    assert_float_equal(builder_cell(&b, "activities", "name", "torch/functional.py", "source_line"),
                       9, 0);
    assert_float_equal(
        builder_cell(&b, "activities", "name", "<built-in function print>", "source_line"), 9, 0);
    assert_float_equal(builder_cell(&b, "activities", "name", "torch/storage.py", "source_line"),
                       40, 0);
    builder_free(&b);
}
