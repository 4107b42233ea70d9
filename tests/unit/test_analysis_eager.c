
#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "base/sample.h"
#include "eager_program.h"

static void train(struct program *program, int64_t first_number, bool has_backward)
{
    numbered(program, call(program, "aten::linear", "f32[8,16] f32[32,16]", 5000), first_number);
    numbered(program, call(program, "aten::linear", "f32[8,32] f32[4,32]", 3000),
             first_number + 10);
    if (!has_backward)
        return;
    node(program, first_number + 10, 4000);
    node(program, first_number, 6000);
}

/* Two linear layers forward and back, the same two again without: 8 us of work for nothing. */
TEST(a_second_forward_is_seen)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    program.b.profile.has_shapes = true;
    train(&program, 1, true);
    train(&program, 40, false);
    builder_finish(&program.b);
    /* The builder makes an op a call; a recording shares them between calls of equal shapes. */
    for (size_t i = 2; i < 4; i++)
        program.b.profile.activities
            .items[event_activity_id(&program.b.profile, program.b.rows[i + 2])]
            .op = (uint32_t)(i - 2);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.backward_nodes") == 2);
    assert_true(builder_fact(&program.b, "torch.backward_ns") == 10000);
    assert_true(builder_fact(&program.b, "torch.repeated_products") == 2);
    assert_true(builder_fact(&program.b, "torch.repeated_forward_ns") == 8000);
    builder_free(&program.b);
}

/* Without shapes: two layers and the activation between, 8 us of work, again behind the loss. With
 * another activation they are other layers. */
TEST(a_second_forward_without_shapes)
{
    static const char *const activations[] = { "aten::relu", "aten::gelu" };

    for (size_t way = 0; way < ARRAY_COUNT(activations); way++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        for (int pass = 0; pass < 2; pass++) {
            numbered(&program, call(&program, "aten::linear", NULL, 4000), 40 * pass + 1);
            numbered(&program, call(&program, pass ? activations[way] : "aten::relu", NULL, 1000),
                     40 * pass + 2);
            numbered(&program, call(&program, "aten::linear", NULL, 3000), 40 * pass + 3);
            call(&program, "aten::mean", NULL, 1000);
            for (int64_t number = 3; pass == 0 && number > 0; number--)
                node(&program, number, 4000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_step.run(&program.b.study, &err));
        assert_true(builder_fact(&program.b, "torch.repeated_products") == (way == 0 ? 2 : 0));
        assert_true(builder_fact(&program.b, "torch.repeated_forward_ns") == (way == 0 ? 8000 : 0));
        builder_free(&program.b);
    }
}

/* Converting a module asks of each parameter whether its data can be taken over, with gradients on;
 * the layer itself is called without: one forward call, none recorded. */
TEST(questions_of_python_are_no_calls)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    for (int64_t i = 0; i < 2; i++)
        numbered(
            &program,
            call(&program, "aten::_has_compatible_shallow_copy_type", "f32[32,16] f32[32,16]", 500),
            i + 1);
    call(&program, "aten::linear", "f32[8,16] f32[32,16]", 5000);
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.forward_calls") == 1);
    assert_true(builder_fact(&program.b, "torch.recorded_calls") == 0);
    builder_free(&program.b);
}

/* With gradients on, each call has the number of the next node. Three calls on what is trained make
 * one each, the last of which no later number shows; those on numbers make none. */
TEST(only_nodes_are_recorded)
{
    for (int makes_nodes = 0; makes_nodes < 2; makes_nodes++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        for (int64_t i = 0; i < 3; i++)
            numbered(&program, call(&program, "aten::select", NULL, 2000), makes_nodes ? i : 0);
        builder_finish(&program.b);
        assert_true(analysis_eager_step.run(&program.b.study, &err));
        assert_true(builder_fact(&program.b, "torch.forward_calls") == 3);
        assert_true(builder_fact(&program.b, "torch.recorded_calls") == 2 * makes_nodes);
        builder_free(&program.b);
    }
}

/* An optimizer's step that holds the forward and the backward pass: the update is what is behind
 * the last node, an op of 2 us and a pause of 0.1 us. The same two layers behind it, without
 * gradients, are called for a metric: 8 us. */
