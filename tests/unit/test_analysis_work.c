#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

enum { STEPS = 4, STEP_NS = 100000 };

struct program {
    struct profile_builder b;
    uint32_t               thread, pool;
};

static void start(struct program *program)
{
    uint32_t host;

    *program = (struct program) { 0 };
    host = builder_start_host(&program->b, FORMAT_XSPACE);
    program->thread = builder_timeline(&program->b, host, NO_ID, "python");
    program->pool = builder_timeline(&program->b, host, NO_ID, "pool");
    for (int i = 0; i < STEPS; i++)
        builder_step(&program->b, host, (int64_t)i * STEP_NS, (int64_t)(i + 1) * STEP_NS);
}

/* `count` of them in each step. */
static void add(struct program *program, uint32_t timeline, const char *name,
                enum activity_kind kind, int count)
{
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < count; k++)
            builder_slice(&program->b, timeline, name, kind,
                          (int64_t)i * STEP_NS + (int64_t)k * STEP_NS / count, 100);
}

static void add_op(struct program *program, const char *name, const char *type, const char *origin,
                   int count)
{
    uint32_t op = builder_op(&program->b, name, type, NULL);
    uint32_t activity = builder_activity(&program->b, name, ACTIVITY_OP, op);

    program->b.profile.ops.items[op].origin = builder_name(&program->b, origin);
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < count; k++)
            builder_event(&program->b, program->pool, activity,
                          (int64_t)i * STEP_NS + (int64_t)k * STEP_NS / count, 100);
}

static void finish(struct program *program)
{
    struct err err = { 0 };

    builder_finish(&program->b);
    program->b.study.steps.median_ns = program->b.study.steps.mean_ns = STEP_NS;
    assert_true(analysis_work.run(&program->b.study, &err));
}

/* Five batches a step, seen on two levels: of 20 us each. */
TEST(batches_that_a_step_fetches)
{
    struct program p;

    start(&p);
    add(&p, p.pool, "IteratorGetNextOp::DoCompute", ACTIVITY_INPUT_WAIT, 5);
    add(&p, p.thread, "EagerLocalExecute: IteratorGetNext", ACTIVITY_INPUT_WAIT, 5);
    finish(&p);
    assert_float_equal(builder_fact(&p.b, "work.per_step"), 5, 0);
    assert_float_equal(builder_fact(&p.b, "work.batch_ns"), 20000, 0);
    builder_free(&p.b);
}

/* One batch, with nine for validation: one update says so. Of two models, one batch each. */
TEST(validation_and_second_models_are_no_batches)
{
    static const int counts[][3] = {
        { 10, 1, 1 }, { 1, 2, 1 }, { 4, 4, 4 }, { 0, 3, 3 }
    }; /* fetches, updates, batches */
    struct program p;

    for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
        start(&p);
        add(&p, p.thread, "enumerate(DataLoader)#__next__", ACTIVITY_INPUT_WAIT, counts[i][0]);
        add(&p, p.thread, "Optimizer.step#Adam.step", ACTIVITY_ANNOTATION, counts[i][1]);
        finish(&p);
        assert_float_equal(builder_fact(&p.b, "work.per_step"), counts[i][2], 0);
        builder_free(&p.b);
    }
}

/* Two optimizers of one kind that follow each other behind one backward pass share its batch; with
 * a backward pass before each of them there are two. Passes begin at 10 us, and at 60 us, of each
 * step, updates at 20 and 70 us. */
TEST(optimizers_that_share_a_batch)
{
    struct program p;

    for (int passes = 1; passes <= 2; passes++) {
        start(&p);
        for (int64_t i = 0; i < STEPS; i++) {
            for (int64_t k = 0; k < passes; k++)
                builder_slice(&p.b, p.pool, "autograd::engine::evaluate_function: X",
                              ACTIVITY_EXECUTOR, i * STEP_NS + 10000 + k * 50000, 100);
            builder_slice(&p.b, p.thread, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION,
                          i * STEP_NS + 20000, 100);
            builder_slice(&p.b, p.thread, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION,
                          i * STEP_NS + 70000, 100);
        }
        finish(&p);
        assert_float_equal(builder_fact(&p.b, "work.per_step"), passes, 0);
        builder_free(&p.b);
    }
}

/* Eight updates of each weight by a loop in the graph, and one counter that it sets once. */
TEST(updates_in_a_graph)
{
    struct program p;

    start(&p);
    add_op(&p, "while/adam/w", "ResourceApplyAdam", "", 8);
    add_op(&p, "while/adam/b", "ResourceApplyAdam", "", 8);
    add_op(&p, "seen", "AssignAddVariableOp", "", 1);
    finish(&p);
    assert_float_equal(builder_fact(&p.b, "work.per_step"), 8, 0);
    builder_free(&p.b);
}

/* A gradient inside the loop is a round of work; the gradient of a loop is none. */
TEST(rounds_of_a_loop)
{
    struct program p;

    start(&p);
    add_op(&p, "dot.1", "dot", "jit(f)/while/body/closed_call/transpose(jvp())/dot_general", 8);
    add_op(&p, "copy", "copy", "", 1);
    finish(&p);
    assert_float_equal(builder_fact(&p.b, "work.loop_rounds"), 8, 0);
    assert_true(isnan(builder_fact(&p.b, "work.per_step")));
    builder_free(&p.b);
    start(&p);
    add_op(&p, "dot.1", "dot", "jit(f)/transpose(jvp(while))/body/dot_general", 8);
    add_op(&p, "copy", "copy", "", 1);
    finish(&p);
    assert_true(isnan(builder_fact(&p.b, "work.loop_rounds")));
    builder_free(&p.b);
}
