#include <math.h>

#include "analyze/analysis.h"
#include "profile_builder.h"
#include "testing.h"

extern const struct analysis analysis_steps;

static void run(struct profile_builder *b)
{
    struct err err = { 0 };

    b->study.options.first_step = INT64_MIN;
    b->study.options.last_step = INT64_MAX;
    assert_true(analysis_steps.run(&b->study, &err));
}

/* Four markers of 80 us that start every 100 us, the first one 350 us long: steps reach from start
 * to start, the first (370 us, over twice the median) is warm-up, the last is cut because work
 * follows markers (20 us of 80 us) and is not known for it. Used: two steps of 100 us. */
TEST(steps_reach_to_the_next_marker)
{
    struct profile_builder b;
    uint32_t               host, thread;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    thread = builder_timeline(&b, host, NO_ID, "python");
    for (int i = 0; i < 4; i++) {
        int64_t start_ns = i == 0 ? 0 : 370000 + (i - 1) * 100000;

        builder_stat(
            &b,
            builder_slice(&b, thread, "train", ACTIVITY_STEP, start_ns, i == 0 ? 350000 : 80000),
            STAT_STEP_NUMBER, 10 + i);
    }
    builder_finish(&b);
    run(&b);
    assert_int_equal(b.study.steps.source, STEPS_MARKER);
    assert_float_equal(builder_fact(&b, "step.count"), 4, 0);
    assert_float_equal(builder_fact(&b, "step.used"), 2, 0);
    assert_float_equal(builder_fact(&b, "step.median_ns"), 100000, 0);
    assert_float_equal(builder_fact(&b, "step.warmup_ns"), 370000, 0);
    assert_float_equal(builder_fact(&b, "step.between_ns"), 20000, 0);
    builder_free(&b);
}

/* Steps of 100 us on two hosts, of which the first takes 370 us on rank 0 and 470 us on rank 1:
 * both need the same for a step, so rank 0 is the reference, whichever was read first. */
TEST(warm_up_is_the_reference_hosts)
{
    for (int first = 0; first < 2; first++) {
        struct profile_builder b;

        builder_start(&b, FORMAT_XSPACE);
        for (int i = 0; i < 2; i++) {
            bool     is_a = i == first;
            uint32_t host = builder_host(&b, is_a ? "a" : "b");
            uint32_t thread = builder_timeline(&b, host, NO_ID, "python");
            int64_t  warm_ns = is_a ? 370000 : 470000;

            b.profile.hosts.items[host].rank = is_a ? 0 : 1;
            for (int step = 0; step < 4; step++)
                builder_stat(&b,
                             builder_slice(&b, thread, "train", ACTIVITY_STEP,
                                           step == 0 ? 0 : warm_ns + (step - 1) * 100000,
                                           step == 0 ? warm_ns - 20000 : 80000),
                             STAT_STEP_NUMBER, step);
        }
        builder_finish(&b);
        run(&b);
        assert_float_equal(builder_fact(&b, "step.warmup_ns"), 370000, 0);
        builder_free(&b);
    }
}

/* Twelve markers of 80 us, 20 us before the next one, but for 920 us behind three of them: every
 * third one, as an epoch ends, or others. The last is cut. The pauses are time of eleven steps, or
 * the steps before them are left out. */
TEST(pauses_that_come_again_are_time_of_the_steps)
{
    static const int behind[][3] = { { 2, 5, 8 }, { 2, 5, 7 } };

    for (int i = 0; i < 2; i++) {
        struct profile_builder b;
        uint32_t               host, thread;
        int64_t                now = 0;

        builder_start(&b, FORMAT_XSPACE);
        host = builder_host(&b, "h");
        thread = builder_timeline(&b, host, NO_ID, "python");
        for (int step = 0; step < 12; step++, now += 100000) {
            builder_stat(&b, builder_slice(&b, thread, "train", ACTIVITY_STEP, now, 80000),
                         STAT_STEP_NUMBER, step);
            for (int pause = 0; pause < 3; pause++)
                now += step == behind[i][pause] ? 900000 : 0;
        }
        builder_finish(&b);
        run(&b);
        assert_float_equal(builder_fact(&b, "step.used"), (i == 0 ? 11 : 8), 0);
        assert_float_equal(builder_fact(&b, "step.max_ns"), (i == 0 ? 1000000 : 100000), 0);
        builder_free(&b);
    }
}