TEST(a_step_with_a_closure)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    program.b.profile.has_shapes = true;
    train(&program, 1, true);
    call(&program, "aten::_fused_adam_", "f32[32,16]", 2000);
    builder_slice(&program.b, program.thread, "Optimizer.step#Adam.step", ACTIVITY_ANNOTATION, 0,
                  program.now);
    for (size_t i = 0; i < 2; i++)
        call(&program, "aten::linear", i ? "f32[8,32] f32[4,32]" : "f32[8,16] f32[32,16]",
             i ? 3000 : 5000);
    builder_finish(&program.b);
    for (size_t i = 0; i < 2; i++)
        program.b.profile.activities
            .items[event_activity_id(&program.b.profile, program.b.rows[i + 6])]
            .op = (uint32_t)i;
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.backward_nodes") == 2);
    assert_true(builder_fact(&program.b, "torch.update_ns") == 2100);
    assert_true(builder_fact(&program.b, "torch.update_calls") == 1);
    assert_true(builder_fact(&program.b, "torch.repeated_products") == 2);
    assert_true(builder_fact(&program.b, "torch.repeated_forward_ns") == 8000);
    builder_free(&program.b);
}

/* Clearing 2 gradients of 512 and 128 elements takes 2 + 1 us within 5 us; clipping takes 2 norms
 * and a product from the end of the backward pass: 3 x 2 us and two pauses of 0.1 us. */
TEST(clearing_and_clipping_are_summed)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    builder_slice(&program.b, program.thread, "Optimizer.zero_grad#SGD.zero_grad",
                  ACTIVITY_ANNOTATION, 0, 5000);
    call(&program, "aten::zero_", "f32[512]", 2000);
    call(&program, "aten::zero_", "f32[128]", 1000);
    program.now = 6000;
    builder_slice(&program.b, program.thread, "autograd::engine::evaluate_function: X",
                  ACTIVITY_EXECUTOR, program.now, 3000);
    call(&program, "aten::mm", "f32[8,8] f32[8,8]", 2000);
    program.now = 10000;
    call(&program, "aten::linalg_vector_norm", "f32[512]", 2000);
    call(&program, "aten::linalg_vector_norm", "f32[128]", 2000);
    call(&program, "aten::mul_", "f32[512]", 2000);
    builder_slice(&program.b, program.thread, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION,
                  program.now, 4000);
    call(&program, "aten::add_", "f32[512]", 2000);
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.clear_ns") == 5000);
    assert_true(builder_fact(&program.b, "torch.cleared_gradients") == 2);
    assert_true(builder_fact(&program.b, "torch.cleared_elements") == 640);
    assert_true(builder_fact(&program.b, "torch.clip_norms") == 2);
    assert_true(builder_fact(&program.b, "torch.clip_ns") == 6200);
    assert_true(builder_fact(&program.b, "torch.update_ns") == 4000);
    assert_true(builder_fact(&program.b, "torch.update_calls") == 1);
    builder_free(&program.b);
}

/* The backward pass on a thread of its own, as with an accelerator: of the program's calls the
 * norms and the product behind it are clipping, the layer before it is not: 3 x 2 us and two pauses
 * of 0.1 us. */
TEST(clipping_behind_another_threads_backward_pass)
{
    struct program program;
    struct err     err = { 0 };
    uint32_t       python;

    start(&program);
    python = program.thread;
    call(&program, "aten::linear", "f32[8,16] f32[32,16]", 5000);
    call(&program, "aten::linalg_vector_norm", "f32[8,32]", 2000);
    program.thread = builder_timeline(&program.b, program.host, NO_ID, "autograd");
    program.now = 10000;
    builder_slice(&program.b, program.thread, "autograd::engine::evaluate_function: X",
                  ACTIVITY_EXECUTOR, program.now, 3000);
    call(&program, "aten::mm", "f32[8,8] f32[8,8]", 2000);
    program.thread = python;
    program.now = 20000;
    call(&program, "aten::linalg_vector_norm", "f32[512]", 2000);
    call(&program, "aten::linalg_vector_norm", "f32[128]", 2000);
    call(&program, "aten::mul_", "f32[512]", 2000);
    builder_slice(&program.b, program.thread, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION,
                  program.now, 4000);
    call(&program, "aten::add_", "f32[512]", 2000);
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.clip_norms") == 2);
    assert_true(builder_fact(&program.b, "torch.clip_ns") == 6200);
    assert_true(builder_fact(&program.b, "torch.clip_host_ns") == 6200);
    builder_free(&program.b);
}

/*
 * Three steps of 1 ms: a call of 100 us, a pause, another call. The pause is 500, 590 and 500 us:
 * every step has 500. The 350 us behind the last call of the third step are no other step's, and
 * the pause inside the optimizer is its own.
 */
