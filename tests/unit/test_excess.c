#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "profile_builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One thread of a PyTorch program on the host, written op after op; a step lasts as long as they
 * do. */
enum { MOST_KNOWN = 32 };
struct known {
    char     name[96], tensors[96];
    uint32_t activity;
};
struct program {
    struct profile_builder b;
    uint32_t               host, thread;
    int64_t                now;
    struct known           known[MOST_KNOWN];
    size_t                 known_count;
};

static void start(struct program *program)
{
    *program = (struct program) { 0 };
    builder_start(&program->b, FORMAT_KINETO);
    program->b.profile.framework = builder_name(&program->b, "pytorch");
    program->b.profile.has_shapes = true;
    program->host = builder_host(&program->b, "h");
    program->thread = builder_timeline(&program->b, program->host, NO_ID, "python");
}

/* Calls of one op with the same shapes are one activity, as readers make them. */
static uint32_t activity_of(struct program *program, const char *name, enum activity_kind kind,
                            const char *tensors)
{
    for (size_t i = 0; i < program->known_count; i++)
        if (strcmp(program->known[i].name, name) == 0 &&
            strcmp(program->known[i].tensors, tensors ? tensors : "") == 0)
            return program->known[i].activity;
    struct known *known = &program->known[program->known_count++];

    assert_true(program->known_count <= MOST_KNOWN);
    snprintf(known->name, sizeof known->name, "%s", name);
    snprintf(known->tensors, sizeof known->tensors, "%s", tensors ? tensors : "");
    known->activity = builder_activity(
        &program->b, name, kind, tensors ? builder_op(&program->b, name, name, tensors) : NO_ID);
    return known->activity;
}

static uint32_t slice(struct program *program, const char *name, enum activity_kind kind,
                      const char *tensors, int64_t ns)
{
    return builder_event(&program->b, program->thread, activity_of(program, name, kind, tensors),
                         program->now, ns);
}

/* An op of `ns`, and time goes on to its end. */
static uint32_t run(struct program *program, const char *name, const char *tensors, int64_t ns)
{
    uint32_t tag = slice(program, name, ACTIVITY_OP, tensors, ns);

    program->now += ns;
    return tag;
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
    return sum;
}

/* Cells and what is needed add up to the step, and so do the rows of the table of work. */
static void assert_sums(const struct program *program)
{
    const struct facts *facts = &program->b.study.facts;
    const struct table *cells = facts_find_table(facts, "excess");
    const struct table *work = facts_find_table(facts, "work");
    double              ns = 0, work_ns = 0, needed_ns = 0;

    for (size_t i = 0; i < cells->row_count; i++)
        ns += cells->columns[table_column(cells, "ns")][i];
    for (size_t i = 0; i < work->row_count; i++) {
        work_ns += work->columns[table_column(work, "ns")][i];
        needed_ns += work->columns[table_column(work, "necessary_ns")][i];
    }
    assert_true(fabs(builder_fact(&program->b, "excess.step_ns") - (double)program->now) < 1);
    assert_true(fabs(builder_fact(&program->b, "excess.necessary_ns") + ns - (double)program->now) <
                1);
    assert_true(fabs(work_ns - (double)program->now) < 1);
    assert_true(fabs(needed_ns + ns - (double)program->now) < 1);
}

/* A node of the backward pass with an op in it. */
static void node(struct program *program, const char *op, const char *tensors, int64_t ns)
{
    slice(program, "autograd::engine::evaluate_function: X", ACTIVITY_EXECUTOR, NULL, ns);
    run(program, op, tensors, ns);
}

/* Two gradients of five are of the shape that the update takes, and come first: the 2 + 2 + 2 ms
 * behind them are for nothing. */