static void call(struct profile_builder *b, uint32_t thread, const char *name, int64_t start_ns)
{
    builder_slice(b, thread, name, ACTIVITY_DISPATCH, start_ns, 10000);
    builder_slice(b, thread, "FunctionRun", ACTIVITY_RUN, start_ns + 1000, 8000);
}

/* A program of graph functions; ops of those with gradients run on a thread of their own. */
struct graph_calls {
    struct profile_builder b;
    uint32_t               thread, worker, gradient;
};

static void start_calls(struct graph_calls *calls)
{
    uint32_t host;

    builder_start(&calls->b, FORMAT_XSPACE);
    host = builder_host(&calls->b, "h");
    calls->thread = builder_timeline(&calls->b, host, NO_ID, "python");
    calls->worker = builder_timeline(&calls->b, host, NO_ID, "tf_Compute");
    calls->gradient = builder_activity(&calls->b, "gradient_tape/MatMul", ACTIVITY_OP,
                                       builder_op(&calls->b, "gradient_tape/MatMul", "MatMul", ""));
}

static void call_function(struct graph_calls *calls, const char *name, bool trains,
                          int64_t start_ns)
{
    call(&calls->b, calls->thread, name, start_ns);
    if (trains)
        builder_event(&calls->b, calls->worker, calls->gradient, start_ns + 2000, 3000);
}

static void call_in_turn(struct graph_calls *calls, bool trains, int64_t start_ns)
{
    call_function(calls,
                  trains ? "EagerLocalExecute: __inference_train_7"
                         : "EagerLocalExecute: __inference_test_9",
                  trains, start_ns);
}

/* Two graph functions of 10 us in turn: four calls of the one with gradients every 20 us, 20 of the
 * other, three of the first. The first makes the steps: 20, 20, 20, 500 - 60 = 440, 20, 20 us, and
 * a last one that is cut; 540 us over six are 90 us. Of six, nine in ten are six (nearest rank). */
TEST(evaluation_is_a_part_of_the_step)
{
    struct graph_calls calls;

    start_calls(&calls);
    for (int i = 0; i < 27; i++) {
        bool    trains = i < 4 || i >= 24;
        int64_t start_ns = i < 24 ? i * 20000 : 500000 + (i - 24) * 20000;

        call_in_turn(&calls, trains, start_ns);
    }
    builder_finish(&calls.b);
    run(&calls.b);
    assert_int_equal(calls.b.study.steps.source, STEPS_SESSION);
    assert_string_equal(calls.b.study.steps.marker_name, "train_7");
    assert_float_equal(builder_fact(&calls.b, "step.count"), 7, 0);
    assert_float_equal(builder_fact(&calls.b, "step.used"), 6, 0);
    assert_float_equal(builder_fact(&calls.b, "step.max_ns"), 440000, 0);
    assert_float_equal(builder_fact(&calls.b, "step.p90_ns"), 440000, 0);
    assert_float_equal(builder_fact(&calls.b, "step.ns"), 90000, 0);
    builder_free(&calls.b);
}

/* Five calls of a function that two devices share, 10 us every 20 us: it runs in two parts in each,
 * which are one step. An iterator that goes runs a function of its own, without a call. */
