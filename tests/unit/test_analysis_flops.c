#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/ops/op_cost.h"
#include "model/hardware.h"
#include "profile_builder.h"

TEST(products_cost_two_mkn)
{
    static const struct {
        const char *type, *tensors;
        double      flops, bytes;
    } cases[] = {
        /* 2·32·128·64; bytes 4·(4096 + 8192 + 2048) */
        { "MatMul", "f32[32,128] f32[128,64] -> f32[32,64]", 524288, 57344 },
        /* the same with the left side stored transposed */
        { "MatMul", "f32[128,32] f32[128,64] -> f32[32,64]", 524288, 57344 },
        { "aten::addmm", "f32[64] f32[32,128] f32[128,64]", 524288, -1 },
        { "aten::linear", "f32[32,128] f32[64,128]", 524288, -1 },
        { "aten::bmm", "f16[8,4,16] f16[8,16,2]", 2 * 8 * 4 * 16 * 2, -1 },
        { "Relu", "f32[8] -> f32[8]", -1, 64 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct profile_builder b;
        uint32_t               op;

        builder_start(&b, FORMAT_KINETO);
        op = builder_op(&b, "x", cases[i].type, cases[i].tensors);
        assert_true(fabs(op_flops(&b.profile, &b.profile.ops.items[op]) - cases[i].flops) < 1e-6);
        assert_true(fabs(op_bytes(&b.profile, &b.profile.ops.items[op]) - cases[i].bytes) < 1e-6);
        builder_free(&b);
    }
}

TEST(models_are_found_by_name)
{
    static const struct {
        const char *model;
        enum dtype  dtype;
        double      peak, memory;
    } cases[] = {
        { "NVIDIA H100 SXM5", DTYPE_BF16, 989e12, 3350e9 },
        { "NVIDIA H100 PCIe", DTYPE_F16, 756e12, 2000e9 },
        { "NVIDIA A100-SXM4-80GB", DTYPE_TF32, 156e12, 2039e9 },
        { "NVIDIA A100-SXM4-40GB", DTYPE_F32, 19.5e12, 1555e9 },
        { "Tesla V100-SXM2-16GB", DTYPE_F32, 15.7e12, 900e9 },
        { "AMD Instinct MI300X", DTYPE_F8, 2614.9e12, 5300e9 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct hardware *hardware = hardware_find(str_from(cases[i].model));

        assert_non_null(hardware);
        assert_true(fabs(hardware_peak_flops_per_s(hardware, cases[i].dtype) - cases[i].peak) <
                    1e6);
        assert_true(fabs(hardware->memory_bytes_per_s - cases[i].memory) < 1e6);
    }
    assert_null(hardware_find(STR("Intel(R) Xeon(R)")));
}

/* A CPU: product of 2e9 operations in 1 ms makes 2e12/s, the same in 4 ms a quarter of that. */
TEST(the_best_rate_is_the_yardstick_on_a_cpu)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread, fast, slow;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "worker");
    fast = builder_op(&b, "fast", "MatMul", "f32[1000,1000] f32[1000,1000] -> f32[1000,1000]");
    slow = builder_op(&b, "slow", "MatMul", "f32[1000,1000] f32[1000,1000] -> f32[1000,1000]");
    builder_step(&b, host, 0, 10000000);
    builder_event(&b, thread, builder_activity(&b, "fast", ACTIVITY_OP, fast), 0, 1000000);
    builder_event(&b, thread, builder_activity(&b, "slow", ACTIVITY_OP, slow), 1000000, 4000000);
    builder_slice(&b, thread, "other", ACTIVITY_OP, 5000000, 5000000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_flops.run(&b.study, &err));
    assert_true(fabs(builder_fact(&b, "flops.per_step") - 4e9) < 1);
    assert_true(fabs(builder_fact(&b, "flops.known_share") - 0.5) < 1e-12);
    assert_true(fabs(builder_fact(&b, "flops.best_f32_per_s") - 2e12) < 1);
    assert_true(fabs(builder_cell(&b, "roofline", "op", "slow", "best_share") - 0.25) < 1e-12);
    /* The step of 10 ms: 4e9 operations, 2 * 3 * 4e6 bytes. */
    assert_true(fabs(builder_cell(&b, "step_roofline", NULL, NULL, "flops") - 4e9) < 1);
    assert_true(fabs(builder_cell(&b, "step_roofline", NULL, NULL, "flops_per_s") - 4e11) < 1);
    assert_true(fabs(builder_cell(&b, "step_roofline", NULL, NULL, "intensity") - 4e9 / 24e6) <
                1e-9);
    assert_true(isnan(builder_fact(&b, "flops.mfu")));
    assert_non_null(facts_why_absent(&b.study.facts, "flops.mfu"));
    assert_non_null(facts_why_absent(&b.study.facts, "flops.memory_bound_share"));
    builder_free(&b);
}

