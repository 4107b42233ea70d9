#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/path/path_walk.h"
#include "base/macros.h"
#include "profile_builder.h"

extern const struct analysis analysis_path, analysis_composition;

static void walk(struct profile_builder *b, uint32_t leader)
{
    struct err err = { 0 };

    for (size_t i = 0; i < b->study.steps.list.count; i++)
        b->study.steps.list.items[i].timeline = leader;
    b->study.steps.median_ns = b->study.steps.mean_ns = 100000;
    assert_true(path_begin(&b->study) && analysis_path.run(&b->study, &err));
    assert_true(analysis_composition.run(&b->study, &err));
}

/*
 * An op that hands its work to the pool: the op itself 10..20 us, its end marked at 80 us, a pool
 * thread at work 20..78 us. The leading thread waits 5..90 us. The pool's time is the op's:
 *   compute 10..20 + 20..78 = 68 us, of which all carry the op's name.
 */
TEST(pool_work_belongs_to_the_op_under_way)
{
    struct profile_builder b;
    uint32_t               host, python, worker, pool, op, end;

    host = builder_start_host(&b, FORMAT_XSPACE);
    python = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "tf_XLAPjRtCpuClient");
    pool = builder_timeline(&b, host, NO_ID, "tf_XLAEigen");
    builder_slice(&b, python, "block_until_ready", ACTIVITY_SYNC, 5000, 85000);
    op = builder_slice(&b, worker, "dot.1", ACTIVITY_OP, 10000, 10000);
    end = builder_slice(&b, worker, "end: dot.1", ACTIVITY_EXECUTOR, 80000, 10);
    builder_slice(&b, pool, "ThreadpoolListener::Region", ACTIVITY_EXECUTOR, 20000, 58000);
    builder_stat(&b, op, STAT_PRODUCER, 77);
    builder_stat(&b, end, STAT_CONSUMER, 77);
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    walk(&b, python);
    assert_float_equal(builder_fact(&b, "part.compute_ns"), 68000, 1);
    assert_float_equal(builder_cell(&b, "path", "name", "dot.1", "ns"), 68000, 1);
    builder_free(&b);
}

/*
 * Ops alone were recorded and nothing marks a step: a program's thread calls ops 0..20 and 60..100
 * us. Its pause of 40 us is the host's. Where a thread of the library's goes backward 10..90 us, it
 * is busier, yet the program's leads: 20..60 us are computing then.
 */
TEST(the_thread_that_calls_ops_leads)
{
    for (int backward = 0; backward < 2; backward++) {
        struct profile_builder b;
        uint32_t               host, program, engine;

        host = builder_start_host(&b, FORMAT_KINETO);
        program = builder_timeline(&b, host, NO_ID, "thread 1");
        engine = builder_timeline(&b, host, NO_ID, "thread 2");
        builder_slice(&b, program, "aten::mm", ACTIVITY_OP, 0, 20000);
        builder_slice(&b, program, "aten::add", ACTIVITY_OP, 60000, 40000);
        if (backward)
            builder_slice(&b, engine, "autograd::engine::evaluate_function: MmBackward0",
                          ACTIVITY_OP, 10000, 80000);
        builder_step(&b, host, 0, 100000);
        builder_finish(&b);
        walk(&b, NO_ID);
        assert_int_equal(b.study.path.leader, program);
        assert_float_equal(builder_fact(&b, "part.host_ns"), (backward ? 0 : 40000), 1);
        assert_float_equal(builder_fact(&b, "part.compute_ns"), (backward ? 100000 : 60000), 1);
        assert_float_equal(builder_fact(&b, "part.idle_other_ns"), 0, 1);
        builder_free(&b);
    }
}

/*
 * The leading thread compiles 10..60 us and then waits until 90 us. A pool thread is at work 30..90
 * us: up to 60 us it makes code for the compiler, then it computes. Compiling takes 50 us,
 * computing 30.
 */