TEST(pauses_of_every_step_are_summed)
{
    static const int64_t starts[] = { 600000, 690000, 600000 },
                         ends[] = { 1000000, 1000000, 650000 };
    struct program program;
    struct err     err = { 0 };

    start(&program);
    builder_step(&program.b, program.host, 1000000, 2000000);
    builder_step(&program.b, program.host, 2000000, 3000000);
    for (size_t i = 0; i < 3; i++) {
        program.now = (int64_t)i * 1000000;
        call(&program, "aten::relu", "f32[512]", 100000);
        program.now = (int64_t)i * 1000000 + starts[i];
        builder_slice(&program.b, program.thread, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION,
                      program.now, ends[i] - starts[i]);
        call(&program, "aten::add_", "f32[512]", 10000);
    }
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.pauses_ns") == 500000);
    assert_true(builder_fact(&program.b, "torch.longest_pause_ns") == 500000);
    builder_free(&program.b);
}

/* One conversion of 3 us that copies; one that hands its input on is none. */
TEST(casts_are_counted)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    program.b.profile.has_shapes = true;
    call(&program, "aten::to", "bf16[16,16]", 3000);
    program.now = 500;
    call(&program, "aten::copy_", "f32[16,16] bf16[16,16]", 2000);
    program.now = 4000;
    call(&program, "aten::to", "f32[16,16]", 100);
    builder_finish(&program.b);
    assert_true(analysis_eager_casts.run(&program.b.study, &err));
    assert_true(cell(&program, "eager_casts", "count") == 1);
    assert_true(cell(&program, "eager_casts", "ns") == 3000);
    builder_free(&program.b);
}

/* Beside a layer that is trained, two transforms of 3 us for a preview; an optimizer's own op is an
 * update. Without a backward pass all of it is what the program is there for. */
TEST(calls_beside_the_backward_pass)
{
    for (int is_trained = 0; is_trained < 2; is_trained++) {
        struct program program;
        struct err     err = { 0 };

        (void)state;
        start(&program);
        numbered(&program, call(&program, "aten::linear", NULL, 4000), 1);
        for (int i = 0; i < 2; i++)
            call(&program, "aten::istft", NULL, 3000);
        call(&program, "aten::_foreach_sqrt", NULL, 5000);
        if (is_trained)
            node(&program, 1, 4000);
        builder_finish(&program.b);
        assert_true(analysis_eager_untracked.run(&program.b.study, &err));
        if (is_trained) {
            assert_true(cell(&program, "eager_untracked", "count") == 2);
            assert_true(cell(&program, "eager_untracked", "ns") == 6000);
        }
        assert_true(facts_find_table(&program.b.study.facts, "eager_untracked")->row_count ==
                    (size_t)is_trained);
        builder_free(&program.b);
    }
}

/* Without shapes conversions that take about as long are the same: of four, inside products or not,
 * 2 us are copied, of one 20. What a product copies without being asked for another type, as its
 * bias, is none. */
TEST(casts_without_shapes)
{
    static const struct {
        const char *asked, *by;
        int64_t     ns;
    } copies[] = {
        { "aten::_to_copy", "aten::to", 2000 },     { "aten::_to_copy", "aten::linear", 2000 },
        { "aten::_to_copy", "aten::linear", 2000 }, { "aten::expand", "aten::addmm", 2000 },
        { "aten::_to_copy", "aten::to", 20000 },    { "aten::_to_copy", "aten::to", 2000 }
    };
    const struct table *casts;
    struct program      program;
    struct err          err = { 0 };

    start(&program);
    for (size_t i = 0; i < ARRAY_COUNT(copies); i++) {
        int64_t at_ns = program.now;

        call(&program, copies[i].by, NULL, copies[i].ns + 1000);
        program.now = at_ns + 100;
        call(&program, copies[i].asked, NULL, copies[i].ns + 200);
        program.now = at_ns + 200;
        call(&program, "aten::copy_", NULL, copies[i].ns);
        program.now = at_ns + 30000;
    }
    builder_finish(&program.b);
    assert_true(analysis_eager_casts.run(&program.b.study, &err));
    casts = facts_find_table(&program.b.study.facts, "eager_casts");
    assert_int_equal(casts->row_count, 2);
    assert_true(cell(&program, "eager_casts", "count") == 4);
    assert_true(cell(&program, "eager_casts", "ns") == 8000);
    builder_free(&program.b);
}

