/* What edges of a session's graph, and types of ops in graphs, tell of each run's work. */
#include "excess_program.h"

#include "base/macros.h"
#include "model/op_graph.h"

enum { PICTURE, READ, CONV, STYLE, TARGETS, LOSS, GRADIENT, UPDATE, TABLE, NORMED, NODES };

/* A picture that is trained goes through a convolution of 3 ms, what is fed through one of 2 ms,
 * and a table is normalised, 1 ms, whose variable nothing assigns; the loss and its gradient take
 * 1 ms and 3 ms. Edges that cases differ in come behind. */
static void draw(struct program *program, struct op_edge other, const char *fed)
{
    static const struct {
        const char *name, *type;
        int64_t     ns;
    } nodes[NODES] = {
        [PICTURE] = { "picture", "VarHandleOp", 0 },
        [READ] = { "picture/Read", "ReadVariableOp", 0 },
        [CONV] = { "net/Conv2D", "Conv2D", 3000000 },
        [STYLE] = { "style", "Placeholder", 0 },
        [TARGETS] = { "style_net/Conv2D", "Conv2D", 2000000 },
        [LOSS] = { "loss", "SquaredDifference", 1000000 },
        [GRADIENT] = { "gradients/net/Conv2D_grad/Conv2DBackpropInput", "Conv2DBackpropInput",
                       3000000 },
        [UPDATE] = { "Adam/update", "ResourceApplyAdam", 10000 },
        [TABLE] = { "table", "VarHandleOp", 0 },
        [NORMED] = { "normed", "Mul", 1000000 },
    };
    const struct op_edge edges[] = {
        { PICTURE, READ, false, 0 },   { READ, CONV, false, 0 },
        { STYLE, TARGETS, false, 0 },  { CONV, LOSS, false, 0 },
        { TARGETS, LOSS, false, 1 },   { LOSS, GRADIENT, false, 0 },
        { PICTURE, UPDATE, false, 0 }, { GRADIENT, UPDATE, false, 1 },
        { TABLE, NORMED, false, 0 },   other,
    };
    struct profile *profile = &program->b.profile;
    struct err      err = { 0 };
    uint32_t        activities[NODES];

    start(program);
    profile->format = FORMAT_PROFILE;
    profile->framework = builder_name(&program->b, "tensorflow");
    for (int i = 0; i < NODES; i++)
        activities[i] = builder_activity(
            &program->b, nodes[i].name, ACTIVITY_OP,
            builder_op(&program->b, nodes[i].name, i == STYLE ? fed : nodes[i].type, "f32[8,64]"));
    profile->graph = op_graph_new(&program->b.arena, NODES, edges, ARRAY_COUNT(edges), &err);
    assert_non_null(profile->graph);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < NODES; i++) {
            if (nodes[i].ns)
                builder_event(&program->b, program->thread, activities[i], program->now,
                              nodes[i].ns);
            program->now += nodes[i].ns;
        }
        end_step(program);
    }
    finish(program);
}

/* The table is the same in each run: 1 ms. So are targets that a picture's layers are compared
 * with, 2 ms more: not where what is fed goes into the picture's layer as well, and not where it
 * comes from an iterator. A table that a run adds to is none. */
TEST(the_same_in_each_run)
{
    static const struct {
        struct op_edge other;
        const char    *fed;
        double         claimed_ns;
    } rows[] = {
        { { STYLE, TARGETS, false, 0 }, "Placeholder", 3e6 },
        { { STYLE, CONV, false, 1 }, "Placeholder", 1e6 },
        { { STYLE, TARGETS, false, 0 }, "IteratorGetNext", 1e6 },
        { { TABLE, UPDATE, false, 2 }, "IteratorGetNext", 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct program program;

        draw(&program, rows[i].other, rows[i].fed);
        assert_true(fabs(claimed(&program, "fixed-targets") - rows[i].claimed_ns) < 1);
        builder_free(&program.b);
    }
}

/* A function that trains: a layer of 3 ms, an op of 2 ms without a scope, and the layer's gradient.
 * A decoder has no gradient, and is for a metric: 98 % of 2 ms. A product may be of the model,
 * whose gradient names no scope either. */
TEST(ops_that_have_no_gradient)
{
    for (int is_decoder = 0; is_decoder < 2; is_decoder++) {
        struct program program;

        start(&program);
        program.b.profile.format = FORMAT_XSPACE;
        program.b.profile.framework = builder_name(&program.b, "tensorflow");
        for (int step = 0; step < 4; step++) {
            run(&program, "dense/MatMul", "f32[8,64] f32[64,64]", 3000000);
            run(&program, is_decoder ? "CTCBeamSearchDecoder" : "MatMul", "f32[8,64]", 2000000);
            run(&program, "gradient_tape/dense/MatMul", "f32[64,64]", 3000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "untrained-results") - (is_decoder ? 0.98 * 2e6 : 0)) <
                    1);
        builder_free(&program.b);
    }
}

