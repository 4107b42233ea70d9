#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

struct program {
    struct profile_builder b;
    uint32_t               thread, stream;
};

static void start(struct program *program, bool has_device)
{
    uint32_t host;

    builder_start(&program->b, FORMAT_KINETO);
    program->b.profile.framework = builder_name(&program->b, "pytorch");
    host = builder_host(&program->b, "h");
    program->thread = builder_timeline(&program->b, host, NO_ID, "main");
    if (has_device)
        program->stream = builder_timeline(
            &program->b, host, builder_device(&program->b, host, "GPU 0", "", DEVICE_GPU),
            "stream 7");
    builder_step(&program->b, host, 0, 1000);
}

static void op(struct program *program, const char *name, int64_t start_ns, int64_t ns)
{
    builder_slice(&program->b, program->thread, name, ACTIVITY_OP, start_ns, ns);
}

/* A call at start_ns that launches `work` of ns on the device. */
static void launch(struct program *program, int64_t start_ns, const char *work,
                   enum activity_kind kind, int64_t ns)
{
    uint32_t from =
        builder_slice(&program->b, program->thread, "cudaLaunch", ACTIVITY_LAUNCH, start_ns, 1);
    uint32_t to = builder_slice(&program->b, program->stream, work, kind, start_ns + 2, ns);

    builder_flow(&program->b, from, to, FLOW_LAUNCH);
}

static void finish(struct program *program)
{
    struct profile *profile = &program->b.profile;
    struct err      err = { 0 };

    for (uint32_t i = 0; i < profile->activities.count; i++)
        if (profile->activities.items[i].kind == ACTIVITY_MEMCPY)
            profile->activities.items[i].copy = COPY_H2D;
    builder_finish(&program->b);
    assert_true(analysis_devices.run(&program->b.study, &err));
    assert_true(analysis_torch_marks.run(&program->b.study, &err));
}

/* On the CPU the calls' own time counts: a fill of 7 in an empty, not the one in zeros; a sorted
 * write of 20 in an index_add_, not the user's own index_put_. */
TEST(deterministic_on_the_cpu)
{
    struct program program;

    start(&program, false);
    op(&program, "aten::empty", 0, 10);
    op(&program, "aten::fill_", 2, 7);
    op(&program, "aten::zeros", 20, 10);
    op(&program, "aten::fill_", 22, 7);
    op(&program, "aten::index_add_", 40, 30);
    op(&program, "aten::index_put_", 45, 20);
    op(&program, "aten::_index_put_impl_", 46, 18); /* the same one's inside */
    op(&program, "aten::index_put_", 80, 20);
    finish(&program);
    assert_true(builder_fact(&program.b, "torch.filled_count") == 1);
    assert_true(builder_fact(&program.b, "torch.filled_ns") == 7);
    assert_true(builder_fact(&program.b, "torch.sorted_scatters") == 1);
    assert_true(builder_fact(&program.b, "torch.sorted_ns") == 20);
    assert_true(builder_fact(&program.b, "torch.created_on_cpu") == 0);
    builder_free(&program.b);
}

/* With a device its work counts: 40 of the sorted write, 9 of the fill. A tensor of randn (12) that
 * goes to the device at once (copy of 30); a `to` that copies nothing, and one behind another op,
 * are no such thing. */
TEST(work_on_a_device)
{
    struct program program;

    start(&program, true);
    op(&program, "aten::empty", 0, 10);
    op(&program, "aten::fill_", 2, 7);
    launch(&program, 3, "fill", ACTIVITY_KERNEL, 9);
    op(&program, "aten::scatter_add_", 20, 10);
    op(&program, "aten::index_put_", 22, 7);
    launch(&program, 24, "sort", ACTIVITY_KERNEL, 40);
    op(&program, "aten::randn", 100, 12);
    op(&program, "aten::to", 120, 10);
    launch(&program, 123, "Memcpy HtoD", ACTIVITY_MEMCPY, 30);
    op(&program, "aten::zeros", 200, 5);
    op(&program, "aten::to", 210, 3);
    op(&program, "aten::relu", 220, 5);
    op(&program, "aten::to", 230, 10);
    launch(&program, 233, "Memcpy HtoD", ACTIVITY_MEMCPY, 30);
    finish(&program);
    assert_true(builder_fact(&program.b, "torch.filled_ns") == 9);
    assert_true(builder_fact(&program.b, "torch.sorted_ns") == 40);
    assert_true(builder_fact(&program.b, "torch.created_on_cpu") == 1);
    /* 12 and 5 of making, as the second may have been for the device as well, and 30 of copying */
    assert_true(builder_fact(&program.b, "torch.created_ns") == 47);
    builder_free(&program.b);
}

/* A slice's turn in the backward pass fills 40, copies 5 and adds 60 to what came before; a
 * product's is none. */