/* aten::linear calls aten::addmm through a view; both tell 2·1000·1000·1000 operations, which are
 * one product: 2e9 in the 2 ms of addmm, 1e12/s. What linear does beside it takes 1 us. */
TEST(a_product_inside_a_call_counts_once)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread, outer, inner;

    host = builder_start_host(&b, FORMAT_KINETO);
    thread = builder_timeline(&b, host, NO_ID, "worker");
    outer = builder_op(&b, "aten::linear", "aten::linear", "f32[1000,1000] f32[1000,1000]");
    inner = builder_op(&b, "aten::addmm", "aten::addmm", "f32[1000] f32[1000,1000] f32[1000,1000]");
    builder_step(&b, host, 0, 10000000);
    builder_event(&b, thread, builder_activity(&b, "aten::linear", ACTIVITY_OP, outer), 0, 2001000);
    builder_slice(&b, thread, "aten::wrapper", ACTIVITY_OP, 0, 2000000);
    builder_event(&b, thread, builder_activity(&b, "aten::addmm", ACTIVITY_OP, inner), 0, 2000000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_flops.run(&b.study, &err));
    assert_true(fabs(builder_fact(&b, "flops.per_step") - 2e9) < 1);
    assert_true(fabs(builder_fact(&b, "flops.best_f32_per_s") - 1e12) < 1);
    builder_free(&b);
}

/* An A100 of 40 GB moves 1555 bytes and does 312000 operations of 16 bits a nanosecond. Of 10 us:
 *   thin    [65536,32]x[32,32]: 2·65536·32·32 = 134.2 M operations: 0.43 us; 2·(2·65536·32 + 32·32)
 *           = 8.39 MB: 5.40 us of 6: held by memory
 *   square  [1024]²x[1024]²: 2·1024³ = 2147 M: 6.88 us of 12; 6.29 MB: 4.05 us: by arithmetic
 *   add     three of [1024,1024] in 32 bits: 12.58 MB: 8.09 us of 20 in an elementwise kernel
 *   sum     the same in a kernel of which nothing is known: not counted
 *   tiny    three of [64] take 0.5 ns of 2 us: not held by its bytes
 *   cached  12.58 MB in 4 us is twice the bandwidth: served by caches, not counted
 * (6 + 20) of 6 + 12 + 20 + 20 + 2 + 4 us: 26 / 64. */
TEST(ops_that_memory_holds)
{
    static const struct {
        const char *type, *tensors, *kernel;
        int64_t     ns;
    } rows[] = {
        { "aten::mm", "f16[65536,32] f16[32,32] -> f16[65536,32]", "ampere_gemm", 6000 },
        { "aten::mm", "f16[1024,1024] f16[1024,1024] -> f16[1024,1024]", "ampere_gemm2", 12000 },
        { "aten::add", "f32[1024,1024] f32[1024,1024] -> f32[1024,1024]",
          "vectorized_elementwise_kernel", 20000 },
        { "my::sum", "f32[1024,1024] f32[1024,1024] -> f32[1024,1024]", "mystery", 20000 },
        { "aten::mul", "f32[64] f32[64] -> f32[64]", "vectorized_elementwise_kernel2", 2000 },
        { "aten::sub", "f32[1024,1024] f32[1024,1024] -> f32[1024,1024]",
          "vectorized_elementwise_kernel3", 4000 },
    };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, line;
    int64_t                at = 0;

    host = builder_start_host(&b, FORMAT_KINETO);
    line = builder_timeline(
        &b, host, builder_device(&b, host, "GPU 0", "NVIDIA A100-SXM4-40GB", DEVICE_GPU), "s");
    builder_step(&b, host, 0, 100000);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint32_t op = builder_op(&b, rows[i].type, rows[i].type, rows[i].tensors);

        builder_event(&b, line, builder_activity(&b, rows[i].kernel, ACTIVITY_KERNEL, op), at,
                      rows[i].ns);
        at += rows[i].ns;
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err) && analysis_flops.run(&b.study, &err));
    assert_true(fabs(builder_fact(&b, "flops.memory_bound_share") - 26.0 / 64) < 1e-9);
    /* All bytes of the step, 8390656 + 6291456 + 3 * 12582912 + 768, over 100 us. */
    assert_true(fabs(builder_cell(&b, "step_roofline", NULL, NULL, "efficiency") -
                     52431616 / 1e-4 / 1555e9) < 1e-6);
    builder_free(&b);
}

