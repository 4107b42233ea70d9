/* step_markers: which events become candidates for steps. */
#include "analyze/step/step_markers.h"

#include "analyze/step/run_programs.h"
#include "profile_builder.h"
#include "testing.h"

#include <math.h>

struct fixture {
    struct profile_builder b;
    struct arena           scratch;
    struct markers         markers;
    uint32_t               host;
};

static void start(struct fixture *f)
{
    *f = (struct fixture) { 0 };
    f->host = builder_start_host(&f->b, FORMAT_XSPACE);
}

static void release(struct fixture *f)
{
    arena_free(&f->scratch);
    builder_free(&f->b);
}

/*
 * Thread one: "train 1" to "train 3" of 100 ns, and inside the second a nested "train 9"; thread
 * two: "eval#1" of 150 ns. Trains have 300 ns of the host, the evaluation less: three markers.
 */
TEST(the_family_with_most_time)
{
    static const char *names[] = { "train 1", "train 2", "train 3" };
    struct fixture     f;
    uint32_t           one;

    start(&f);
    one = builder_timeline(&f.b, f.host, NO_ID, "one");
    for (int i = 0; i < 3; i++)
        builder_stat(&f.b, builder_slice(&f.b, one, names[i], ACTIVITY_STEP, i * 200, 100),
                     STAT_STEP_NUMBER, i + 1);
    builder_slice(&f.b, one, "train 9", ACTIVITY_STEP, 220, 50);
    builder_slice(&f.b, one, "no step", ACTIVITY_ANNOTATION, 0, 10000);
    builder_slice(&f.b, builder_timeline(&f.b, f.host, NO_ID, "two"), "eval#1", ACTIVITY_STEP, 0,
                  150);
    builder_finish(&f.b);
    assert_true(markers_annotated(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
    assert_int_equal(f.markers.list.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(f.markers.list.items[i].start_ns, i * 200);
        assert_int_equal(f.markers.list.items[i].end_ns, i * 200 + 100);
        assert_int_equal(f.markers.list.items[i].number, i + 1);
        assert_string_equal(intern_str(f.b.study.facts.names, f.markers.list.items[i].family).data,
                            "train");
    }
    release(&f);
}

/* As Keras up to TensorFlow 2.4 marks them, in us: three batches of training of 3, two of a test,
 * of 140 with what is traced in the first, and 2, and one of training of 4. Training has 13; the
 * test has 142, but of batches of 2. Without the long one in front, 5 and 6, the test has 11. */
TEST(a_first_step_decides_no_family)
{
    static const int64_t lengths_ns[] = { 3000, 3000, 3000, 140000, 2000, 4000 };
    struct fixture       f;
    uint32_t             one, train, test;

    for (int is_even = 0; is_even < 2; is_even++) {
        int64_t start_ns = 0;

        start(&f);
        one = builder_timeline(&f.b, f.host, NO_ID, "one");
        train = builder_name(&f.b, "train");
        test = builder_name(&f.b, "test");
        for (int i = 0; i < 6; i++) {
            bool    is_test = i == 3 || i == 4;
            int64_t length_ns = is_even && is_test ? 2000 + i * 1000 : lengths_ns[i];

            builder_stat(
                &f.b, builder_slice(&f.b, one, "TraceContext", ACTIVITY_STEP, start_ns, length_ns),
                STAT_STEP_FAMILY, is_test ? test : train);
            start_ns += length_ns + 100;
        }
        builder_finish(&f.b);
        assert_true(markers_annotated(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, 4);
        assert_string_equal(intern_str(f.b.study.facts.names, f.markers.list.items[0].family).data,
                            "train");
        release(&f);
    }
}

/* Times rounded to microseconds, as profilers write them: the second step seems to begin 1 ns
 * before the first one ends. It is a step behind that, not one inside of it, nor is the third,
 * which begins at its end. */
TEST(steps_that_overlap_by_rounding)
{
    static const int64_t starts_ns[] = { 0, 999, 2000 }, expected_ns[] = { 0, 1000, 2000 };
    struct fixture       f;
    uint32_t             one;

    start(&f);
    one = builder_timeline(&f.b, f.host, NO_ID, "one");
    for (int i = 0; i < 3; i++)
        builder_slice(&f.b, one, "ProfilerStep#1", ACTIVITY_STEP, starts_ns[i],
                      (i + 1) * 1000 - starts_ns[i]);
    builder_finish(&f.b);
    assert_true(markers_annotated(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
    assert_int_equal(f.markers.list.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(f.markers.list.items[i].start_ns, expected_ns[i]);
        assert_int_equal(f.markers.list.items[i].end_ns, (i + 1) * 1000);
    }
    release(&f);
}

/* Three runs of a function are steps, two are none; those of tf.data's pool never are. */
TEST(sessions_need_three)
{
    for (int count = 2; count <= 3; count++) {
        struct fixture f;
        uint32_t       main, pool;

        start(&f);
        main = builder_timeline(&f.b, f.host, NO_ID, "python");
        pool = builder_timeline(&f.b, f.host, NO_ID, "tf_data_iterator");
        for (int i = 0; i < count; i++)
            builder_slice(&f.b, main, "FunctionRun", ACTIVITY_RUN, i * 100, 50);
        for (int i = 0; i < 5; i++)
            builder_stat(&f.b, builder_slice(&f.b, pool, "FunctionRun", ACTIVITY_RUN, i * 100, 90),
                         STAT_EXECUTOR_STEP, 7);
        builder_finish(&f.b);
        assert_true(markers_sessions(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, count == 3 ? 3 : 0);
        release(&f);
    }
}

/* Three calls of a function start in 10 and return, as the function runs in the pool: 30 in all on
 * the thread of the program. A loop in it runs its body on a pool thread under the number of each
 * call, twice for 30 a call: 180 there, but parts of calls are no steps. */
TEST(rounds_of_a_loop_are_no_sessions)
{
    struct fixture f;
    uint32_t       main, pool;

    start(&f);
    main = builder_timeline(&f.b, f.host, NO_ID, "python");
    pool = builder_timeline(&f.b, f.host, NO_ID, "tf_Compute");
    for (int i = 0; i < 3; i++) {
        builder_stat(&f.b, builder_slice(&f.b, main, "FunctionRun", ACTIVITY_RUN, i * 100, 10),
                     STAT_EXECUTOR_STEP, 40 + i);
        for (int round = 0; round < 2; round++)
            builder_stat(&f.b,
                         builder_slice(&f.b, pool, "FunctionRun", ACTIVITY_RUN,
                                       i * 100 + 20 + round * 40, 30),
                         STAT_EXECUTOR_STEP, 40 + i);
    }
    builder_finish(&f.b);
    assert_true(markers_sessions(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
    assert_int_equal(f.markers.list.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(f.markers.list.items[i].timeline, main);
    release(&f);
}

TEST(requests_for_batches)
{
    struct fixture f;
    uint32_t       main;

    start(&f);
    main = builder_timeline(&f.b, f.host, NO_ID, "python");
    for (int i = 0; i < 4; i++)
        builder_slice(&f.b, main, "next(loader)", ACTIVITY_INPUT_WAIT, 10 + i * 100, 20);
    builder_finish(&f.b);
    assert_true(markers_inputs(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
    assert_int_equal(f.markers.list.count, 4);
    assert_int_equal(f.markers.list.items[3].start_ns, 310);
    release(&f);
}

/* Two batches of 20 are fetched 5 apart, then an op takes 400, three times: three steps, from 0,
 * 500 and 1000, that begin with both of their batches. */
TEST(batches_of_one_update)
{
    struct fixture f;
    uint32_t       main;

    start(&f);
    main = builder_timeline(&f.b, f.host, NO_ID, "python");
    for (int i = 0; i < 3; i++) {
        builder_slice(&f.b, main, "next(loader)", ACTIVITY_INPUT_WAIT, i * 500, 20);
        builder_slice(&f.b, main, "next(loader)", ACTIVITY_INPUT_WAIT, i * 500 + 25, 20);
        builder_slice(&f.b, main, "aten::mm", ACTIVITY_OP, i * 500 + 50, 400);
    }
    builder_finish(&f.b);
    assert_true(markers_inputs(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
    assert_int_equal(f.markers.list.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(f.markers.list.items[i].start_ns, i * 500);
        assert_int_equal(f.markers.list.items[i].end_ns, i * 500 + 45);
    }
    release(&f);
}

/* Updates end at 90, 190, 290 and 390: steps reach from one to the next, the first one from the
 * start of the recording at 0. Where two models take turns, 20 and 180 long, and no ops in updates
 * tell them apart, none are found. */
TEST(updates_end_steps)
{
    for (int turns = 0; turns < 2; turns++) {
        struct fixture f;
        uint32_t       main;

        start(&f);
        main = builder_timeline(&f.b, f.host, NO_ID, "python");
        builder_slice(&f.b, main, "aten::mm", ACTIVITY_OP, 0, 10);
        for (int i = 0; i < 4; i++)
            builder_slice(&f.b, main, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION,
                          80 + i * 100 - (turns && i % 2 == 1 ? 80 : 0), 10);
        builder_finish(&f.b);
        assert_true(markers_updates(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, turns ? 0 : 4);
        if (!turns) {
            assert_int_equal(f.markers.list.items[0].start_ns, 0);
            assert_int_equal(f.markers.list.items[3].start_ns, 290);
            assert_int_equal(f.markers.list.items[3].end_ns, 390);
        }
        release(&f);
    }
}

/* Optimizers take turns, each with the ops of its own in its updates: one of 2, then one of 3 and
 * of very different length; one of 3 and three of 2, as critics are trained more often; two of 2,
 * with 1 op and 4 since the update before. A step has 2, 4 and 2 of them, and ends with the last:
 * 180 and 380; 380 and 780. The ninth of nine updates in turns of two begins a step that is not
 * whole. */
TEST(optimizers_that_take_turns)
{
    static const struct {
        int updates, turns, inside[4], since[4], length_ns[4], steps;
    } cases[] = {
        { 8, 2, { 2, 3 }, { 1, 1 }, { 20, 180 }, 4 },
        { 12, 4, { 3, 2, 2, 2 }, { 1, 1, 1, 1 }, { 100, 100, 100, 100 }, 3 },
        { 8, 2, { 2, 2 }, { 1, 4 }, { 20, 180 }, 4 },
        { 9, 2, { 2, 3 }, { 1, 1 }, { 20, 180 }, 4 },
        { 4, 1, { 2 }, { 1 }, { 100 }, 4 },
        { 5, 2, { 2, 3 }, { 1, 1 }, { 20, 180 }, 0 },
    };

    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct fixture f;
        int64_t        now_ns = 0, first_end_ns = 0;

        start(&f);
        uint32_t main = builder_timeline(&f.b, f.host, NO_ID, "python");
        for (int i = 0; i < cases[c].updates; i++) {
            int turn = i % cases[c].turns;

            for (int op = 0; op < cases[c].since[turn]; op++)
                builder_slice(&f.b, main, "aten::mm", ACTIVITY_OP, now_ns + op, 1);
            now_ns += cases[c].length_ns[turn];
            builder_slice(&f.b, main, "Optimizer.step#Adam.step", ACTIVITY_ANNOTATION, now_ns - 10,
                          10);
            for (int op = 0; op < cases[c].inside[turn]; op++)
                builder_slice(&f.b, main, "aten::add_", ACTIVITY_OP, now_ns - 9 + op, 1);
            if (i == cases[c].turns - 1)
                first_end_ns = now_ns;
        }
        builder_finish(&f.b);
        assert_true(markers_updates(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, cases[c].steps);
        for (int i = 0; i < cases[c].steps; i++) {
            assert_int_equal(f.markers.list.items[i].start_ns, i * first_end_ns);
            assert_int_equal(f.markers.list.items[i].end_ns, (i + 1) * first_end_ns);
        }
        release(&f);
    }
}

/* An op at a time of the row "what", each with a number of autograd that grows where `is_trained`.
 */
static void add_ops(struct fixture *f, uint32_t main, const char *what, int count, bool is_trained,
                    int64_t *now_ns, int64_t *number)
{
    for (int i = 0; i < count; i++, (*now_ns)++) {
        uint32_t event = builder_slice(&f->b, main, what, ACTIVITY_OP, *now_ns, 1);

        if (is_trained)
            builder_stat(&f->b, event, STAT_SEQUENCE, (*number)++);
    }
}

/* Rounds of 6 trained ops, an update by each of two optimizers of one op, that follow each other
 * with nothing in between, and then what is done besides: 3 ops on what was trained, which end
 * each step, if the last one has them, too (case 0); in case 1 the recording ends with the last
 * update, and they begin the next step. In case 2 the update calls the trained ops itself, behind 4
 * of evaluation that are not trained, and there are two of them, the first without evaluation. In
 * case 3 the third of six rounds has 20 ops more, as one that saves has. */
TEST(what_follows_updates)
{
    static const struct {
        int     rounds, before, more, steps;
        bool    is_closure, ends_with_rest;
        int64_t from_ns, to_ns; /* of the second step */
    } cases[] = {
        /* A round is 6 + 2 updates of 2 + 3 = 13. */
        { 3, 0, 0, 3, false, true, 13, 26 },
        { 3, 0, 0, 3, false, false, 10, 23 },
        /* 0: a closure of 8, then 4 + 8. */
        { 2, 4, 0, 2, true, false, 12, 20 },
        { 6, 0, 20, 6, false, true, 13, 26 },
    };

    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct fixture f;
        int64_t        now_ns = 0, number = 1;

        start(&f);
        uint32_t main = builder_timeline(&f.b, f.host, NO_ID, "python");
        for (int i = 0; i < cases[c].rounds; i++) {
            int64_t begin_ns;

            if (i > 0)
                add_ops(&f, main, "aten::conv2d", cases[c].before, false, &now_ns, &number);
            begin_ns = now_ns;
            add_ops(&f, main, "aten::mm", 6, true, &now_ns, &number);
            if (cases[c].is_closure) {
                add_ops(&f, main, "aten::_fused_sgd_", 2, false, &now_ns, &number);
                builder_slice(&f.b, main, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, begin_ns,
                              now_ns - begin_ns);
                continue;
            }
            for (int u = 0; u < 2; u++) {
                builder_slice(&f.b, main, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, now_ns,
                              2);
                now_ns++;
                add_ops(&f, main, "aten::_fused_sgd_", 1, false, &now_ns, &number);
            }
            if (i + 1 < cases[c].rounds || cases[c].ends_with_rest)
                add_ops(&f, main, "aten::lerp_", 3, false, &now_ns, &number);
            if (i == 2)
                add_ops(&f, main, "aten::clone", cases[c].more, false, &now_ns, &number);
        }
        builder_finish(&f.b);
        assert_true(markers_updates(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, cases[c].steps);
        assert_int_equal(f.markers.list.items[1].start_ns, cases[c].from_ns);
        assert_int_equal(f.markers.list.items[1].end_ns, cases[c].to_ns);
        release(&f);
    }
}

/* Two rounds of updates, 8 ops before each, are two steps if as many lead to the second as to the
 * first: with `more` they may be those of two networks in turn. What follows the last update, 3 ops
 * of `rest`, leads to the second, too. Of closures with a history that grows each is a step. */
TEST(two_rounds)
{
    static const struct {
        int  turns, more, rest;
        bool are_closures;
        int  steps;
    } cases[] = {
        { 1, 0, 0, false, 2 }, { 1, 0, 3, false, 2 }, { 2, 0, 0, false, 2 },
        { 2, 0, 3, false, 2 }, { 1, 1, 0, false, 0 }, { 1, 1, 0, true, 2 },
    };

    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct fixture f;
        int64_t        now_ns = 0, number = 1;

        start(&f);
        uint32_t main = builder_timeline(&f.b, f.host, NO_ID, "python");
        for (int i = 0; i < 2 * cases[c].turns; i++) {
            int64_t begin_ns = now_ns;

            add_ops(&f, main, "aten::mm", 8 + i * cases[c].more, true, &now_ns, &number);
            if (!cases[c].are_closures)
                begin_ns = now_ns++;
            add_ops(&f, main, "aten::add_", 1 + i % cases[c].turns, false, &now_ns, &number);
            builder_slice(&f.b, main, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, begin_ns,
                          now_ns - begin_ns);
            if (i % cases[c].turns == cases[c].turns - 1)
                add_ops(&f, main, "aten::lerp_", cases[c].rest, false, &now_ns, &number);
        }
        builder_finish(&f.b);
        assert_true(markers_updates(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, cases[c].steps);
        if (cases[c].steps) {
            assert_int_equal(f.markers.list.items[0].end_ns, f.markers.list.items[1].start_ns);
            assert_int_equal(f.markers.list.items[1].end_ns, now_ns);
        }
        release(&f);
    }
}

/* Eight rounds of the same nine ops on a host alone, one of which other programs held up, are told
 * as rounds; not so where every second one is three times as long. */
TEST(rounds_of_which_one_was_held_up)
{
    for (int is_usual = 0; is_usual < 2; is_usual++) {
        struct fixture f;
        int64_t        now_ns = 0, number = 1;

        start(&f);
        uint32_t main = builder_timeline(&f.b, f.host, NO_ID, "python");
        for (int i = 0; i < 8; i++) {
            add_ops(&f, main, "aten::embedding", 1, false, &now_ns, &number);
            add_ops(&f, main, "aten::linear", 8, false, &now_ns, &number);
            now_ns += (is_usual ? i % 2 == 1 : i == 6) ? 20 : 0;
        }
        builder_finish(&f.b);
        assert_true(markers_repeats(&f.b.profile, false, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, is_usual ? 0 : 8);
        release(&f);
    }
}

/* A device's line of steps names them by their number alone: they are one family. */
TEST(steps_named_by_number)
{
    static const char *names[] = { "9", "10", "11" };
    struct fixture     f;
    uint32_t           line;

    start(&f);
    line = builder_timeline(&f.b, f.host, builder_device(&f.b, f.host, "GPU 0", "", DEVICE_GPU),
                            "Steps");
    f.b.profile.timelines.items[line].kind = TIMELINE_STEPS;
    for (int i = 0; i < 3; i++)
        builder_slice(&f.b, line, names[i], ACTIVITY_STEP, i * 200, 100);
    builder_finish(&f.b);
    assert_true(markers_annotated(&f.b.profile, f.b.study.facts.names, &f.scratch, &f.markers));
    assert_int_equal(f.markers.list.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(f.markers.list.items[i].number, 9 + i);
    release(&f);
}

/*
 * Program 5 runs three times for 100 ns, program 6 three times for 10, program 7 once for 900:
 * fewer than three runs are no steps, so 5 is it. Its second and third run overlap the one before:
 * each counts from completion to completion: 0..100, 100..180, 180..260.
 */
TEST(runs_of_the_main_program)
{
    static const struct run runs[] = {
        { .start_ns = 0, .end_ns = 100, .program = 5, .device = NO_ID, .event = 0 },
        { .start_ns = 50, .end_ns = 60, .program = 6, .device = NO_ID, .event = 1 },
        { .start_ns = 70, .end_ns = 80, .program = 6, .device = NO_ID, .event = 2 },
        { .start_ns = 80, .end_ns = 180, .program = 5, .device = NO_ID, .event = 3 },
        { .start_ns = 90, .end_ns = 100, .program = 6, .device = NO_ID, .event = 4 },
        { .start_ns = 100, .end_ns = 1000, .program = 7, .device = NO_ID, .event = 5 },
        { .start_ns = 160, .end_ns = 260, .program = 5, .device = NO_ID, .event = 6 },
    };
    struct fixture f;
    struct runs    list = { 0 };

    start(&f);
    for (size_t i = 0; i < ARRAY_COUNT(runs); i++)
        assert_true(vec_push(&list.list, &f.scratch, runs[i]));
    builder_finish(&f.b);
    assert_true(markers_runs(&f.b.profile, &list, 0, &f.scratch, &f.markers));
    assert_int_equal(f.markers.list.count, 3);
    assert_int_equal(f.markers.list.items[0].start_ns, 0);
    assert_int_equal(f.markers.list.items[1].start_ns, 100);
    assert_int_equal(f.markers.list.items[1].end_ns, 180);
    assert_int_equal(f.markers.list.items[2].start_ns, 180);
    assert_int_equal(f.markers.list.items[2].event, 6);
    release(&f);
}

/*
 * jit_update runs three times as program 5, then was compiled again and runs as program 8, beside
 * jit_score, which runs three times for less: four steps, for 5 has gone when 8 comes, which takes
 * its place. Where 5 runs again behind 8 the two take turns, and where nothing says of which module
 * they are nobody knows: three steps, the runs of 5.
 */
TEST(a_program_compiled_again_is_the_same)
{
    static const struct {
        int64_t last_ns;
        bool    is_named;
        size_t  count, replaced;
    } cases[] = { { 200, true, 4, 1 }, { 1100, true, 3, 0 }, { 200, false, 3, 0 } };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct {
            int64_t start_ns, ns, program;
        } runs[] = { { 0, 100, 5 },  { 50, 10, 6 },   { 100, 100, 5 }, { cases[i].last_ns, 100, 5 },
                     { 400, 10, 6 }, { 900, 100, 8 }, { 1300, 10, 6 } };
        struct fixture f;
        struct runs    list = { 0 };
        uint32_t       thread;
        size_t         replaced;

        start(&f);
        thread = builder_timeline(&f.b, f.host, NO_ID, "worker");
        for (size_t r = 0; r < ARRAY_COUNT(runs); r++) {
            uint32_t event =
                builder_slice(&f.b, thread, "fusion", ACTIVITY_OP, runs[r].start_ns, runs[r].ns);

            if (cases[i].is_named)
                builder_stat(&f.b, event, STAT_MODULE_NAME,
                             builder_name(&f.b, runs[r].program == 6 ? "jit_score" : "jit_update"));
            assert_true(vec_push(&list.list, &f.scratch,
                                 (struct run) { .start_ns = runs[r].start_ns,
                                                .end_ns = runs[r].start_ns + runs[r].ns,
                                                .program = runs[r].program,
                                                .host = f.host,
                                                .device = NO_ID,
                                                .event = event }));
        }
        builder_finish(&f.b);
        assert_true(markers_runs(&f.b.profile, &list, 0, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, cases[i].count);
        assert_true(run_programs_replaced(&f.b.profile, &list, &f.scratch, &replaced));
        assert_int_equal(replaced, cases[i].replaced);
        release(&f);
    }
}

/* Four additions of 10 ns each, one by one, behind a program of 100 ns that runs once: none is a
 * step. Where that program is an addition too, or takes less than they do, they are all there is.
 */
TEST(ops_one_by_one_are_no_steps)
{
    static const struct {
        const char *first;
        int64_t     ns;
        size_t      count;
    } cases[] = { { "jit_update", 100, 0 }, { "jit_multiply", 100, 4 }, { "jit_update", 20, 4 } };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct fixture f;
        struct runs    list = { 0 };
        uint32_t       thread;

        start(&f);
        thread = builder_timeline(&f.b, builder_host(&f.b, "h"), NO_ID, "worker");
        for (int64_t r = 0; r < 5; r++) {
            int64_t  start_ns = r ? 100 + 20 * r : 0, ns = r ? 10 : cases[i].ns;
            uint32_t event = builder_slice(&f.b, thread, "fusion", ACTIVITY_OP, start_ns, ns);

            builder_stat(&f.b, event, STAT_MODULE_NAME,
                         builder_name(&f.b, r ? "jit_add" : cases[i].first));
            assert_true(vec_push(&list.list, &f.scratch,
                                 (struct run) { .start_ns = start_ns,
                                                .end_ns = start_ns + ns,
                                                .program = r ? 6 : 5,
                                                .device = NO_ID,
                                                .event = (uint32_t)r }));
        }
        builder_finish(&f.b);
        assert_true(markers_runs(&f.b.profile, &list, 0, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, cases[i].count);
        release(&f);
    }
}

/* Rows of programs 1 1 1 2 3 that take 10 ns each, of 20: from behind the 3 on, four of them, the
 * first one whole and what is behind the last one left out. Not where the second program comes now
 * and then, nor where the first one comes once a row, nor of runs that a device counts. */
TEST(rows_of_programs)
{
    enum { IN_ROWS, NOW_AND_THEN, ONCE, OF_DEVICE, CASES };

    for (int way = IN_ROWS; way < CASES; way++) {
        struct fixture f;
        struct runs    runs = { 0 };
        int64_t        now = 0;

        start(&f);
        builder_finish(&f.b);
        for (int row = 0; row < 5; row++)
            for (int i = way == ONCE ? 2 : 0; i < (row == 4 ? 3 : 5); i++, now += 20) {
                struct run run = { .start_ns = now,
                                   .end_ns = now + 10,
                                   .program = i < 3 ? 1 : i - 1,
                                   .host = f.host,
                                   .device = way == OF_DEVICE ? 0 : NO_ID };

                if (way == NOW_AND_THEN && i >= 3)
                    run.program = row == 1 && i == 3 ? 2 : 1;
                assert_true(vec_push(&runs.list, &f.scratch, run));
            }
        assert_true(markers_rows(&f.b.profile, &runs, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, way == IN_ROWS ? 4 : 0);
        for (size_t i = 0; i < f.markers.list.count; i++) {
            assert_int_equal(f.markers.list.items[i].start_ns, i * 100);
            assert_int_equal(f.markers.list.items[i].end_ns, i * 100 + 90);
        }
        release(&f);
    }
}

/* The same rows of programs that are compiled anew in each, so that their numbers never come again:
 * their names do. Without names nothing does. */
TEST(rows_of_programs_compiled_again)
{
    static const char *const names[] = { "jit_add", "jit_add", "jit_add", "jit_exp", "jit_sum" };

    for (int is_named = 0; is_named < 2; is_named++) {
        struct fixture f;
        struct runs    runs = { 0 };
        uint32_t       thread;
        int64_t        now = 0;

        start(&f);
        thread = builder_timeline(&f.b, builder_host(&f.b, "h"), NO_ID, "worker");
        for (int row = 0; row < 5; row++)
            for (int i = 0; i < (row == 4 ? 3 : 5); i++, now += 20) {
                uint32_t event = builder_slice(&f.b, thread, "fusion", ACTIVITY_OP, now, 10);

                if (is_named)
                    builder_stat(&f.b, event, STAT_MODULE_NAME, builder_name(&f.b, names[i]));
                assert_true(vec_push(&runs.list, &f.scratch,
                                     (struct run) { .start_ns = now,
                                                    .end_ns = now + 10,
                                                    .program = 10 * row + (i < 3 ? 0 : i),
                                                    .device = NO_ID,
                                                    .event = event }));
            }
        builder_finish(&f.b);
        assert_true(markers_rows(&f.b.profile, &runs, &f.scratch, &f.markers));
        assert_int_equal(f.markers.list.count, is_named ? 4 : 0);
        release(&f);
    }
}

/* Programs 2 3 2 3 2 3 of 10 ns each in front of ten runs of the first one: they come in turn, and
 * the first one more than twice as often, but not between them. */
TEST(programs_in_turn_before_the_main_one)
{
    struct fixture f;
    struct runs    runs = { 0 };

    (void)state;
    start(&f);
    builder_finish(&f.b);
    for (int i = 0; i < 16; i++) {
        struct run run = { .start_ns = i * 100,
                           .end_ns = i * 100 + (i < 6 ? 10 : 90),
                           .program = i < 6 ? 2 + i % 2 : 1,
                           .host = f.host,
                           .device = NO_ID };

        assert_true(vec_push(&runs.list, &f.scratch, run));
    }
    assert_true(markers_rows(&f.b.profile, &runs, &f.scratch, &f.markers));
    assert_int_equal(f.markers.list.count, 0);
    release(&f);
}
