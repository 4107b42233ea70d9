/* Work of eager programs of which a part would do: arrays that are made in full, inverses. */
#include "excess_program.h"

/* Pictures of 8 classes are resized, 4 ms, and squashed, 2 ms and 1 ms back, and one class of each
 * is picked: 7/8 of it is for nothing. Not where another op takes all of them, where the op is done
 * in place, which changes a state, or where half of them are kept. */
TEST(classes_that_are_not_picked)
{
    enum { PICKED, TAKEN, IN_PLACE, HALF, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       tag;

        (void)state;
        start(&program);
        run(&program, "aten::upsample_bilinear2d", "f32[4,8,14,14]", 4000000);
        tag = run(&program, kind == IN_PLACE ? "aten::sigmoid_" : "aten::sigmoid", "f32[4,8,28,28]",
                  2000000);
        run(&program, kind == HALF ? "aten::slice" : "aten::index", "f32[4,8,28,28]", 100000);
        run(&program, "aten::gt", kind == HALF ? "f32[4,4,28,28]" : "f32[4,28,28]", 100000);
        if (kind == TAKEN)
            run(&program, "aten::mean", "f32[4,8,28,28]", 100000);
        builder_flow(&program.b, tag,
                     slice(&program, "autograd::engine::evaluate_function: X", ACTIVITY_EXECUTOR,
                           NULL, 1000000),
                     FLOW_FORWARD_BACKWARD);
        run(&program, "aten::sigmoid_backward", "f32[4,8,28,28] f32[4,8,28,28]", 1000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "picked-parts") - (kind == PICKED ? 7e6 * 7 / 8 : 0)) <
                    1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* 100 rows are multiplied with 100 others, 5 ms, and the diagonal is taken: 99/100 of it is for
 * nothing. Not where something is added to all products first. */
TEST(products_off_the_diagonal)
{
    for (int is_changed = 0; is_changed < 2; is_changed++) {
        struct program program;

        (void)state;
        start(&program);
        run(&program, "aten::matmul", "f32[100,16] f32[16,100]", 5000000);
        if (is_changed)
            run(&program, "aten::softmax", "f32[100,100]", 1000000);
        run(&program, "aten::diag", "f32[100,100]", 100000);
        run(&program, "aten::relu", "f32[100]", 100000);
        finish(&program);
        assert_true(fabs(claimed(&program, "kept-diagonal") - (is_changed ? 0 : 5e6 * 99 / 100)) <
                    1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* A table of 1000 rows is put into a drawn order, 6 ms, and the first 50 are taken: 19/20 of that
 * moves other rows; of two, 6 ms and 1 ms, 9/10 where sizes are not recorded. Not where more cuts
 * follow, as of an epoch of batches, or where the order is cut. */
TEST(rows_that_are_shuffled_for_a_few)
{
    enum { SIZES, UNKNOWN, BATCHES, CUT, KINDS };
    static const double shares[] = { 0.95, 0.9, 0, 0 };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        const char    *wide = kind == SIZES ? "f32[1000,8]" : "";
        const char    *some = kind == SIZES ? "f32[50,8]" : "";

        (void)state;
        start(&program);
        program.b.profile.has_shapes = kind == SIZES;
        run(&program, "aten::randperm", "", 100000);
        if (kind == CUT)
            run(&program, "aten::slice", "s64[1000]", 1000);
        run(&program, "aten::index", wide, 6000000);
        run(&program, "aten::slice", wide, 1000);
        if (kind == SIZES)
            run(&program, "aten::relu", some, 1000);
        if (kind != SIZES)
            run(&program, "aten::index", wide, 1000000);
        if (kind != SIZES)
            run(&program, "aten::slice", wide, 1000);
        run(&program, "aten::linear", kind == SIZES ? "f32[50,8] f32[4,8]" : "", 100000);
        for (int i = 0; i < (kind == BATCHES ? 19 : 0); i++)
            run(&program, "aten::slice", wide, 1000);
        finish(&program);
        assert_true(fabs(claimed(&program, "shuffled-rows") -
                         shares[kind] * (kind == SIZES ? 6e6 : 7e6)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* In each of two steps two layers send messages over 5000 edges between 1250 nodes, 4 + 4 ms, and
 * of the result 25 nodes are taken. With 4 edges a node these are made of 25 + 100 + 400 of 1250,
 * 42 %: the rest of 8 ms and of 2 ms back is for nothing. Not where all nodes are taken, in fifty
 * lookups, where each step has another graph, as one that was cut out, or where few edges lead from
 * node to node. */
TEST(nodes_that_are_too_far_away)
{
    enum { FEW, ALL, CUT_OUT, THIN, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        const char    *edges = kind == THIN ? "f32[1250,8] s64[1300]" : "f32[1250,8] s64[5000]";
        const char    *sums = kind == THIN ? "f32[1250,8] f32[1300,8]" : "f32[1250,8] f32[5000,8]";

        (void)state;
        start(&program);
        for (int step = 0; step < 2; step++) {
            if (step == 1 && kind == CUT_OUT)
                edges = "f32[1240,8] s64[4900]", sums = "f32[1240,8] f32[4900,8]";
            for (int layer = 0; layer < 2; layer++) {
                run(&program, "aten::index_select", edges, 1000000);
                run(&program, "aten::scatter_add_", sums, 3000000);
            }
            for (int i = 0; i < (kind == ALL ? 50 : 1); i++)
                run(&program, "aten::index",
                    kind == CUT_OUT && step ? "f32[1240,8] s64[25]" : "f32[1250,8] s64[25]", 10000);
            run(&program, "aten::cross_entropy_loss", "f32[25,8] s64[25]", 100000);
            node(&program, "aten::gather", sums, 2000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "unreached-nodes") -
                         (kind == FEW ? 10e6 * (1250 - 525) / 1250 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* A matrix of 100 rows is inverted, 6 ms, to be multiplied with a vector, and factored again for
 * its determinant, 2 ms: five of six parts of the one and nineteen of twenty of the other are too
 * much. Not where 100 columns are multiplied, or something is added to the inverse. */
TEST(inverses_for_a_vector)
{
    enum { VECTOR, MATRIX, ADDED, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;

        (void)state;
        start(&program);
        run(&program, "aten::inverse", "f32[100,100]", 6000000);
        if (kind == ADDED)
            run(&program, "aten::add", "f32[100,100] f32[100,100]", 100000);
        run(&program, "aten::matmul",
            kind == MATRIX ? "f32[100,100] f32[100,100]" : "f32[100] f32[100,100]", 100000);
        run(&program, "aten::logdet", "f32[100,100]", 2000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "formed-inverse") -
                         (kind == VECTOR ? 6e6 * 5 / 6 + 2e6 * 19 / 20 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* The same without shapes, where the determinant takes a third as long as the inverse; not where it
 * is a small one's, nor without. */
TEST(inverses_beside_a_determinant)
{
    static const int64_t determinants_ns[] = { 2000000, 20000, 0 };

    for (size_t i = 0; i < ARRAY_COUNT(determinants_ns); i++) {
        struct program program;

        (void)state;
        start(&program);
        program.b.profile.has_shapes = false;
        run(&program, "aten::inverse", "", 6000000);
        run(&program, "aten::matmul", "", 100000);
        if (determinants_ns[i])
            run(&program, "aten::logdet", "", determinants_ns[i]);
        finish(&program);
        assert_true(fabs(claimed(&program, "formed-inverse") -
                         (i == 0 ? 6e6 * 5 / 6 + 2e6 * 19 / 20 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Patches of 3 x 3 are copied, 2 ms, and multiplied with weights, 4 ms; on the way back products of
 * as many numbers take 3 + 3 ms and adding up 5 ms: all of the copies and half of the products are
 * too much, 7 + 5 ms. Not where patches lie side by side, so that nothing is there twice. */
TEST(convolutions_by_hand)
{
    for (int overlap = 0; overlap < 2; overlap++) {
        struct program program;
        const char    *few = overlap ? "f32[2,8,10,10]" : "f32[2,8,30,30]";

        (void)state;
        start(&program);
        run(&program, "aten::im2col", few, 2000000);
        run(&program, "aten::matmul", "f32[16,72] f32[2,72,100]", 4000000);
        node(&program, "aten::mm", "f32[16,200] f32[200,72]", 3000000);
        node(&program, "aten::mm", "f32[200,16] f32[16,72]", 3000000);
        node(&program, "aten::col2im", "f32[2,72,100]", 5000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "unfolded-convolution") - (overlap ? 7e6 + 5e6 : 0)) <
                    1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Three ops make 49.152 MB each, 30 ms, of one operand as large; a largest value of each row passes
 * over as much in 3 ms. So passing and writing take 6 ms each, and the other 24 ms are for new
 * pages, as are 24 of 40 ms of a product that makes as much. In 14 ms an op may have its reasons:
 * less than 2.5 times 6 ms. In place nothing is made but by the product, of which nothing tells
 * more. Without an op that makes no such array nothing tells what passing takes. */
TEST(arrays_made_anew)
{
    enum { ANEW, SHORT, IN_PLACE, UNKNOWN };

    for (int way = ANEW; way <= UNKNOWN; way++) {
        struct program program;

        start(&program);
        run(&program, "aten::mm", "f32[1024,32] f32[32,12000]", 40000000);
        for (int op = 0; op < 3; op++)
            run(&program, way == IN_PLACE ? "aten::mul_" : "aten::mul", "f32[1024,12000] f32[]",
                way == SHORT ? 14000000 : 30000000);
        if (way != UNKNOWN)
            run(&program, "aten::amax", "f32[1024,12000]", 3000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "fresh-arrays") - (way == ANEW ? 4 * 24e6 : 0)) < 1000);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* A layer, and three metrics that each take the largest score of 256 rows (20 us), put it together
 * with the label (two ops of 5 us), count (10 us), and sum the counts up (three ops of 5 us): 55
 * us, of which two are again. Not where a layer, or a row that is taken out, lies between. */
TEST(metrics_that_count_apart)
{
    enum { APART, LAYERS, ROWS };

    for (int way = APART; way <= ROWS; way++) {
        struct program program;

        start(&program);
        run(&program, "aten::linear", "f32[256,64] f32[38,64]", 50000);
        for (int metric = 0; metric < 3; metric++) {
            if (way == LAYERS)
                run(&program, "aten::linear", "f32[256,64] f32[38,64]", 50000);
            if (way == ROWS)
                run(&program, "aten::select", "f32[3,256,38]", 1000);
            run(&program, "aten::argmax", "f32[256,38]", 20000);
            run(&program, "aten::mul", "i64[256]", 5000);
            run(&program, "aten::add", "i64[256] i64[256]", 5000);
            run(&program, "aten::bincount", "i64[256]", 10000);
            run(&program, "aten::sum", "i64[38,38]", 5000);
            run(&program, "aten::sub", "i64[38] i64[38]", 5000);
            run(&program, "aten::add", "i64[38] i64[38]", 5000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "same-counts") - (way == APART ? 2 * 55e3 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Rounds of the power method of 100 us: a product with a vector of 20 us and its norm of 30 us,
 * there and back. Of four, what lies between the first's and the last's product back goes: three
 * rounds. Two are few, and so are any where the matrix is not turned between, as solvers do, or
 * where nothing is trained. */
TEST(rounds_of_the_power_method)
{
    enum { FOUR, TWO, UNTURNED, BALANCED, UNTRAINED };

    for (int way = FOUR; way <= UNTRAINED; way++) {
        struct program program;

        start(&program);
        for (int round = 0; round < (way == TWO ? 2 : 4); round++) {
            run(&program, "aten::mv", "f32[64,48] f32[48]", 20000);
            run(&program, "aten::linalg_vector_norm", "f32[64]", 30000);
            if (way == BALANCED)
                run(&program, "aten::reciprocal", "f32[64]", 1000);
            if (way != UNTURNED)
                run(&program, "aten::matrix_H", "f32[64,48]", 1000);
            run(&program, "aten::mv", "f32[48,64] f32[64]", 20000);
            run(&program, "aten::linalg_vector_norm", "f32[48]", 30000);
        }
        if (way != UNTRAINED)
            trained(&program, "f32[8,48] f32[64,48]", 50000);
        finish(&program);
        assert_true(fabs(claimed(&program, "power-rounds") - (way == FOUR ? 3 * 101e3 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* An optimizer asks its closure four times in a step: 50 us of each time are made of data alone,
 * before what is trained, and three times that go; or 30 us where the rest of them are made once
 * only. Twice is few; where something is drawn, or the program itself accumulates gradients, each
 * round may be of other data. */
TEST(what_a_closure_makes_again)
{
    enum { FOUR, TWO, DRAWN, ACCUMULATED, ONCE };
    static const double expected[ONCE + 1] = { [FOUR] = 3 * 50e3, [ONCE] = 3 * 30e3 };

    for (int way = FOUR; way <= ONCE; way++) {
        struct program program;
        int            rounds = way == TWO ? 2 : 4;

        start(&program);
        if (way != ACCUMULATED)
            slice(&program, "Optimizer.step#LBFGS.step", ACTIVITY_ANNOTATION, NULL,
                  rounds * 107000);
        for (int round = 0; round < rounds; round++) {
            run(&program, way == DRAWN ? "aten::randn_like" : "aten::sigmoid", "f32[48]", 1000);
            run(&program, "aten::fft_fft", "f32[48,1024]", 30000);
            run(&program, way == ONCE && round > 0 ? "aten::relu_" : "aten::abs", "f32[48,1024]",
                20000);
            trained(&program, "f32[8,48] f32[64,48]", 10000);
            node(&program, "aten::mm", "f32[64,8] f32[8,48]", 40000);
            run(&program, "aten::dot", "f32[8] f32[8]", 5000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "closure-fixed") - expected[way]) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* An op with arguments that are numbers, as recorded. */
static void with_numbers(struct program *program, const char *shapes, const char *type,
                         const char *numbers, int64_t ns)
{
    uint32_t tag = run(program, type, shapes, ns);

    builder_stat(&program->b, tag, STAT_CONCRETE_INPUTS,
                 (int64_t)builder_name(&program->b, numbers));
}

static void cut(struct program *program, const char *shapes, const char *type, const char *what)
{
    with_numbers(program, shapes, type, what, 5000);
}

/* A convolution of 4 ms, its batch norm of 1 ms and relu of 1 ms, of which every second row and
 * column is kept: three quarters of 6 ms, and of the batch norm's counter. A head of 2 ms behind a
 * layer of 3 ms, of whose 40 rows a mask picks 4, the layer's relu too (0.5 ms): nine tenths of
 * 5.5 ms. Where the sum of two paths is cut, or something else takes what is cut as a whole,
 * nothing is for nothing. */
TEST(places_that_are_thrown_away)
{
    static const double places = 0.75 * 6002e3, rows = 0.9 * 5.5e6;
    struct program      program;

    start(&program);
    run(&program, "aten::conv2d", "f32[2,3,64,64] f32[16,3,3,3] f32[16]", 4000000);
    run(&program, "aten::add_", "f32[] f32[]", 2000);
    run(&program, "aten::batch_norm", "f32[2,16,64,64] f32[16] f32[16]", 1000000);
    run(&program, "aten::relu", "f32[2,16,64,64]", 1000000);
    cut(&program, "f32[2,16,64,64]", "aten::slice",
        "[\"\", \"2\", \"0\", \"9223372036854775807\", \"2\"]");
    cut(&program, "f32[2,16,32,64]", "aten::slice",
        "[\"\", \"3\", \"0\", \"9223372036854775807\", \"2\"]");
    run(&program, "aten::mean", "f32[2,16,32,32]", 100000);
    run(&program, "aten::linear", "f32[2,20,96] f32[64,96]", 3000000);
    run(&program, "aten::relu", "f32[2,20,64]", 500000);
    run(&program, "aten::linear", "f32[2,20,64] f32[8000,64]", 2000000);
    run(&program, "aten::index", "f32[2,20,8000]", 5000);
    run(&program, "aten::log_softmax", "f32[4,8000]", 100000);
    run(&program, "aten::linear", "f32[2,30,96] f32[96,96]", 3000000);
    run(&program, "aten::add", "f32[2,30,96] f32[2,30,96]", 500000);
    cut(&program, "f32[2,30,96]", "aten::select", "[\"\", \"1\", \"-1\"]");
    run(&program, "aten::linear", "f32[2,50,96] f32[96,96]", 3000000);
    cut(&program, "f32[2,50,96]", "aten::select", "[\"\", \"1\", \"-1\"]");
    run(&program, "aten::mean", "f32[2,50,96]", 100000);
    run(&program, "aten::mm", "f32[60,60] f32[60,7]", 3000000);
    run(&program, "aten::index", "f32[60,7]", 5000);
    run(&program, "aten::log_softmax", "f32[5,7]", 100000);
    finish(&program);
    assert_true(fabs(claimed(&program, "thrown-rows") - places - rows) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* A step of a slice as large as can be written leaves the first of 70 rows: 69/70 of 3 ms. */
TEST(a_cut_with_the_largest_step)
{
    struct program program;

    start(&program);
    run(&program, "aten::linear", "f32[2,70,96] f32[64,96]", 3000000);
    cut(&program, "f32[2,70,64]", "aten::slice",
        "[\"\", \"1\", \"0\", \"9223372036854775807\", \"9223372036854775807\"]");
    finish(&program);
    assert_true(fabs(claimed(&program, "thrown-rows") - 3e6 * 69 / 70) < 1);
    builder_free(&program.b);
}

/* A layer of 4 ms over 32 rows of each sample, of which the mean is taken, and a convolution of one
 * place of 2 ms that is averaged over windows of 4 x 4: 31/32 and 15/16. Not where an activation
 * lies between, where the sum is over what the layer gives, or where the rows are taken, too. */
TEST(products_whose_mean_is_taken)
{
    struct program program;

    start(&program);
    run(&program, "aten::linear", "f32[2,32,96] f32[64,96]", 4000000);
    cut(&program, "f32[2,32,64]", "aten::mean", "[\"\", \"[1]\", \"False\", \"\"]");
    run(&program, "aten::conv2d", "f32[2,8,16,16] f32[24,8,1,1]", 2000000);
    cut(&program, "f32[2,24,16,16]", "aten::avg_pool2d",
        "[\"\", \"[4, 4]\", \"[]\", \"[0, 0]\", \"False\"]");
    run(&program, "aten::linear", "f32[2,40,96] f32[64,96]", 4000000);
    run(&program, "aten::relu", "f32[2,40,64]", 100000);
    cut(&program, "f32[2,40,64]", "aten::mean", "[\"\", \"[1]\", \"False\", \"\"]");
    run(&program, "aten::linear", "f32[2,50,96] f32[64,96]", 4000000);
    cut(&program, "f32[2,50,64]", "aten::sum", "[\"\", \"[-1]\", \"False\", \"\"]");
    run(&program, "aten::linear", "f32[2,60,96] f32[64,96]", 4000000);
    cut(&program, "f32[2,60,64]", "aten::mean", "[\"\", \"[1]\", \"False\", \"\"]");
    run(&program, "aten::relu", "f32[2,60,64]", 100000);
    finish(&program);
    assert_true(fabs(claimed(&program, "summed-products") - 4e6 * 31 / 32 - 2e6 * 15 / 16) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* The node that goes back through an op. */
static void way_back(struct program *program, uint32_t forward, const char *shapes, int64_t ns)
{
    builder_flow(
        &program->b, forward,
        slice(program, "autograd::engine::evaluate_function: X", ACTIVITY_EXECUTOR, NULL, ns),
        FLOW_FORWARD_BACKWARD);
    run(program, "aten::mul", shapes, ns);
}

/* Squares of two weights and their sums, 2 + 1 and 1 + 0.5 ms, a sum of numbers, 0.1 ms, and 3 and
 * 1 ms back: all of it. Not where what is squared has no gradient of its own, where a product gives
 * it, or where only rows of it are added up. */
TEST(squares_of_weights_in_the_loss)
{
    enum { WEIGHTS, OTHERS, ERRORS, ROWS, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        const char    *sum_of = kind == ROWS ? "[\"\", \"[1]\"]" : "[\"\", \"\"]";
        double         expected = kind == WEIGHTS ? 8.6e6 : 0;
        struct program program;
        uint32_t       tags[2];

        (void)state;
        start(&program);
        run(&program, "aten::linear",
            kind == ERRORS ? "f32[32,64] f32[64,64]" : "f32[8,64] f32[64,64]", 5000000);
        if (kind != ERRORS)
            run(&program, "aten::cross_entropy_loss", "f32[8,10] i64[8]", 100000);
        tags[0] = run(&program, "aten::square", "f32[32,64]", 2000000);
        with_numbers(&program, "f32[32,64]", "aten::sum", sum_of, 1000000);
        run(&program, "aten::add", "f32[] f32[]", 100000);
        tags[1] = run(&program, "aten::square", "f32[10,64]", 1000000);
        with_numbers(&program, "f32[10,64]", "aten::sum", sum_of, 500000);
        way_back(&program, tags[1], "f32[10,64]", 1000000);
        way_back(&program, tags[0], "f32[32,64]", 3000000);
        if (kind != OTHERS) {
            node(&program, "torch::autograd::AccumulateGrad", "f32[32,64]", 100000);
            node(&program, "torch::autograd::AccumulateGrad", "f32[10,64]", 100000);
        }
        finish(&program);
        /* Behind the product that is squared, the second weight's are in the loss all the same. */
        assert_true(
            fabs(claimed(&program, "penalised-weights") - (kind == ERRORS ? 2.5e6 : expected)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Four weights of two shapes are cloned behind the update, 0.4 ms each: 98 of 100 times for
 * nothing. Not where a gradient follows, as of a learner that they are made for, or where the rows
 * of a layer are cloned that have the shape of its weight. */
TEST(clones_of_the_state)
{
    enum { STATE, TRAINED, ROWS, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       tag = 0;

        (void)state;
        start(&program);
        run(&program, "aten::linear", "f32[8,64] f32[64,64]", 5000000);
        node(&program, "torch::autograd::AccumulateGrad", "f32[64,64]", 100000);
        node(&program, "torch::autograd::AccumulateGrad", "f32[64]", 100000);
        run(&program, "aten::_fused_sgd_", "f32[64,64] f32[64]", 300000);
        for (int i = 0; i < 4; i++) {
            tag = run(&program, "aten::clone", kind == ROWS || i % 2 ? "f32[64,64]" : "f32[64]",
                      400000);
            if (kind == TRAINED)
                way_back(&program, tag, "f32[64,64]", 100000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "deep-copies") - (kind == STATE ? 0.98 * 1.6e6 : 0)) <
                    1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Frames of 551 = 19 * 29 points, 3 ms: (19 + 29) * 1.1 * 551 = 29093 against (4 * 2 + 5 + 7 * 1.1)
 * * 560 = 11592 for 560. Data of 900 points padded to 1000 as good as it gets, and of 997 points, a
 * prime, that have that length themselves. Padded to 997: 3 * (4 * 2 + 3 * 5) * 2000 = 138000 by
 * two transforms of 2000 points, against 21 * 1000, there and back, 2 ms each; of the gradient the
 * transform, 2 ms more, and not what cuts it. */
TEST(lengths_with_large_factors)
{
    struct program program;

    start(&program);
    run(&program, "aten::linear", "f32[8,64] f32[64,64]", 9000000);
    with_numbers(&program, "f32[4,22050]", "aten::stft", "[\"\", \"551\", \"220\"]", 3000000);
    with_numbers(&program, "f32[4,900]", "aten::fft_rfft", "[\"\", \"1000\", \"-1\"]", 2000000);
    with_numbers(&program, "f32[4,997]", "aten::fft_rfft", "[\"\", \"997\", \"-1\"]", 2000000);
    uint32_t tag = run(&program, "aten::fft_rfft", "f32[4,500]", 2000000);
    builder_stat(&program.b, tag, STAT_CONCRETE_INPUTS,
                 (int64_t)builder_name(&program.b, "[\"\", \"997\", \"-1\"]"));
    with_numbers(&program, "c64[4,499]", "aten::fft_irfft", "[\"\", \"997\", \"-1\"]", 2000000);
    builder_flow(
        &program.b, tag,
        slice(&program, "autograd::engine::evaluate_function: X", ACTIVITY_EXECUTOR, NULL, 3000000),
        FLOW_FORWARD_BACKWARD);
    run(&program, "aten::_fft_c2c", "c64[4,997]", 2000000);
    run(&program, "aten::slice", "c64[4,997]", 1000000);
    finish(&program);
    assert_true(fabs(claimed(&program, "slow-transform") - 3e6 * (1 - 11592 / 29092.8) -
                     6e6 * (1 - 21.0 / 138)) < 10);
    assert_sums(&program);
    builder_free(&program.b);
}

/* Of 64 places one is read: half of 63/64 of 4 ms there and 6 back. A layer that goes one way, one
 * whose ends are read apart, and one of which all is read later, need what they do; of two layers
 * the first does. */
TEST(a_direction_that_is_not_read)
{
    enum { LAST, STACKED, ONE_WAY, BOTH_ENDS, ALL_LATER, KINDS };
    static const char *const layers[KINDS] = { "1", "2", "1", "1", "1" };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        char           numbers[96];
        uint32_t       tag;

        start(&program);
        snprintf(numbers, sizeof numbers, "[\"\", \"\", \"\", \"True\", \"%s\", \"0.\"]",
                 layers[kind]);
        tag = run(&program, "aten::lstm",
                  kind == ONE_WAY   ? "f32[32,64,96] f32[1,32,128]"
                  : kind == STACKED ? "f32[32,64,96] f32[4,32,128]"
                                    : "f32[32,64,96] f32[2,32,128]",
                  4000000);
        builder_stat(&program.b, tag, STAT_CONCRETE_INPUTS,
                     (int64_t)builder_name(&program.b, numbers));
        cut(&program, kind == ONE_WAY ? "f32[32,64,128]" : "f32[32,64,256]", "aten::select",
            "[\"\", \"1\", \"-1\"]");
        if (kind == BOTH_ENDS)
            cut(&program, "f32[32,64,256]", "aten::select", "[\"\", \"1\", \"0\"]");
        run(&program, "aten::linear", "f32[32,256] f32[9,256]", 100000);
        if (kind == ALL_LATER)
            run(&program, "aten::mean", "f32[32,64,256]", 100000);
        way_back(&program, tag, "f32[32,64,96]", 6000000);
        finish(&program);
        assert_true(
            fabs(claimed(&program, "unread-direction") - (kind == LAST      ? 5e6 * 63 / 64
                                                          : kind == STACKED ? 2.5e6 * 63 / 64
                                                                            : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Pictures of 32 x 32 are enlarged to 64 x 64 and go through five convolutions: three quarters of 5
 * ms. Not where they are cut instead, where a convolution makes pictures, as one that restores them
 * does, or where what is enlarged are maps of a network. */
TEST(pictures_that_are_enlarged)
{
    enum { ENLARGED, SHRUNK, RESTORED, MAPS, KINDS };
    static const char *const small[KINDS] = { "f32[4,3,32,32]", "f32[4,3,96,96]", "f32[4,3,32,32]",
                                              "f32[4,16,32,32]" };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;

        start(&program);
        run(&program, "aten::upsample_bilinear2d", small[kind], 100000);
        run(&program, "aten::conv2d",
            kind == MAPS ? "f32[4,16,64,64] f32[16,16,3,3]" : "f32[4,3,64,64] f32[16,3,3,3]",
            1000000);
        for (int i = 0; i < 4; i++)
            run(&program, "aten::conv2d", "f32[4,16,64,64] f32[16,16,3,3]", 1000000);
        run(&program, "aten::conv2d", "f32[4,16,1,1] f32[16,16,1,1]", 1000000);
        if (kind == RESTORED)
            run(&program, "aten::conv2d", "f32[4,16,64,64] f32[3,16,3,3]", 1000000);
        finish(&program);
        assert_true(
            fabs(claimed(&program, "enlarged-pictures") - (kind == ENLARGED ? 0.75 * 5e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Means of boxes of 21 x 21 around each of 100 x 100 places, 4 ms there and 2 back: by rows and
 * columns 2.5 * (21 + 21) of 441 values each. Maxima by the same. Not boxes of 3 x 3, nor such as
 * do not overlap, nor one box as large as the map. */
TEST(windows_that_are_wide)
{
    static const struct {
        const char *type, *shape, *numbers;
        double      share;
    } cases[] = {
        { "aten::avg_pool2d", "f32[2,1,100,100]",
          "[\"\", \"[21, 21]\", \"[1, 1]\", \"[10, 10]\", \"False\"]", 1 - 2.5 * 42 / 441 },
        { "aten::max_pool2d", "f32[2,1,100,100]",
          "[\"\", \"[21, 21]\", \"[1, 1]\", \"[10, 10]\", \"[1, 1]\"]", 1 - 2.5 * 42 / 441 },
        { "aten::avg_pool2d", "f32[2,1,100,100]",
          "[\"\", \"[3, 3]\", \"[1, 1]\", \"[1, 1]\", \"False\"]", 0 },
        { "aten::avg_pool2d", "f32[2,1,100,100]",
          "[\"\", \"[20, 20]\", \"[20, 20]\", \"[0, 0]\", \"False\"]", 0 },
        { "aten::avg_pool2d", "f32[2,1,100,100]",
          "[\"\", \"[100, 100]\", \"[1, 1]\", \"[0, 0]\", \"False\"]", 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct program program;

        start(&program);
        run(&program, "aten::linear", "f32[8,64] f32[64,64]", 9000000);
        uint32_t tag = run(&program, cases[i].type, cases[i].shape, 4000000);
        builder_stat(&program.b, tag, STAT_CONCRETE_INPUTS,
                     (int64_t)builder_name(&program.b, cases[i].numbers));
        way_back(&program, tag, cases[i].shape, 2000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "wide-windows") - cases[i].share * 6e6) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Vectors of 40 distances are looked up for 40 x 40 pairs, 1 ms there and 3 back, and multiplied
 * with queries of 2 x 4 heads: all of it, as there are 32 numbers a vector for 8 scores a pair. Not
 * where scores are more than that, where the table has as many rows as there are pairs, or where
 * no product takes the vectors. Of an index only the table is recorded. */
TEST(vectors_of_pairs)
{
    enum { PAIRS, INDEX, MANY, OWN, ADDED, KINDS };
    static const char *const tables[KINDS] = { "f32[40,32] i64[40,40]", "f32[40,32]",
                                               "f32[40,32] i64[40,40]", "f32[1600,32] i64[40,40]",
                                               "f32[40,32] i64[40,40]" };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;

        start(&program);
        run(&program, "aten::linear", "f32[8,64] f32[64,64]", 9000000);
        uint32_t tag =
            run(&program, kind == INDEX ? "aten::index" : "aten::embedding", tables[kind], 1000000);
        if (kind == ADDED)
            run(&program, "aten::add", "f32[40,40,32] f32[40,40,32]", 1000000);
        else
            run(&program, "aten::einsum",
                kind == MANY ? "f32[16,4,40,32] f32[40,40,32]" : "f32[2,4,40,32] f32[40,40,32]",
                1000000);
        way_back(&program, tag, "f32[40,40,32]", 3000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "pair-vectors") - (kind <= INDEX ? 4e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}