TEST(a_shared_function_is_one_call)
{
    struct profile_builder b;
    uint32_t               thread;

    builder_start(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "python");
    for (int i = 0; i < 5; i++) {
        builder_slice(&b, thread, "EagerLocalExecute: __inference_step_7", ACTIVITY_DISPATCH,
                      i * 20000, 10000);
        builder_slice(&b, thread, "FunctionRun", ACTIVITY_RUN, i * 20000 + 1000, 2000);
        builder_slice(&b, thread, "FunctionRun", ACTIVITY_RUN, i * 20000 + 4000, 5000);
    }
    builder_slice(&b, thread, "FunctionRun", ACTIVITY_RUN, 95000, 2000);
    builder_finish(&b);
    run(&b);
    assert_int_equal(b.study.steps.source, STEPS_SESSION);
    assert_string_equal(b.study.steps.marker_name, "step_7");
    assert_float_equal(builder_fact(&b, "step.count"), 5, 0);
    assert_float_equal(builder_fact(&b, "step.ns"), 20000, 0);
    builder_free(&b);
}

/* Four calls that train, every 20 us, three of evaluation behind them up to 130 us, and a pause of
 * 1.87 ms before four more that train, as between two epochs: the pause is left out, and the
 * evaluation is part of the fourth step, which begins with the run 1 us behind its call. */
TEST(a_pause_begins_behind_evaluation)
{
    struct graph_calls calls;

    start_calls(&calls);
    for (int i = 0; i < 11; i++) {
        bool    trains = i < 4 || i >= 7;
        int64_t start_ns = i < 7 ? i * 20000 : 2000000 + (i - 7) * 20000;

        call_in_turn(&calls, trains, start_ns);
    }
    builder_finish(&calls.b);
    run(&calls.b);
    assert_float_equal(builder_fact(&calls.b, "step.count"), 8, 0);
    assert_int_equal(calls.b.study.steps.list.items[3].start_ns, 61000);
    assert_int_equal(calls.b.study.steps.list.items[3].end_ns, 130000);
    assert_true(calls.b.study.steps.list.items[3].is_used);
    builder_free(&calls.b);
}

/* Five data sets, one each 500 us, on each of which a function runs `calls` times, 8 us every 20
 * us, 301 us behind the beginning. With three runs they are a step together, from the end of those
 * on the set before: the second begins at 301 + 2 * 20 + 8 = 349 us, and each but the first takes
 * 500 us. With one run each is a step, to the next run; where the function trains, too. */
TEST(calls_on_one_data_set_are_a_step)
{
    static const struct {
        int  calls;
        bool trains;
        int  steps;
        int  second_us;
    } cases[] = { { 3, false, 5, 349 }, { 1, false, 5, 801 }, { 3, true, 15, 321 } };

    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct graph_calls calls;

        start_calls(&calls);
        for (int set = 0; set < 5; set++) {
            builder_slice(&calls.b, calls.thread, "EagerLocalExecute: MakeIterator",
                          ACTIVITY_DISPATCH, set * 500000, 50000);
            for (int i = 0; i < cases[c].calls; i++) {
                call_function(&calls, "EagerLocalExecute: __inference_predict_7", cases[c].trains,
                              set * 500000 + 300000 + i * 20000);
            }
        }
        builder_finish(&calls.b);
        run(&calls.b);
        assert_int_equal(calls.b.study.steps.source, STEPS_SESSION);
        assert_float_equal(builder_fact(&calls.b, "step.count"), cases[c].steps, 0);
        assert_int_equal(calls.b.study.steps.list.items[1].start_ns, cases[c].second_us * 1000);
        if (cases[c].steps == 5)
            assert_int_equal(calls.b.study.steps.list.items[1].end_ns,
                             (cases[c].second_us + 500) * 1000);
        builder_free(&calls.b);
    }
}

/* Runs of a session of 8 us, one each 20 us: three that act, then one that trains, five times. A
 * step is one that trains with the three behind it, 80 us; the last one has none, and is cut. */