TEST(pool_work_beside_a_compiler_is_compiling)
{
    struct profile_builder b;
    uint32_t               host, python, pool;

    host = builder_start_host(&b, FORMAT_XSPACE);
    python = builder_timeline(&b, host, NO_ID, "python");
    pool = builder_timeline(&b, host, NO_ID, "tf_XLAEigen");
    builder_slice(&b, python, "backend_compile_and_load", ACTIVITY_COMPILE, 10000, 50000);
    builder_slice(&b, python, "block_until_ready", ACTIVITY_SYNC, 60000, 30000);
    builder_slice(&b, pool, "ThreadpoolListener::Region", ACTIVITY_EXECUTOR, 30000, 60000);
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    walk(&b, python);
    assert_float_equal(builder_fact(&b, "part.compile_ns"), 50000, 1);
    assert_float_equal(builder_fact(&b, "part.compute_ns"), 30000, 1);
    builder_free(&b);
}

/*
 * A compiled region 10..80 us of the leading thread with the call of its code 15..75 us, in which
 * an op runs 20..60 us, beside a thread of Python that sleeps in threading's wait all the time: the
 * code computes for 60 us, of which the op has 40, and the rest of the step is the host's.
 */
TEST(a_thread_that_sleeps_does_not_lead)
{
    struct profile_builder b;
    uint32_t               host, python, monitor;

    host = builder_start_host(&b, FORMAT_KINETO);
    b.profile.framework = builder_name(&b, "pytorch");
    python = builder_timeline(&b, host, NO_ID, "python");
    monitor = builder_timeline(&b, host, NO_ID, "monitor");
    builder_slice(&b, monitor, "threading.py(331): wait", ACTIVITY_PYTHON, 0, 100000);
    builder_slice(&b, python, "Torch-Compiled Region: 0/0", ACTIVITY_RUN, 10000, 70000);
    builder_slice(&b, python, "## Call CompiledFxGraph f3zxk ##", ACTIVITY_RUN, 15000, 60000);
    builder_slice(&b, python, "aten::mm", ACTIVITY_OP, 20000, 40000);
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    walk(&b, python);
    assert_float_equal(builder_fact(&b, "part.compute_ns"), 60000, 1);
    assert_float_equal(builder_fact(&b, "part.host_ns"), 40000, 1);
    assert_float_equal(builder_cell(&b, "path", "name", "aten::mm", "ns"), 40000, 1);
    builder_free(&b);
}

/*
 * Nothing marks a step of 100 us: Python of the program hands a result to NumPy 10..90 us, which
 * waits for what XLA's thread computes 10..85 us. Workers of a pool sleep in their queue, all of
 * them written to one thread, and lead nothing though they are open for longer: computing takes 75
 * us, the host the rest.
 */
TEST(workers_of_a_pool_do_not_lead)
{
    static const char *const readers[] = { "$numpy array", "$numpy asarray" };

    for (size_t i = 0; i < ARRAY_COUNT(readers); i++) {
        struct profile_builder b;
        uint32_t               host, python, workers, xla;

        host = builder_start_host(&b, FORMAT_XSPACE);
        python = builder_timeline(&b, host, NO_ID, "python");
        workers = builder_timeline(&b, host, NO_ID, "workers");
        xla = builder_timeline(&b, host, NO_ID, "tf_XLAPjRtCpuClient");
        builder_slice(&b, python, "$train.py:9 run", ACTIVITY_PYTHON, 0, 100000);
        builder_slice(&b, python, readers[i], ACTIVITY_PYTHON, 10000, 80000);
        builder_slice(&b, xla, "dot.1", ACTIVITY_OP, 10000, 75000);
        for (int worker = 0; worker < 3; worker++)
            builder_slice(&b, workers, "$threading.py:1028 _bootstrap_inner", ACTIVITY_PYTHON, 0,
                          100000);
        builder_slice(&b, workers, "$<unknown> get", ACTIVITY_PYTHON, 0, 100000);
        builder_step(&b, host, 0, 100000);
        builder_finish(&b);
        walk(&b, NO_ID);
        assert_int_equal(b.study.path.leader, python);
        assert_float_equal(builder_fact(&b, "part.compute_ns"), 75000, 1);
        assert_float_equal(builder_fact(&b, "part.host_ns"), 25000, 1);
        builder_free(&b);
    }
}

