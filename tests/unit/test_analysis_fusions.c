#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

static const char reduce[] =
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>(vllm::RankData*)";
static const char norm[] = "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0";
static const char rotate[] = "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)";
static const char store[] =
    "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(float const*)";
static const char product[] = "ampere_sgemm_128x64_tn";

/*
 * One step; on one stream, ns:
 *   reduce 50, norm 30: 80 and of that 30, where a fusion of both is: NVIDIA's Hopper
 *   reduce 50, product 100, norm 30: something lies between them
 *   norm 30, rotate 20, store 10: the norm goes with the rotation, 50 and 20. What AMD's devices
 *     have, rotating and storing, needs a rotation that is in no other pair: rotate 20, store 10.
 */
TEST(pairs_that_a_library_has)
{
    static const struct {
        const char *kernel;
        int64_t     ns;
    } kernels[] = {
        { reduce, 50 }, { norm, 30 },  { reduce, 50 },   { product, 100 }, { norm, 30 },
        { rotate, 20 }, { store, 10 }, { product, 100 }, { rotate, 20 },   { store, 10 },
    };
    static const struct {
        uint32_t compute_major;
        bool     is_amd;
        size_t   rows;
        double   saved_ns; /* of all */
    } devices[] = { { 9, false, 2, 30 + 20 }, { 8, false, 1, 20 }, { 9, true, 2, 20 + 10 } };

    for (size_t d = 0; d < ARRAY_COUNT(devices); d++) {
        struct profile_builder b;
        struct err             err = { 0 };
        const struct table    *table;
        uint32_t               host, gpu, stream, thread;
        int64_t                now = 0;
        double                 saved_ns = 0;

        host = builder_start_host(&b, FORMAT_KINETO);
        gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
        b.profile.devices.items[gpu].compute_major = devices[d].compute_major;
        b.profile.devices.items[gpu].is_amd = devices[d].is_amd;
        thread = builder_timeline(&b, host, NO_ID, "main");
        stream = builder_timeline(&b, host, gpu, "stream 7");
        builder_step(&b, host, 0, 100000);
        builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, 0, 5);
        for (size_t i = 0; i < ARRAY_COUNT(kernels); i++) {
            builder_slice(&b, stream, kernels[i].kernel,
                          kernels[i].kernel == reduce ? ACTIVITY_COLLECTIVE : ACTIVITY_KERNEL, now,
                          kernels[i].ns);
            now += kernels[i].ns;
        }
        builder_finish(&b);
        assert_true(analysis_devices.run(&b.study, &err));
        assert_true(analysis_fusions.run(&b.study, &err));
        table = facts_find_table(&b.study.facts, "fusions");
        assert_int_equal(table->row_count, devices[d].rows);
        for (size_t row = 0; row < table->row_count; row++)
            saved_ns += table->columns[table_column(table, "saved_ns")][row];
        assert_true(saved_ns == devices[d].saved_ns);
        builder_free(&b);
    }
}