/* A run of a session that trains: a layer of 2 ms, a curve's scope of 1 + 1 ms, and the layer's
 * gradients of 3 ms. The curve joins comparisons and adds to a variable: 98 % of 2 ms. What only
 * joins may be a mask, what only adds counts runs, and a scope that a gradient is for is the
 * model's. */
TEST(counts_from_run_to_run)
{
    static const struct {
        const char *joins, *adds, *gradient;
        double      claimed_ns;
    } rows[] = {
        { "LogicalAnd", "AssignAdd", "gradients/dense/MatMul_grad/MatMul_1", 0.98 * 2e6 },
        { "LogicalAnd", "AssignAddVariableOp", "gradients/dense/MatMul_grad/MatMul_1", 0.98 * 2e6 },
        { "LogicalAnd", "Select", "gradients/dense/MatMul_grad/MatMul_1", 0 },
        { "Cast", "AssignAdd", "gradients/dense/MatMul_grad/MatMul_1", 0 },
        { "LogicalAnd", "AssignAdd", "gradients/auc/join_grad/Mul", 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct program program;
        const char    *names[] = { "dense/MatMul", "auc/join", "auc/add",
                                   "gradients/dense/MatMul_grad/MatMul", rows[i].gradient };
        const char    *types[] = { "MatMul", rows[i].joins, rows[i].adds, "MatMul", "MatMul" };
        const int64_t  ns[] = { 2000000, 1000000, 1000000, 2000000, 1000000 };
        uint32_t       activities[ARRAY_COUNT(names)];

        start(&program);
        program.b.profile.format = FORMAT_XSPACE;
        program.b.profile.framework = builder_name(&program.b, "tensorflow");
        for (size_t op = 0; op < ARRAY_COUNT(names); op++)
            activities[op] = builder_activity(&program.b, names[op], ACTIVITY_OP,
                                              builder_op(&program.b, names[op], types[op], NULL));
        for (int step = 0; step < 4; step++) {
            for (size_t op = 0; op < ARRAY_COUNT(names); program.now += ns[op++])
                builder_event(&program.b, program.thread, activities[op], program.now, ns[op]);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "untrained-results") - rows[i].claimed_ns) < 1);
        builder_free(&program.b);
    }
}

/* Four runs of a session that train, 7 ms, and behind the first one that does not, 6 ms: it scores
 * the model, 98 % of 6 ms in four steps. One behind each is asked for what the next one needs. */
TEST(runs_that_score_the_model)
{
    for (int is_each = 0; is_each < 2; is_each++) {
        struct program program;

        start(&program);
        program.b.profile.format = FORMAT_XSPACE;
        program.b.profile.framework = builder_name(&program.b, "tensorflow");
        for (int step = 0; step < 4; step++) {
            slice(&program, "SessionRun", ACTIVITY_RUN, NULL, 7000000);
            run(&program, "MatMul", "f32[8,64] f32[64,64]", 4000000);
            run(&program, "gradients/dense/MatMul_grad/MatMul", "f32[64,64]", 3000000);
            if (is_each || step == 0) {
                slice(&program, "SessionRun", ACTIVITY_RUN, NULL, 6000000);
                run(&program, "BatchMatMul", "f32[90,8,64] f32[64,64]", 6000000);
            }
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "evaluation-calls") - (is_each ? 0 : 0.98 * 6e6 / 4)) <
                    1);
        builder_free(&program.b);
    }
}

/* Two graph functions a step read batches of their own: the one that trains, 7 ms, and one that
 * does not, 6 ms. A function of Keras that validates need run once in fifty steps only; what
 * predict says in each step, a policy's actions, is asked for. */
TEST(predictions_in_each_step_are_no_evaluation)
{
    static const struct {
        const char *function;
        double      claimed_ns;
    } rows[] = {
        { "EagerLocalExecute: __inference_one_step_on_data_9", 0.98 * 6e6 },
        { "EagerLocalExecute: __inference_one_step_on_data_distributed_9", 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct program program;

        start(&program);
        program.b.profile.format = FORMAT_XSPACE;
        program.b.profile.framework = builder_name(&program.b, "tensorflow");
        for (int step = 0; step < 4; step++) {
            slice(&program, "EagerLocalExecute: __inference_train_8", ACTIVITY_DISPATCH, NULL,
                  7000000);
            run(&program, "IteratorGetNext", "f32[8,64]", 1000000);
            run(&program, "dense/MatMul", "f32[8,64] f32[64,64]", 3000000);
            run(&program, "gradient_tape/dense/MatMul", "f32[64,64]", 3000000);
            slice(&program, rows[i].function, ACTIVITY_DISPATCH, NULL, 6000000);
            run(&program, "IteratorGetNext", "f32[90,8,64]", 1000000);
            run(&program, "dense/MatMul", "f32[90,8,64] f32[64,64]", 5000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "evaluation-calls") - rows[i].claimed_ns) < 1);
        builder_free(&program.b);
    }
}