TEST(runs_of_a_session_that_act_belong_to_the_one_that_trains)
{
    struct profile_builder b;
    uint32_t               host, thread, worker, update, product;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    thread = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "tf_Compute");
    update =
        builder_activity(&b, "update_w", ACTIVITY_OP, builder_op(&b, "update_w", "ApplyAdam", ""));
    product = builder_activity(&b, "policy", ACTIVITY_OP, builder_op(&b, "policy", "MatMul", ""));
    for (int i = 0; i < 20; i++) {
        builder_slice(&b, thread, "SessionRun", ACTIVITY_RUN, i * 20000, 8000);
        builder_event(&b, worker, i % 4 == 3 ? update : product, i * 20000 + 2000, 3000);
    }
    builder_finish(&b);
    run(&b);
    assert_int_equal(b.study.steps.source, STEPS_SESSION);
    assert_float_equal(builder_fact(&b, "step.count"), 5, 0);
    assert_float_equal(builder_fact(&b, "step.used"), 4, 0);
    assert_float_equal(builder_fact(&b, "step.ns"), 80000, 0);
    builder_free(&b);
}

/* Markers that end after 1 us each while the program they enqueue runs 100 us each, back to back:
 * the program's runs are the steps, with the markers' numbers. Two of them show it, too. */
static void timed_by_its_program(int count)
{
    struct profile_builder b;
    uint32_t               host, thread, worker;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    thread = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "worker");
    for (int i = 0; i < count; i++) {
        uint32_t op = builder_slice(&b, worker, "fusion", ACTIVITY_OP, 10000 + i * 100000, 100000);

        builder_stat(&b, builder_slice(&b, thread, "train", ACTIVITY_STEP, i * 2000, 1000),
                     STAT_STEP_NUMBER, 3 + i);
        builder_stat(&b, op, STAT_RUN_ID, 100 + i);
        builder_stat(&b, op, STAT_PROGRAM, 7);
    }
    builder_finish(&b);
    run(&b);
    assert_float_equal(builder_fact(&b, "step.count"), count, 0);
    assert_float_equal(builder_cell(&b, "steps", NULL, NULL, "number"), 3, 0);
    assert_float_equal(builder_fact(&b, "step.median_ns"), 100000, 0);
    builder_free(&b);
}

TEST(a_host_that_runs_ahead_is_timed_by_its_program)
{
    timed_by_its_program(5);
    timed_by_its_program(2);
}

/* Five runs of 107 us from 130 to 665 us, whose markers begin at 0, 129, 135, 363 and 372 us and
 * are over at 380: the host was stopped twice, so that its median period is (9 + 129) / 2 = 69 us.
 * That is more than 0.6 of a run, but less than 0.6 * 665 / 5 = 79.8 us of work a marker. */
TEST(a_host_that_runs_ahead_is_stopped_at_times)
{
    static const int64_t   starts[] = { 0, 129000, 135000, 363000, 372000, 380000 };
    struct profile_builder b;
    uint32_t               host, thread, worker;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    thread = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "worker");
    for (int i = 0; i < 5; i++) {
        uint32_t op = builder_slice(&b, worker, "fusion", ACTIVITY_OP, 130000 + i * 107000, 107000);

        builder_stat(
            &b,
            builder_slice(&b, thread, "train", ACTIVITY_STEP, starts[i], starts[i + 1] - starts[i]),
            STAT_STEP_NUMBER, i);
        builder_stat(&b, op, STAT_RUN_ID, 100 + i);
        builder_stat(&b, op, STAT_PROGRAM, 7);
    }
    builder_finish(&b);
    run(&b);
    assert_float_equal(builder_fact(&b, "step.median_ns"), 107000, 0);
    builder_free(&b);
}

/* Runs of 3 us, 3 us before the next one but for 73 us after the second. A copy under way from 10
 * to 85 us is what the third waits for, or the marker that enqueued the second lasts until 84 us,
 * or that of the third, which begins while the first runs, until 84 us; without any of these that
 * is a pause, for a host that runs ahead. Used: 6, 76 and 6 us, or without the second step. */
