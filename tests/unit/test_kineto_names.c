/* What categories and names mean. Names are from published traces of the named platforms. */

#include "testing.h"

#include "base/macros.h"
#include "read/kineto/kineto_names.h"

TEST(events_get_their_kind)
{
    static const struct {
        const char        *category, *name;
        enum activity_kind kind;
    } rows[] = {
        { "cpu_op", "aten::mm", ACTIVITY_OP },
        { "Operator", "ProfilerStep#18", ACTIVITY_STEP },
        { "user_annotation", "ProfilerStep#3", ACTIVITY_STEP },
        { "gpu_user_annotation", "ProfilerStep#3", ACTIVITY_ANNOTATION },
        { "user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
          ACTIVITY_INPUT_WAIT },
        { "user_annotation", "nccl:all_reduce", ACTIVITY_COLLECTIVE },
        { "user_annotation", "gloo:all_reduce", ACTIVITY_COLLECTIVE },
        { "cpu_op", "record_param_comms", ACTIVITY_COLLECTIVE },
        { "user_annotation", "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION },
        { "cpu_op", "autograd::engine::evaluate_function: AddBackward0", ACTIVITY_EXECUTOR },
        { "cpu_op", "## Call CompiledFxGraph f3xyz", ACTIVITY_RUN },
        { "cpu_op", "dynamo", ACTIVITY_COMPILE },
        { "cpu_op", "entire_frame_compile", ACTIVITY_COMPILE },
        { "cpu_op", "bytecode_tracing (dynamo_timed)", ACTIVITY_COMPILE },
        { "python_function", "torch/nn/modules/module.py(1518): _call_impl", ACTIVITY_PYTHON },
        { "python_function", "torch/serialization.py(600): save", ACTIVITY_OUTPUT },
        { "python_function", "<built-in function collect>", ACTIVITY_GC },
        { "python_function",
          "<built-in method wait of pybind11_builtins.pybind11_detail_function_record_v1 object>",
          ACTIVITY_WAIT },
        { "python_function", "<built-in method wait of PyCapsule object at 0x7fb2b3511e10>",
          ACTIVITY_WAIT },
        { "python_function", "<built-in method allreduce of PyCapsule object>", ACTIVITY_PYTHON },
        { "python_function", "nvidia/dali/plugin/pytorch/__init__.py(168): __next__",
          ACTIVITY_INPUT_WAIT },
        { "python_function", "nvidia/dali/pipeline.py(1426): share_outputs", ACTIVITY_PYTHON },
        { "python_function", "<built-in function kernel>", ACTIVITY_OP },
        { "cpu_op", "nvidia/dali/plugin/pytorch/__init__.py(168): __next__", ACTIVITY_OP },
        { "cuda_runtime", "cudaLaunchKernel", ACTIVITY_LAUNCH },
        { "cuda_driver", "cuLaunchKernelEx", ACTIVITY_LAUNCH },
        { "cuda_runtime", "hipExtModuleLaunchKernel", ACTIVITY_LAUNCH },
        { "cuda_runtime", "hipGraphLaunch", ACTIVITY_LAUNCH },
        { "xpu_runtime", "urEnqueueKernelLaunch", ACTIVITY_LAUNCH },
        { "mtia_runtime", "synchronizeStream", ACTIVITY_SYNC },
        { "mtia_runtime", "enqueueCommand memcpyHtoDAsync", ACTIVITY_TRANSFER },
        { "Runtime", "cudaDeviceSynchronize", ACTIVITY_SYNC },
        { "cuda_runtime", "cudaStreamWaitEvent", ACTIVITY_OTHER },
        { "cuda_runtime", "cudaMalloc", ACTIVITY_ALLOC },
        { "cuda_runtime", "hipFree", ACTIVITY_ALLOC },
        { "cuda_runtime", "cudaHostAlloc", ACTIVITY_ALLOC },
        { "cuda_runtime", "cudaMemcpyAsync", ACTIVITY_TRANSFER },
        { "cuda_runtime", "cudaMemsetAsync", ACTIVITY_LAUNCH },
        { "cuda_driver", "cuModuleLoadData", ACTIVITY_COMPILE },
        { "cuda_runtime", "cudaFuncSetAttribute", ACTIVITY_OTHER },
        { "kernel", "ampere_sgemm_128x128_tn", ACTIVITY_KERNEL },
        { "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
          ACTIVITY_COLLECTIVE },
        { "kernel", "__amd_rocclr_copyBuffer", ACTIVITY_MEMCPY },
        { "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", ACTIVITY_MEMCPY },
        { "gpu_memset", "Memset (Device)", ACTIVITY_MEMSET },
        { "cuda_sync", "Stream Wait Event", ACTIVITY_SYNC },
        { "overhead", "Lazy Function Loading", ACTIVITY_OVERHEAD },
        { "mtia_ccp_events", "pe_exe", ACTIVITY_KERNEL },
        { "mtia_ccp_events", "dma_request", ACTIVITY_MEMCPY },
        { "something new", "x", ACTIVITY_OTHER },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        enum kineto_class class = kineto_class(str_from(rows[i].category));

        if (kineto_kind(class, str_from(rows[i].name)) != rows[i].kind)
            fail_msg("%s %s", rows[i].category, rows[i].name);
    }
}

TEST(copies_have_a_direction)
{
    assert_int_equal(kineto_copy(STR("Memcpy HtoD (Pinned -> Device)")), COPY_H2D);
    assert_int_equal(kineto_copy(STR("Memcpy DtoH (Device -> Pageable)")), COPY_D2H);
    assert_int_equal(kineto_copy(STR("Memcpy DtoD (Device -> Device)")), COPY_D2D);
    assert_int_equal(kineto_copy(STR("Memcpy PtoP (Device -> Device)")), COPY_P2P);
    assert_int_equal(kineto_copy(STR("CopyDeviceToHost")), COPY_D2H);
    assert_int_equal(kineto_copy(STR("cudaMemcpyAsync")), COPY_NONE);
}

TEST(types_have_one_name)
{
    assert_int_equal(kineto_dtype(STR("float")), DTYPE_F32);
    assert_int_equal(kineto_dtype(STR("c10::BFloat16")), DTYPE_BF16);
    assert_int_equal(kineto_dtype(STR("c10::Half")), DTYPE_F16);
    assert_int_equal(kineto_dtype(STR("long int")), DTYPE_I64);
    assert_int_equal(kineto_dtype(STR("Float")), DTYPE_F32);
    assert_int_equal(kineto_dtype(STR("c10::Float8_e4m3fn")), DTYPE_F8);
    assert_int_equal(kineto_dtype(STR("Scalar")), DTYPE_UNKNOWN);
    assert_int_equal(kineto_dtype(STR("")), DTYPE_UNKNOWN);
}

TEST(collectives_have_one_name)
{
    static const struct {
        const char *name, *type;
    } rows[] = {
        { "allreduce", "all-reduce" },
        { "nccl:all_reduce", "all-reduce" },
        { "_allgather_base", "all-gather" },
        { "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", "reduce-scatter" },
        { "all_to_allv", "all-to-all" },
        { "ncclKernel_SendRecv(ncclDevComm*)", "send-recv" },
        { "nccl:broadcast", "broadcast" },
        { "record_param_comms", "" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        assert_true(str_equal(kineto_collective(str_from(rows[i].name)), str_from(rows[i].type)));
}