/* Under autocast a product copies its weight to another type, here in 2 us of its 5. It is told
 * where what it takes are of two types, or the weight is four times as large as the rows. */
TEST(products_convert_their_weights)
{
    static const struct {
        const char *tensors;
        bool        is_told;
    } ways[] = { { "bf16[64,16] f32[16,16]", true },
                 { "f32[4,16] f32[16,16]", true },
                 { "f32[8,16] f32[16,16]", false } };

    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        program.b.profile.has_shapes = true;
        call(&program, "aten::linear", ways[i].tensors, 5000);
        program.now = 500;
        call(&program, "aten::copy_", "bf16[16,16] f32[16,16]", 2000);
        builder_finish(&program.b);
        assert_true(analysis_eager_casts.run(&program.b.study, &err));
        if (ways[i].is_told)
            assert_true(cell(&program, "eager_casts", "ns") == 2000);
        else
            assert_true(facts_find_table(&program.b.study.facts, "eager_casts")->row_count == 0);
        builder_free(&program.b);
    }
}

/* Medians of unordered values, odd and even counts. */
TEST(medians_need_no_order)
{
    double odd[] = { 5, 1, 4, 2, 3 }, even[] = { 9, 1, 9, 3, 2, 9 }, one[] = { 7 };

    assert_true(sample_middle(odd, 5) == 3);
    assert_true(sample_middle(even, 6) == 6);
    assert_true(sample_middle(one, 1) == 7);
    assert_true(sample_middle(one, 0) == 0);
}

/* One row added to 63 copies them all (3 us), and what was copied is given back before the next
 * call, 2.1 us behind; two halves make something new. */
TEST(appending_is_seen)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    call(&program, "aten::cat", "f32[8,63,64] f32[8,1,64]", 3000);
    program.now += 2000;
    call(&program, "aten::cat", "f32[8,32,64] f32[8,32,64]", 4000);
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.appends") == 1);
    assert_true(builder_fact(&program.b, "torch.appends_ns") == 3000 + 2100);
    builder_free(&program.b);
}

/* Scores of four batches, the last a smaller one, are put together in 2, 3 and 4 us, and labels of
 * the same in 1 us each: six calls of 12 us, of which the last of both take 5. Not features, which
 * are joined along another axis, nor two parts behind one. */
TEST(results_put_together_for_each_batch)
{
    enum { ROWS, FEATURES, FEW, CASES };
    static const char *const scores[CASES][3] = {
        { "f32[8,90] f32[8,90]", "f32[16,90] f32[8,90]", "f32[24,90] f32[5,90]" },
        { "f32[90,8] f32[90,8]", "f32[90,16] f32[90,8]", "f32[90,24] f32[90,8]" },
        { "f32[8,90] f32[8,90]", "f32[16,90] f32[8,90]", "f32[8,90] f32[7,90]" },
    };
    static const char *const labels[3] = { "i64[8] i64[8]", "i64[16] i64[8]", "i64[24] i64[5]" };

    for (int way = ROWS; way < CASES; way++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        for (int batch = 0; batch < 3; batch++) {
            call(&program, "aten::linear", "f32[8,16] f32[90,16]", 5000);
            call(&program, "aten::cat", scores[way][batch], 2000 + 1000 * batch);
            if (way == ROWS)
                call(&program, "aten::cat", labels[batch], 1000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_step.run(&program.b.study, &err));
        assert_true(builder_fact(&program.b, "torch.grown") == (way == ROWS ? 6 : 0));
        assert_true(builder_fact(&program.b, "torch.grown_ns") == (way == ROWS ? 12000 : 0));
        assert_true(builder_fact(&program.b, "torch.grown_last_ns") == (way == ROWS ? 5000 : 0));
        builder_free(&program.b);
    }
}

/* A model is called three times, its layer twice in each. */
TEST(calls_of_a_model_are_counted)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    for (int i = 0; i < 3; i++) {
        builder_slice(&program.b, program.thread, "nn.Module: Net_0", ACTIVITY_PYTHON, program.now,
                      5000);
        for (int layer = 0; layer < 2; layer++) {
            builder_slice(&program.b, program.thread, "nn.Module: Linear_0", ACTIVITY_PYTHON,
                          program.now, 1500);
            call(&program, "aten::linear", "f32[8,16] f32[16,16]", 1000);
            program.now += 1000;
        }
        program.now += 2000;
    }
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.model_calls") == 3);
    builder_free(&program.b);
}