TEST(what_holds_up_the_next_run_is_no_pause)
{
    enum { NOTHING, COPY, MARKER, NEXT, KINDS };
    for (int kind = 0; kind < KINDS; kind++) {
        static const int64_t   starts[] = { 4000, 10000, 86000, 92000 };
        struct profile_builder b;
        uint32_t               host, thread, worker, copier;

        builder_start(&b, FORMAT_XSPACE);
        host = builder_host(&b, "h");
        thread = builder_timeline(&b, host, NO_ID, "python");
        worker = builder_timeline(&b, host, NO_ID, "worker");
        copier = builder_timeline(&b, host, NO_ID, "copier");
        for (int i = 0; i < 4; i++) {
            uint32_t op = builder_slice(&b, worker, "fusion", ACTIVITY_OP, starts[i], 3000);
            int      longest = kind == MARKER ? 1 : kind == NEXT ? 2 : 4;
            int64_t  start_ns = (i > longest ? 84000 : 0) + (int64_t)i * 200;

            builder_stat(&b,
                         builder_slice(&b, thread, "train", ACTIVITY_STEP, start_ns,
                                       i == longest ? 84000 - start_ns : 100),
                         STAT_STEP_NUMBER, i);
            builder_stat(&b, op, STAT_RUN_ID, 100 + i);
            builder_stat(&b, op, STAT_PROGRAM, 7);
        }
        if (kind == COPY)
            builder_slice(&b, copier, "H2D Dispatch", ACTIVITY_TRANSFER, 10000, 75000);
        builder_finish(&b);
        run(&b);
        assert_float_equal(builder_fact(&b, "step.used"), kind == NOTHING ? 2 : 3, 0);
        assert_float_equal(builder_fact(&b, "step.max_ns"), kind == NOTHING ? 6000 : 76000, 0);
        builder_free(&b);
    }
}

/* Markers of 10 us, of which every fifth waits 160 us more before it runs its program of 8 us: the
 * host waits for the program each time, so the markers are the steps. With 8.2 us to the next
 * marker the mean of 15 is 10.2 + 160 / 5 = 42.2 us, over 1.5 medians of 10.2: steps are uneven.
 * The first, which waits too, is like the sixth, no warm-up. */
TEST(long_waits_are_the_steps)
{
    struct profile_builder b;
    uint32_t               host, thread, worker;
    struct err             err = { 0 };
    int64_t                at_ns = 0;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    thread = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "worker");
    for (int i = 0; i < 16; i++) {
        int64_t  wait_ns = i % 5 == 0 && i < 15 ? 160000 : 0;
        uint32_t op =
            builder_slice(&b, worker, "fusion", ACTIVITY_OP, at_ns + wait_ns + 1000, 8000);

        builder_slice(&b, thread, "train", ACTIVITY_STEP, at_ns, wait_ns + 10000);
        builder_stat(&b, op, STAT_RUN_ID, 100 + i);
        builder_stat(&b, op, STAT_PROGRAM, 7);
        at_ns += wait_ns + 10200;
    }
    builder_finish(&b);
    b.study.options.last_step = 14;
    b.study.options.first_step = INT64_MIN;
    assert_true(analysis_steps.run(&b.study, &err));
    assert_int_equal(b.study.steps.source, STEPS_MARKER);
    assert_float_equal(builder_fact(&b, "step.used"), 15, 0);
    assert_float_equal(builder_fact(&b, "step.median_ns"), 10200, 0);
    assert_float_equal(builder_fact(&b, "step.is_uneven"), 1, 0);
    assert_float_equal(builder_fact(&b, "step.ns"), 42200, 1e-6);
    builder_free(&b);
}

/* Two devices that number their own runs, a program for set-up with number 1 on the first: five
 * runs of 100 us of the main program, which only the name tells from the other. */
