/* Evaluation and metrics inside steps that train. */
#include "excess_program.h"

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

/* Reading weights is claimed even as nearly the whole step, 98 % of 9 ms beside 1 ms of products:
 * by the thread that leads, and where it waits in the library while a thread of that reads. */
TEST(weights_read_in_the_step)
{
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        struct program program;

        (void)state;
        start(&program);
        slice(&program, "$standard_checkpointer.py:128 restore", ACTIVITY_PYTHON, NULL, 9000000);
        if (elsewhere) {
            uint32_t reader = builder_timeline(&program.b, program.host, NO_ID, "reader");

            slice(&program, "wait", ACTIVITY_SYNC, NULL, 9000000);
            builder_event(&program.b, reader,
                          activity_of(&program, "$thread.py:53 run", ACTIVITY_PYTHON, NULL),
                          program.now, 9000000);
        }
        program.now += 9000000;
        run(&program, "aten::linear", "f32[8,64] f32[64,64]", 1000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "library-range") - 0.98 * 9e6) < 1);
        builder_free(&program.b);
    }
}