/*
 * A product whose host call lasts 10 us and launches a kernel of 40 us, its backward node of 5 us
 * with one of 80 us: on a device the kernels count, so 40 us forward and 80 us backward. Adding a
 * gradient launches 7 us, clearing four one after the other 2 us each.
 */
TEST(on_a_device_its_work_counts)
{
    struct program program;
    struct err     err = { 0 };
    uint32_t       gpu, stream, from, to;
    struct {
        int64_t at, ns;
    } launches[8];
    size_t count = 0;

    start(&program);
    gpu = builder_device(&program.b, program.host, "GPU 0", "", DEVICE_GPU);
    stream = builder_timeline(&program.b, program.host, gpu, "stream 7");
    for (int i = 0; i < 4; i++) {
        launches[count].at = program.now + 100;
        launches[count++].ns = 2000;
        call(&program, "aten::zero_", "f32[64,64]", 1000);
    }
    launches[count].at = program.now + 100;
    launches[count++].ns = 40000;
    numbered(&program, call(&program, "aten::matmul", "f32[64,64] f32[64,64]", 10000), 7);
    launches[count].at = program.now + 100;
    launches[count++].ns = 80000;
    node(&program, 7, 5000);
    builder_slice(&program.b, program.thread, "torch::autograd::AccumulateGrad", ACTIVITY_OP,
                  program.now + 10, 900);
    launches[count].at = program.now + 100;
    launches[count++].ns = 7000;
    node(&program, -1, 1000);
    for (size_t i = 0; i < count; i++) {
        from = builder_slice(&program.b, program.thread, "cudaLaunchKernel", ACTIVITY_LAUNCH,
                             launches[i].at, 200);
        to = builder_slice(&program.b, stream, "k", ACTIVITY_KERNEL, 100000 * (int64_t)(i + 1),
                           launches[i].ns);
        builder_flow(&program.b, from, to, FLOW_LAUNCH);
    }
    builder_finish(&program.b);
    program.b.study.path.has_device = true;
    assert_true(analysis_devices.run(&program.b.study, &err));
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.forward_ns") == 40000);
    assert_true(builder_fact(&program.b, "torch.backward_ns") == 87000);
    assert_true(builder_fact(&program.b, "torch.accumulated_ns") == 7000);
    assert_true(builder_fact(&program.b, "torch.cleared_gradients") == 4);
    assert_true(builder_fact(&program.b, "torch.clear_ns") == 8000);
    builder_free(&program.b);
}

/* One product on eight rows, two losses that each go back over it: node 7 runs again for 4 us. */
TEST(a_second_backward_is_seen)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    numbered(&program, call(&program, "aten::linear", "f32[8,16] f32[4,16]", 1000), 7);
    node(&program, 7, 5000);
    node(&program, 7, 4000);
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.backward_again_nodes") == 1);
    assert_true(builder_fact(&program.b, "torch.backward_again_ns") == 4000);
    assert_true(builder_fact(&program.b, "torch.backward_passes") == 1);
    assert_true(builder_fact(&program.b, "torch.product_rows") == 8);
    builder_free(&program.b);
}

/* The same where the op inside the first node, of 1 us, is recorded itself: gradients of gradients
 * go back over the same call again. A step of an optimizer that holds a backward pass is no update.
 */
TEST(gradients_of_gradients)
{
    struct program program;
    struct err     err = { 0 };
    int64_t        begin;

    start(&program);
    begin = program.now;
    program.now += 100;
    numbered(&program, call(&program, "aten::linear", "f32[8,16] f32[4,16]", 1000), 7);
    numbered(
        &program,
        builder_slice(&program.b, program.thread, "aten::mm", ACTIVITY_OP, program.now + 10, 1000),
        8);
    node(&program, 7, 5000);
    node(&program, 7, 4000);
    builder_slice(&program.b, program.thread, "Optimizer.step#LBFGS.step", ACTIVITY_ANNOTATION,
                  begin, program.now - begin);
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.backward_again_nodes") == 0);
    assert_true(builder_fact(&program.b, "torch.update_ns") == 0);
    builder_free(&program.b);
}

/* Sixteen gradients are handed over; behind them each parameter is multiplied (1 us) and written
 * (1 us), with 100 ns between calls: 32 x 1000 + 31 x 100 ns. Fewer writes are no such loop. That
 * another program holds one call up does not make the calls long. */