TEST(gradients_of_slices)
{
    struct program program;

    start(&program, true);
    builder_slice(&program.b, program.thread,
                  "autograd::engine::evaluate_function: SelectBackward0", ACTIVITY_EXECUTOR, 100,
                  90);
    op(&program, "aten::select_backward", 102, 40);
    op(&program, "aten::zero_", 104, 10);
    launch(&program, 106, "fill", ACTIVITY_KERNEL, 40);
    op(&program, "aten::copy_", 120, 10);
    launch(&program, 122, "copy", ACTIVITY_KERNEL, 5);
    op(&program, "aten::add", 160, 10);
    launch(&program, 162, "add", ACTIVITY_KERNEL, 60);
    builder_slice(&program.b, program.thread, "autograd::engine::evaluate_function: MmBackward0",
                  ACTIVITY_EXECUTOR, 300, 50);
    op(&program, "aten::mm", 310, 10);
    launch(&program, 312, "gemm", ACTIVITY_KERNEL, 30);
    finish(&program);
    assert_true(builder_fact(&program.b, "torch.sliced_gradients") == 1);
    assert_true(builder_fact(&program.b, "torch.sliced_gradients_ns") == 105);
    builder_free(&program.b);
}

/* A mask of full (10) that triu (20) works on goes to the device. What is made there is launched.
 */
TEST(made_and_worked_on)
{
    struct program program;

    start(&program, true);
    op(&program, "aten::full", 0, 10);
    op(&program, "aten::triu", 20, 20);
    op(&program, "aten::to", 50, 10);
    launch(&program, 53, "Memcpy HtoD", ACTIVITY_MEMCPY, 30);
    op(&program, "aten::full", 100, 10);
    launch(&program, 103, "fill", ACTIVITY_KERNEL, 5);
    op(&program, "aten::to", 120, 10);
    launch(&program, 123, "Memcpy HtoD", ACTIVITY_MEMCPY, 30);
    finish(&program);
    assert_true(builder_fact(&program.b, "torch.created_on_cpu") == 1);
    assert_true(builder_fact(&program.b, "torch.created_ns") == 10 + 20 + 30);
    builder_free(&program.b);
}

/* A copy of 4096 bytes in an op that waits for it. */
static void copy(struct program *program, int64_t start_ns, enum copy_direction direction)
{
    uint32_t from, to;

    op(program, "aten::to", start_ns, 20);
    from = builder_slice(&program->b, program->thread, "cudaMemcpyAsync", ACTIVITY_TRANSFER,
                         start_ns + 1, 1);
    builder_slice(&program->b, program->thread, "cudaStreamSynchronize", ACTIVITY_SYNC,
                  start_ns + 4, 15);
    to = builder_slice(&program->b, program->stream,
                       direction == COPY_D2H ? "Memcpy DtoH" : "Memcpy HtoD", ACTIVITY_MEMCPY,
                       start_ns + 3, 10);
    builder_stat(&program->b, to, STAT_BYTES, 4096);
    builder_flow(&program->b, from, to, FLOW_LAUNCH);
}

/*
 * A download ends at 120; an op on the CPU takes 50, another download 20, and the next kernel is
 * launched at 300: 160 on the CPU. Behind the download that ends at 420 numpy works until 500, and
 * its result goes up until 520; the kernel is launched at 530: 90. Behind the last nothing is
 * launched: it lasts until the step ends at 1000, 280. A copy that goes up alone is no detour.
 */
TEST(detours)
{
    struct program program;
    struct err     err = { 0 };

    start(&program, true);
    copy(&program, 50, COPY_H2D);
    launch(&program, 75, "gemm", ACTIVITY_KERNEL, 10);
    copy(&program, 100, COPY_D2H);
    op(&program, "aten::topk", 130, 50);
    copy(&program, 200, COPY_D2H);
    op(&program, "aten::mm", 299, 10);
    launch(&program, 300, "gemm", ACTIVITY_KERNEL, 50);
    copy(&program, 400, COPY_D2H);
    copy(&program, 500, COPY_H2D);
    op(&program, "aten::gather", 529, 10);
    launch(&program, 530, "gather", ACTIVITY_KERNEL, 50);
    copy(&program, 700, COPY_D2H);
    for (uint32_t i = 0; i < program.b.profile.activities.count; i++) {
        struct activity *activity = &program.b.profile.activities.items[i];

        if (activity->kind == ACTIVITY_MEMCPY)
            activity->copy =
                str_equal(profile_str(&program.b.profile, activity->name), STR("Memcpy DtoH"))
                    ? COPY_D2H
                    : COPY_H2D;
    }
    builder_finish(&program.b);
    assert_true(analysis_devices.run(&program.b.study, &err));
    assert_true(analysis_torch_detours.run(&program.b.study, &err));
    assert_true(builder_fact(&program.b, "torch.detours") == 3);
    assert_true(builder_fact(&program.b, "torch.detour_bytes") == 4 * 4096);
    assert_true(builder_fact(&program.b, "torch.detour_ns") == 160 + 90 + 280);
    assert_true(builder_fact(&program.b, "torch.detour_ops_ns") == 50);
    assert_true(builder_fact(&program.b, "torch.detour_returns") == 1);
    builder_free(&program.b);
}

/* One value is read behind each check; the loss before it is not the scaler's. */
TEST(reads_of_the_scaler)
{
    static const char check[] = "aten::_amp_foreach_non_finite_check_and_unscale_";
    struct program    program;

    start(&program, false);
    op(&program, "aten::item", 0, 5);
    op(&program, check, 10, 5);
    op(&program, check, 20, 5);
    op(&program, "aten::item", 30, 5);
    op(&program, "aten::item", 40, 5);
    finish(&program);
    assert_true(builder_fact(&program.b, "torch.scaler_reads") == 1);
    builder_free(&program.b);
}