TEST(devices_number_their_own_runs)
{
    struct profile_builder b;
    uint32_t               host;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    for (int d = 0; d < 2; d++) {
        char     name[] = { 'T', 'P', 'U', (char)('0' + d), 0 };
        uint32_t device = builder_device(&b, host, name, "TPU v6", DEVICE_TPU);
        uint32_t line = builder_timeline(&b, host, device, "XLA Modules");

        b.profile.timelines.items[line].kind = TIMELINE_MODULES;
        if (d == 0)
            builder_stat(&b, builder_slice(&b, line, "jit_psum(1)", ACTIVITY_RUN, 0, 700000),
                         STAT_RUN_ID, 1);
        for (int i = 0; i < 5; i++)
            builder_stat(&b,
                         builder_slice(&b, line, "jit_f(2)", ACTIVITY_RUN,
                                       1000000 + i * 100000 + d * 500, 100000),
                         STAT_RUN_ID, 2 - d + i);
    }
    builder_finish(&b);
    run(&b);
    assert_float_equal(builder_fact(&b, "step.count"), 5, 0);
    assert_float_equal(builder_fact(&b, "step.median_ns"), 100000, 0);
    assert_float_equal(builder_fact(&b, "step.cov"), 0, 0);
    builder_free(&b);
}

/* Runs of one program that overlap by half count from completion to completion: ends at 100, 150,
 * 200, 250 us give 100 us and then three steps of 50 us. */
TEST(runs_that_overlap_count_by_completion)
{
    struct profile_builder b;
    uint32_t               host, workers[2];

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    workers[0] = builder_timeline(&b, host, NO_ID, "worker 0");
    workers[1] = builder_timeline(&b, host, NO_ID, "worker 1");
    for (int i = 0; i < 4; i++) {
        uint32_t op = builder_slice(&b, workers[i % 2], "fusion", ACTIVITY_OP, i * 50000, 100000);

        builder_stat(&b, op, STAT_RUN_ID, 100 + i);
        builder_stat(&b, op, STAT_PROGRAM, 7);
    }
    builder_finish(&b);
    run(&b);
    assert_int_equal(b.study.steps.source, STEPS_INFERRED);
    assert_float_equal(builder_fact(&b, "step.count"), 4, 0);
    assert_float_equal(builder_fact(&b, "step.median_ns"), 50000, 0);
    builder_free(&b);
}

/* Ten steps, one of them 300 us instead of 100: slow by 200 us, 20 us a step. */
TEST(slow_steps_are_counted)
{
    struct profile_builder b;
    uint32_t               host, thread;
    int64_t                start_ns = 0;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    thread = builder_timeline(&b, host, NO_ID, "python");
    for (int i = 0; i < 10; i++) {
        int64_t length_ns = i == 6 ? 300000 : 100000;

        builder_stat(&b, builder_slice(&b, thread, "train", ACTIVITY_STEP, start_ns, length_ns),
                     STAT_STEP_NUMBER, i);
        start_ns += length_ns;
    }
    builder_finish(&b);
    run(&b);
    assert_float_equal(builder_fact(&b, "step.used"), 10, 0);
    assert_float_equal(builder_fact(&b, "step.mean_ns"), 120000, 0);
    assert_float_equal(builder_fact(&b, "step.slow_count"), 1, 0);
    assert_float_equal(builder_fact(&b, "step.slow_excess_ns"), 20000, 1e-6);
    builder_free(&b);
}

/* Before each of four updates, 100 us apart, one batch is fetched, or three, of which two are for
 * validation: with one each batch begins a step, the first at 20 us and the last cut; with three a
 * step is from one update to the next, and all four are whole. */
