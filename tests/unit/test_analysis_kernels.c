#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/kernel/kernel_names.h"
#include "profile_builder.h"

/* Names as they occur in published traces of each library. */
TEST(names_tell_library_and_category)
{
    static const struct {
        const char          *name, *library;
        enum kernel_category category;
        enum tensor_core     tensor_core;
        enum dtype           dtype;
    } cases[] = {
        { "ampere_sgemm_128x64_tn", "cublas", KERNEL_GEMM, TENSOR_CORE_NO, DTYPE_F32 },
        { "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_"
          "aligna4_"
          "alignc4_execute_kernel__51_cublas",
          "cublas", KERNEL_GEMM, TENSOR_CORE_NO, DTYPE_F32 },
        { "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize32x128x32_stage3_warpsize1x4x1_"
          "tensor16x8x8_"
          "execute_kernel__5x_cublas",
          "cublas", KERNEL_GEMM, TENSOR_CORE_YES, DTYPE_TF32 },
        { "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn", "cublas", KERNEL_GEMM, TENSOR_CORE_YES,
          DTYPE_F16 },
        { "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", "cublas", KERNEL_GEMM, TENSOR_CORE_YES,
          DTYPE_BF16 },
        { "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "nccl",
          KERNEL_COLLECTIVE, TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        { "triton_poi_fused_add_relu_0", "triton", KERNEL_ELEMENTWISE, TENSOR_CORE_UNKNOWN,
          DTYPE_UNKNOWN },
        { "void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16>(Params)", "cutlass",
          KERNEL_GEMM, TENSOR_CORE_YES, DTYPE_BF16 },
        { "void cask_cudnn::computeOffsetsKernel<false, false>(int)", "cudnn", KERNEL_HELPER,
          TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        { "loop_convert_fusion_3", "xla", KERNEL_CAST, TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        { "input_convert_reduce_fusion", "xla", KERNEL_REDUCE, TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        { "loop_negate_fusion", "xla", KERNEL_ELEMENTWISE, TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        { "triton_poi_fused__native_batch_norm_legit_functional_convolution_relu_4", "triton",
          KERNEL_NORM, TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        { "triton_poi_fused_convolution_relu_1", "triton", KERNEL_ELEMENTWISE, TENSOR_CORE_UNKNOWN,
          DTYPE_UNKNOWN },
        { "triton_red_fused_native_layer_norm_2", "triton", KERNEL_NORM, TENSOR_CORE_UNKNOWN,
          DTYPE_UNKNOWN },
        /* Hopper and Blackwell */
        { "nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT", "cublas", KERNEL_GEMM, TENSOR_CORE_YES,
          DTYPE_BF16 },
        { "nvjet_hsh_128x64_64x9_2x1_v_bz_TNN", "cublas", KERNEL_GEMM, TENSOR_CORE_YES, DTYPE_F16 },
        { "nvjet_qqtst_128x192_128x6_2x1_v_bz_TNT", "cublas", KERNEL_GEMM, TENSOR_CORE_YES,
          DTYPE_F8 },
        { "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_"
          "segment_k_off_kernel__5x_cublas",
          "cublas", KERNEL_GEMM, TENSOR_CORE_YES, DTYPE_BF16 },
        { "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_128x128x64_1x2x1_0_tnn_"
          "align8_warpspecialized_cooperative_epi_tma",
          "cutlass", KERNEL_GEMM, TENSOR_CORE_YES, DTYPE_F16 },
        { "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<flash::"
          "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>>>>>>",
          "flash", KERNEL_ATTENTION, TENSOR_CORE_YES, DTYPE_UNKNOWN },
        { "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_"
          "kernel0_0",
          "flash", KERNEL_ATTENTION, TENSOR_CORE_YES, DTYPE_F16 },
        { "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
          "flash", KERNEL_ATTENTION, TENSOR_CORE_YES, DTYPE_F8 },
        { "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b",
          NULL, KERNEL_GEMM, TENSOR_CORE_YES, DTYPE_F8 },
        { "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, "
          "128, 4, false, false, cutlass::bfloat16_t>>(pytorch_flash::Flash_fwd_params)",
          "flash", KERNEL_ATTENTION, TENSOR_CORE_YES, DTYPE_BF16 },
        /* Triton */
        { "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", "triton", KERNEL_GEMM,
          TENSOR_CORE_YES, DTYPE_BF16 },
        { "triton_tem_fused_mm_0", "triton", KERNEL_GEMM, TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        { "triton_poi_fused__scaled_dot_product_flash_attention_cat_transpose_view_10", "triton",
          KERNEL_ELEMENTWISE, TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        { "kernel_unified_attention_2d", NULL, KERNEL_ATTENTION, TENSOR_CORE_YES, DTYPE_UNKNOWN },
        /* ROCm */
        { "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1",
          "hipblaslt", KERNEL_GEMM, TENSOR_CORE_YES, DTYPE_BF16 },
        { "Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_MI32x32x8x1_SE_1LDSB0", "hipblaslt", KERNEL_GEMM,
          TENSOR_CORE_YES, DTYPE_F16 },
        { "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_1LDSB0", "hipblaslt", KERNEL_GEMM, TENSOR_CORE_UNKNOWN,
          DTYPE_F32 },
        { "_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3",
          "ck", KERNEL_CONV, TENSOR_CORE_YES, DTYPE_UNKNOWN },
        { "_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelINS_40BlockFmha", "ck",
          KERNEL_ATTENTION, TENSOR_CORE_YES, DTYPE_UNKNOWN },
        { "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipeline", "ck", KERNEL_NORM,
          TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        { "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1E", "aiter",
          KERNEL_NORM, TENSOR_CORE_UNKNOWN, DTYPE_BF16 },
        { "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2", "miopen",
          KERNEL_CONV, TENSOR_CORE_YES, DTYPE_BF16 },
        { "batched_transpose_16x64_pack_1x4_ediv_1x2_half", "miopen", KERNEL_LAYOUT,
          TENSOR_CORE_UNKNOWN, DTYPE_F16 },
        { "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16>", NULL,
          KERNEL_ATTENTION, TENSOR_CORE_YES, DTYPE_BF16 },
        { "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16>", "flash",
          KERNEL_COPY, TENSOR_CORE_UNKNOWN, DTYPE_BF16 },
        /* Eigen: a cast is no convolution, and the type it counts in is none of elements. */
        { "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<"
          "Eigen::TensorMap<Eigen::Tensor<Eigen::half, 1, 1, long>, 16, Eigen::MakePointer>, "
          "Eigen::TensorConversionOp<Eigen::half, Eigen::TensorMap<Eigen::Tensor<float const, 1, "
          "1, long>, 16, Eigen::MakePointer> const> const> const, Eigen::GpuDevice>, long>",
          "tensorflow", KERNEL_CAST, TENSOR_CORE_UNKNOWN, DTYPE_F16 },
        { "void tensorflow::functor::FillPhiloxRandomKernelLaunch<tensorflow::random::"
          "UniformDistribution<tensorflow::random::PhiloxRandom, Eigen::half> >(unsigned long long "
          "const*, unsigned long long const*, tensorflow::random::PhiloxRandom, long long)",
          "tensorflow", KERNEL_RANDOM, TENSOR_CORE_UNKNOWN, DTYPE_F16 },
        { "void tensorflow::functor::ColumnReduceKernel<int8*, int8*>(int8*, int8*, long)",
          "tensorflow", KERNEL_REDUCE, TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        /* cuDNN without tensor cores, and with names that do not tell */
        { "cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", "cudnn", KERNEL_CONV, TENSOR_CORE_NO,
          DTYPE_F32 },
        { "ampere_gcgemm_64x64_nt", "cublas", KERNEL_CONV, TENSOR_CORE_NO, DTYPE_C64 },
        /* oneDNN */
        { "gen_conv_kernel", "onednn", KERNEL_CONV, TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
        { "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float, float>(long)",
          "pytorch", KERNEL_NORM, TENSOR_CORE_UNKNOWN, DTYPE_F32 },
        /* scale and rate are given by value, elements are what is pointed at */
        { "void vllm::moe::grouped_topk_kernel<(vllm::moe::ScoringFunc)1, 8>(float*, int*, long, "
          "bool, double)",
          NULL, KERNEL_ROUTING, TENSOR_CORE_UNKNOWN, DTYPE_F32 },
        { "some_hash_1234abcd", NULL, KERNEL_OTHER, TENSOR_CORE_UNKNOWN, DTYPE_UNKNOWN },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct kernel_name name = kernel_name_parse(str_from(cases[i].name));

        if (cases[i].library)
            assert_string_equal(name.library, cases[i].library);
        else
            assert_null(name.library);
        assert_int_equal(name.category, cases[i].category);
        assert_int_equal(name.tensor_core, cases[i].tensor_core);
        assert_int_equal(name.dtype, cases[i].dtype);
    }
}

TEST(families_lose_templates_and_numbers)
{
    static const struct {
        const char *name, *family;
    } cases[] = {
        { "void at::native::vectorized_elementwise_kernel<4, at::native::F>(int)",
          "at::native::vectorized_elementwise_kernel" },
        { "triton_poi_fused_add_12", "triton_poi_fused_add" },
        { "loop_multiply_fusion.7", "loop_multiply_fusion" },
        { "42", "4" },
        { "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>(float*, int)",
          "at::native::(anonymous namespace)::cunn_SoftMaxForward" },
        { "std::enable_if<(((8)>(0)))&&_typeConvert<c10::BFloat16>::exists, void>::type "
          "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, int)",
          "vllm::fused_add_rms_norm_kernel" },
        { "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_128x64_tn_align8>(P::Params)",
          "cutlass_80_tensorop_s16816gemm_bf16_128x64_tn_align" },
        { "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<X<2> > "
          ">(P)",
          "flash::FlashAttnFwdSm" },
        { "_ZN4vllm18act_and_mul_kernelIN3c108BFloat16ETnPFT_RKS3_EXadL_Z", "act_and_mul_kernel" },
        { "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiii",
          "GemmUniversal" },
        { "_ZN12_GLOBAL__N_17softmaxEPf", "softmax" },
        { "_Z9", "_Z" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_true(
            str_equal(kernel_name_family(str_from(cases[i].name)), str_from(cases[i].family)));
}

/*
 * Two steps of 1000 us; in each aten::mm (f64) launches a gemm without a type in its name, 300 us,
 * and aten::add (f32) one of 5 us. Compute 305 us a step: f64 300/305.
 */
TEST(kernels_take_types_from_their_ops)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu, thread, stream, mm, add;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "NVIDIA A100", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    stream = builder_timeline(&b, host, gpu, "stream 7");
    mm = builder_activity(&b, "aten::mm", ACTIVITY_OP,
                          builder_op(&b, "aten::mm", "aten::mm", "f64[8,8] f64[8,8]"));
    add = builder_activity(&b, "aten::add", ACTIVITY_OP,
                           builder_op(&b, "aten::add", "aten::add", "f32[8,8] f32[8,8]"));
    for (int64_t base = 0; base < 2000000; base += 1000000) {
        uint32_t launch, kernel;

        builder_step(&b, host, base, base + 1000000);
        builder_event(&b, thread, mm, base + 1000, 10000);
        launch = builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, base + 2000, 5000);
        kernel = builder_slice(&b, stream, "gemm_kernel", ACTIVITY_KERNEL, base + 20000, 300000);
        builder_flow(&b, launch, kernel, FLOW_LAUNCH);
        builder_event(&b, thread, add, base + 12000, 10000);
        launch = builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, base + 13000, 5000);
        kernel = builder_slice(&b, stream, "add_kernel", ACTIVITY_KERNEL, base + 320000, 5000);
        builder_flow(&b, launch, kernel, FLOW_LAUNCH);
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_kernels.run(&b.study, &err));
    assert_true(analysis_precision.run(&b.study, &err));
    assert_true(builder_fact(&b, "kernels.count_per_step") == 2);
    assert_true(builder_fact(&b, "kernels.tiny_share") == 0.5);
    assert_true(builder_fact(&b, "kernels.product_ns") == 300000);
    assert_true(builder_cell(&b, "kernels", "op", "aten::mm", "total_ns") == 300000);
    assert_true(fabs(builder_fact(&b, "precision.f64_share") - 300.0 / 305) < 1e-12);
    assert_true(fabs(builder_fact(&b, "precision.f64_step_share") - 0.3) < 1e-12);
    assert_true(fabs(builder_fact(&b, "precision.product_f64_ns") - 300000) < 1e-6);
    assert_true(builder_cell(&b, "dtypes", "dtype", "float32", "ns") == 5000);
    builder_free(&b);
}

/* On the CPU ops are weighed: a MatMul of 60 us in f32 and a Cast of 20 us from f64 (widest: f64).
 */
TEST(ops_stand_in_without_kernels)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread, matmul, cast;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "main");
    matmul = builder_activity(&b, "MatMul", ACTIVITY_OP,
                              builder_op(&b, "MatMul", "MatMul", "f32[8,8] f32[8,8] -> f32[8,8]"));
    cast = builder_activity(&b, "Cast", ACTIVITY_OP,
                            builder_op(&b, "Cast", "Cast", "f64[8,8] -> f32[8,8]"));
    builder_step(&b, host, 0, 100000);
    builder_event(&b, thread, matmul, 0, 60000);
    builder_event(&b, thread, cast, 60000, 20000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_precision.run(&b.study, &err));
    assert_true(builder_fact(&b, "precision.f64_share") == 0.25);
    assert_true(builder_fact(&b, "precision.cast_ns") == 20000);
    assert_true(builder_fact(&b, "precision.product_f32_ns") == 60000);
    assert_true(builder_cell(&b, "casts", "from", "float64", "calls") == 1);
    builder_free(&b);
}

/* One kernel launched by two ops, 40 us each, is a row each but one kernel: it has 80 of 140 us,
 * more than the one with the longest row of 60 us. */
TEST(a_kernel_is_one_by_its_name)
{
    static const char *const ops[] = { "mul", "add", "relu" };
    struct profile_builder   b;
    struct err               err = { 0 };
    uint32_t                 gpu, thread, stream;

    builder_start(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, builder_host(&b, "h"), "/device:GPU:0", "", DEVICE_GPU);
    thread = builder_timeline(&b, 0, NO_ID, "main");
    stream = builder_timeline(&b, 0, gpu, "Stream #1");
    builder_step(&b, 0, 0, 1000000);
    for (int i = 0; i < 3; i++) {
        uint32_t op =
            builder_activity(&b, ops[i], ACTIVITY_OP, builder_op(&b, ops[i], ops[i], NULL));
        uint32_t call, kernel;

        builder_event(&b, thread, op, i * 100000, 20000);
        call = builder_slice(&b, thread, "cuLaunchKernel", ACTIVITY_LAUNCH, i * 100000 + 1, 5000);
        kernel = builder_slice(&b, stream, i < 2 ? "vector_kernel" : "relu_kernel", ACTIVITY_KERNEL,
                               i * 100000 + 30000, i < 2 ? 40000 : 60000);
        builder_flow(&b, call, kernel, FLOW_LAUNCH);
        if (i == 2) /* its occupancy alone is told, and no device whose limits we know */
            builder_stat(&b, kernel, STAT_KERNEL_CONFIG, 0);
    }
    assert_true(vec_push(&b.profile.kernel_configs, b.profile.arena,
                         (struct kernel_config) { .grid = { 6, 2, 1 },
                                                  .block = { 128, 1, 1 },
                                                  .static_shared_bytes = 48,
                                                  .dynamic_shared_bytes = 1024,
                                                  .occupancy_pct = 50,
                                                  .registers = 32 }));
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_kernels.run(&b.study, &err));
    assert_true(fabs(builder_fact(&b, "kernels.occupancy_known_share") - 60.0 / 140) < 1e-12);
    assert_true(isnan(builder_fact(&b, "kernels.waves_known_share")));
    assert_true(builder_fact(&b, "kernels.distinct") == 2);
    assert_true(fabs(builder_fact(&b, "kernels.top_share") - 80.0 / 140) < 1e-12);
    assert_true(builder_fact(&b, "kernels.top_name") == builder_name(&b, "vector_kernel"));
    assert_true(builder_cell(&b, "kernels", "op", "mul", "total_ns") == 40000);
    assert_true(builder_cell(&b, "kernels", "grid", "6,2,1", "grid_blocks") == 12);
    assert_true(builder_cell(&b, "kernels", "block", "128,1,1", "static_shared_bytes") == 48);
    assert_true(builder_cell(&b, "kernels", "block", "128,1,1", "dynamic_shared_bytes") == 1024);
    assert_true(builder_cell(&b, "kernels", "op", "mul", "tensor_core_eligible") == 0);
    builder_free(&b);
}

/* One kernel, 30 us with a block and 90 us with twelve: 90 of 120 us are those of twelve. */
TEST(the_grid_that_takes_most)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               stream;

    builder_start(&b, FORMAT_XSPACE);
    stream = builder_timeline(
        &b, 0, builder_device(&b, builder_host(&b, "h"), "/device:GPU:0", "", DEVICE_GPU),
        "Stream #1");
    builder_step(&b, 0, 0, 1000000);
    for (int i = 0; i < 3; i++)
        builder_stat(
            &b, builder_slice(&b, stream, "copy", ACTIVITY_KERNEL, i * 100000, i ? 45000 : 30000),
            STAT_KERNEL_CONFIG, i > 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(vec_push(&b.profile.kernel_configs, b.profile.arena,
                             (struct kernel_config) { .grid = { i ? 12 : 1, 1, 1 },
                                                      .block = { 128, 1, 1 },
                                                      .occupancy_pct = -1 }));
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_kernels.run(&b.study, &err));
    assert_true(builder_cell(&b, "kernels", "name", "copy", "grid_blocks") == 12);
    assert_true(builder_cell(&b, "kernels", "name", "copy", "grid_share") == 0.75);
    builder_free(&b);
}
