/* Excess of programs of JAX and TensorFlow on a host: whose Python it is, what is saved, evaluated,
 * or of a kind of which programs need little. One thread, one step, written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "base/macros.h"
#include "profile_builder.h"

#include <math.h>

struct program {
    struct profile_builder b;
    uint32_t               host, thread;
    int64_t                now;
};

static void start(struct program *program, const char *framework)
{
    *program = (struct program) { 0 };
    builder_start(&program->b, FORMAT_XSPACE);
    program->b.profile.framework = builder_name(&program->b, framework);
    program->host = builder_host(&program->b, "h");
    program->thread = builder_timeline(&program->b, program->host, NO_ID, "python");
}

/* A slice of `ns` from now on, in which time stands still. */
static void open_slice(struct program *program, const char *name, enum activity_kind kind,
                       int64_t ns)
{
    builder_slice(&program->b, program->thread, name, kind, program->now, ns);
}

static void run(struct program *program, const char *name, const char *type, int64_t ns)
{
    uint32_t op = builder_op(&program->b, name, type, "");

    builder_event(&program->b, program->thread,
                  builder_activity(&program->b, name, ACTIVITY_OP, op), program->now, ns);
    program->now += ns;
}

static uint32_t source(struct program *program, const char *file, uint32_t line)
{
    struct source_line row = { .file = builder_name(&program->b, file),
                               .line = line,
                               .caller = NO_ID };

    assert_true(vec_push(&program->b.profile.sources, &program->b.arena, row));
    return (uint32_t)program->b.profile.sources.count - 1;
}

static void frame(struct program *program, const char *name, const char *file, uint32_t line,
                  int64_t ns)
{
    uint32_t activity = builder_activity(&program->b, name, ACTIVITY_PYTHON, NO_ID);

    program->b.profile.activities.items[activity].source = source(program, file, line);
    builder_event(&program->b, program->thread, activity, program->now, ns);
}

static void finish(struct program *program)
{
    struct err err = { 0 };

    builder_step(&program->b, program->host, 0, program->now);
    builder_finish(&program->b);
    program->b.study.steps.list.items[0].is_sampled = true;
    program->b.study.steps.list.items[0].timeline = program->thread;
    program->b.study.recording = &program->b.profile;
    assert_true(path_begin(&program->b.study));
    assert_true(analysis_path.run(&program->b.study, &err));
    assert_true(analysis_excess.run(&program->b.study, &err));
}

static double claimed(const struct program *program, const char *flaw)
{
    const struct table *table = facts_find_table(&program->b.study.facts, "excess");
    double              sum = 0;

    assert_non_null(table);
    for (size_t i = 0; i < table->row_count; i++) {
        uint32_t name = (uint32_t)table->columns[table_column(table, "flaw")][i];

        if (str_equal(intern_str(program->b.study.facts.names, name), str_from(flaw)))
            sum += table->columns[table_column(table, "ns")][i];
    }
    assert_true(fabs(builder_fact(&program->b, "excess.necessary_ns") +
                     builder_fact(&program->b, "excess.claimed_ns") - (double)program->now) < 1);
    return sum;
}

/* step() calls augment, which works 3 ms in NumPy; a list comprehension calls asarray for 3 ms, in
 * which ten programs start; then one program computes 4 ms. Of asarray's time a tenth stays. */
static void python_by_its_lines(void **state)
{
    struct program program;

    (void)state;
    start(&program, "jax");
    program.b.profile.has_python_frames = true;
    frame(&program, "$train.py:1 step", "train.py", 1, 10000000);
    frame(&program, "$train.py:3 augment", "train.py", 3, 3000000);
    program.now += 3000000;
    frame(&program, "$train.py:7 <listcomp>", "train.py", 7, 3000000);
    frame(&program, "$array_constructors.py:374 asarray", "array_constructors.py", 374, 3000000);
    for (int i = 0; i < 10; i++) {
        open_slice(&program, "PjitFunction(stage)", ACTIVITY_DISPATCH, 100000);
        program.now += 300000;
    }
    run(&program, "dot.1", "dot", 4000000);
    program.b.profile.ops.items[0].source = source(&program, "train.py", 9);
    finish(&program);
    assert_true(fabs(claimed(&program, "own-python") - 3e6) < 1);
    assert_true(fabs(claimed(&program, "batch-of-items") - 2.7e6) < 1);
    assert_true(claimed(&program, "calls-at-line") == 0);
    builder_free(&program.b);
}

/* Behind 4 ms of computing arrays are copied out, 10 us each, and 6 ms pass: three are the state,
 * one may be the loss. */
