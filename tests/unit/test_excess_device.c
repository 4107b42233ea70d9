/* What an accelerator does for ops of PyTorch is theirs, and ops without a part of the step are
 * seen. */
#include "excess_program.h"

struct gpu_program {
    struct program program;
    uint32_t       stream, kernel;
    int64_t        device_ns; /* when the stream is free */
};

static void start_gpu(struct gpu_program *gpu)
{
    struct profile_builder *b = &gpu->program.b;
    uint32_t                device;

    start(&gpu->program);
    device = builder_device(b, gpu->program.host, "GPU 0", "NVIDIA H100", DEVICE_GPU);
    gpu->stream = builder_timeline(b, gpu->program.host, device, "stream 7");
    gpu->kernel = builder_activity(b, "kernel", ACTIVITY_KERNEL, NO_ID);
    gpu->device_ns = 0;
}

/* The op around is called for 10 us, in which it launches a kernel of `ns`, if any. */
static void launch(struct gpu_program *gpu, int64_t ns)
{
    struct program *program = &gpu->program;
    int64_t         now = program->now;
    uint32_t        call, kernel;

    program->now += 10000;
    if (!ns)
        return;
    call = builder_slice(&program->b, program->thread, "cudaLaunchKernel", ACTIVITY_LAUNCH,
                         now + 2000, 4000);
    if (gpu->device_ns < now + 6000)
        gpu->device_ns = now + 6000;
    kernel = builder_event(&program->b, gpu->stream, gpu->kernel, gpu->device_ns, ns);
    builder_flow(&program->b, call, kernel, FLOW_LAUNCH);
    gpu->device_ns += ns;
}

static void call(struct gpu_program *gpu, const char *op, const char *tensors, int64_t ns)
{
    slice(&gpu->program, op, ACTIVITY_OP, tensors, 10000);
    launch(gpu, ns);
}

static void call_node(struct gpu_program *gpu, const char *op, const char *tensors, int64_t ns)
{
    slice(&gpu->program, "autograd::engine::evaluate_function: X", ACTIVITY_EXECUTOR, NULL, 10000);
    call(gpu, op, tensors, ns);
}

static void finish_gpu(struct gpu_program *gpu)
{
    struct program *program = &gpu->program;
    struct err      err = { 0 };

    builder_slice(&program->b, program->thread, "cudaDeviceSynchronize", ACTIVITY_SYNC,
                  program->now, gpu->device_ns - program->now);
    program->now = gpu->device_ns;
    end_step(program);
    builder_finish(&program->b);
    program->b.study.steps.list.items[0].timeline = program->thread;
    program->b.study.recording = &program->b.profile;
    assert_true(analysis_devices.run(&program->b.study, &err));
    assert_true(path_begin(&program->b.study));
    assert_true(analysis_path.run(&program->b.study, &err));
    assert_true(analysis_excess.run(&program->b.study, &err));
}

/* The host is done with all calls long before the device is. Of five gradients the update takes
 * two, which are handed over first; the three products behind them, 2 ms each on the device, are
 * for nothing. Handing over has no kernel and takes nothing of the step, but is seen. */
TEST(gradients_that_no_update_takes_on_a_device)
{
    struct gpu_program gpu;

    start_gpu(&gpu);
    call(&gpu, "aten::linear", "f32[8,64] f32[64,64]", 5000000);
    call_node(&gpu, "aten::mm", "f32[8,10] f32[10,64]", 1000000);
    call_node(&gpu, "torch::autograd::AccumulateGrad", "f32[10,64]", 0);
    call_node(&gpu, "torch::autograd::AccumulateGrad", "f32[10,64]", 0);
    for (int i = 0; i < 3; i++) {
        call_node(&gpu, "aten::mm", "f32[8,64] f32[64,64]", 2000000);
        call_node(&gpu, "torch::autograd::AccumulateGrad", "f32[64,64]", 0);
    }
    slice(&gpu.program, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, NULL, 10000);
    call(&gpu, "aten::_fused_sgd_", "f32[10,64] f32[10,64]", 300000);
    finish_gpu(&gpu);
    assert_true(fabs(claimed(&gpu.program, "unused-gradients") - 6e6) < 1);
    assert_sums(&gpu.program);
    builder_free(&gpu.program.b);
}

/* The same with an update of all shapes. */
TEST(gradients_that_are_applied_on_a_device)
{
    struct gpu_program gpu;

    start_gpu(&gpu);
    call(&gpu, "aten::linear", "f32[8,64] f32[64,64]", 5000000);
    call_node(&gpu, "torch::autograd::AccumulateGrad", "f32[10,64]", 0);
    call_node(&gpu, "aten::mm", "f32[8,64] f32[64,64]", 2000000);
    call_node(&gpu, "torch::autograd::AccumulateGrad", "f32[64,64]", 0);
    call(&gpu, "aten::_fused_sgd_", "f32[10,64] f32[64,64]", 300000);
    finish_gpu(&gpu);
    assert_true(claimed(&gpu.program, "unused-gradients") == 0);
    assert_sums(&gpu.program);
    builder_free(&gpu.program.b);
}