/*
 * An A100: products of 1024 squares are 2 * 1024^3 = 2147483648 operations. Over 200 us of 19.5
 * TFLOP/s in f64: 0.5506; over 10 us of 624 TOP/s in int8, whose sums of 32 bits are no factor:
 * 0.3441; an H100's 1979 in f8 with scales of 32 bits: of 4096 squares 137438953472 in 100 us,
 * 0.6945. With half of the weights left out an A100 could do 624 in f16: of 4096 squares in 400 us
 * 0.5506.
 */
TEST(each_type_has_its_peak)
{
    static const struct {
        const char *device, *type, *tensors;
        int64_t     flops; /* as the reader tells; -1: from the shapes */
        int64_t     ns;
        double      efficiency;
    } rows[] = {
        { "NVIDIA A100-SXM4-40GB", "aten::mm", "f64[1024,1024] f64[1024,1024] -> f64[1024,1024]",
          -1, 200000, 2147483648 / 2e-4 / 19.5e12 },
        { "NVIDIA A100-SXM4-40GB", "aten::_int_mm", "s8[1024,1024] s8[1024,1024] -> s32[1024,1024]",
          2147483648, 10000, 2147483648 / 1e-5 / 624e12 },
        { "NVIDIA H100 80GB HBM3", "aten::_scaled_mm",
          "f8[4096,4096] f8[4096,4096] f32[4096,1] -> bf16[4096,4096]", 137438953472, 100000,
          137438953472 / 1e-4 / 1979e12 },
        { "NVIDIA A100-SXM4-40GB", "aten::_cslt_sparse_mm",
          "f16[9437184] f16[4096,4096] -> f16[4096,4096]", 137438953472, 400000,
          137438953472 / 4e-4 / 624e12 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct profile_builder b;
        struct err             err = { 0 };
        uint32_t               host, line, op;

        host = builder_start_host(&b, FORMAT_KINETO);
        line = builder_timeline(&b, host,
                                builder_device(&b, host, "GPU 0", rows[i].device, DEVICE_GPU), "s");
        op = builder_op(&b, rows[i].type, rows[i].type, rows[i].tensors);
        b.profile.ops.items[op].flops = rows[i].flops;
        builder_step(&b, host, 0, 1000000);
        builder_event(&b, line, builder_activity(&b, "product", ACTIVITY_KERNEL, op), 0,
                      rows[i].ns);
        builder_finish(&b);
        assert_true(analysis_devices.run(&b.study, &err) && analysis_flops.run(&b.study, &err));
        if (fabs(builder_cell(&b, "roofline", NULL, NULL, "efficiency") - rows[i].efficiency) >
            1e-9)
            fail_msg("%s: %.4f", rows[i].type,
                     builder_cell(&b, "roofline", NULL, NULL, "efficiency"));
        builder_free(&b);
    }
}

/* In 10 us 1 MB beside the chip at 2 TB/s takes 0.5 us, 40 MB inside of it at 8 TB/s take 5, and
 * 1e6 operations at 1e15/s a nanosecond: half of what the fastest memory could do. */
TEST(what_lies_in_the_chip_may_hold_an_op)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, device, line, op;

    host = builder_start_host(&b, FORMAT_XSPACE);
    device = builder_device(&b, host, "/device:TPU:0", "TPU", DEVICE_TPU);
    line = builder_timeline(&b, host, device, "ops");
    op = builder_op(&b, "fusion", "fusion", NULL);
    b.profile.devices.items[device].peak_flops_per_s = 1e15;
    b.profile.devices.items[device].memory_bytes_per_s = 2e12;
    b.profile.devices.items[device].on_chip_bytes_per_s = 8e12;
    b.profile.ops.items[op].flops = 1000000;
    b.profile.ops.items[op].bytes = 1000000;
    b.profile.ops.items[op].on_chip_bytes = 40000000;
    builder_step(&b, host, 0, 100000);
    builder_event(&b, line, builder_activity(&b, "fusion", ACTIVITY_OP, op), 0, 10000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err) && analysis_flops.run(&b.study, &err));
    assert_true(fabs(builder_cell(&b, "roofline", NULL, NULL, "efficiency") - 0.5) < 1e-9);
    assert_true(fabs(builder_cell(&b, "roofline", "bound", "on-chip memory", "ns") - 10000) < 1);
    builder_free(&b);
}
