#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

extern const struct analysis analysis_devices, analysis_serving;

struct a_run {
    const char *name;
    int64_t     start_ns, duration_ns;
};

/* A TPU's runs of programs, each busy with one op for four fifths of its time. */
static void serve(struct profile_builder *b, const struct a_run *runs, size_t count)
{
    struct err err = { 0 };
    uint32_t   host = builder_start_host(b, FORMAT_XSPACE);
    uint32_t   device = builder_device(b, host, "TPU:0", "TPU v6", DEVICE_TPU);
    uint32_t   modules = builder_timeline(b, host, device, "XLA Modules");
    uint32_t   ops = builder_timeline(b, host, device, "XLA Ops");
    uint32_t   last = (uint32_t)count - 1;

    b->profile.timelines.items[modules].kind = TIMELINE_MODULES;
    b->profile.timelines.items[ops].kind = TIMELINE_OPS;
    for (uint32_t i = 0; i < count; i++) {
        builder_stat(b,
                     builder_slice(b, modules, runs[i].name, ACTIVITY_RUN, runs[i].start_ns,
                                   runs[i].duration_ns),
                     STAT_RUN_ID, i + 1);
        builder_slice(b, ops, "fusion", ACTIVITY_OP, runs[i].start_ns, runs[i].duration_ns * 4 / 5);
    }
    builder_step(b, host, 0, runs[last].start_ns + runs[last].duration_ns);
    builder_finish(b);
    assert_true(analysis_devices.run(&b->study, &err));
    assert_true(analysis_serving.run(&b->study, &err));
}

/* A prompt in 40 us, and three tokens in 10 us each, 5 us behind the run before: of the first one's
 * pause a program that puts the prompt into the cache takes 3, so that (2 + 5 + 5) / 3 us are idle.
 */
TEST(programs_of_a_server_are_its_steps)
{
    static const struct a_run runs[] = {
        { "jit_prefill(7)", 0, 40000 },         { "jit_insert(8)", 41000, 3000 },
        { "jit_decode_step(9)", 45000, 10000 }, { "jit_decode_step(9)", 60000, 10000 },
        { "jit_decode_step(9)", 75000, 10000 },
    };
    struct profile_builder b;

    serve(&b, runs, sizeof runs / sizeof *runs);
    assert_true(builder_fact(&b, "serving.steps") == 4);
    assert_true(builder_cell(&b, "engine_phases", "phase", "prefill", "steps") == 1);
    assert_true(builder_cell(&b, "engine_phases", "phase", "prefill", "step_ns") == 40000);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "steps") == 3);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "step_ns") == 10000);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "kernel_ns") == 8000);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "gap_ns") == 4000);
    builder_free(&b);
}

/* What nobody recorded is not 0. */
TEST(what_the_host_does_for_programs_is_not_told)
{
    static const char *const  unknown[] = { "host_ns",  "launches",     "read_backs",
                                            "kernels",  "graph_share",  "wait_ns",
                                            "requests", "tokens_per_s", "bandwidth_share" };
    static const struct a_run runs[] = { { "jit_decode_step(9)", 0, 10000 },
                                         { "jit_decode_step(9)", 15000, 10000 } };
    struct profile_builder    b;

    serve(&b, runs, 2);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "steps") == 2);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        print_message("%s\n", unknown[i]);
        assert_true(isnan(builder_cell(&b, "engine_phases", "phase", "decode", unknown[i])));
    }
    builder_free(&b);
}

/* Programs that decode pictures, or generate whole texts, are no server's steps; beside one that
 * reads prompts they are. */
TEST(decoding_alone_may_be_of_something_else)
{
    static const struct a_run runs[] = { { "jit_decode_images(9)", 0, 10000 },
                                         { "jit_generate(3)", 15000, 10000 },
                                         { "jit_prefill_chunk(4)", 30000, 20000 } };
    struct profile_builder    b;

    serve(&b, runs, 2);
    assert_true(isnan(builder_fact(&b, "serving.steps")));
    builder_free(&b);
    serve(&b, runs + 1, 2);
    assert_true(builder_fact(&b, "serving.steps") == 2);
    builder_free(&b);
}

/* vLLM without marks: a prompt of 900 tokens, then three steps of 4, each told by the blocks of
 * what caches their keys. An H100 does 989.4e12 / 3.35e12 = 295 operations a byte: of 400 + 3 * 100
 * us 300 are of few tokens; where the first step is left out, all. */
