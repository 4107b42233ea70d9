/* What a step computes again: prefixes, layers, encoders, whole networks, and evaluation. */
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
 * does, and the others' heads are rows thrown away. */
TEST(a_prefix_with_a_head)
{
    static const double prefix = 1005e3 * (8.0 / 9 + 9.0 / 10 + 10.0 / 11) + 1e6 * 9 / 10;
    static const double thrown = 1e6 * (7.0 / 8 + 8.0 / 9 + 0.1 * 9 / 10 + 10.0 / 11);
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
                     (int64_t)builder_name(&program.b, "['', '1', '-1']"));
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "growing-prefix") - prefix) < 1);
    assert_true(fabs(claimed(&program, "thrown-rows") - thrown) < 1);
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

/* Two batches of another size with a loss of their own behind the update: 4 products and the loss
 * between them, with shapes or without; the same products without a loss before the trained ones,
 * as of a target network, are not claimed. */
TEST(evaluation_in_the_step)
{
    for (int way = 0; way < 4; way++) {
        bool           has_loss = way & 1;
        struct program program;

        (void)state;
        start(&program);
        program.b.profile.has_shapes = way < 2;
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

/* Three products before the trained ones, with a loss of theirs, as of a critic. An agent that
 * draws what it does by them is not evaluated; a model that looks words up and writes is: 3 ms, and
 * 0.2 ms of looking up and drawing between them. */
TEST(acting_is_no_evaluation)
{
    for (int writes = 0; writes < 2; writes++) {
        struct program program;

        (void)state;
        start(&program);
        for (int i = 0; i < 3; i++) {
            if (i == 1 && writes)
                run(&program, "aten::embedding", "f32[100,64] i64[32]", 100000);
            run(&program, "aten::linear", "f32[32,64] f32[64,64]", 1000000);
            if (i == 1)
                run(&program, "aten::multinomial", "f32[32,64]", 100000);
        }
        run(&program, "aten::mse_loss", "f32[32,64]", 100000);
        trained(&program, "f32[8,64] f32[64,64]", 500000);
        node(&program, "aten::mm", "f32[8,64] f32[64,64]", 500000);
        finish(&program);
        assert_true(fabs(claimed(&program, "evaluation") - (writes ? 3.2e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* In each of six steps the trained network of three products runs over the same batch before, with
 * a loss of its own: one pass more, which is work done twice, however many steps it is counted
 * over. */
TEST(another_pass_over_the_batch)
{
    struct program program;

    (void)state;
    start(&program);
    for (int step = 0; step < 6; step++) {
        for (int i = 0; i < 3; i++)
            run(&program, "aten::linear", "f32[8,64] f32[64,64]", 1000000);
        run(&program, "aten::cross_entropy_loss", "f32[8,64]", 100000);
        for (int i = 0; i < 3; i++)
            trained(&program, "f32[8,64] f32[64,64]", 1000000);
        node(&program, "aten::mm", "f32[8,64] f32[64,64]", 1000000);
        end_step(&program);
    }
    finish(&program);
    assert_true(claimed(&program, "evaluation") == 0);
    builder_free(&program.b);
}

/* A product, its gradient's and an update, then four products and a loss that train as well: a
 * kernel of 50 us each, launched ahead, with 10 us between them. The accelerator's time of a gap
 * says nothing of when the host started the next op. Nothing is evaluated. */
TEST(training_on_an_accelerator)
{
    static const char *const ops = "tnutttttl" /* trained, node, update, loss */;
    struct program           program;
    uint32_t                 stream;

    start(&program);
    stream = builder_timeline(
        &program.b, program.host,
        builder_device(&program.b, program.host, "GPU 0", "NVIDIA A100", DEVICE_GPU), "stream 7");
    for (int i = 0; ops[i]; i++) {
        uint32_t launch = slice(&program, "cudaLaunchKernel", ACTIVITY_LAUNCH, NULL, 2000);

        builder_flow(
            &program.b, launch,
            builder_slice(&program.b, stream, "gemm", ACTIVITY_KERNEL, 4000 + i * 60000, 50000),
            FLOW_LAUNCH);
        if (ops[i] == 't')
            trained(&program, "f32[8,64] f32[64,64]", 3000);
        else if (ops[i] == 'n')
            node(&program, "aten::mm", "f32[8,64] f32[64,64]", 3000);
        else if (ops[i] == 'l')
            run(&program, "aten::cross_entropy_loss", "f32[8,64]", 3000);
        else {
            slice(&program, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, NULL, 3000);
            run(&program, "aten::add_", "f32[64,64]", 3000);
        }
    }
    program.now = 540000;
    finish(&program);
    assert_true(claimed(&program, "evaluation") == 0);
    builder_free(&program.b);
}

/* Two batches behind the update, of two whole layers by one op each and a product: six of a
 * millisecond. Parameters come behind the rows and two numbers. */
TEST(evaluation_by_whole_layers)
{
    for (int has_shapes = 0; has_shapes < 2; has_shapes++) {
        struct program program;

        start(&program);
        program.b.profile.has_shapes = has_shapes;
        trained(&program, "f32[8,64] f32[192,64]", 500000);
        trained(&program, "f32[8,64] f32[10,64]", 500000);
        node(&program, "aten::mm", "f32[8,64] f32[64,64]", 500000);
        slice(&program, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, NULL, 100000);
        run(&program, "aten::add_", "f32[192,64]", 100000);
        for (int i = 0; i < 4; i++)
            run(&program, "aten::_transformer_encoder_layer_fwd",
                "f32[9,64] i64[] i64[] f32[192,64]", 1000000);
        for (int i = 0; i < 2; i++)
            run(&program, "aten::linear", "f32[9,64] f32[10,64]", 1000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "evaluation") - 6e6) < 1);
        builder_free(&program.b);
    }
}

/* A range of a library's metrics, 98 % of 3 ms: once in fifty steps is enough; objects that ranks
 * exchange and files that are saved are the same, files that are read are not. As the whole step it
 * is what the program does. */
TEST(metrics_of_a_library)
{
    static const struct {
        const char *name;
        double      ns;
    } ranges[] = {
        { "[pl][module]torchmetrics.collections.MetricCollection: metrics", 2.94e6 },
        { "torch/distributed/distributed_c10d.py(3020): all_gather_object", 2.94e6 },
        { "numpy/lib/_npyio_impl.py(583): savez", 2.94e6 },
        { "numpy/lib/_npyio_impl.py(312): load", 0 },
    };

    for (int i = 0; i < 8; i++) {
        bool           is_alone = i % 2;
        struct program program;

        (void)state;
        start(&program);
        slice(&program, ranges[i / 2].name, ACTIVITY_ANNOTATION, NULL, 3000000);
        run(&program, "aten::sort", "f32[4096]", 3000000);
        if (!is_alone)
            run(&program, "aten::linear", "f32[8,64] f32[64,64]", 3000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "library-range") - (is_alone ? 0 : ranges[i / 2].ns)) <
                    1);
        builder_free(&program.b);
    }
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