TEST(batches_of_a_validation_set_begin_no_steps)
{
    for (int batches = 1; batches <= 3; batches += 2) {
        struct profile_builder b;
        uint32_t               host, thread;

        builder_start(&b, FORMAT_KINETO);
        host = builder_host(&b, "h");
        thread = builder_timeline(&b, host, NO_ID, "python");
        builder_slice(&b, thread, "aten::mm", ACTIVITY_OP, 0, 10000);
        for (int i = 0; i < 4; i++) {
            for (int batch = 0; batch < batches; batch++)
                builder_slice(&b, thread, "next(loader)", ACTIVITY_INPUT_WAIT,
                              i * 100000 + 20000 + batch * 20000, 5000);
            builder_slice(&b, thread, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION,
                          i * 100000 + 80000, 10000);
            builder_slice(&b, thread, "aten::add_", ACTIVITY_OP, i * 100000 + 82000, 5000);
        }
        builder_finish(&b);
        run(&b);
        assert_int_equal(b.study.steps.source, STEPS_INFERRED);
        assert_int_equal(b.study.steps.list.items[0].start_ns, batches == 1 ? 20000 : 0);
        assert_int_equal(b.study.steps.list.items[1].start_ns, batches == 1 ? 120000 : 90000);
        assert_float_equal(builder_fact(&b, "step.used"), batches == 1 ? 3 : 4, 0);
        builder_free(&b);
    }
}

/* Python calls the profiler's step behind each of three iterations of 100 us, within which batches
 * are fetched: all three are whole, from where the one before ended. One call alone tells nothing.
 */
TEST(calls_of_the_profiler_end_steps)
{
    for (int calls = 1; calls <= 3; calls += 2) {
        struct profile_builder b;
        uint32_t               host, thread;

        builder_start(&b, FORMAT_KINETO);
        host = builder_host(&b, "h");
        thread = builder_timeline(&b, host, NO_ID, "python");
        for (int i = 0; i < 3; i++) {
            builder_slice(&b, thread, "next(loader)", ACTIVITY_INPUT_WAIT, i * 100000 + 20000,
                          5000);
            builder_slice(&b, thread, "aten::mm", ACTIVITY_OP, i * 100000 + 40000, 10000);
            if (i < calls)
                builder_slice(&b, thread, "torch/profiler/profiler.py(843): step", ACTIVITY_PYTHON,
                              i * 100000 + 90000, 10000);
        }
        builder_finish(&b);
        run(&b);
        assert_int_equal(b.study.steps.source, STEPS_INFERRED);
        /* Which the rule about missing marks looks for. */
        assert_int_equal(str_contains(b.study.steps.meaning, STR("the profiler's step")),
                         calls == 3);
        assert_float_equal(builder_fact(&b, "step.used"), calls == 3 ? 3 : 2, 0);
        assert_int_equal(b.study.steps.list.items[1].start_ns, calls == 3 ? 100000 : 120000);
        builder_free(&b);
    }
}

/* No markers, but a thread asks for the next batch every 100 us, four times: three steps reach to
 * the next call, the last one is cut. */
TEST(calls_for_input_begin_steps)
{
    struct profile_builder b;
    uint32_t               host, thread;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    thread = builder_timeline(&b, host, NO_ID, "python");
    for (int i = 0; i < 4; i++)
        builder_slice(&b, thread, "EagerLocalExecute: IteratorGetNext", ACTIVITY_INPUT_WAIT,
                      i * 100000, 5000);
    builder_finish(&b);
    run(&b);
    assert_int_equal(b.study.steps.source, STEPS_INFERRED);
    assert_float_equal(builder_fact(&b, "step.used"), 3, 0);
    assert_float_equal(builder_fact(&b, "step.median_ns"), 100000, 0);
    builder_free(&b);
}

TEST(without_markers_the_whole_trace_is_one_step)
{
    struct profile_builder b;
    uint32_t               host;

    builder_start(&b, FORMAT_KINETO);
    host = builder_host(&b, "h");
    builder_slice(&b, builder_timeline(&b, host, NO_ID, "main"), "aten::mm", ACTIVITY_OP, 0, 500);
    builder_finish(&b);
    b.profile.start_ns = 0;
    b.profile.end_ns = 500;
    run(&b);
    assert_int_equal(b.study.steps.source, STEPS_WHOLE_TRACE);
    assert_float_equal(builder_fact(&b, "step.median_ns"), 500, 0);
    builder_free(&b);
}