static void gradients_that_no_update_takes(void **state)
{
    struct program program;

    (void)state;
    start(&program);
    run(&program, "aten::linear", "f32[8,64] f32[64,64]", 5000000);
    node(&program, "aten::mm", "f32[8,10] f32[10,64]", 1000000);
    node(&program, "torch::autograd::AccumulateGrad", "f32[10,64]", 100000);
    node(&program, "torch::autograd::AccumulateGrad", "f32[10,64]", 100000);
    for (int i = 0; i < 3; i++) {
        node(&program, "aten::mm", "f32[8,64] f32[64,64]", 1900000);
        node(&program, "torch::autograd::AccumulateGrad", "f32[64,64]", 100000);
    }
    slice(&program, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, NULL, 300000);
    run(&program, "aten::_fused_sgd_", "f32[10,64] f32[10,64]", 300000);
    finish(&program);
    assert_true(fabs(claimed(&program, "unused-gradients") - 6e6) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* The same with an update of all shapes. */
static void gradients_that_are_applied(void **state)
{
    struct program program;

    (void)state;
    start(&program);
    node(&program, "torch::autograd::AccumulateGrad", "f32[10,64]", 100000);
    node(&program, "aten::mm", "f32[8,64] f32[64,64]", 1900000);
    node(&program, "torch::autograd::AccumulateGrad", "f32[64,64]", 100000);
    run(&program, "aten::_fused_sgd_", "f32[10,64] f32[64,64]", 300000);
    finish(&program);
    assert_true(claimed(&program, "unused-gradients") == 0);
    builder_free(&program.b);
}

/* A head over 40 rows of which one is read: 39/40 of 4 ms. All rows of another are read. */
static void rows_that_are_thrown_away(void **state)
{
    struct program program;
    uint32_t       tag;

    (void)state;
    start(&program);
    run(&program, "aten::linear", "f32[2,40,96] f32[8000,96]", 4000000);
    tag = run(&program, "aten::select", "f32[2,40,8000]", 5000);
    builder_stat(&program.b, tag, STAT_CONCRETE_INPUTS,
                 (int64_t)builder_name(&program.b, "['', '1', '-1']"));
    run(&program, "aten::linear", "f32[2,40,96] f32[96,96]", 4000000);
    run(&program, "aten::relu", "f32[2,40,96]", 100000);
    finish(&program);
    assert_true(fabs(claimed(&program, "thrown-rows") - 4e6 * 39 / 40) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* B A, of 16 columns, and the sum with W before each product: 0.5 + 0.2 ms, three times. */
static void weights_from_parameters(void **state)
{
    struct program program;

    (void)state;
    start(&program);
    for (int i = 0; i < 3; i++) {
        run(&program, "aten::mm", "f32[64,16] f32[16,64]", 500000);
        run(&program, "aten::add", "f32[64,64] f32[64,64]", 200000);
        run(&program, "aten::linear", "f32[8,64] f32[64,64]", 300000);
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "derived-weight") - 2.1e6) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* Rounds of 100, 101, 102, 103 rows, 1 ms each: the last three need one row of 101, 102, 103. */
static void a_prefix_that_grows(void **state)
{
    struct program program;
    char           shapes[64];
    double         expected = 0;

    (void)state;
    start(&program);
    for (int rows = 100; rows < 104; rows++) {
        snprintf(shapes, sizeof shapes, "f32[%d,64] f32[64,64]", rows);
        run(&program, "aten::linear", shapes, 1000000);
        expected += rows > 100 ? 1e6 * (1 - 1.0 / rows) : 0;
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "growing-prefix") - expected) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* A batch that grows less evenly is no prefix. */
static void batches_that_differ(void **state)
{
    static const int rows[] = { 100, 120, 110, 180, 60 };
    struct program   program;
    char             shapes[64];

    (void)state;
    start(&program);
    for (int i = 0; i < 5; i++) {
        snprintf(shapes, sizeof shapes, "f32[%d,64] f32[64,64]", rows[i]);
        run(&program, "aten::linear", shapes, 1000000);
    }
    finish(&program);
    assert_true(claimed(&program, "growing-prefix") == 0);
    builder_free(&program.b);
}

/* linear, gelu and linear inside one node: all from the first to the last, 2 + 0.5 + 2 ms. */
static void layers_in_the_backward_pass(void **state)
{
    struct program program;

    (void)state;
    start(&program);
    slice(&program, "autograd::engine::evaluate_function: CheckpointBackward", ACTIVITY_EXECUTOR,
          NULL, 5500000);
    run(&program, "aten::linear", "f32[8,64] f32[64,64]", 2000000);
    run(&program, "aten::gelu", "f32[8,64]", 500000);
    run(&program, "aten::linear", "f32[8,64] f32[64,64]", 2000000);
    run(&program, "aten::mul", "f32[8,64]", 1000000);
    finish(&program);
    assert_true(fabs(claimed(&program, "recompute") - 4.5e6) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

static void trained(struct program *program, const char *shapes, int64_t ns)
{
    uint32_t forward = run(program, "aten::linear", shapes, ns);
    uint32_t other = run(program, "aten::detach", "f32[8,64]", 1000);

    builder_flow(&program->b, forward, other, FLOW_FORWARD_BACKWARD);
}

/* Two batches of another size with a loss of their own behind the update: 4 products and the loss
 * between them; the same products without a loss before the trained ones, as of a target network,
 * are not claimed. */
static void evaluation_in_the_step(void **state)
{
    for (int has_loss = 0; has_loss < 2; has_loss++) {
        struct program program;

        (void)state;
        start(&program);
        for (int i = 0; i < 2; i++) {
            run(&program, "aten::linear", "f32[32,64] f32[64,64]", 1000000);
            run(&program, "aten::linear", "f32[32,64] f32[10,64]", 1000000);
            run(&program, has_loss ? "aten::cross_entropy_loss" : "aten::gather", "f32[32,10]",
                100000);
        }
        trained(&program, "f32[8,64] f32[64,64]", 500000);
        trained(&program, "f32[8,64] f32[10,64]", 500000);
        node(&program, "aten::mm", "f32[8,64] f32[64,64]", 500000);
        finish(&program);
        assert_true(fabs(claimed(&program, "evaluation") - (has_loss ? 4.1e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* A range of a library's metrics, 98 % of 3 ms: once in fifty steps is enough. As the whole step it
 * is what the program does. */
static void metrics_of_a_library(void **state)
{
    for (int is_alone = 0; is_alone < 2; is_alone++) {
        struct program program;

        (void)state;
        start(&program);
        slice(&program, "[pl][module]torchmetrics.collections.MetricCollection: metrics",
              ACTIVITY_ANNOTATION, NULL, 3000000);
        run(&program, "aten::sort", "f32[4096]", 3000000);
        if (!is_alone)
            run(&program, "aten::linear", "f32[8,64] f32[64,64]", 3000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "library-range") - (is_alone ? 0 : 2.94e6)) < 1);
        builder_free(&program.b);
    }
}

/* A pause of 2 ms between ops, and short ones that belong to starting them. */
static void long_pauses(void **state)
{
    struct program program;

    (void)state;
    start(&program);
    for (int i = 0; i < 20; i++) {
        run(&program, "aten::add", "f32[8,64]", 20000);
        program.now += i == 10 ? 2000000 : 5000;
    }
    run(&program, "aten::add", "f32[8,64]", 20000);
    finish(&program);
    assert_true(fabs(claimed(&program, "long-pause") - 2e6) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* An encoder of a look-up and two layers in each of four rounds: three of them, 0.1 + 2 ms each. */
static void an_encoder_in_each_round(void **state)
{
    struct program program;

    (void)state;
    start(&program);
    for (int round = 0; round < 4; round++) {
        run(&program, "aten::embedding", "f32[1000,64] i64[2,8]", 100000);
        for (int layer = 0; layer < 2; layer++) {
            run(&program, "aten::linear", "f32[2,8,64] f32[64,64]", 600000);
            run(&program, "aten::relu", "f32[2,8,64]", 200000);
            run(&program, "aten::layer_norm", "f32[2,8,64]", 200000);
        }
        run(&program, "aten::conv2d", "f32[2,4,16,16] f32[4,4,3,3]", 3000000);
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "repeated-block") - 6.3e6) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* An op of a TensorFlow graph: its name tells copies apart, its type what it does. */
static void graph_op(struct program *program, const char *name, const char *type, int64_t ns)
{
    uint32_t op = builder_op(&program->b, name, type, NULL);

    builder_event(&program->b, program->thread,
                  builder_activity(&program->b, name, ACTIVITY_OP, op), program->now, ns);
    program->now += ns;
}

/* Conv2D_1 and Tanh_1 run once a gradient has been computed: 2 + 1 ms. Behind an update they would
 * be the next of several steps in one graph. */
static void forward_ops_among_gradients(void **state)
{
    for (int is_next_step = 0; is_next_step < 2; is_next_step++) {
        struct program program;

        (void)state;
        start(&program);
        program.b.profile.framework = builder_name(&program.b, "tensorflow");
        graph_op(&program, "Conv2D", "_FusedConv2D", 2000000);
        graph_op(&program, "Tanh", "Tanh", 1000000);
        graph_op(&program, "gradient_tape/Conv2D/Conv2DBackpropInput", "Conv2DBackpropInput",
                 3000000);
        if (is_next_step)
            graph_op(&program, "SGD/AssignSub", "AssignSubVariableOp", 100000);
        graph_op(&program, "Conv2D_1", "_FusedConv2D", 2000000);
        graph_op(&program, "Tanh_1", "Tanh", 1000000);
        graph_op(&program, "gradient_tape/Conv2D_1/Conv2DBackpropInput", "Conv2DBackpropInput",
                 3000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "forward-again") - (is_next_step ? 0 : 3e6)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_that_no_update_takes),
        cmocka_unit_test(gradients_that_are_applied),
        cmocka_unit_test(rows_that_are_thrown_away),
        cmocka_unit_test(weights_from_parameters),
        cmocka_unit_test(a_prefix_that_grows),
        cmocka_unit_test(batches_that_differ),
        cmocka_unit_test(layers_in_the_backward_pass),
        cmocka_unit_test(evaluation_in_the_step),
        cmocka_unit_test(metrics_of_a_library),
        cmocka_unit_test(long_pauses),
        cmocka_unit_test(an_encoder_in_each_round),
        cmocka_unit_test(forward_ops_among_gradients),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
