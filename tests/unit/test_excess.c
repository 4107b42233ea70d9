/* Work that nobody needs: gradients, rows, passes and products. */
#include "excess_program.h"

/* A gradient that is kept as it is, or added to the one that is there. */
static void gradient(struct program *program, const char *tensors, bool is_new)
{
    slice(program, "autograd::engine::evaluate_function: X", ACTIVITY_EXECUTOR, NULL, 100000);
    slice(program, "torch::autograd::AccumulateGrad", ACTIVITY_OP, tensors, 100000);
    run(program, is_new ? "aten::detach" : "aten::add_", tensors, 100000);
}

/* Two gradients of five are of the shape that the update takes, and come first: the 2 + 2 + 2 ms
 * behind them are for nothing, also where the optimizer was given a closure, all 12.5 ms. */
TEST(gradients_that_no_update_takes)
{
    for (int is_closure = 0; is_closure < 2; is_closure++) {
        struct program program;

        (void)state;
        start(&program);
        if (is_closure)
            slice(&program, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, NULL, 12500000);
        run(&program, "aten::linear", "f32[8,64] f32[64,64]", 5000000);
        node(&program, "aten::mm", "f32[8,10] f32[10,64]", 1000000);
        node(&program, "torch::autograd::AccumulateGrad", "f32[10,64]", 100000);
        node(&program, "torch::autograd::AccumulateGrad", "f32[10,64]", 100000);
        for (int i = 0; i < 3; i++) {
            node(&program, "aten::mm", "f32[8,64] f32[64,64]", 1900000);
            node(&program, "torch::autograd::AccumulateGrad", "f32[64,64]", 100000);
        }
        if (!is_closure)
            slice(&program, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, NULL, 300000);
        run(&program, "aten::_fused_sgd_", "f32[10,64] f32[10,64]", 300000);
        finish(&program);
        assert_true(fabs(claimed(&program, "unused-gradients") - 6e6) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* The same with an update of all shapes. */
TEST(gradients_that_are_applied)
{
    struct program program;

    start(&program);
    node(&program, "torch::autograd::AccumulateGrad", "f32[10,64]", 100000);
    node(&program, "aten::mm", "f32[8,64] f32[64,64]", 1900000);
    node(&program, "torch::autograd::AccumulateGrad", "f32[64,64]", 100000);
    run(&program, "aten::_fused_sgd_", "f32[10,64] f32[64,64]", 300000);
    finish(&program);
    assert_true(claimed(&program, "unused-gradients") == 0);
    builder_free(&program.b);
}

/* The first pass hands a gradient to its own layer, which the update behind it takes, and one to
 * the layer before, 1.9 + 0.1 ms. The second pass makes that one anew: it was for nothing. Added
 * to, it was not. */
TEST(gradients_that_are_thrown_away)
{
    for (int is_new = 0; is_new < 2; is_new++) {
        struct program program;

        (void)state;
        start(&program);
        node(&program, "aten::mm", "f32[8,10] f32[10,64]", 1000000);
        gradient(&program, "f32[10,64]", true);
        node(&program, "aten::mm", "f32[8,64] f32[64,64]", 1900000);
        gradient(&program, "f32[64,64]", true);
        run(&program, "aten::_fused_sgd_", "f32[10,64] f32[10,64]", 300000);
        run(&program, "aten::linear", "f32[8,64] f32[64,64]", 5000000);
        node(&program, "aten::mm", "f32[8,64] f32[64,64]", 1900000);
        gradient(&program, "f32[64,64]", is_new);
        run(&program, "aten::_fused_sgd_", "f32[64,64] f32[64,64]", 300000);
        finish(&program);
        assert_true(fabs(claimed(&program, "unused-gradients") - (is_new ? 2e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* A student and a teacher of the same shapes, 2 + 2 ms, and an update of one of them: half of it is
 * for nothing. Not where each has an optimizer. */
TEST(gradients_of_a_teacher)
{
    for (int optimizers = 1; optimizers <= 2; optimizers++) {
        struct program program;

        (void)state;
        start(&program);
        run(&program, "aten::linear", "f32[8,64] f32[10,64]", 5000000);
        for (int i = 0; i < 2; i++) {
            node(&program, "aten::mm", "f32[10,8] f32[8,64]", 1900000);
            node(&program, "torch::autograd::AccumulateGrad", "f32[10,64]", 100000);
        }
        for (int i = 0; i < optimizers; i++) {
            slice(&program, i ? "Optimizer.step#SGD.step" : "Optimizer.step#SGD.step ",
                  ACTIVITY_ANNOTATION, NULL, 300000);
            run(&program, "aten::_foreach_add_", "f32[10,64] f32[10,64]", 300000);
        }
        run(&program, "aten::_foreach_lerp_", "f32[10,64] f32[10,64]", 300000);
        finish(&program);
        assert_true(fabs(claimed(&program, "unused-gradients") - (optimizers == 1 ? 2e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Ten gradients without shapes, and an update of two ops: eight are for nothing, 8 * 2 ms. An op
 * over lists may take all; and of a step whose update is not seen nothing is known. */
TEST(more_gradients_than_updates)
{
    enum { FEW, LIST, ELSEWHERE, CASES };

    for (int way = FEW; way < CASES; way++) {
        struct program program;

        (void)state;
        start(&program);
        program.b.profile.has_shapes = false;
        run(&program, "aten::linear", NULL, 5000000);
        for (int i = 0; i < 10; i++) {
            if (way == ELSEWHERE && i == 8)
                end_step(&program);
            node(&program, "aten::mm", NULL, 1900000);
            node(&program, "torch::autograd::AccumulateGrad", NULL, 100000);
        }
        slice(&program, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, NULL, 600000);
        for (int i = 0; i < 2; i++)
            run(&program, way == LIST ? "aten::_foreach_add_" : "aten::add_", NULL, 300000);
        finish(&program);
        assert_true(fabs(claimed(&program, "unused-gradients") - (way == FEW ? 16e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Five gradients of weights, then five products of 2 ms through frozen layers, down to an input
 * whose gradient nothing takes: 10 ms and 0.4. A prompt that is learnt is updated, without shapes
 * all rows are summed for it; an attack reads the input's gradient; a single layer is little; and
 * where no update is seen, as while gradients add up, nothing is known. */
TEST(a_way_back_to_the_input)
{
    enum { KEPT, KEPT_UNSHAPED, PROMPT, PROMPT_UNSHAPED, ATTACK, SHORT, ADDED_UP, CASES };

    for (int way = KEPT; way < CASES; way++) {
        bool           is_found = way == KEPT || way == KEPT_UNSHAPED;
        bool           has_shapes = way != KEPT_UNSHAPED && way != PROMPT_UNSHAPED;
        const char    *rows = has_shapes ? "f32[8,16,64]" : NULL;
        struct program program;

        (void)state;
        start(&program);
        program.b.profile.has_shapes = has_shapes;
        run(&program, "aten::linear", has_shapes ? "f32[8,16,64] f32[64,64]" : NULL, 5000000);
        for (int i = 0; i < 5; i++) {
            node(&program, "aten::mm", has_shapes ? "f32[4,128] f32[128,64]" : NULL, 1000000);
            node(&program, "torch::autograd::AccumulateGrad", has_shapes ? "f32[4,64]" : NULL,
                 100000);
        }
        for (int i = 0; i < (way == SHORT ? 1 : 5); i++)
            node(&program, "aten::mm", has_shapes ? "f32[128,64] f32[64,64]" : NULL, 2000000);
        node(&program, "aten::mul", rows, 300000);
        if (way == PROMPT_UNSHAPED)
            node(&program, "aten::sum", NULL, 100000);
        node(&program, "torch::autograd::AccumulateGrad", rows, 100000);
        if (way == ATTACK)
            run(&program, "aten::sign", "f32[8,16,64]", 100000);
        if (way != ADDED_UP)
            run(&program, "aten::_fused_adamw_",
                !has_shapes     ? NULL
                : way == PROMPT ? "f32[4,64] f32[8,16,64]"
                                : "f32[4,64]",
                300000);
        finish(&program);
        assert_true(fabs(claimed(&program, "unused-gradients") - (is_found ? 10.4e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* A discriminator of one layer, trained first: 0.9 ms for its weights. On the way to the generator
 * it gets a gradient again, 1.5 ms, which the next step clears; what goes on to the generator is
 * needed. An attack takes the gradient of the input alone. */
TEST(gradients_on_the_way)
{
    for (int is_attack = 0; is_attack < 2; is_attack++) {
        struct program program;

        (void)state;
        start(&program);
        if (!is_attack) {
            node(&program, "aten::mm", "f32[10,16] f32[16,64]", 900000);
            gradient(&program, "f32[10,64]", true);
            run(&program, "aten::_fused_sgd_", "f32[10,64] f32[10,64]", 300000);
        }
        run(&program, "aten::linear", "f32[8,64] f32[10,64]", 1000000);
        node(&program, "aten::mm", "f32[8,10] f32[10,64]", 1000000);
        node(&program, "aten::mm", "f32[10,8] f32[8,64]", 1500000);
        gradient(&program, "f32[10,64]", false);
        if (is_attack) {
            gradient(&program, "f32[8,64]", true);
            run(&program, "aten::sign", "f32[8,64]", 100000);
        } else {
            node(&program, "aten::mm", "f32[64,8] f32[8,64]", 1900000);
            gradient(&program, "f32[64,64]", true);
            run(&program, "aten::_fused_sgd_", "f32[64,64] f32[64,64]", 300000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "unused-gradients") - 1.5e6) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* An image that L-BFGS changes, which asks its closure twice. The network runs twice in each, and
 * of the 3 ms back through a convolution half makes the gradient of its weights: 2 * 2 * 1.5 ms.
 * Not where the weights are changed too. */
TEST(gradients_of_weights_beside_an_image)
{
    for (int changes_weights = 0; changes_weights < 2; changes_weights++) {
        struct program program;

        (void)state;
        start(&program);
        slice(&program, "Optimizer.step#LBFGS.step", ACTIVITY_ANNOTATION, NULL, 17002000);
        for (int round = 0; round < 2; round++) {
            trained(&program, "f32[8,64] f32[64,64]", 2000000);
            for (int i = 0; i < 2; i++)
                node(&program, "aten::convolution_backward",
                     "f32[1,64,8,8] f32[1,3,8,8] f32[64,3,3,3]", 3000000);
            gradient(&program, "f32[64,3,3,3]", true);
            gradient(&program, "f32[1,3,8,8]", true);
            run(&program, "aten::dot", "f32[192] f32[192]", 100000);
            run(&program, "aten::add_", "f32[1,3,8,8] f32[1,3,8,8]", 100000);
            run(&program, "aten::add_",
                changes_weights ? "f32[64,3,3,3] f32[64,3,3,3]" : "f32[192] f32[192]", 100000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "unused-gradients") - (changes_weights ? 0 : 6e6)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Of 2000 rows that are scaled, 3 ms and 1 ms back, 100 are looked up: 19/20 of it is for nothing.
 * Not where twenty lookups take as many each. Rows of a grid of 40 times 50 are as many. */
TEST(rows_that_nothing_looks_up)
{
    enum { ROWS, ALL, GRID, WAYS };

    for (int way = ROWS; way < WAYS; way++) {
        const char *scaled =
            way == GRID ? "f32[40,50,16] f32[40,50,1]" : "f32[2000,16] f32[2000,1]";
        struct program program;
        uint32_t       tag;

        start(&program);
        tag = run(&program, "aten::div", scaled, 3000000);
        builder_flow(&program.b, tag, tag, FLOW_FORWARD_BACKWARD);
        for (int i = 0; i < (way == ALL ? 20 : 1); i++)
            run(&program, "aten::index_select", "f32[2000,16] s64[100]", 100000);
        run(&program, "aten::linear", "f32[100,16] f32[4,16]", 100000);
        node(&program, "aten::div", scaled, 1000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "unpicked-rows") - (way == ALL ? 0 : 0.95 * 4e6)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Both ends of 80 edges are looked up among 10 nodes and multiplied: all but an eighth of 4 + 2 + 2
 * ms is for copies. Not where there are as many nodes. */
TEST(rows_that_are_looked_up)
{
    for (int is_large = 0; is_large < 2; is_large++) {
        const char    *table = is_large ? "f32[80,8] s64[80]" : "f32[10,8] s64[80]";
        struct program program;

        (void)state;
        start(&program);
        run(&program, "aten::index_select", table, 100000);
        run(&program, "aten::select", "s64[2,80]", 10000);
        run(&program, "aten::index_select", table, 100000);
        run(&program, "aten::cat", "f32[80,8] f32[80,8]", 100000);
        run(&program, "aten::linear", "f32[80,16] f32[4,16]", 4000000);
        run(&program, "aten::linear", "f32[80,4] f32[4,4]", 4000000);
        node(&program, "aten::mm", "f32[80,4] f32[4,4]", 2000000);
        node(&program, "aten::mm", "f32[80,4] f32[4,16]", 2000000);
        node(&program, "aten::mm", "f32[4,80] f32[80,16]", 2000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "repeated-rows") - (is_large ? 0 : 7e6)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* All pairs of 100 rows of 10 are made, 2 ms, scaled, 1 ms, and multiplied with rows of 10, 2 ms;
 * the gradient makes them again, 2 ms: 100 * 100 * 20 operations, where 10 * 10 * 200 would do.
 * Not with a softmax between. */
TEST(pairs_that_are_only_multiplied)
{
    for (int has_softmax = 0; has_softmax < 2; has_softmax++) {
        struct program program;

        (void)state;
        start(&program);
        run(&program, "aten::matmul", "f32[4,100,10] f32[4,10,100]", 2000000);
        run(&program, "aten::mul", "f32[4,100,100] f32[]", 1000000);
        if (has_softmax)
            run(&program, "aten::softmax", "f32[4,100,100]", 1000000);
        run(&program, "aten::matmul", "f32[4,100,100] f32[4,100,10]", 2000000);
        node(&program, "aten::bmm", "f32[4,100,10] f32[4,10,100]", 2000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "product-order") - (has_softmax ? 0 : 0.9 * 7e6)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Behind the update weights are averaged in place, then predictions are sorted and summed up, 2 + 1
 * ms and the 1 ms of a comparison, of which one step in fifty is enough. Before the update, and in
 * a network, they are none; a product with a bank, 5 ms, whose results are sorted at once, is one.
 */
TEST(a_metric_of_each_batch)
{
    enum { BEHIND, BEFORE, NETWORK, BANK, CASES };

    for (int way = BEHIND; way < CASES; way++) {
        struct program program;
        uint32_t       tag;

        start(&program);
        tag = run(&program, "aten::linear", "f32[32,64] f32[64,64]", 5000000);
        builder_flow(&program.b, tag, tag, FLOW_FORWARD_BACKWARD);
        if (way == BEFORE)
            run(&program, "aten::sort", "f32[32]", 3000000);
        node(&program, "aten::mm", "f32[32,64] f32[64,64]", 1000000);
        run(&program, "aten::_fused_sgd_", "f32[64,64]", 300000);
        run(&program, "aten::lerp_", "f32[64,64] f32[64,64]", 300000);
        run(&program, "aten::ge", "f32[32]", 1000000);
        if (way == NETWORK)
            run(&program, "aten::linear", "f32[32,64] f32[64,64]", 5000000);
        if (way == BANK)
            run(&program, "aten::matmul", "f32[32,64] f32[64,900]", 5000000);
        if (way != BEFORE) {
            run(&program, "aten::sort", "f32[32]", 2000000);
            run(&program, "aten::cumsum", "f32[32]", 1000000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "metrics") - (way == BEHIND ? 0.98 * 4e6
                                                         : way == BANK ? 0.98 * 9e6
                                                                       : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Labels are counted, 2 ms, and rows of eight summed by them, 3 ms, for the means of classes that
 * the next step takes. Hits in each of eight classes are a metric's. */
TEST(means_of_classes_are_no_metric)
{
    for (int is_metric = 0; is_metric < 2; is_metric++) {
        struct program program;
        uint32_t       tag;

        start(&program);
        tag = run(&program, "aten::linear", "f32[32,64] f32[64,64]", 5000000);
        builder_flow(&program.b, tag, tag, FLOW_FORWARD_BACKWARD);
        node(&program, "aten::mm", "f32[32,64] f32[64,64]", 1000000);
        run(&program, "aten::_fused_sgd_", "f32[64,64]", 300000);
        run(&program, "aten::bincount", "s64[32]", 2000000);
        run(&program, "aten::index_add_",
            is_metric ? "f32[8] s64[32] f32[32]" : "f32[8,64] s64[32] f32[32,64]", 3000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "metrics") - (is_metric ? 0.98 * 5e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* In each of two steps a curve is computed over all predictions so far, 32 more each time: 3 + 1 ms
 * and the 0.5 ms between. What is trained on as many is not for that. */
TEST(a_history_in_each_step)
{
    for (int is_trained = 0; is_trained < 2; is_trained++) {
        struct program program;

        start(&program);
        for (int step = 0; step < 2; step++) {
            const char *all = step ? "f32[352]" : "f32[320]";
            uint32_t    tag = run(&program, "aten::linear", "f32[32,64] f32[64,64]", 5000000);

            builder_flow(&program.b, tag, tag, FLOW_FORWARD_BACKWARD);
            run(&program, "aten::sort", all, 3000000);
            program.now += 500000;
            run(&program, "aten::cumsum", all, 1000000);
            node(&program, "aten::mm",
                 is_trained ? step ? "f32[352,64]" : "f32[320,64]" : "f32[32,64]", 1000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "whole-history") - (is_trained ? 0 : 4.5e6)) < 1);
        builder_free(&program.b);
    }
}

/* A head over 40 rows of which one is read: 39/40 of 4 ms. All rows of another are read. */
TEST(rows_that_are_thrown_away)
{
    struct program program;
    uint32_t       tag;

    start(&program);
    run(&program, "aten::linear", "f32[2,40,96] f32[8000,96]", 4000000);
    tag = run(&program, "aten::select", "f32[2,40,8000]", 5000);
    builder_stat(&program.b, tag, STAT_CONCRETE_INPUTS,
                 (int64_t)builder_name(&program.b, "[\"\", \"1\", \"-1\"]"));
    run(&program, "aten::linear", "f32[2,40,96] f32[96,96]", 4000000);
    run(&program, "aten::relu", "f32[2,40,96]", 100000);
    finish(&program);
    assert_true(fabs(claimed(&program, "thrown-rows") - 4e6 * 39 / 40) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* B A, of 16 columns, and the sum with W before each product: 0.5 + 0.2 ms, three times. */
TEST(weights_from_parameters)
{
    struct program program;

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

/* A matrix of 8-bit numbers is converted and scaled to be a weight, 0.7 ms of 1.2, or one as large
 * as the rows that the layer works on. */
TEST(weights_from_integers)
{
    for (int is_data = 0; is_data < 2; is_data++) {
        struct program program;

        start(&program);
        run(&program, "aten::layer_norm", "f32[8,64]", 200000);
        run(&program, "aten::to", "i8[128,64]", 300000);
        run(&program, "aten::mul", "f32[128,64] f32[128,1]", 400000);
        run(&program, "aten::linear", is_data ? "f32[128,64] f32[128,64]" : "f32[8,64] f32[128,64]",
            300000);
        finish(&program);
        assert_true(fabs(claimed(&program, "derived-weight") - (is_data ? 0 : 0.7e6)) < 1);
        builder_free(&program.b);
    }
}

/* Nothing is trained, and the weight of a convolution is normed, 0.4 ms, or standardised as rows
 * and scaled, 0.3 + 0.2 ms, or inverted, 0.6 ms. What has its sizes but is the layer's data is no
 * identity is not known to be for it, and 0.15 of what lies behind it leads to the path. */
TEST(weights_that_are_normed_again)
{
    struct program program;

    start(&program);
    run(&program, "aten::leaky_relu", "f32[1,96,32]", 100000);
    run(&program, "aten::_weight_norm", "f32[96,96,7] f32[96,1,1]", 400000);
    run(&program, "aten::conv1d", "f32[1,96,32] f32[96,96,7]", 500000);
    run(&program, "aten::batch_norm", "f32[1,64,576]", 300000);
    run(&program, "aten::mul", "f32[64,64,3,3]", 200000);
    run(&program, "aten::conv2d", "f32[2,64,8,8] f32[64,64,3,3]", 500000);
    run(&program, "aten::mul", "f32[64,64,3,3]", 200000);
    run(&program, "aten::conv2d", "f32[64,64,3,3] f32[64,64,3,3]", 500000);
    run(&program, "aten::inverse", "f32[96,96]", 600000);
    run(&program, "aten::conv1d", "f32[1,96,32] f32[96,96,1]", 500000);
    finish(&program);
    assert_true(fabs(claimed(&program, "derived-weight") - 1.5e6) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* The same without shapes: a batch norm, 0.3 ms, of a weight that is laid out as rows and back,
 * 0.02 ms, and weight_norm, 0.4 ms. A batch norm of what a convolution made is none of a weight,
 * nor is one of data that is transposed for it. */
TEST(weights_that_are_normed_again_without_shapes)
{
    struct program program;

    start(&program);
    program.b.profile.has_shapes = false;
    run(&program, "aten::reshape", NULL, 10000);
    run(&program, "aten::batch_norm", NULL, 300000);
    run(&program, "aten::reshape_as", NULL, 20000);
    run(&program, "aten::conv2d", NULL, 500000);
    run(&program, "aten::batch_norm", NULL, 300000);
    run(&program, "aten::conv2d", NULL, 500000);
    run(&program, "aten::transpose", NULL, 10000);
    run(&program, "aten::batch_norm", NULL, 300000);
    run(&program, "aten::transpose", NULL, 10000);
    run(&program, "aten::conv1d", NULL, 500000);
    run(&program, "aten::_weight_norm", NULL, 400000);
    run(&program, "aten::conv1d", NULL, 500000);
    finish(&program);
    assert_true(fabs(claimed(&program, "derived-weight") - 0.72e6) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

static void trained_way_back(struct program *program, uint32_t forward, const char *op,
                             const char *shapes, int64_t ns)
{
    uint32_t back =
        slice(program, "autograd::engine::evaluate_function: X", ACTIVITY_EXECUTOR, NULL, ns);

    run(program, op, shapes, ns);
    builder_flow(&program->b, forward, back, FLOW_FORWARD_BACKWARD);
}

/* Behind four layers of 1 ms, a product of 3 ms, its loss of 5 ms, and back 4 and 6: 18 of 26 ms.
 * Of 20480 classes 512, a fortieth, are kept; where they are not known, 0.03; of 512 nothing is
 * said. */
TEST(a_loss_over_many_classes)
{
    static const struct {
        const char *logits;
        bool        has_shapes;
        double      excess_ns;
    } cases[] = { { "f32[64,20480] i64[64]", true, 0.975 * 18e6 },
                  { "", false, 0.97 * 18e6 },
                  { "f32[64,512] i64[64]", true, 0 } };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct program program;
        uint32_t       layers[4], product, loss;

        start(&program);
        program.b.profile.has_shapes = cases[i].has_shapes;
        for (int l = 0; l < 4; l++)
            layers[l] = run(&program, "aten::linear", "f32[64,48] f32[48,48]", 1000000);
        product = run(&program, "aten::matmul", "f32[64,48] f32[48,20480]", 3000000);
        loss = run(&program, "aten::cross_entropy_loss", cases[i].logits, 5000000);
        trained_way_back(&program, loss, "aten::_log_softmax_backward_data", "f32[64,20480]",
                         4000000);
        trained_way_back(&program, product, "aten::mm", "f32[48,64] f32[64,20480]", 6000000);
        for (int l = 4; l-- > 0;)
            trained_way_back(&program, layers[l], "aten::mm", "f32[64,48] f32[48,48]", 1000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "wide-loss") - cases[i].excess_ns) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Two of four experts are picked for each of 64 rows; all products of 1 ms are over all of them, or
 * over those that picked the expert. */
TEST(experts_on_rows_of_others)
{
    for (int way = 0; way < 2; way++) {
        struct program program;

        start(&program);
        run(&program, "aten::linear", "f32[64,96] f32[4,96]", 100000);
        run(&program, "aten::softmax", "f32[64,4]", 100000);
        run(&program, "aten::topk", "f32[64,4]", 100000);
        run(&program, "aten::scatter", "f32[64,4] i64[] i64[64,2] f32[64,2]", 100000);
        for (int e = 0; e < 4; e++)
            run(&program, "aten::linear", way ? "f32[31,96] f32[96,96]" : "f32[64,96] f32[96,96]",
                1000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "idle-experts") - (way ? 0 : 0.5 * 4e6)) < 1);
        builder_free(&program.b);
    }
}

/* A matrix of 64 rows is inverted for 2 ms in each of two steps that train; not where a product of
 * a batch makes it right before, nor where there is one for each row. */
TEST(a_matrix_that_stays)
{
    enum { STAYS, MADE, MANY, CASES };

    for (int way = STAYS; way < CASES; way++) {
        struct program program;

        start(&program);
        for (int step = 0; step < 2; step++) {
            if (way == MADE)
                run(&program, "aten::matmul", "f32[64,256] f32[256,64]", 100000);
            run(&program, "aten::linalg_inv", way == MANY ? "f32[256,64,64]" : "f32[64,64]",
                2000000);
            trained(&program, "f32[8,64] f32[64,64]", 1000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "fixed-matrix") - (way == STAYS ? 2e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Beside four products two thin ones, a scale and a sum: 0.1 + 0.1 + 0.05 + 0.05 ms each. Half as
 * wide as the layer is not thin. */
TEST(adapters_beside_weights)
{
    for (int is_thin = 0; is_thin < 2; is_thin++) {
        struct program program;

        (void)state;
        start(&program);
        for (int i = 0; i < 4; i++) {
            run(&program, "aten::linear", "f32[8,64] f32[64,64]", 1000000);
            run(&program, "aten::linear", is_thin ? "f32[8,64] f32[8,64]" : "f32[8,64] f32[32,64]",
                100000);
            run(&program, "aten::linear", is_thin ? "f32[8,8] f32[64,8]" : "f32[8,32] f32[64,32]",
                100000);
            run(&program, "aten::mul", "f32[8,64]", 50000);
            run(&program, "aten::add", "f32[8,64] f32[8,64]", 50000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "side-product") - (is_thin ? 1.2e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Beside four products, 0.4 ms each of an identity through both thin ones, its sum with the weight
 * and a norm, and 0.25 of the path itself. Where no sum with the weight follows, what is done with
 * the identity is not known to be for it, and 0.15 of what lies behind it leads to the path. */
TEST(adapters_that_rescale_their_weight)
{
    for (int is_weight = 0; is_weight < 2; is_weight++) {
        struct program program;

        (void)state;
        start(&program);
        for (int i = 0; i < 4; i++) {
            run(&program, "aten::addmm", "f32[256] f32[8,64] f32[64,256]", 1000000);
            run(&program, "aten::eye", NULL, 50000);
            run(&program, "aten::linear", "f32[64,64] f32[8,64]", 100000);
            run(&program, "aten::linear", "f32[64,8] f32[256,8]", 100000);
            run(&program, "aten::add", is_weight ? "f32[256,64] f32[256,64]" : "f32[64] f32[64]",
                100000);
            run(&program, "aten::linalg_norm", "f32[256,64]", 50000);
            run(&program, "aten::linear", "f32[8,64] f32[8,64]", 100000);
            run(&program, "aten::linear", "f32[8,8] f32[256,8]", 100000);
            run(&program, "aten::add", "f32[8,256] f32[8,256]", 50000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "side-product") - (is_weight ? 2.6e6 : 1.6e6)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
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
TEST(forward_ops_among_gradients)
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

/* A preconditioner's roots, 2 ms each, come between the gradients of two layers, behind an update
 * of what they are of: no layer runs there, so that the second is no copy of the first. */
TEST(roots_among_gradients)
{
    struct program program;

    (void)state;
    start(&program);
    program.b.profile.framework = builder_name(&program.b, "tensorflow");
    graph_op(&program, "layer/MatMul", "MatMul", 1000000);
    graph_op(&program, "layer_1/MatMul", "MatMul", 1000000);
    graph_op(&program, "gradient_tape/layer_1/MatMul/MatMul", "MatMul", 1000000);
    graph_op(&program, "AssignAddVariableOp", "AssignAddVariableOp", 100000);
    graph_op(&program, "SelfAdjointEigV2", "SelfAdjointEigV2", 2000000);
    graph_op(&program, "MatMul", "MatMul", 500000);
    graph_op(&program, "gradient_tape/layer/MatMul/MatMul", "MatMul", 1000000);
    graph_op(&program, "SelfAdjointEigV2_1", "SelfAdjointEigV2", 2000000);
    graph_op(&program, "MatMul_1", "MatMul", 500000);
    finish(&program);
    assert_true(claimed(&program, "forward-again") < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* A scope runs before and among gradients, 2 ms each: a copy where gradients are for it, and none
 * where they are for the layer beside it alone. */
TEST(scopes_among_gradients)
{
    for (int is_trained = 0; is_trained < 2; is_trained++) {
        struct program program;

        (void)state;
        start(&program);
        program.b.profile.framework = builder_name(&program.b, "tensorflow");
        graph_op(&program, "layer/Conv2D", "_FusedConv2D", 2000000);
        graph_op(&program, "block/Conv2D", "_FusedConv2D", 2000000);
        graph_op(&program, "gradient_tape/layer/Conv2D/Conv2DBackpropInput", "Conv2DBackpropInput",
                 3000000);
        graph_op(&program, "block/Conv2D_1", "_FusedConv2D", 2000000);
        graph_op(&program,
                 is_trained ? "gradient_tape/block/Conv2D_1/Conv2DBackpropInput"
                            : "gradient_tape/layer/Conv2D/Conv2DBackpropFilter",
                 "Conv2DBackpropInput", 3000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "forward-again") - (is_trained ? 2e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}