/*
 * The leading thread waits for another one 10..90 us, in which it hands an op to a pool and waits
 * for it: the op takes 20..80 us. A thread that lives 85..95 us is written as if it had begun with
 * the recording. What is left of the wait is Python of the one that is waited for.
 */
TEST(a_thread_does_nothing_before_it_begins)
{
    struct profile_builder b;
    uint32_t               host, python, other, later, pool;

    host = builder_start_host(&b, FORMAT_XSPACE);
    python = builder_timeline(&b, host, NO_ID, "python 1");
    other = builder_timeline(&b, host, NO_ID, "python 2");
    later = builder_timeline(&b, host, NO_ID, "python 3");
    pool = builder_timeline(&b, host, NO_ID, "tf_XLAEigen");
    builder_slice(&b, python, "$<unknown> acquire", ACTIVITY_WAIT, 10000, 80000);
    builder_slice(&b, other, "$app.py:7 answer", ACTIVITY_PYTHON, 10000, 80000);
    builder_slice(&b, other, "np.asarray(jax.Array)", ACTIVITY_SYNC, 20000, 60000);
    builder_slice(&b, later, "$threading.py:988 _bootstrap", ACTIVITY_PYTHON, 0, 96000);
    builder_slice(&b, later, "$threading.py:1028 _bootstrap_inner", ACTIVITY_PYTHON, 0, 95000);
    builder_slice(&b, later, "$app.py:3 other", ACTIVITY_PYTHON, 85000, 10000);
    builder_slice(&b, pool, "dot.1", ACTIVITY_OP, 20000, 60000);
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    walk(&b, python);
    assert_float_equal(builder_fact(&b, "part.compute_ns"), 60000, 1);
    assert_float_equal(builder_fact(&b, "part.host_ns"), 40000, 1);
    assert_true(
        isnan(builder_cell(&b, "path", "name", "$threading.py:1028 _bootstrap_inner", "ns")));
    builder_free(&b);
}

/* Of two events one has no name, which is not most; of two both: then nothing is said of parts. */
TEST(a_step_without_names_has_no_parts)
{
    for (uint64_t nameless = 1; nameless <= 2; nameless++) {
        struct profile_builder b;
        uint32_t               python;

        builder_start(&b, FORMAT_XSPACE);
        python = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "python");
        builder_slice(&b, python, "(no name)", ACTIVITY_OTHER, 10000, 60000);
        builder_slice(&b, python, "(no name)", ACTIVITY_OTHER, 80000, 10000);
        b.profile.nameless_events = nameless;
        builder_step(&b, 0, 0, 100000);
        builder_finish(&b);
        walk(&b, python);
        assert_true(isnan(builder_fact(&b, "part.host_ns")) == (nameless == 2));
        builder_free(&b);
    }
}

/* A step of 100 us: 60 us make an iterator, 20 of them a dataset inside; 10 us wait for a batch.
 * Building the pipeline is the program's own work, waiting for it is input. */
TEST(building_a_pipeline_is_host_work)
{
    struct profile_builder b;
    uint32_t               python;

    builder_start(&b, FORMAT_XSPACE);
    python = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "python");
    builder_slice(&b, python, "MakeIterator::RootDataset", ACTIVITY_INPUT_WORK, 10000, 60000);
    builder_slice(&b, python, "TensorDataset", ACTIVITY_INPUT_WORK, 20000, 20000);
    builder_slice(&b, python, "IteratorGetNext", ACTIVITY_INPUT_WAIT, 80000, 10000);
    builder_step(&b, 0, 0, 100000);
    builder_finish(&b);
    walk(&b, python);
    assert_float_equal(builder_fact(&b, "part.input_ns"), 10000, 1);
    assert_float_equal(builder_fact(&b, "part.host_ns"), 90000, 1);
    builder_free(&b);
}

