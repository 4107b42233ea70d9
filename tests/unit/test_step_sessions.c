
#include "testing.h"

#include "analyze/step/step_sessions.h"
#include "analyze/step/window.h"
#include "profile_builder.h"

enum { MS = 1000000 };

struct program {
    struct profile_builder b;
    uint32_t               thread;
};

static void start(struct program *program)
{
    builder_start(&program->b, FORMAT_GRAPH);
    program->thread = builder_timeline(&program->b, builder_host(&program->b, "h"), NO_ID, "ops");
}

/* A run of `count` ops, rows `first` and on. */
static void run(struct program *program, int64_t number, int64_t start_ns, uint32_t first,
                uint32_t count)
{
    struct profile      *profile = &program->b.profile;
    struct recorded_step step = { .number = number, .start_ns = start_ns, .duration_ns = MS };
    uint32_t             row = (uint32_t)profile->recorded_steps.count;

    assert_true(vec_push(&profile->recorded_steps, profile->arena, step));
    for (uint32_t i = 0; i < count; i++) {
        struct op_run once = {
            .op = first + i, .step = row, .start_ns = start_ns, .duration_ns = 1
        };

        assert_true(vec_push(&profile->op_runs, profile->arena, once));
    }
    builder_slice(&program->b, program->thread, "op", ACTIVITY_OP, start_ns, MS);
}

/* Runs of 3 and 20 ops in turn, 10 ms from one start to the next; run 10 is recorded before run 2,
 * as names of files are sorted. 9 ms pass between runs, 2.5 of them for recording. */
TEST(runs_that_take_turns)
{
    struct program  program;
    struct sessions sessions;

    start(&program);
    builder_op(&program.b, "next", "IteratorGetNext", NULL);
    builder_op(&program.b, "a", "Identity", NULL);
    builder_op(&program.b, "save", "SaveV2", NULL);
    builder_op(&program.b, "_arg_x_0_0", "_arg_x_0_0", NULL);
    for (int i = 4; i < 23; i++)
        builder_op(&program.b, "b", i == 22 ? "ApplyAdam" : "MatMul", NULL);
    run(&program, 8, 0, 0, 3);
    run(&program, 9, 10 * MS, 3, 20);
    run(&program, 11, 30 * MS, 3, 20);
    run(&program, 10, 20 * MS, 0, 3);
    builder_finish(&program.b);
    assert_true(sessions_find(&program.b.profile, &program.b.arena, &sessions));
    assert_int_equal(sessions.list.count, 4);
    assert_int_equal(sessions.period, 2);
    assert_int_equal(sessions.list.items[2].start_ns, 20 * MS);
    assert_int_equal(sessions.list.items[2].pause_ns, 9 * MS - SESSION_RECORDING_NS);
    assert_true(sessions.list.items[2].reads_input && !sessions.list.items[2].is_fed);
    assert_true(sessions.list.items[2].saves && !sessions.list.items[3].saves);
    assert_true(sessions.list.items[3].is_fed && sessions.list.items[3].updates);
    assert_int_equal(sessions.list.items[3].own_ops, 0);
    assert_int_equal(sessions_behind(&sessions, 15 * MS), 2);
    builder_free(&program.b);
}

/* Six runs, of which two make a step and have the number of its first: three steps, where each run
 * is counted whose step is used, and two where the last is not. */
TEST(steps_of_two_runs_each)
{
    for (int used = 2; used <= 3; used++) {
        struct program program;
        size_t         count = 0;
        bool          *is_used;

        start(&program);
        builder_op(&program.b, "op", "MatMul", NULL);
        for (int i = 0; i < 6; i++)
            run(&program, 10 + i, 10 * MS * i, 0, 1);
        for (int i = 0; i < used; i++) {
            builder_step(&program.b, 0, 20 * MS * i, 20 * MS * (i + 1));
            program.b.study.steps.list.items[i].number = 10 + 2 * i;
        }
        builder_finish(&program.b);
        is_used = windows_recorded(&program.b.study, &program.b.arena, &count);
        assert_non_null(is_used);
        assert_int_equal(count, used);
        for (int i = 0; i < 6; i++)
            assert_int_equal(is_used[i], i < 2 * used);
        builder_free(&program.b);
    }
}

/* Each run has one op of its own. */
TEST(a_graph_that_grows)
{
    struct program  program;
    struct sessions sessions;

    start(&program);
    for (int i = 0; i < 12; i++)
        builder_op(&program.b, "op", "MatMul", NULL);
    for (uint32_t i = 0; i < 4; i++) {
        run(&program, i, 10 * MS * i, 0, 8);
        assert_true(vec_push(&program.b.profile.op_runs, program.b.profile.arena,
                             (struct op_run) { .op = 8 + i, .step = i }));
    }
    builder_finish(&program.b);
    assert_true(sessions_find(&program.b.profile, &program.b.arena, &sessions));
    assert_int_equal(sessions.period, 1);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sessions.list.items[i].own_ops, 1);
    builder_free(&program.b);
}

/* Three copies of an op that no run holds, beside layers in scopes and an op that runs. */
TEST(copies_that_no_run_holds)
{
    static const char *const names[] = { "x",   "x_1",   "next",  "next_1", "next_2",
                                         "d/w", "d_1/w", "d_2/w", "d_3/w" };
    struct program           program;
    struct sessions          sessions;

    start(&program);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        builder_op(&program.b, names[i], "Op", NULL);
    for (uint32_t i = 0; i < 4; i++)
        run(&program, i, 10 * MS * i, 0, 2);
    builder_finish(&program.b);
    assert_true(sessions_find(&program.b.profile, &program.b.arena, &sessions));
    assert_int_equal(sessions.idle_copies, 3);
    builder_free(&program.b);
}

/* Every hundredth run was recorded: the program ran on between them. */
TEST(runs_that_do_not_follow_each_other)
{
    struct program  program;
    struct sessions sessions;

    start(&program);
    builder_op(&program.b, "op", "MatMul", NULL);
    for (uint32_t i = 0; i < 4; i++)
        run(&program, 100 * i, 1000 * MS * (int64_t)i, 0, 1);
    builder_finish(&program.b);
    assert_true(sessions_find(&program.b.profile, &program.b.arena, &sessions));
    assert_int_equal(sessions.list.count, 0);
    builder_free(&program.b);
}

/* Runs of 300 records and then one of a single record, 9 ms apart: recording took 20 us each of
 * those, 6 ms, and what it takes at least behind the short run. */
TEST(recording_takes_longer_for_more_records)
{
    struct program  program;
    struct sessions sessions;

    start(&program);
    builder_op(&program.b, "op", "MatMul", NULL);
    for (uint32_t i = 0; i < 3; i++) {
        run(&program, i, 10 * MS * i, 0, 1);
        for (int again = 1; again < 300 && i == 0; again++)
            assert_true(vec_push(&program.b.profile.op_runs, program.b.profile.arena,
                                 (struct op_run) { .step = i, .duration_ns = 1 }));
    }
    builder_finish(&program.b);
    assert_true(sessions_find(&program.b.profile, &program.b.arena, &sessions));
    assert_int_equal(sessions.list.items[1].pause_ns, 9 * MS - 6 * MS);
    assert_int_equal(sessions.list.items[2].pause_ns, 9 * MS - SESSION_RECORDING_NS);
    builder_free(&program.b);
}