TEST(parameters_written_by_hand)
{
    for (int writes = 16; writes >= 8; writes -= 8) {
        struct program program;
        struct err     err = { 0 };

        (void)state;
        start(&program);
        numbered(&program, call(&program, "aten::linear", "f32[8,16] f32[4,16]", 1000), 7);
        node(&program, 7, 5000);
        for (int i = 0; i < 16; i++) {
            builder_slice(&program.b, program.thread, "torch::autograd::AccumulateGrad",
                          ACTIVITY_OP, program.now + 10, 900);
            node(&program, -1, 1000);
        }
        for (int i = 0; i < writes; i++) {
            call(&program, "aten::mul", "f32[4,16]", 1000);
            program.now += i == 9 ? 20000 : 0;
            call(&program, "aten::sub_", "f32[4,16]", 1000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_step.run(&program.b.study, &err));
        assert_true(builder_fact(&program.b, "torch.by_hand_writes") == (writes == 16 ? 16 : 0));
        assert_true(builder_fact(&program.b, "torch.by_hand_ns") == (writes == 16 ? 55100 : 0));
        assert_true(builder_fact(&program.b, "torch.by_hand_host_ns") ==
                    (writes == 16 ? 55100 : 0));
        assert_true(builder_fact(&program.b, "torch.by_hand_call_ns") == (writes == 16 ? 1100 : 0));
        builder_free(&program.b);
    }
}

/* Rows of 64 and 512 against each other make 64 x 512 x 8 values of 4096 at most: 64 times as many.
 * The sum behind it takes them back: 3 + 2 us. The same with a copy that is spread out first:
 * 4 + 3 + 2 us. 0.1 us pass behind each of these five. A mask that is added to scores makes nothing
 * larger. */
TEST(all_pairs_are_seen)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    call(&program, "aten::mul", "f32[64,1,8] f32[1,512,8]", 3000);
    call(&program, "aten::sum", "f32[64,512,8]", 2000);
    call(&program, "aten::relu", "f32[64,512]", 1000);
    call(&program, "aten::expand", "f32[64,1,8]", 100);
    call(&program, "aten::contiguous", "f32[64,512,8]", 4000);
    call(&program, "aten::sub", "f32[64,512,8] f32[64,512,8]", 3000);
    call(&program, "aten::sum", "f32[64,512,8]", 2000);
    call(&program, "aten::relu", "f32[64,512]", 1000);
    call(&program, "aten::add", "f32[4,512,512] f32[1,512,512]", 3000);
    call(&program, "aten::sum", "f32[4,512,512]", 2000);
    builder_finish(&program.b);
    assert_true(analysis_eager_idioms.run(&program.b.study, &err));
    assert_true(builder_cell(&program.b, "eager_idioms", "idiom", "outer", "count") == 2);
    assert_true(builder_cell(&program.b, "eager_idioms", "idiom", "outer", "ns") == 14500);
    builder_free(&program.b);
}

/* Between a square of all pairs, 3 us, and its sum 0.5 us pass, and behind that, 2 us, 5: freeing
 * takes no longer than writing did, 2 us. One-hot rows of 1 us are freed in 0.4 us in front of
 * their product, 2 us; what comes behind that is another's. */
TEST(large_arrays_are_freed)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    call(&program, "aten::mul", "f32[64,1,8] f32[1,512,8]", 3000);
    program.now += 500;
    call(&program, "aten::sum", "f32[64,512,8]", 2000);
    program.now += 5000;
    call(&program, "aten::one_hot", "s64[64]", 1000);
    program.now += 400;
    call(&program, "aten::linear", "f32[64,512] f32[8,512]", 2000);
    program.now += 700;
    call(&program, "aten::relu", "f32[64,8]", 1000);
    builder_finish(&program.b);
    assert_true(analysis_eager_idioms.run(&program.b.study, &err));
    assert_true(builder_cell(&program.b, "eager_idioms", "idiom", "outer", "ns") == 7600);
    assert_true(builder_cell(&program.b, "eager_idioms", "idiom", "onehot-product", "ns") == 3500);
    builder_free(&program.b);
}

/* "x * relu6(x + 3) / 6" passes four times over the same 65536 values: 3 + 2 + 4 + 3 us. Two passes
 * are no chain, nor is clipping behind a product. */