/* Twenty launches and no kernel: what the host did meanwhile is not what the step waited for. */
TEST(without_the_devices_work_there_are_no_parts)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               python;

    builder_start(&b, FORMAT_KINETO);
    python = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "python");
    builder_slice(&b, python, "aten::mm", ACTIVITY_OP, 0, 90000);
    for (int i = 0; i < 20; i++)
        builder_slice(&b, python, "cudaLaunchKernel", ACTIVITY_LAUNCH, i * 1000, 500);
    builder_step(&b, 0, 0, 100000);
    builder_finish(&b);
    assert_true(analysis_coverage.run(&b.study, &err));
    walk(&b, python);
    assert_true(isnan(builder_fact(&b, "part.compute_ns")));
    assert_non_null(facts_why_absent(&b.study.facts, "part.compute_ns"));
    builder_free(&b);
}

/* Between two cycles of a schedule PyTorch's profiler runs alone; with an op, or a step, there is
 * something to say. */
TEST(frames_of_python_alone_have_no_parts)
{
    for (int way = 0; way < 3; way++) {
        struct profile_builder b;
        uint32_t               host, python;

        (void)state;
        host = builder_start_host(&b, FORMAT_KINETO);
        python = builder_timeline(&b, host, NO_ID, "python");
        builder_slice(&b, python, "torch/profiler/profiler.py(623): stop_trace", ACTIVITY_PYTHON, 0,
                      200000);
        if (way == 1)
            builder_slice(&b, python, "aten::mm", ACTIVITY_OP, 50000, 100000);
        builder_step(&b, host, 0, 200000);
        builder_finish(&b);
        b.profile.framework = builder_name(&b, "pytorch");
        b.study.steps.source = way == 2 ? STEPS_MARKER : STEPS_WHOLE_TRACE;
        walk(&b, python);
        assert_true((facts_why_absent(&b.study.facts, "part.compute_ns") != NULL) == (way == 0));
        builder_free(&b);
    }
}

/*
 * The host runs ahead: it enqueues for 2 us at the start of each step and is in no event after
 * that, while a worker computes all the time. Every step is compute.
 */
TEST(a_host_that_runs_ahead_does_not_hold_the_step)
{
    struct profile_builder b;
    uint32_t               host, python, worker;

    host = builder_start_host(&b, FORMAT_XSPACE);
    python = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "worker");
    for (int64_t t = 0; t < 300000; t += 100000) {
        builder_slice(&b, python, "PjitFunction(f)", ACTIVITY_DISPATCH, t, 2000);
        builder_step(&b, host, t, t + 100000);
    }
    builder_slice(&b, worker, "fusion", ACTIVITY_OP, -50000, 350000);
    builder_finish(&b);
    walk(&b, python);
    assert_float_equal(builder_fact(&b, "part.compute_share"), 1, 1e-9);
    builder_free(&b);
}

/*
 * A loop of small programs: the thread dispatches 8 us, a worker runs 2 us, ten times in 100 us;
 * the thread does not wait, so the time is its own but for the last run, which ends the step:
 *   compute 98..100 us, the rest dispatch.
 */