TEST(blocks_of_what_caches_keys_are_tokens)
{
    for (int is_left_out = 0; is_left_out < 2; is_left_out++) {
        struct profile_builder b;
        struct err             err = { 0 };
        uint32_t               host = builder_start_host(&b, FORMAT_KINETO);
        uint32_t gpu = builder_device(&b, host, "GPU 0", "NVIDIA H100 80GB HBM3", DEVICE_GPU);
        uint32_t thread = builder_timeline(&b, host, NO_ID, "python");
        uint32_t stream = builder_timeline(&b, host, gpu, "stream 7");

        for (int64_t i = 0; i < 4; i++) {
            int64_t  at = i * 1000000, ns = i ? 90000 : 390000;
            uint32_t launch, kernel;

            builder_slice(&b, thread, "vllm/v1/worker/gpu_worker.py(320): execute_model",
                          ACTIVITY_PYTHON, at, 500000);
            launch =
                builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, at + 1000, 5000);
            kernel = builder_slice(&b, stream,
                                   "void vllm::reshape_and_cache_flash_kernel<unsigned short>()",
                                   ACTIVITY_KERNEL, at + 10000, 10000);
            builder_stat(&b, kernel, STAT_KERNEL_CONFIG, i > 0);
            builder_flow(&b, launch, kernel, FLOW_LAUNCH);
            launch =
                builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, at + 7000, 5000);
            kernel = builder_slice(&b, stream, "gemm", ACTIVITY_KERNEL, at + 20000, ns);
            builder_flow(&b, launch, kernel, FLOW_LAUNCH);
            if (i > 0 || !is_left_out)
                builder_step(&b, host, at, at + 1000000);
        }
        for (uint32_t i = 0; i < 2; i++)
            assert_true(vec_push(&b.profile.kernel_configs, b.profile.arena,
                                 (struct kernel_config) { .grid = { i ? 4 : 900, 1, 1 } }));
        builder_finish(&b);
        assert_true(analysis_devices.run(&b.study, &err));
        assert_true(analysis_serving.run(&b.study, &err));
        assert_true(builder_fact(&b, "serving.steps") == 4);
        assert_true(builder_fact(&b, "serving.tokens") == (900 + 3 * 4) / 4.0);
        assert_true(fabs(builder_fact(&b, "serving.memory_bound_share") -
                         (is_left_out ? 1 : 3 / 7.0)) < 1e-9);
        builder_free(&b);
    }
}

struct a_range {
    const char *name;
    int64_t     at_ns, kernel_ns;
};

/* Ranges of 20 us on the host: each launches a kernel 5 us after it began, which runs at once. */
static void serve_by_ranges(struct profile_builder *b, enum profile_format format,
                            const struct a_range *ranges, size_t count)
{
    struct err err = { 0 };
    uint32_t   host = builder_start_host(b, format);
    uint32_t   gpu = builder_device(b, host, "GPU 0", "NVIDIA H100 80GB HBM3", DEVICE_GPU);
    uint32_t   thread = builder_timeline(b, host, NO_ID, "python");
    uint32_t   stream = builder_timeline(b, host, gpu, "stream 7");

    for (size_t i = 0; i < count; i++) {
        int64_t  at = ranges[i].at_ns;
        uint32_t launch, kernel;

        builder_slice(b, thread, ranges[i].name, ACTIVITY_OTHER, at, 20000);
        launch = builder_slice(b, thread, "cuLaunchKernel", ACTIVITY_LAUNCH, at + 5000, 2000);
        kernel = builder_slice(b, stream, "gemm", ACTIVITY_KERNEL, at + 5000, ranges[i].kernel_ns);
        builder_flow(b, launch, kernel, FLOW_LAUNCH);
    }
    builder_step(b, host, 0, ranges[count - 1].at_ns + 1000000);
    builder_finish(b);
    assert_true(analysis_devices.run(&b->study, &err));
    assert_true(analysis_serving.run(&b->study, &err));
}

/* A prompt in 80 us from 5 us on, then three tokens of 10 us, from 105 us on every 25 us: 20, 15
 * and 15 us behind the kernel before. */
