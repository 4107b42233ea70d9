#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

static const char gemm[] = "ampere_sgemm_128x64_tn";
static const char add[] = "void at::native::vectorized_elementwise_kernel<4, add>";
static const char sum[] = "void at::native::reduce_kernel<512, 1>";

/*
 * One step; on one stream, ns:
 *   linear f32[4,8] x f32[16,8] gives 64 elements, 100; add over 64 of 20, relu over 64 of 10, a
 *     third one over 64 of 30: two behind a product count, 30 ns
 *   mm f32[4,8] x f32[8,2] gives 8 elements, 100; add over 8 of 9: too short to matter
 *   mm, 100; add over 64: not its results
 *   mm, 100; a reduction over 8; add over 8: something else comes first
 * Two kernels, 30 ns behind 100 ns of products; the longest is the add of the linear.
 */
TEST(kernels_behind_products)
{
    static const struct {
        const char *type, *tensors, *kernel;
        int64_t     ns;
    } calls[] = {
        { "aten::linear", "f32[4,8] f32[16,8]", gemm, 100 },
        { "aten::add", "f32[4,16] f32[16]", add, 20 },
        { "aten::relu", "f32[4,16]", add, 10 },
        { "aten::mul", "f32[4,16] f32[16]", add, 30 },
        { "aten::mm", "f32[4,8] f32[8,2]", gemm, 100 },
        { "aten::add", "f32[4,2] f32[2]", add, 9 },
        { "aten::mm", "f32[4,8] f32[8,2]", gemm, 100 },
        { "aten::add", "f32[4,16] f32[16]", add, 50 },
        { "aten::mm", "f32[4,8] f32[8,2]", gemm, 100 },
        { "aten::sum", "f32[4,2]", sum, 50 },
        { "aten::add", "f32[4,2] f32[2]", add, 50 },
    };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, stream;
    int64_t                now = 0;

    builder_start(&b, FORMAT_KINETO);
    b.profile.has_shapes = true;
    host = builder_host(&b, "h");
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    stream = builder_timeline(&b, host, gpu, "stream 7");
    builder_step(&b, host, 0, 100000);
    for (size_t i = 0; i < ARRAY_COUNT(calls); i++) {
        uint32_t op = builder_op(&b, calls[i].type, calls[i].type, calls[i].tensors);
        uint32_t from, to;

        builder_event(&b, thread, builder_activity(&b, calls[i].type, ACTIVITY_OP, op), now, 8);
        from = builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, now + 1, 5);
        to = builder_slice(&b, stream, calls[i].kernel, ACTIVITY_KERNEL, now + 10, calls[i].ns);
        builder_flow(&b, from, to, FLOW_LAUNCH);
        now += 200;
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_epilogues.run(&b.study, &err));
    assert_true(builder_fact(&b, "epilogue.count") == 2);
    assert_true(builder_fact(&b, "epilogue.ns") == 30);
    assert_true(builder_fact(&b, "epilogue.product_ns") == 100);
    assert_string_equal(
        intern_str(b.study.facts.names, (uint32_t)builder_fact(&b, "epilogue.op")).data,
        "aten::add");
    builder_free(&b);
}

TEST(shapes_are_asked_for)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host;

    host = builder_start_host(&b, FORMAT_KINETO);
    builder_slice(
        &b,
        builder_timeline(&b, host, builder_device(&b, host, "GPU 0", "", DEVICE_GPU), "stream 7"),
        gemm, ACTIVITY_KERNEL, 0, 10);
    builder_step(&b, host, 0, 100);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_epilogues.run(&b.study, &err));
    assert_string_equal(facts_why_absent(&b.study.facts, "epilogue.ns")->capture,
                        "record_shapes=True");
    builder_free(&b);
}