TEST(dispatch_holds_a_step_of_small_programs)
{
    struct profile_builder b;
    uint32_t               host, python, worker;

    host = builder_start_host(&b, FORMAT_XSPACE);
    python = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "worker");
    for (int64_t t = 0; t < 100000; t += 10000) {
        builder_slice(&b, python, "PjitFunction(f)", ACTIVITY_DISPATCH, t, 10000);
        builder_slice(&b, worker, "fusion", ACTIVITY_OP, t + 8000, 2000);
    }
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    walk(&b, python);
    assert_float_equal(builder_fact(&b, "part.compute_ns"), 2000, 1);
    assert_float_equal(builder_fact(&b, "host.dispatch_ns"), 98000, 1);
    builder_free(&b);
}

/* Python outside any event: 10 us before the computation, 20 us behind it. */
TEST(python_is_placed_around_the_computation)
{
    struct profile_builder b;
    uint32_t               host, python;

    host = builder_start_host(&b, FORMAT_XSPACE);
    python = builder_timeline(&b, host, NO_ID, "python");
    builder_slice(&b, python, "train", ACTIVITY_STEP, 0, 100000);
    builder_slice(&b, python, "dense/MatMul:MatMul", ACTIVITY_OP, 10000, 70000);
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    walk(&b, python);
    assert_float_equal(builder_fact(&b, "host.python_ns"), 30000, 1);
    assert_float_equal(builder_fact(&b, "host.python_before_ns"), 10000, 1);
    assert_float_equal(builder_fact(&b, "host.python_after_ns"), 20000, 1);
    builder_free(&b);
}

/*
 * A function of Python 0..100 us; at 10 us XLA's runtime marks for 1 us that it begins to wait for
 * a buffer; an op runs 20..60 us elsewhere. What follows the mark is the wait: host 0..10 = 10 us,
 * compute 20..60 = 40 us, waiting 10..20 + 60..100 = 50 us.
 */
TEST(python_behind_the_mark_of_a_wait_waits)
{
    struct profile_builder b;
    uint32_t               host, python, worker;

    host = builder_start_host(&b, FORMAT_XSPACE);
    python = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "tf_XLAPjRtCpuClient");
    builder_slice(&b, python, "$_jit.py:229 _call", ACTIVITY_PYTHON, 0, 100000);
    builder_slice(&b, python, "CommonPjRtBuffer::Await", ACTIVITY_SYNC, 10000, 1000);
    builder_slice(&b, worker, "dot.1", ACTIVITY_OP, 20000, 40000);
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    walk(&b, python);
    assert_float_equal(builder_fact(&b, "part.host_ns"), 10000, 1);
    assert_float_equal(builder_fact(&b, "part.compute_ns"), 40000, 1);
    assert_float_equal(builder_fact(&b, "part.idle_sync_ns"), 50000, 1);
    builder_free(&b);
}

/*
 * A result is printed 0..100 us: reading it 10..80 us waits for an op that runs elsewhere 0..60 us,
 * which has the path from its start on; what is behind it, 60..100 us, is output. Where the op has
 * ended at 5 us, before reading begins, all of it is.
 */
TEST(printing_a_result_waits_for_it)
{
    for (int runs = 0; runs < 2; runs++) {
        struct profile_builder b;
        uint32_t               host, python, worker;

        host = builder_start_host(&b, FORMAT_XSPACE);
        python = builder_timeline(&b, host, NO_ID, "python");
        worker = builder_timeline(&b, host, NO_ID, "tf_XLAPjRtCpuClient");
        builder_slice(&b, python, "$builtins print", ACTIVITY_OUTPUT, 0, 100000);
        builder_slice(&b, python, "np.asarray(jax.Array)", ACTIVITY_SYNC, 10000, 70000);
        builder_slice(&b, python, "$array.py:615 _value", ACTIVITY_PYTHON, 12000, 66000);
        builder_slice(&b, worker, runs ? "dot.1" : "before", ACTIVITY_OP, 0, runs ? 60000 : 5000);
        builder_step(&b, host, 0, 100000);
        builder_finish(&b);
        walk(&b, python);
        assert_true(builder_fact(&b, "part.compute_ns") == (runs ? 60000 : 0));
        assert_true(builder_fact(&b, "part.output_ns") == (runs ? 40000 : 100000));
        builder_free(&b);
    }
}