TEST(clipping_is_a_pass_of_a_chain)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    call(&program, "aten::add", "f32[4,64,256]", 3000);
    call(&program, "aten::relu6", "f32[4,64,256]", 2000);
    call(&program, "aten::mul", "f32[4,64,256] f32[4,64,256]", 4000);
    call(&program, "aten::div", "f32[4,64,256]", 3000);
    call(&program, "aten::linear", "f32[4,64,256] f32[256,256]", 9000);
    call(&program, "aten::add", "f32[4,64,256] f32[4,64,256]", 3000);
    call(&program, "aten::clamp", "f32[4,64,256]", 3000);
    call(&program, "aten::linear", "f32[4,64,256] f32[256,256]", 9000);
    builder_finish(&program.b);
    assert_true(analysis_eager_idioms.run(&program.b.study, &err));
    assert_true(builder_cell(&program.b, "eager_idioms", "idiom", "chain", "count") == 1);
    assert_true(builder_cell(&program.b, "eager_idioms", "idiom", "chain", "ns") == 12000);
    builder_free(&program.b);
}

/* The same without shapes: 30 + 20 + 40 + 30 us are passes over arrays of about one size; a tenth
 * of each may be what starting an op takes; and one of 400 us among them is over a larger one. */
TEST(a_chain_without_shapes)
{
    static const struct {
        int64_t ns[4];
        int     count;
    } cases[] = { { { 30000, 20000, 40000, 30000 }, 1 },
                  { { 3000, 2000, 4000, 3000 }, 0 },
                  { { 30000, 20000, 400000, 30000 }, 0 } };
    static const char *names[] = { "aten::add", "aten::relu6", "aten::mul", "aten::div" };

    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct program      program;
        struct err          err = { 0 };
        const struct table *table;

        start(&program);
        for (size_t i = 0; i < ARRAY_COUNT(names); i++)
            call(&program, names[i], "", cases[c].ns[i]);
        builder_finish(&program.b);
        assert_true(analysis_eager_idioms.run(&program.b.study, &err));
        table = facts_find_table(&program.b.study.facts, "eager_idioms");
        assert_int_equal(table->row_count, cases[c].count);
        if (cases[c].count)
            assert_true(cell(&program, "eager_idioms", "ns") == 120000);
        builder_free(&program.b);
    }
}

/* Smoothed targets, from one-hot rows or filled and written into, times the logarithms' negatives:
 * 2 + 1 + 1 + 5 + 2 + 2 + 1 + 1 = 15 us, and 5 + 1 + 2 + 2 + 2 + 1 = 13 us. 5 us of each are the
 * logarithm. */
TEST(smoothed_targets_make_a_loss_by_hand)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    call(&program, "aten::one_hot", "s64[64]", 2000);
    call(&program, "aten::mul", "f32[64,4096]", 1000);
    call(&program, "aten::add", "f32[64,4096]", 1000);
    call(&program, "aten::log_softmax", "f32[64,4096]", 5000);
    call(&program, "aten::neg", "f32[64,4096]", 2000);
    call(&program, "aten::mul", "f32[64,4096] f32[64,4096]", 2000);
    call(&program, "aten::sum", "f32[64,4096]", 1000);
    call(&program, "aten::mean", "f32[64]", 1000);
    call(&program, "aten::linear", "f32[64,8] f32[4096,8]", 9000);
    call(&program, "aten::log_softmax", "f32[64,4096]", 5000);
    call(&program, "aten::fill_", "f32[64,4096]", 1000);
    call(&program, "aten::scatter_", "f32[64,4096] s64[64,1]", 2000);
    call(&program, "aten::neg", "f32[64,4096]", 2000);
    call(&program, "aten::mul", "f32[64,4096] f32[64,4096]", 2000);
    call(&program, "aten::sum", "f32[64,4096]", 1000);
    builder_finish(&program.b);
    assert_true(analysis_eager_idioms.run(&program.b.study, &err));
    assert_true(builder_cell(&program.b, "eager_idioms", "idiom", "loss", "count") == 2);
    assert_true(builder_cell(&program.b, "eager_idioms", "idiom", "loss", "ns") == 28000);
    assert_true(builder_cell(&program.b, "eager_idioms", "idiom", "loss", "pivot_ns") == 10000);
    builder_free(&program.b);
}

/* What is inside the next call, `at` ns behind its start. */
static void inside(struct program *program, const char *name, int64_t at, int64_t ns)
{
    builder_event(&program->b, program->thread,
                  builder_activity(&program->b, name, ACTIVITY_OP, NO_ID), program->now + at, ns);
}

