/* What a step computes again or for nothing, seen by whole networks: teachers, windows of frames,
 * graphs of gradients, code that a backend did not compile. */
#include "excess_program.h"

/* A node of the backward pass, with a number, whose ops are recorded under numbers of their own: of
 * an activation spelled out in five ops of 0.1 ms, of which the second takes 0.2 ms, all but that
 * one go and 4 us of it, and of a product of 1 ms 4 us, in each of four layers. Not where ops below
 * nodes have no numbers, nor where the step goes back through one of them. */
TEST(gradients_that_nobody_differentiates)
{
    enum { KEPT, NOT_RECORDED, WALKED, CASES };

    for (int way = KEPT; way < CASES; way++) {
        static const char *const names[2] = { "autograd::engine::evaluate_function: SiluBackward0",
                                              "autograd::engine::evaluate_function: MmBackward0" };
        struct program           program;
        int64_t                  number = 1000;

        start(&program);
        trained(&program, "f32[8,16] f32[16,16]", 1000);
        for (int layer = 0; layer < 8; layer++) {
            bool     is_product = layer % 2;
            int      ops = is_product ? 1 : 5;
            uint32_t tag = slice(&program, names[is_product], ACTIVITY_EXECUTOR, NULL,
                                 is_product ? 1000000 : 600000);

            builder_stat(&program.b, tag, STAT_SEQUENCE, layer);
            for (int op = 0; op < ops; op++) {
                tag = run(&program, is_product ? "aten::mm" : "aten::mul",
                          is_product ? "f32[8,16] f32[16,8]" : "f32[8,16] f32[8,16]",
                          is_product ? 1000000
                          : op == 1  ? 200000
                                     : 100000);
                if (way != NOT_RECORDED)
                    builder_stat(&program.b, tag, STAT_SEQUENCE, number++);
            }
        }
        if (way == WALKED) {
            uint32_t tag = slice(&program, names[1], ACTIVITY_EXECUTOR, NULL, 1000);

            builder_stat(&program.b, tag, STAT_SEQUENCE, number - 1);
            run(&program, "aten::mm", "f32[8,16] f32[16,8]", 1000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "kept-graph") -
                         (way == KEPT ? 4 * (400e3 + 4e3 + 4e3) : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

static void convolutions(struct program *program, const char *layers)
{
    for (const char *c = layers; *c; c++)
        switch (*c) {
        case 'a':
            run(program, "aten::conv2d", "f32[8,3,32,32] f32[64,3,3,3]", 1000000);
            run(program, "aten::relu", "f32[8,64,32,32]", 100000);
            break;
        case 'b':
            run(program, "aten::conv2d", "f32[8,64,32,32] f32[96,64,3,3]", 2000000);
            run(program, "aten::relu", "f32[8,96,32,32]", 100000);
            break;
        case 'c':
            run(program, "aten::conv2d", "f32[8,96,32,32] f32[96,96,3,3]", 3000000);
            break;
        case 'r': /* gives what a takes */
            run(program, "aten::conv2d", "f32[8,96,32,32] f32[3,96,3,3]", 2000000);
            break;
        case 'h': /* a head of its own */
            run(program, "aten::linear", "f32[8,96] f32[10,96]", 100000);
            break;
        case '-':
            run(program, "aten::sub", "f32[8,96,32,32] f32[8,96,32,32]", 100000);
            break;
        default: /* a loss, or features joined */
            run(program, "aten::mse_loss", "f32[8,64,32,32] f32[8,64,32,32]", 100000);
        }
}

/* Features of one layer, 1 + 0.1 ms, of two, 1 + 0.1 + 2 + 0.1 ms, and of three, which are all that
 * is needed. Two pictures that are compared go through it twice as often. Not two inputs and a head
 * for each, nor two networks with heads of their own, nor what takes both inputs' features, nor
 * runs that are not as many for each depth, nor blocks that take what the one before gives. */
TEST(a_network_that_runs_for_each_depth)
{
    static const struct {
        const char *layers;
        double      ns;
    } cases[] = { { "a ab abc ", 4.3e6 }, { "a a ab ab abc abc ", 8.6e6 },
                  { "ab ab abc ", 0 },    { "ab abcc ", 0 },
                  { "abh abc ", 0 },      { "ab ab-c ", 0 },
                  { "abc abc ", 0 },      { "a abc ", 0 },
                  { "abr abrc ", 0 } };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct program program;

        start(&program);
        convolutions(&program, cases[i].layers);
        finish(&program);
        assert_true(fabs(claimed(&program, "network-prefix") - cases[i].ns) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Each of three layers of compiled code is a product and a row of three ops, of 0.3, 0.5 and 0.2
 * ms: of each row all but the longest. Not without a compiled region around, nor where a graph that
 * Python made for something else runs, nor for the few ops of two layers, nor where products lie
 * between all of them. */
TEST(compiled_code_that_runs_op_by_op)
{
    enum { TRAINED, SERVED, EAGER, TRACED, FEW, APART, CASES };

    for (int way = TRAINED; way < CASES; way++) {
        static const char *const ops[3] = { "aten::mul", "aten::tanh", "aten::sum" };
        int                      layers = way == FEW ? 2 : 3;
        int64_t                  ns = layers * (way == APART ? 4000000 : 2000000);
        struct program           program;

        start(&program);
        if (way != EAGER && way != SERVED && way != TRACED)
            slice(&program, "CompiledFunction", ACTIVITY_OP, NULL, ns);
        if (way == SERVED)
            slice(&program, "Torch-Compiled Region: 0/0", ACTIVITY_RUN, NULL, ns);
        if (way == SERVED || way == TRACED)
            slice(&program, "<eval_with_key>.3(4): forward", ACTIVITY_PYTHON, NULL, ns);
        for (int layer = 0; layer < layers; layer++) {
            run(&program, "aten::addmm", "f32[8] f32[16,8] f32[8,8]", 1000000);
            for (int op = 0; op < 3; op++) {
                run(&program, ops[op], "f32[16,8]", op == 0 ? 300000 : op == 1 ? 500000 : 200000);
                if (way == APART && op < 2)
                    run(&program, "aten::addmm", "f32[8] f32[16,8] f32[8,8]", 1000000);
            }
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "unfused-region") - (way <= SERVED ? 1.5e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Five windows of eight frames, of which two came since the last one, go through two convolutions
 * of 1 ms, batch norm of 0.8 ms and a head of 0.4 ms, and then as a whole through a layer of 2 ms:
 * of joining them in 0.2 ms and of all but the last, three quarters. Not where each frame is new,
 * where one op takes a batch apart, where five of eight are new, where frames become channels of
 * one picture, nor where the network is trained. What each new frame goes through counts once. */
TEST(a_window_of_frames_that_were_seen)
{
    enum { TWO_NEW, TWO_PREPARED, ALL_NEW, TAKEN_APART, FIVE_NEW, CHANNELS, TRAINED, CASES };

    for (int way = TWO_NEW; way < CASES; way++) {
        bool           is_again = way <= TWO_PREPARED;
        struct program program;
        double         ns;

        start(&program);
        for (int window = 0; window < 5; window++) {
            int frames = way == ALL_NEW ? 8 : way == FIVE_NEW ? 5 : way == TAKEN_APART ? 0 : 2;

            if (way == TAKEN_APART)
                run(&program, "aten::unbind", "f32[8,3,8,8]", 1000);
            for (int frame = 0; frame < frames; frame++) {
                run(&program, "aten::select", "f32[64,3,8,8]", 1000);
                if (way == TWO_PREPARED)
                    run(&program, "aten::div", "f32[3,8,8] f32[]", 1000);
            }
            run(&program, "aten::stack",
                "f32[3,8,8] f32[3,8,8] f32[3,8,8] f32[3,8,8] "
                "f32[3,8,8] f32[3,8,8] f32[3,8,8] f32[3,8,8]",
                200000);
            run(&program, "aten::conv2d",
                way == CHANNELS ? "f32[1,24,8,8] f32[6,24,3,3]" : "f32[8,3,8,8] f32[6,3,3,3]",
                1000000);
            run(&program, "aten::batch_norm", "f32[8,6,8,8] f32[6]", 800000);
            run(&program, "aten::conv2d", "f32[8,6,8,8] f32[6,6,3,3]", 1000000);
            run(&program, "aten::linear", "f32[8,384] f32[16,384]", 400000);
            run(&program, "aten::linear", "f32[1,8,16] f32[16,16]", 2000000);
            if (way == TRAINED)
                trained(&program, "f32[1,16] f32[9,16]", 100000);
            if (way == TRAINED)
                node(&program, "aten::mm", "f32[9,1] f32[1,16]", 1000);
        }
        finish(&program);
        ns = claimed(&program, "kept-window");
        assert_true(is_again ? fabs(ns - 5 * 0.75 * 3.4e6) < 1 : ns == 0);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* A teacher of two convolutions of 1 ms and an activation of 0.2 ms runs twice for each of four
 * crops that a student is trained on, and the step makes two views: six calls of 2.2 ms are again.
 * Not where each round makes a view of its own, which are six for eight calls, and not where a
 * layer of the teacher can have made what another call of it takes. */
TEST(a_teacher_for_each_crop)
{
    enum { AGAIN, MADE, WITHIN };

    for (int way = AGAIN; way <= WITHIN; way++) {
        struct program program;

        start(&program);
        run(&program, "aten::index", "f32[64,3,8,8] i64[2]", 1000);
        run(&program, "aten::flip", "f32[2,3,8,8]", 1000);
        for (int crop = 0; crop < 4; crop++) {
            trained(&program, "f32[2,48] f32[9,48]", 100000);
            if (way == MADE)
                run(&program, "aten::mul", "f32[2,3,8,8] f32[2,3,8,8]", 1000);
            for (int view = 0; view < 2; view++) {
                run(&program, "aten::conv2d", "f32[2,3,8,8] f32[4,3,3,3]", 1000000);
                run(&program, "aten::relu", way == WITHIN ? "f32[2,3,8,8]" : "f32[2,4,8,8]",
                    200000);
                run(&program, "aten::conv2d", "f32[2,4,8,8] f32[4,4,3,3]", 1000000);
            }
        }
        node(&program, "aten::mm", "f32[9,2] f32[2,48]", 1000);
        finish(&program);
        assert_true(fabs(claimed(&program, "teacher-again") - (way == AGAIN ? 6 * 2.2e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* A network of eight layers of 1 ms, 2 ms back each, that is called twice: the second call takes 8
 * ms and 16 ms back. It is for the same input where the step takes one out of all rows, or where
 * both calls end in a loss of 10 us of which one is used. Not certain where nobody knows what was
 * handed over, where each call takes an input of its own in 1 us, or where 1 us of dropout makes
 * them differ. Two networks have two gradients for weights of one shape. */
TEST(a_trained_network_twice_in_a_row)
{
    enum { ONE_INPUT, ONE_LOSS, UNKNOWN, TWO_INPUTS, DROPOUT, TWO_NETWORKS, CASES };
    static const double      again[CASES] = { 24e6, 24.01e6, 0, 0, 0, 0 };
    static const double      pair[CASES] = { 0, 0, 24e6, 24.001e6, 24.001e6, 0 };
    static const char *const layers[8] = {
        "f32[8,16] f32[24,16]", "f32[8,24] f32[32,24]", "f32[8,32] f32[24,32]",
        "f32[8,24] f32[32,24]", "f32[8,32] f32[24,32]", "f32[8,24] f32[32,24]",
        "f32[8,32] f32[24,32]", "f32[8,24] f32[40,24]",
    };

    for (int way = ONE_INPUT; way < CASES; way++) {
        struct program program;
        uint32_t       forward[16], loss = 0;

        start(&program);
        if (way != UNKNOWN && way != ONE_LOSS)
            run(&program, "aten::index", "f32[64,16] i64[8]", 1000);
        for (int call = 0; call < 2; call++) {
            if (way == TWO_INPUTS && call == 1)
                run(&program, "aten::index", "f32[64,16] i64[8]", 1000);
            for (int layer = 0; layer < 8; layer++) {
                forward[8 * call + layer] = run(&program, "aten::linear", layers[layer], 1000000);
                if (way == DROPOUT && layer == 0)
                    run(&program, "aten::bernoulli_", "f32[8,24]", 1000);
            }
            if (way == ONE_LOSS) {
                uint32_t tag = run(&program, "aten::cross_entropy_loss", "f32[8,40] i64[8]", 10000);

                loss = call == 0 ? tag : loss;
            }
        }
        for (int i = way == ONE_LOSS ? -1 : 0; i < 16; i++) {
            uint32_t tag;

            slice(&program, "autograd::engine::evaluate_function: AddmmBackward0",
                  ACTIVITY_EXECUTOR, NULL, 2000000);
            tag = run(&program, "aten::mm", "f32[8,24] f32[24,32]", 2000000);
            builder_flow(&program.b, i < 0 ? loss : forward[i], tag, FLOW_FORWARD_BACKWARD);
        }
        for (int network = 0; network < (way == TWO_NETWORKS ? 2 : 1); network++)
            node(&program, "torch::autograd::AccumulateGrad", "f32[24,16]", 1000);
        finish(&program);
        assert_true(fabs(claimed(&program, "trained-again") - again[way]) < 1);
        assert_true(fabs(claimed(&program, "trained-pair") - pair[way]) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Three steps that begin with six layers of 1 ms without a way back, of other weights than the two
 * that are trained, which take as long: 6 ms of each. Also where they may drop, or rows are in
 * another order; not where numbers were drawn before, where the weights are those that are trained,
 * as a target network's, nor for fewer layers or behind what is trained. */
TEST(features_of_frozen_weights)
{
    static const struct {
        const char *before, *between, *weight;
        int         layers;
        bool        is_behind;
        double      claimed_ns;
    } rows[] = {
        { "aten::randint", NULL, "f32[8,64] f32[32,64]", 6, false, 6e6 },
        { NULL, "aten::dropout", "f32[8,64] f32[32,64]", 6, false, 6.001e6 },
        { "aten::uniform_", NULL, "f32[8,64] f32[32,64]", 6, false, 0 },
        { NULL, NULL, "f32[2,64] f32[64,64]", 6, false, 0 },
        { NULL, NULL, "f32[8,64] f32[32,64]", 4, false, 0 },
        { NULL, NULL, "f32[8,64] f32[32,64]", 6, true, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct program program;

        start(&program);
        for (int step = 0; step < 3; step++) {
            if (rows[i].before)
                run(&program, rows[i].before, "f32[8]", 1000);
            if (rows[i].is_behind)
                trained(&program, "f32[8,64] f32[64,64]", 3000000);
            for (int layer = 0; layer < rows[i].layers; layer++) {
                run(&program, "aten::linear", rows[i].weight, 1000000);
                if (layer == 3 && rows[i].between)
                    run(&program, rows[i].between, "f32[8,32]", 1000);
            }
            trained(&program, "f32[8,64] f32[64,64]", 3000000);
            trained(&program, "f32[8,64] f32[64,64]", 3000000);
            node(&program, "aten::mm", "f32[64,8] f32[8,64]", 3000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "frozen-layers") - rows[i].claimed_ns) < 1);
        builder_free(&program.b);
    }
}

/* Positions of two counts, five ops of 0.1 ms in each of two steps, beside a layer. Of it, three
 * where then another length comes in than the counts'; none where each step has its own, or in a
 * single step. */
TEST(positions_in_each_step)
{
    enum { STAYS, OF_DATA, OF_EACH_STEP, ONCE, WAYS };
    static const double expected[WAYS] = { 500e3, 300e3, 0, 0 };

    for (int way = STAYS; way < WAYS; way++) {
        struct program program;

        start(&program);
        for (int step = 0; step < (way == ONCE ? 1 : 2); step++) {
            bool is_other = way == OF_EACH_STEP && step > 0;

            run(&program, "aten::arange", "", 100000);
            run(&program, "aten::div", is_other ? "f32[50]" : "f32[40]", 100000);
            run(&program, "aten::arange", "", 100000);
            run(&program, "aten::mul",
                way == OF_DATA ? "f32[7,1] f32[8,40]"
                : is_other     ? "f32[30,1] f32[1,50]"
                               : "f32[30,1] f32[1,40]",
                100000);
            run(&program, "aten::cos", way == OF_DATA ? "f32[8]" : "f32[30,40]", 100000);
            trained(&program, "f32[8,64] f32[64,64]", 1000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "made-constants") - expected[way]) < 1);
        builder_free(&program.b);
    }
}

/* A block mask of 12 ops of 0.1 ms up to its table, in each of two layers of three steps, without
 * shapes as well: 2.4 ms of each, of which one mask is left where it asks an array that was there.
 * Not what only counts and sorts. */
TEST(block_masks_in_each_layer)
{
    enum { OF_NUMBERS, OF_DOCUMENTS, UNSORTED, WAYS };
    static const double      expected[WAYS] = { 2.4e6, 1.2e6, 0 };
    static const char *const ops[] = { "aten::arange",  "aten::arange",   "aten::arange",
                                       "aten::arange",  "aten::ge",       "aten::sum",
                                       "aten::argsort", "aten::sum",      "aten::argsort",
                                       "aten::where",   "aten::new_ones", "aten::index_put_" };

    for (int way = OF_NUMBERS; way < WAYS; way++) {
        struct program program;

        start(&program);
        program.b.profile.has_shapes = false;
        for (int step = 0; step < 3; step++) {
            for (int layer = 0; layer < 2; layer++) {
                run(&program, "aten::linear", "", 1000000);
                for (size_t op = 0; op < sizeof ops / sizeof ops[0]; op++) {
                    bool is_asked = way == OF_DOCUMENTS && op == 4;
                    bool is_left = way == UNSORTED && (op == 6 || op == 8);

                    run(&program,
                        is_asked  ? "aten::index"
                        : is_left ? "aten::add"
                                  : ops[op],
                        "", 100000);
                }
                run(&program, "aten::add", "", 50000);
            }
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "made-constants") - expected[way]) < 1);
        builder_free(&program.b);
    }
}