/*
 * The call of a small program is open from 100 us of a millisecond's step on, while another program
 * runs on a worker from 50 us on:
 *   a call of 800 us waits for it up to 720 us: the op's 670 us are computing, 330 the host's;
 *   a call of 150 us dispatches beside it: 50 us of the op before the call and none of the 150 us,
 *   and where the program starts behind the call (200 .. 720 us) nothing can be waited for.
 * Facts are of a median step of 100 us, a tenth of this one.
 */
TEST(a_long_call_of_a_program_waits_for_its_inputs)
{
    static const struct {
        int64_t call_ns, run_ns, run_end_ns;
        double  dispatch_ns;
    } cases[] = { { 800000, 50000, 720000, 180000 },
                  { 150000, 50000, 240000, 150000 },
                  { 800000, 200000, 720000, 800000 } };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct profile_builder b;
        uint32_t               host, python, worker, op;
        int64_t                op_ns = cases[i].run_end_ns - cases[i].run_ns;

        host = builder_start_host(&b, FORMAT_XSPACE);
        python = builder_timeline(&b, host, NO_ID, "python");
        worker = builder_timeline(&b, host, NO_ID, "tf_XLAPjRtCpuClient");
        builder_slice(&b, python, "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice",
                      ACTIVITY_DISPATCH, 100000, cases[i].call_ns);
        builder_slice(&b, worker, "ThunkExecutor::Execute", ACTIVITY_RUN, cases[i].run_ns, op_ns);
        op = builder_slice(&b, worker, "dot.1", ACTIVITY_OP, cases[i].run_ns, op_ns);
        builder_stat(&b, op, STAT_RUN_ID, 1);
        builder_step(&b, host, 0, 1000000);
        builder_finish(&b);
        walk(&b, python);
        assert_float_equal(builder_fact(&b, "host.dispatch_ns"), cases[i].dispatch_ns / 10, 1);
        builder_free(&b);
    }
}

/*
 * Ranges or steps that the program marks, of 1000 us each, in which a program runs elsewhere from
 * 100 us on for 850 us; nothing tells that they wait for it. A step is from run to run: compute 850
 * us, host 50 us behind it and 100 us before the next one.
 */
TEST(ranges_that_end_behind_a_program_waited)
{
    static const enum activity_kind marks[] = { ACTIVITY_OTHER, ACTIVITY_STEP };

    for (size_t i = 0; i < ARRAY_COUNT(marks); i++) {
        struct profile_builder b;
        uint32_t               host, python, worker, op;

        host = builder_start_host(&b, FORMAT_XSPACE);
        python = builder_timeline(&b, host, NO_ID, "python");
        worker = builder_timeline(&b, host, NO_ID, "tf_XLAPjRtCpuClient");
        builder_slice(&b, python, "$loop.py:7 train", ACTIVITY_PYTHON, 0, 2000000);
        for (int64_t t = 0; t < 2000000; t += 1000000) {
            builder_slice(&b, python, "iteration", marks[i], t, 1000000);
            builder_slice(&b, python, "PjitFunction(f)", ACTIVITY_DISPATCH, t + 10000, 80000);
            builder_slice(&b, worker, "ThunkExecutor::Execute", ACTIVITY_RUN, t + 100000, 850000);
            op = builder_slice(&b, worker, "dot.1", ACTIVITY_OP, t + 100000, 850000);
            builder_stat(&b, op, STAT_RUN_ID, 1 + t);
        }
        builder_step(&b, host, 100000, 1100000);
        builder_finish(&b);
        walk(&b, python);
        assert_float_equal(builder_fact(&b, "part.host_share"), 0.15, 1e-3);
        assert_float_equal(builder_fact(&b, "part.compute_share"), 0.85, 1e-3);
        builder_free(&b);
    }
}