/* Beside a GPU calls of a compiled function are the steps: four calls of 10 us, 20 us apart, each
 * launches a kernel of 100 us, and these run one after the other from 15 us on. The host is ahead,
 * so a step ends with its kernel: 115 us for the first, 100 us for each of the others. What runs
 * once before them makes no step. */
TEST(calls_of_a_compiled_function_are_steps)
{
    struct profile_builder b;
    uint32_t               host, python, stream;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "h");
    python = builder_timeline(&b, host, NO_ID, "python");
    stream = builder_timeline(&b, host, builder_device(&b, host, "GPU 0", "", DEVICE_GPU), "7");
    builder_slice(&b, python, "PjitFunction(init)", ACTIVITY_DISPATCH, 0, 50000);
    for (int i = 0; i < 4; i++) {
        int64_t  call_ns = 100000 + i * 20000;
        uint32_t from, to;

        builder_slice(&b, python, "PjitFunction(update)", ACTIVITY_DISPATCH, call_ns, 10000);
        from = builder_slice(&b, python, "cuLaunchKernelEx", ACTIVITY_LAUNCH, call_ns + 4000, 1000);
        to = builder_slice(&b, stream, "k", ACTIVITY_KERNEL, 115000 + i * 100000, 100000);
        builder_flow(&b, from, to, FLOW_LAUNCH);
    }
    builder_finish(&b);
    run(&b);
    assert_int_equal(b.study.steps.source, STEPS_INFERRED);
    assert_int_equal(b.study.steps.list.count, 4);
    assert_int_equal(b.study.steps.list.items[0].start_ns, 100000);
    for (int i = 0; i < 4; i++)
        assert_int_equal(b.study.steps.list.items[i].end_ns, 215000 + i * 100000);
    assert_int_equal(b.study.steps.list.items[3].called_start_ns, 160000);
    assert_float_equal(builder_fact(&b, "step.median_ns"), 100000, 0);
    builder_free(&b);
}

/* Eight markers of 100 us with 20 launches of 1 us each; the fifth lasts 200 us. Where its launches
 * take 2 us as well, something ran beside the program, and it does not count; where they are as
 * fast as ever, or more, the program did something in it. The last is cut, as above. */
TEST(steps_that_something_else_holds_up)
{
    static const struct {
        int64_t launch_ns;
        int     launches, used;
    } cases[] = { { 2000, 20, 6 }, { 1000, 20, 7 }, { 2000, 40, 7 } };

    for (size_t k = 0; k < ARRAY_COUNT(cases); k++) {
        struct profile_builder b;
        uint32_t               host, thread;
        int64_t                at_ns = 0;

        builder_start(&b, FORMAT_KINETO);
        host = builder_host(&b, "h");
        thread = builder_timeline(&b, host, NO_ID, "python");
        for (int i = 0; i < 8; i++) {
            bool    is_long = i == 4;
            int64_t length_ns = is_long ? 200000 : 100000;

            builder_stat(
                &b,
                builder_slice(&b, thread, "ProfilerStep", ACTIVITY_STEP, at_ns, length_ns - 10000),
                STAT_STEP_NUMBER, i);
            for (int j = 0; j < (is_long ? cases[k].launches : 20); j++)
                builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH,
                              at_ns + 4000 * (j + 1), is_long ? cases[k].launch_ns : 1000);
            at_ns += length_ns;
        }
        builder_finish(&b);
        run(&b);
        assert_float_equal(builder_fact(&b, "step.count"), 8, 0);
        assert_float_equal(builder_fact(&b, "step.used"), cases[k].used, 0);
        assert_float_equal(builder_fact(&b, "step.max_ns"), k == 0 ? 100000 : 200000, 0);
        builder_free(&b);
    }
}
