/* Lines of the user's program at which the time of facts about eager steps lies. */
#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/step/own_lines.h"
#include "eager_program.h"

/* A function of Python. */
static uint32_t function(struct program *program, const char *file, uint32_t line)
{
    struct profile_builder *b = &program->b;
    struct source_line source = { .file = builder_name(b, file), .line = line, .caller = NO_ID };
    uint32_t           activity = builder_activity(b, file, ACTIVITY_PYTHON, NO_ID);

    assert_true(vec_push(&b->profile.sources, &b->arena, source));
    b->profile.activities.items[activity].source = (uint32_t)b->profile.sources.count - 1;
    return activity;
}

/* A frame of one from start_ns on. */
static uint32_t frame(struct program *program, const char *file, uint32_t line, int64_t start_ns,
                      int64_t ns)
{
    return builder_event(&program->b, program->thread, function(program, file, line), start_ns, ns);
}

static void layers(struct program *program, int64_t number)
{
    numbered(program, call(program, "aten::linear", NULL, 4000), number);
    numbered(program, call(program, "aten::relu", NULL, 1000), number + 1);
    numbered(program, call(program, "aten::linear", NULL, 3000), number + 2);
}

static double line_of(const struct program *program, const char *fact)
{
    return builder_cell(&program->b, "eager_step_lines", "fact", fact, "source_line");
}

/*
 * main, line 5, calls train, line 20, which calls the model, line 9, and goes back; then test, line
 * 30, which calls the model again: its 8 us belong to line 30, where the two ways part, while what
 * the forward pass takes lies in the model. Frames of packages, and code that they write, are not
 * the user's.
 */
TEST(a_pass_that_runs_again_lies_where_it_is_called)
{
    struct program program;
    struct err     err = { 0 };
    int64_t        trained_ns;

    start(&program);
    frame(&program, "run.py", 5, 0, 90000);
    frame(&program, "run.py", 20, 0, 40000);
    frame(&program, "model.py", 9, 0, 9000);
    frame(&program, "torch/nn/modules/module.py", 1500, 0, 9000);
    frame(&program, "/tmp/torchinductor_me/ab/cd.py", 88, 0, 9000);
    layers(&program, 1);
    call(&program, "aten::mean", NULL, 500);
    node(&program, 3, 4000);
    node(&program, 1, 6000);
    trained_ns = program.now;
    program.now = 50000;
    frame(&program, "run.py", 30, program.now, 30000);
    frame(&program, "model.py", 9, program.now, 9000);
    layers(&program, 40);
    builder_finish(&program.b);
    assert_true(trained_ns < 40000);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.repeated_forward_ns") == 8000);
    assert_true(line_of(&program, "torch.repeated_forward_ns") == 30);
    assert_true(line_of(&program, "torch.forward_ns") == 9);
    assert_true(line_of(&program, "torch.backward_ns") == 20);
    builder_free(&program.b);
}

/* Two concatenations of 3 us at line 7 and one of 4 us at line 8: line 7 has more. */
TEST(the_line_with_most_time_comes_first)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    frame(&program, "run.py", 7, 0, 7000);
    call(&program, "aten::cat", "f32[8,63,64] f32[8,1,64]", 3000);
    call(&program, "aten::cat", "f32[8,63,64] f32[8,1,64]", 3000);
    program.now = 10000;
    frame(&program, "run.py", 8, program.now, 9000);
    call(&program, "aten::cat", "f32[8,63,64] f32[8,1,64]", 4000);
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(line_of(&program, "torch.appends_ns") == 7);
    builder_free(&program.b);
}

/* Two steps of 1 and 3 ms with 4 us each at line 7: the mean step is 2 ms and the median 1 ms, as
 * the study says, so that a step's 4 us are 2 us of the median one, of the line as of the fact. */
TEST(time_at_a_line_is_of_the_median_step)
{
    struct program program;
    struct err     err = { 0 };
    uint32_t       append;

    start(&program);
    append = function(&program, "run.py", 7);
    builder_step(&program.b, program.host, 1000000, 4000000);
    for (int i = 0; i < 2; i++) {
        program.now = i * 1000000;
        builder_event(&program.b, program.thread, append, program.now, 9000);
        call(&program, "aten::cat", "f32[8,63,64] f32[8,1,64]", 4000);
    }
    builder_finish(&program.b);
    program.b.study.steps.median_ns = 1000000;
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.appends_ns") == 2000);
    assert_true(builder_cell(&program.b, "eager_step_lines", "fact", "torch.appends_ns", "ns") ==
                2000);
    builder_free(&program.b);
}

/* Without frames no line is known, and the table is not there. */
TEST(no_frames_no_lines)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    call(&program, "aten::cat", "f32[8,63,64] f32[8,1,64]", 3000);
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(!facts_find_table(&program.b.study.facts, "eager_step_lines"));
    assert_true(facts_why_absent(&program.b.study.facts, "eager_step_lines") != NULL);
    builder_free(&program.b);
}

/* A call inside of two own frames and one of a package; another beside it in the outer one. */
TEST(lines_around_events)
{
    struct program program;
    bool           is_user[] = { true, true, false };
    uint32_t       inner, outer;

    start(&program);
    frame(&program, "run.py", 5, 0, 90000);
    frame(&program, "run.py", 20, 0, 6000);
    frame(&program, "torch/functional.py", 3, 0, 6000);
    inner = call(&program, "aten::mm", NULL, 1000);
    program.now = 10000;
    outer = call(&program, "aten::mm", NULL, 1000);
    builder_finish(&program.b);
    inner = program.b.rows[inner];
    outer = program.b.rows[outer];
    assert_true(own_line(&program.b.study, is_user, inner) == 1);
    assert_true(own_line(&program.b.study, is_user, outer) == 0);
    assert_true(own_line(&program.b.study, is_user, NO_ID) == NO_ID);
    assert_true(own_line_apart(&program.b.study, is_user, inner, outer) == 1);
    assert_true(own_line_apart(&program.b.study, is_user, outer, inner) == 0);
    builder_free(&program.b);
}