/*
 * Attention of 50 us that drops for 20 us between products of 10 and 8 us: 50 - 18 = 32 us. Another
 * one only multiplies, and a layer of another kind that drops is not one kernel otherwise. Dropout
 * of its own takes 5 us.
 */
TEST(attention_that_drops_is_priced)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    inside(&program, "aten::matmul", 1000, 10000);
    inside(&program, "aten::dropout", 12000, 20000);
    inside(&program, "aten::matmul", 33000, 8000);
    call(&program, "aten::scaled_dot_product_attention", NULL, 50000);
    inside(&program, "aten::matmul", 1000, 10000);
    call(&program, "aten::scaled_dot_product_attention", NULL, 30000);
    inside(&program, "aten::dropout", 1000, 10000);
    call(&program, "aten::lstm", NULL, 40000);
    call(&program, "aten::dropout", NULL, 5000);
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.dropout_ns") == 37000);
    builder_free(&program.b);
}

/* A batch norm of 7 us whose module counts the batch before it, as while it trains; one of 3 us
 * that does not, and one behind another op. */
TEST(batch_norms_by_own_statistics)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    call(&program, "aten::conv2d", NULL, 50000);
    call(&program, "aten::add_", NULL, 1000);
    call(&program, "aten::batch_norm", NULL, 7000);
    call(&program, "aten::relu_", NULL, 2000);
    call(&program, "aten::batch_norm", NULL, 3000);
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.own_statistics_ns") == 7000);
    builder_free(&program.b);
}

/* Two tables of 1000 x 8 and one of 1000 x 1 for 64 lookups hand 8000, 8000 and 1000 elements to
 * their parameters; one of 300 x 8 has fewer than ten rows a lookup, and weights are no table. The
 * tables that are asked about have the same rows, of which most are looked up in the wide ones. */
TEST(gradients_of_tables)
{
    static const struct {
        const char *lookup, *gradient;
    } rows[] = {
        { "f32[1000,1] i64[32]", "f32[1000,1]" },
        { "f32[1000,8] i64[8,8]", "f32[1000,8]" },
        { "f32[1000,8] i64[64]", "f32[1000,8]" },
        { "f32[300,8] i64[64]", "f32[300,8]" },
        { NULL, "f32[64,64]" },
    };
    struct program program;
    struct err     err = { 0 };

    start(&program);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (rows[i].lookup)
            call(&program, "aten::embedding", rows[i].lookup, 3000);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        builder_slice(&program.b, program.thread, "autograd::engine::evaluate_function: X",
                      ACTIVITY_EXECUTOR, program.now, 1000);
        call(&program, "torch::autograd::AccumulateGrad", rows[i].gradient, 1000);
    }
    builder_finish(&program.b);
    assert_true(analysis_eager_step.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.embedding_rows") == 1000);
    assert_true(builder_fact(&program.b, "torch.embedding_lookups") == 64);
    assert_true(builder_fact(&program.b, "torch.embedding_elements") == 17000);
    builder_free(&program.b);
}

/* Bags of rows of a table of 1000 x 8: their dense gradient takes 5 us, a sparse one counts for
 * nothing. */
TEST(bags_of_embeddings)
{
    static const char *const inner[] = { "aten::_embedding_bag_dense_backward",
                                         "aten::_embedding_bag_sparse_backward" };
    struct program           program;
    struct err               err = { 0 };

    for (size_t i = 0; i < 2; i++) {
        int64_t begin_ns;

        start(&program);
        call(&program, "aten::embedding_bag", "f32[1000,8] i64[64] i64[4]", 3000);
        begin_ns = program.now;
        builder_slice(&program.b, program.thread, "autograd::engine::evaluate_function: X",
                      ACTIVITY_EXECUTOR, begin_ns, 6000);
        call(&program, "aten::_embedding_bag_backward", "f32[4,8] i64[64] i64[4]", 5000);
        builder_slice(&program.b, program.thread, inner[i], ACTIVITY_OP, begin_ns + 1000, 2000);
        builder_finish(&program.b);
        assert_true(analysis_eager_step.run(&program.b.study, &err));
        assert_true(builder_fact(&program.b, "torch.embedding_rows") == 1000);
        assert_true(builder_fact(&program.b, "torch.embedding_lookups") == 64);
        assert_true(builder_fact(&program.b, "torch.embedding_gradient_ns") == (i == 0 ? 5000 : 0));
        builder_free(&program.b);
    }
}