static void state_that_is_saved(void **state)
{
    (void)state;
    for (int copies = 1; copies <= 3; copies += 2) {
        struct program program;

        start(&program, "jax");
        open_slice(&program, "PjitFunction(train_step)", ACTIVITY_DISPATCH, 100000);
        program.now += 100000;
        run(&program, "dot.1", "dot", 4000000);
        for (int i = 0; i < copies; i++) {
            open_slice(&program, "ArrayImpl.copy_to_host_async", ACTIVITY_TRANSFER, 10000);
            program.now += 10000;
        }
        program.now += 6000000;
        finish(&program);
        assert_true(fabs(claimed(&program, "state-copied") - (copies == 3 ? 6e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* A training function of 4 ms, then a function without gradients twice: with batches of its own it
 * is evaluation, 2 x 2 ms of which one in fifty stays; so it is where it computes a loss, which
 * nobody acts on; else it may be a policy that acts. */
static void evaluation_between_training(void **state)
{
    static const struct {
        const char *function, *first_type;
        bool        is_evaluation;
    } cases[] = {
        { "EagerLocalExecute: __inference_other_2", "Identity", false },
        { "EagerLocalExecute: __inference_other_2", "IteratorGetNext", true },
        { "EagerLocalExecute: __inference_loss_fn_2", "Identity", true },
    };

    (void)state;
    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct program program;

        start(&program, "tensorflow");
        open_slice(&program, "EagerLocalExecute: __inference_train_1", ACTIVITY_DISPATCH, 4000000);
        run(&program, "MatMul", "MatMul", 2000000);
        run(&program, "gradient_tape/MatMul", "MatMul", 2000000);
        for (int i = 0; i < 2; i++) {
            open_slice(&program, cases[c].function, ACTIVITY_DISPATCH, 2000000);
            run(&program, "read", cases[c].first_type, 500000);
            run(&program, "MatMul_1", "MatMul", 1500000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "evaluation-calls") -
                         (cases[c].is_evaluation ? 0.98 * 4e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* An instruction of 4 ms of a program that four devices run with the same arguments: three of them
 * need not. An all-reduce shows that they do different things. */
static void devices_that_do_the_same(void **state)
{
    (void)state;
    for (int talk = 0; talk < 2; talk++) {
        struct program program;
        struct attr    copies;
        struct op     *op;

        start(&program, "jax");
        run(&program, "dot.1", "dot", 4000000);
        if (talk)
            run(&program, "all-reduce.2", "all-reduce", 1000000);
        copies =
            (struct attr) { builder_name(&program.b, "copies"), builder_name(&program.b, "4") };
        op = program.b.profile.ops.items;
        op->first_attr = (uint32_t)program.b.profile.attrs.count;
        op->attr_count = 1;
        for (size_t i = 0; i < program.b.profile.ops.count; i++)
            op[i].module = builder_name(&program.b, "jit_f");
        assert_true(vec_push(&program.b.profile.attrs, &program.b.arena, copies));
        finish(&program);
        assert_true(fabs(claimed(&program, "whole-copies") - (talk ? 0 : 3e6)) < 1);
        builder_free(&program.b);
    }
}

/* Eager ops of 0.1 ms behind a function of 4 ms: eight variables are read and handed on, 1.6 ms,
 * and 2 ms pass until the function is called again: weights are taken out, all but one in fifty is
 * more than needed. Where as many are written they get new values. */
static void variables_that_are_read_back(void **state)
{
    (void)state;
    for (int writes = 0; writes < 2; writes++) {
        struct program program;

        start(&program, "tensorflow");
        for (int step = 0; step < 2; step++) {
            open_slice(&program, "EagerLocalExecute: __inference_train_1", ACTIVITY_DISPATCH,
                       4000000);
            run(&program, "MatMul", "MatMul", 4000000);
            for (int i = 0; i < 16 && step == 0; i++) {
                open_slice(&program,
                           i % 2 == 0 ? "EagerLocalExecute: ReadVariableOp"
                           : writes   ? "EagerLocalExecute: AssignVariableOp"
                                      : "EagerLocalExecute: Identity",
                           ACTIVITY_DISPATCH, 100000);
                program.now += 100000;
            }
            program.now += step == 0 ? 2000000 : 0;
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "read-back") - (writes ? 0 : 0.98 * 3.6e6)) < 1);
        builder_free(&program.b);
    }
}

static void session(struct program *program, const char *type, int64_t ns)
{
    struct profile      *profile = &program->b.profile;
    uint32_t             row = (uint32_t)profile->recorded_steps.count;
    struct recorded_step step = { .number = row, .start_ns = program->now, .duration_ns = ns };
    struct op_run        once = {
               .op = (uint32_t)profile->ops.count, .step = row, .start_ns = program->now, .duration_ns = ns
    };

    run(program, type, type, ns);
    assert_true(vec_push(&profile->recorded_steps, profile->arena, step) &&
                vec_push(&profile->op_runs, profile->arena, once));
}

/* Runs of a session that train 4 ms and save 6 ms in turn, 5 ms between them, of which recording
 * takes 2.5: saving costs twice 6 + 2.5 ms. */
static void session_runs_that_save(void **state)
{
    struct program program;

    (void)state;
    start(&program, "tensorflow");
    program.b.profile.format = FORMAT_GRAPH;
    for (int i = 0; i < 4; i++) {
        session(&program, i % 2 ? "SaveV2" : "MatMul", i % 2 ? 6000000 : 4000000);
        program.now += i < 3 ? 5000000 : 0;
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "saving-run") - 17e6) < 1);
    builder_free(&program.b);
}

/* Rows of small runs, 0.3 ms each with 0.01 in an op, 0.1 ms before each but the first, and a run
 * that computes behind each row. Of five and five, the time outside of ops is 10 x 0.29 + 9 x 0.1
 * ms, of which one run a row stays: 8 of 10. Few of them are no matter. */
static void session_runs_that_do_little(void **state)
{
    (void)state;
    for (int a_row = 3; a_row <= 5; a_row += 2) {
        struct program program;

        start(&program, "tensorflow");
        for (int i = 0; i < 2 * (a_row + 1); i++) {
            bool computes = i % (a_row + 1) == a_row;

            program.now += i ? 100000 : 0;
            open_slice(&program, "SessionRun", ACTIVITY_DISPATCH, computes ? 4000000 : 300000);
            run(&program, computes ? "MatMul" : "w/Assign", computes ? "MatMul" : "Assign",
                computes ? 4000000 : 10000);
            program.now += computes ? 0 : 290000;
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "small-runs") - (a_row == 5 ? 3.04e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Twice six calls of a function that runs 1, 2 … 6 ops of 1 ms: each needs what the first one runs,
 * so that 1 + 2 + 3 + 4 + 5 = 15 ms of a round are done again. Calls that run as many each time, or
 * a program that trains, show nothing. */
static void calls_that_run_more_and_more(void **state)
{
    enum { GROWS, STAYS, TRAINS, CASES };

    (void)state;
    for (int c = 0; c < CASES; c++) {
        struct program program;

        start(&program, "tensorflow");
        for (int call = 0; call < 12; call++) {
            int ops = c == STAYS ? 3 : call % 6 + 1;

            open_slice(&program, "EagerLocalExecute: __inference_predict_7", ACTIVITY_DISPATCH,
                       ops * 1000000);
            for (int i = 0; i < ops; i++)
                run(&program, c == TRAINS ? "gradient_tape/MatMul" : "MatMul", "MatMul", 1000000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "growing-prefix") - (c == GROWS ? 30e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Text is split and replaced for 1.25 ms, and an op of the same layer takes 0.5; in a step that
 * trains each epoch does it again. A program that only answers needs it. */
static void text_in_the_model(void **state)
{
    (void)state;
    for (int trains = 0; trains < 2; trains++) {
        struct program program;

        start(&program, "tensorflow");
        run(&program, "model/text/StringSplit/StringSplitV2", "StringSplitV2", 1000000);
        run(&program, "model/text/StaticRegexReplace", "StaticRegexReplace", 250000);
        run(&program, "model/text/Equal", "Equal", 500000);
        run(&program, "model/dense/MatMul", "MatMul", 3000000);
        if (trains)
            run(&program, "gradient_tape/model/dense/MatMul", "MatMul", 3000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "text-in-step") - (trains ? 1.75e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Four fifths of a sort's 5 ms; a cast of 0.5 ms in 10.5 is not worth a look. */
static void kinds_of_which_little_is_needed(void **state)
{
    struct program program;

    (void)state;
    start(&program, "tensorflow");
    run(&program, "MatMul", "MatMul", 5000000);
    run(&program, "TopKV2", "TopKV2", 5000000);
    run(&program, "Cast", "Cast", 500000);
    finish(&program);
    assert_true(fabs(claimed(&program, "costly-class") - 4e6) < 1);
    builder_free(&program.b);
}

/* Below a function that trains, outside of layers, predictions are tiled, joined and summed, 1 ms
 * each, 0.5 ms between them: all but one in fifty is too much, of the pauses between ops as much as
 * of the ops, which is 3 of 6 ms. A layer that does so is a layer, and a function without gradients
 * may be an evaluation. */
static void metrics_that_are_counted(void **state)
{
    enum { COUNTS, IN_LAYER, TRAINS_NOT, CASES };

    (void)state;
    for (int c = 0; c < CASES; c++) {
        struct program program;
        bool           layer = c == IN_LAYER;

        start(&program, "tensorflow");
        run(&program, c == TRAINS_NOT ? "net/MatMul" : "gradient_tape/net/MatMul", "MatMul",
            3000000);
        run(&program, layer ? "net/masks/Tile" : "Tile", "Tile", 1000000);
        program.now += 500000;
        run(&program, layer ? "net/masks/And" : "And", "LogicalAnd", 1000000);
        program.now += 500000;
        run(&program, layer ? "net/masks/Sum" : "Sum_1", "Sum", 1000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "metrics") - (c == COUNTS ? 0.98 * 3.5e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_by_its_lines),
        cmocka_unit_test(state_that_is_saved),
        cmocka_unit_test(evaluation_between_training),
        cmocka_unit_test(devices_that_do_the_same),
        cmocka_unit_test(variables_that_are_read_back),
        cmocka_unit_test(session_runs_that_save),
        cmocka_unit_test(session_runs_that_do_little),
        cmocka_unit_test(calls_that_run_more_and_more),
        cmocka_unit_test(metrics_that_are_counted),
        cmocka_unit_test(text_in_the_model),
        cmocka_unit_test(kinds_of_which_little_is_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