TEST(ranges_and_calls_tell_phases_in_all_formats)
{
    static const struct a_range ranges[] = {
        { "prefill", 0, 80000 },
        { "decode", 100000, 10000 },
        { "decode", 125000, 10000 },
        { "decode", 150000, 10000 },
    };
    static const struct a_range calls[] = {
        { "PjitFunction(prefill)", 0, 80000 },
        { "PjitFunction(decode_step)", 100000, 10000 },
        { "PjitFunction(decode_step)", 125000, 10000 },
        { "PjitFunction(decode_step)", 150000, 10000 },
    };

    for (int i = 0; i < 3; i++) {
        struct profile_builder b;

        serve_by_ranges(&b, i == 0 ? FORMAT_KINETO : FORMAT_XSPACE, i == 2 ? calls : ranges, 4);
        assert_true(builder_fact(&b, "serving.steps") == 4);
        assert_true(builder_cell(&b, "engine_phases", "phase", "prefill", "step_ns") == 80000);
        assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "steps") == 3);
        assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "kernels") == 1);
        assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "launches") == 1);
        assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "host_ns") == 20000);
        assert_true(fabs(builder_cell(&b, "engine_phases", "phase", "decode", "gap_ns") -
                         50000 / 3.0) < 1e-6);
        assert_true(isnan(builder_cell(&b, "engine_phases", "phase", "decode", "requests")));
        builder_free(&b);
    }
}

/* A kernel of 6 of the 20 us between two steps, launched by neither: 14 us are idle. */
TEST(other_work_between_steps_is_no_gap)
{
    static const struct a_range ranges[] = { { "prefill", 0, 80000 },
                                             { "sample", 90000, 6000 },
                                             { "decode", 100000, 10000 } };
    struct profile_builder      b;

    serve_by_ranges(&b, FORMAT_KINETO, ranges, 3);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "gap_ns") == 14000);
    builder_free(&b);
}

/* A step of 16 requests: 20 us of products over 16 rows, in either layout, and 8 over one. */
TEST(rows_of_compiled_products_are_tokens)
{
    static const struct {
        const char *tensors;
        int64_t     ns;
    } products[] = {
        { "bf16[16,64] bf16[64,32] -> bf16[16,32]", 12000 },
        { "bf16[64,1] bf16[64,99] -> bf16[1,99]", 8000 },
        { "bf16[64,16] bf16[64,32] -> bf16[16,32]", 8000 },
        { "f32[16,64] f32[16,64] -> f32[16,64]", 90000 }, /* no product */
    };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host = builder_start_host(&b, FORMAT_XSPACE);
    uint32_t gpu = builder_device(&b, host, "GPU 0", "NVIDIA H100 80GB HBM3", DEVICE_GPU);
    uint32_t thread = builder_timeline(&b, host, NO_ID, "python");
    uint32_t stream = builder_timeline(&b, host, gpu, "stream 7");
    uint32_t launch;
    int64_t  at = 10000;

    builder_slice(&b, thread, "decode_step", ACTIVITY_OTHER, 0, 20000);
    launch = builder_slice(&b, thread, "cuGraphLaunch", ACTIVITY_LAUNCH, 5000, 2000);
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        uint32_t op = builder_op(&b, "fusion", "fusion", products[i].tensors);
        uint32_t kernel = builder_event(
            &b, stream, builder_activity(&b, "fusion", ACTIVITY_KERNEL, op), at, products[i].ns);

        b.profile.ops.items[op].program = builder_name(&b, "jit_decode_step(3)");
        builder_flow(&b, launch, kernel, FLOW_LAUNCH);
        at += products[i].ns;
    }
    builder_step(&b, host, 0, 1000000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_serving.run(&b.study, &err));
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "tokens") == 16);
    builder_free(&b);
}

/* Pictures are decoded, and layers. */
TEST(ranges_that_decode_alone_are_no_server)
{
    static const struct a_range ranges[] = { { "decode", 0, 10000 },
                                             { "decode_jpeg", 50000, 9000 } };
    static const struct a_range tokens[] = { { "decode", 0, 10000 },
                                             { "decode_token", 50000, 9000 } };
    struct profile_builder      b;

    serve_by_ranges(&b, FORMAT_KINETO, ranges, 2);
    assert_true(isnan(builder_fact(&b, "serving.steps")));
    builder_free(&b);
    serve_by_ranges(&b, FORMAT_KINETO, tokens, 2);
    assert_true(builder_fact(&b, "serving.steps") == 2);
    builder_free(&b);
}
