/* What a step computes again: prefixes, layers, encoders, whole networks. */
#include "excess_program.h"

/* Two requests, each of rounds of 100, 101, 102, 103 rows, 1 ms each: the last three need one row
 * of 101, 102, 103. */
TEST(a_prefix_that_grows)
{
    struct program program;
    char           shapes[64];
    double         expected = 0;

    start(&program);
    for (int request = 0; request < 2; request++) {
        for (int rows = 100; rows < 104; rows++) {
            snprintf(shapes, sizeof shapes, "f32[%d,64] f32[64,64]", rows);
            run(&program, "aten::linear", shapes, 1000000);
            expected += rows > 100 ? 1e6 * (1 - 1.0 / rows) / 2 : 0;
        }
        end_step(&program);
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "growing-prefix") - expected) < 1);
    builder_free(&program.b);
}

/* Rounds of 100 to 103 rows that an accelerator works on for 50 us each; the host starts one every
 * 10 us and takes 3 us for the last. That it does for new rows alone, too: of the second and third
 * round the accelerator's 40 us go, of the last 47 us, which is less than 102 of 103 rows. */
TEST(a_prefix_on_an_accelerator)
{
    struct program program;
    char           shapes[64];
    uint32_t       stream;

    start(&program);
    stream = builder_timeline(
        &program.b, program.host,
        builder_device(&program.b, program.host, "GPU 0", "NVIDIA A100", DEVICE_GPU), "stream 7");
    for (int round = 0; round < 4; round++) {
        uint32_t launch = slice(&program, "cudaLaunchKernel", ACTIVITY_LAUNCH, NULL, 2000);

        builder_flow(
            &program.b, launch,
            builder_slice(&program.b, stream, "gemm", ACTIVITY_KERNEL, 4000 + round * 50000, 50000),
            FLOW_LAUNCH);
        snprintf(shapes, sizeof shapes, "f32[%d,64] f32[64,64]", 100 + round);
        run(&program, "aten::linear", shapes, 3000);
        program.now += 7000;
    }
    program.now = 204000;
    finish(&program);
    assert_true(fabs(claimed(&program, "growing-prefix") - (40e3 + 40e3 + 47e3)) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* Rounds of 8, 9, 10, 11 rows through a layer and a head of 1 ms each, of which one row is kept by
 * an op of 5 us: of the layer each round but the first needs one row, as the head of the third
 * does, and the others' heads are rows thrown away, as are the first round's of the layer, and of
 * what is left of it in the others. */
TEST(a_prefix_with_a_head)
{
    static const double prefix = 1005e3 * (8.0 / 9 + 9.0 / 10 + 10.0 / 11) + 1e6 * 9 / 10;
    static const double heads = 1e6 * (7.0 / 8 + 8.0 / 9 + 0.1 * 9 / 10 + 10.0 / 11);
    static const double layers = 1e6 * (7.0 / 8 + 8.0 / 81 + 9.0 / 100 + 10.0 / 121);
    struct program      program;
    char                shapes[64];

    start(&program);
    for (int rows = 8; rows < 12; rows++) {
        uint32_t tag;

        snprintf(shapes, sizeof shapes, "f32[1,%d,64] f32[64,64]", rows);
        run(&program, "aten::linear", shapes, 1000000);
        snprintf(shapes, sizeof shapes, "f32[1,%d,64] f32[900,64]", rows);
        run(&program, "aten::linear", shapes, 1000000);
        snprintf(shapes, sizeof shapes, "f32[1,%d,900]", rows);
        tag = run(&program, "aten::select", shapes, 5000);
        builder_stat(&program.b, tag, STAT_CONCRETE_INPUTS,
                     (int64_t)builder_name(&program.b, "[\"\", \"1\", \"-1\"]"));
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "growing-prefix") - prefix) < 1);
    assert_true(fabs(claimed(&program, "thrown-rows") - heads - layers) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* A batch that grows less evenly is no prefix. */
TEST(batches_that_differ)
{
    static const int rows[] = { 100, 120, 110, 180, 60 };
    struct program   program;
    char             shapes[64];

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
TEST(layers_in_the_backward_pass)
{
    struct program program;

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

/* An encoder of a look-up and two layers in each of four rounds: three of them, 0.1 + 2 ms each. */
TEST(an_encoder_in_each_round)
{
    struct program program;

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

/* The same encoder on other ids each time: rows of a list that is taken apart before, a slice of it
 * in each round, or the next batch of a loader. */
TEST(an_encoder_for_each_item)
{
    enum { APART, SLICES, BATCHES, CASES };

    for (int way = APART; way < CASES; way++) {
        struct program program;

        (void)state;
        start(&program);
        if (way == APART)
            run(&program, "aten::unbind", "i64[4,8]", 5000);
        for (int round = 0; round < 4; round++) {
            if (way == SLICES)
                run(&program, "aten::slice", "i64[4,8]", 5000);
            if (way == BATCHES) {
                slice(&program, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                      ACTIVITY_INPUT_WAIT, NULL, 20000);
                program.now += 20000;
            }
            run(&program, "aten::embedding", "f32[1000,64] i64[1,8]", 100000);
            for (int layer = 0; layer < 2; layer++) {
                run(&program, "aten::linear", "f32[1,8,64] f32[64,64]", 600000);
                run(&program, "aten::relu", "f32[1,8,64]", 200000);
                run(&program, "aten::layer_norm", "f32[1,8,64]", 200000);
            }
            run(&program, "aten::conv2d", "f32[2,4,16,16] f32[4,4,3,3]", 3000000);
        }
        finish(&program);
        assert_true(claimed(&program, "repeated-block") == 0);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Four tokens, each by an encoder of one layer on [2,8] ids and a decoder of one: with the next two
 * ids picked of the vocabulary, three encoder runs are again, 0.1 + 0.6 ms and a pause of 0.2 each.
 * Not where the picked ids are put among those that are encoded, nor where all ids are picked anew.
 */
TEST(an_encoder_for_each_token)
{
    enum { APART, AMONG, ANEW, CASES };

    for (int way = APART; way < CASES; way++) {
        struct program program;

        start(&program);
        for (int token = 0; token < 4; token++) {
            run(&program, "aten::embedding", "f32[1000,64] i64[2,8]", 100000);
            program.now += 200000;
            run(&program, "aten::linear", "f32[2,8,64] f32[64,64]", 600000);
            run(&program, "aten::embedding", "f32[1000,64] i64[2,1]", 10000);
            run(&program, "aten::linear", "f32[2,1,64] f32[1000,64]", 300000);
            run(&program, "aten::argmax", way == ANEW ? "f32[2,8,1000]" : "f32[2,1,1000]", 20000);
            if (way == AMONG)
                run(&program, "aten::cat", "i64[2,7] i64[2,1]", 20000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "repeated-block") - (way == APART ? 2.7e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* 512 rows pass through two layers without gradients in 3 ms, and 64 of the results are picked for
 * the 64 rows that train: 448 of 512 go. Not where 64 rows pass, nor where nothing is picked. */
TEST(a_whole_buffer_for_each_part)
{
    enum { WHOLE, PART, KEPT, CASES };

    for (int way = WHOLE; way < CASES; way++) {
        struct program program;

        start(&program);
        for (int layer = 0; layer < 2; layer++)
            run(&program, "aten::linear",
                way == PART ? "f32[64,9] f32[9,9]" : "f32[512,9] f32[9,9]", 1450000);
        if (way != KEPT)
            run(&program, "aten::index", way == PART ? "f32[64,9]" : "f32[512,9]", 100000);
        trained(&program, "f32[64,9] f32[9,9]", 400000);
        trained(&program, "f32[64,9] f32[9,9]", 400000);
        run(&program, "aten::_fused_adamw_", "f32[9,9]", 30000);
        finish(&program);
        assert_true(fabs(claimed(&program, "larger-pass") - (way == WHOLE ? 2.625e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* A network of a sine of 10 us and twelve products of six shapes, 0.1 ms each, twice in a row and
 * then what mixes them: the second call. Two layers of two products are no networks. */
TEST(one_network_twice_in_a_row)
{
    static const char *const shapes[] = { "f32[2,8] f32[9,8]", "f32[2,9] f32[7,9]",
                                          "f32[2,7] f32[6,7]", "f32[2,6] f32[5,6]",
                                          "f32[2,5] f32[4,5]", "f32[2,4] f32[8,4]" };

    for (int is_layer = 0; is_layer < 2; is_layer++) {
        struct program program;

        start(&program);
        for (int call = 0; call < 2; call++) {
            run(&program, "aten::sin", "f32[2,8]", 10000);
            for (int i = 0; i < 12; i++)
                run(&program, "aten::linear", shapes[is_layer ? i % 2 : i / 2], 100000);
        }
        run(&program, "aten::sub", "f32[2,8] f32[2,8]", 10000);
        finish(&program);
        assert_true(fabs(claimed(&program, "paired-calls") - (is_layer ? 0 : 1.21e6)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Without shapes: an encoder of a look-up, six layers and a sum in each of three rounds between
 * which a convolution runs, 0.1 + 6 * 0.3 + 0.1 ms: two of them. Not where what it looks up is
 * picked just before, nor where a result is read in each round, nor in a recording without steps,
 * where the rounds may be steps. */
TEST(an_encoder_without_shapes)
{
    enum { AGAIN, PICKED, READ, NO_STEPS, CASES };

    for (int way = AGAIN; way < CASES; way++) {
        struct program program;

        start(&program);
        program.b.profile.has_shapes = false;
        if (way == NO_STEPS)
            program.b.study.steps.source = STEPS_WHOLE_TRACE;
        for (int round = 0; round < 3; round++) {
            run(&program, "aten::embedding", "", 100000);
            for (int layer = 0; layer < 6; layer++) {
                run(&program, "aten::linear", "", 200000);
                run(&program, "aten::relu", "", 50000);
                run(&program, "aten::layer_norm", "", 50000);
            }
            run(&program, "aten::conv2d", "", 3000000);
            if (way == PICKED)
                run(&program, "aten::argmax", "", 20000);
            if (way == READ)
                run(&program, "aten::item", "", 20000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "repeated-block") - (way == AGAIN ? 3.8e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Without shapes: a look-up of 10 us and 24 products of 0.1 ms twice in a row, then what mixes
 * them: the second call. Half as many products may be layers. */
TEST(one_network_twice_without_shapes)
{
    for (int is_small = 0; is_small < 2; is_small++) {
        struct program program;

        start(&program);
        program.b.profile.has_shapes = false;
        for (int call = 0; call < 2; call++) {
            run(&program, "aten::sin", "", 10000);
            for (int i = 0; i < (is_small ? 12 : 24); i++)
                run(&program, "aten::linear", "", 100000);
        }
        run(&program, "aten::sub", "", 10000);
        finish(&program);
        assert_true(fabs(claimed(&program, "paired-calls") - (is_small ? 0 : 2.41e6)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Five words are written behind 16 for two texts, each by a look-up of 1.6 ms and a product of 3.2
 * ms over all 16: four times all but what starting an op takes, or a sixteenth. Not where each
 * position is picked from, as of a text that is judged, not where nothing is put behind the words,
 * and not where the next words go through alone: each of the five is then another answer. */
TEST(the_same_window_for_each_word)
{
    enum { WRITES, JUDGES, FORGETS, KEEPS };

    for (int way = WRITES; way <= KEEPS; way++) {
        struct program program;
        double         ns;

        start(&program);
        for (int word = 0; word < 5; word++) {
            run(&program, "aten::embedding", "f32[100,8] i64[2,16]", 1600000);
            run(&program, "aten::linear", "f32[2,16,8] f32[8,8]", 3200000);
            run(&program, "aten::argmax", way == JUDGES ? "f32[2,16,100]" : "f32[2,100]", 10000);
            if (way != FORGETS)
                run(&program, "aten::cat", "i64[2,16] i64[2,1]", 1000);
            if (way == KEEPS)
                run(&program, "aten::embedding", "f32[100,8] i64[2,1]", 10000);
        }
        finish(&program);
        ns = claimed(&program, "growing-prefix");
        assert_true(way == WRITES ? fabs(ns - 4 * (1.6e6 * 15 / 16 + 3.2e6 * 4 / 5)) < 4 * 11000
                                  : ns == 0);
        assert_sums(&program);
        builder_free(&program.b);
    }
}
