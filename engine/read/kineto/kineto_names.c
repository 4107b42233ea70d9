#include "read/kineto/kineto_names.h"

#include "model/names.h"

#include <strings.h>

static const struct {
    struct str category;
    enum kineto_class class;
} classes[] = {
    { STR_INIT("cpu_op"), KINETO_OP },
    { STR_INIT("python_function"), KINETO_PYTHON },
    { STR_INIT("ac2g"), KINETO_LAUNCH },
    { STR_INIT("kernel"), KINETO_KERNEL },
    { STR_INIT("cuda_runtime"), KINETO_RUNTIME },
    { STR_INIT("cuda_driver"), KINETO_RUNTIME },
    { STR_INIT("fwdbwd"), KINETO_FLOW },
    { STR_INIT("user_annotation"), KINETO_ANNOTATION },
    { STR_INIT("gpu_memcpy"), KINETO_MEMCPY },
    { STR_INIT("gpu_memset"), KINETO_MEMSET },
    { STR_INIT("gpu_user_annotation"), KINETO_DEVICE_ANNOTATION },
    { STR_INIT("cuda_sync"), KINETO_DEVICE_SYNC },
    { STR_INIT("overhead"), KINETO_OVERHEAD },
    { STR_INIT("hip_runtime"), KINETO_RUNTIME },
    { STR_INIT("hip_driver"), KINETO_RUNTIME },
    { STR_INIT("xpu_runtime"), KINETO_RUNTIME },
    { STR_INIT("xpu_driver"), KINETO_RUNTIME },
    { STR_INIT("xpu_sync"), KINETO_DEVICE_SYNC },
    { STR_INIT("mtia_runtime"), KINETO_RUNTIME },
    { STR_INIT("glow_runtime"), KINETO_RUNTIME },
    { STR_INIT("privateuse1_runtime"), KINETO_RUNTIME },
    { STR_INIT("privateuse1_driver"), KINETO_RUNTIME },
    { STR_INIT("mtia_ccp_events"), KINETO_ACCELERATOR },
    { STR_INIT("mtia_insight"), KINETO_ACCELERATOR },
    { STR_INIT("hpu_op"), KINETO_ACCELERATOR },
    { STR_INIT("cuda_profiler_range"), KINETO_COUNTERS },
    { STR_INIT("Operator"), KINETO_OP },
    { STR_INIT("Runtime"), KINETO_RUNTIME },
    { STR_INIT("Kernel"), KINETO_KERNEL },
    { STR_INIT("Memcpy"), KINETO_MEMCPY },
    { STR_INIT("Memset"), KINETO_MEMSET },
    { STR_INIT("async_cpu_to_gpu"), KINETO_LAUNCH },
    { STR_INIT("async_gpu"), KINETO_LAUNCH },
    { STR_INIT("async"), KINETO_LAUNCH },
    { STR_INIT("forward_backward"), KINETO_FLOW },
    { STR_INIT("async_npu"), KINETO_FLOW },
    { STR_INIT("enqueue"), KINETO_RUNTIME },
    { STR_INIT("dequeue"), KINETO_RUNTIME },
    { STR_INIT("Trace"), KINETO_FRAME },
};

/* Of GPUs, and of profilers and frameworks. */

struct str kineto_backend(struct str category)
{
    struct str backend = str_slice(category, 0, str_find(category, '_'));

    if (str_fits(backend, "gpu|cuda|hip|xpu|user|python|cpu|privateuse1"))
        return STR("");
    return backend.len < category.len ? backend : STR("");
}

/* Backends beside PyTorch name their categories after the others: "npu_kernel", "gcu_runtime". */
static const struct {
    struct str end;
    enum kineto_class class;
} endings[] = {
    { STR_INIT("_runtime"), KINETO_RUNTIME },
    { STR_INIT("_driver"), KINETO_RUNTIME },
    { STR_INIT("_kernel"), KINETO_KERNEL },
    { STR_INIT("_memcpy"), KINETO_MEMCPY },
    { STR_INIT("_memset"), KINETO_MEMSET },
    { STR_INIT("_user_annotation"), KINETO_DEVICE_ANNOTATION },
};

enum kineto_class kineto_class(struct str category)
{
    for (size_t i = 0; i < ARRAY_COUNT(classes); i++)
        if (category.len == classes[i].category.len && category.len &&
            category.data[0] == classes[i].category.data[0] &&
            str_equal(category, classes[i].category))
            return classes[i].class;
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++)
        if (str_ends(category, endings[i].end))
            return endings[i].class;
    return KINETO_UNKNOWN;
}

enum kineto_class kineto_class_without_category(struct str name, bool is_task, bool is_bare)
{
    if (is_task)
        return KINETO_KERNEL;
    if (str_fits(name, "AscendCL@*|Node@*|Runtime@*|Model@*"))
        return KINETO_RUNTIME;
    return is_bare && str_fits(name, "Computing|Communication|Communication(Not Overlapped)|Free")
               ? KINETO_FRAME
               : KINETO_UNKNOWN;
}

bool kineto_is_device(enum kineto_class class)
{
    static const bool on_device[KINETO_UNKNOWN + 1] = {
        [KINETO_KERNEL] = true,      [KINETO_MEMCPY] = true,
        [KINETO_MEMSET] = true,      [KINETO_DEVICE_ANNOTATION] = true,
        [KINETO_DEVICE_SYNC] = true, [KINETO_ACCELERATOR] = true,
        [KINETO_COUNTERS] = true,
    };

    return on_device[class];
}

struct name_kind {
    uint32_t           classes; /* 1 << enum kineto_class */
    const char        *words;   /* str_fits */
    enum activity_kind kind;
};

enum {
    HOST = 1 << KINETO_OP | 1 << KINETO_ANNOTATION,
    OP = 1 << KINETO_OP,
    RANGE = 1 << KINETO_ANNOTATION,
    CALL = 1 << KINETO_RUNTIME,
    FRAME = 1 << KINETO_PYTHON,
    DEVICE = 1 << KINETO_KERNEL | 1 << KINETO_ACCELERATOR,
};

/* The first that fits counts. */
static const struct name_kind name_kinds[] = {
    { OP, "aten::*", ACTIVITY_OP },
    { OP, "autograd::engine::evaluate_function*", ACTIVITY_EXECUTOR },
    { HOST, "ProfilerStep#*", ACTIVITY_STEP },
    { HOST, "enumerate(DataLoader)#*|enumerate(DataPipe)#*", ACTIVITY_INPUT_WAIT },
    { HOST, "nccl:*|rccl:*|gloo:*|mpi:*|ucc:*|xccl:*|hccl:*|record_param_comms*",
      ACTIVITY_COLLECTIVE },
    { HOST, "Optimizer.*", ACTIVITY_ANNOTATION },
    { HOST, "## Call CompiledFxGraph*|Torch-Compiled Region*", ACTIVITY_RUN },
    { HOST, "TorchDynamo Cache Lookup*", ACTIVITY_DISPATCH },
    { HOST, "*(dynamo_timed)*|dynamo|entire_frame_compile|entire_backward_compile",
      ACTIVITY_COMPILE },
    { HOST, "Python GC*", ACTIVITY_GC },
    { CALL, "*ynchronize*", ACTIVITY_SYNC },
    { CALL, "*emcpy*", ACTIVITY_TRANSFER },
    { CALL, "*emset*", ACTIVITY_LAUNCH },
    { CALL, "*ModuleLoad*|*LibraryLoad*|*LinkComplete*", ACTIVITY_COMPILE },
    { CALL, "*Launch*|enqueueCommand*|runFunction*", ACTIVITY_LAUNCH },
    { CALL, "*GetWorkspaceSize", ACTIVITY_OTHER },
    { CALL, "AscendCL@aclnn*|AscendCL@aclop*Execute*", ACTIVITY_LAUNCH },
    { CALL,
      "*Malloc*|*HostAlloc*|*HostRegister*|*MemAlloc*|*MemCreate*|*MemMap*|*MemUnmap*|"
      "*Free*",
      ACTIVITY_ALLOC },
    { FRAME, "*<built-in function collect>*", ACTIVITY_GC },
    /* Of a collective's work or a future: bound methods have the name of who binds them. */
    { FRAME,
      "<built-in method wait of pybind11_builtins*|<built-in method wait of PyCapsule*|"
      "<built-in method wait of torch._C*",
      ACTIVITY_WAIT },
    /* What torch.compile made for a host is called from Python, and no op stands for it. */
    { FRAME, "<built-in function kernel>", ACTIVITY_OP },
    { FRAME, "torch/serialization.py*|torch/utils/tensorboard/*", ACTIVITY_OUTPUT },
    { DEVICE,
      "nccl*|rccl*|*nvshmem*|*msccl*|*deep_ep*|*hccl*|*cross_device_reduce*|"
      "*multimem_all_*|*_shot_all_reduce*|*allreduce_fusion*|*internode::*|*intranode::*|"
      "*internode_ll::*|hcom_*",
      ACTIVITY_COLLECTIVE },
    { DEVICE, "MEMCPY_ASYNC*", ACTIVITY_MEMCPY },
    { DEVICE, "EVENT_WAIT*|EVENT_RECORD*|NOTIFY_*|Notify_*", ACTIVITY_WAIT },
    { DEVICE, "__amd_rocclr_copyBuffer*", ACTIVITY_MEMCPY },
    { DEVICE, "__amd_rocclr_fillBuffer*", ACTIVITY_MEMSET },
    { DEVICE, "dma_request*", ACTIVITY_MEMCPY },
    { DEVICE, "event_wait*", ACTIVITY_WAIT },
    { DEVICE, "event_record*", ACTIVITY_OTHER },
};

/* The call of NVIDIA DALI's iterators that waits for a batch and hands it over. */
static bool hands_over_batch(struct str frame)
{
    return str_ends(frame, STR(": __next__")) && str_contains(frame, STR("nvidia/dali/plugin/"));
}

enum activity_kind kineto_kind(enum kineto_class class, struct str name)
{
    static const enum activity_kind presets[KINETO_UNKNOWN + 1] = {
        [KINETO_OP] = ACTIVITY_OP,
        [KINETO_ANNOTATION] = ACTIVITY_ANNOTATION,
        [KINETO_PYTHON] = ACTIVITY_PYTHON,
        [KINETO_KERNEL] = ACTIVITY_KERNEL,
        [KINETO_MEMCPY] = ACTIVITY_MEMCPY,
        [KINETO_MEMSET] = ACTIVITY_MEMSET,
        [KINETO_DEVICE_ANNOTATION] = ACTIVITY_ANNOTATION,
        [KINETO_DEVICE_SYNC] = ACTIVITY_SYNC,
        [KINETO_OVERHEAD] = ACTIVITY_OVERHEAD,
        [KINETO_ACCELERATOR] = ACTIVITY_KERNEL,
    };

    if (class == KINETO_PYTHON && hands_over_batch(name))
        return ACTIVITY_INPUT_WAIT;
    for (size_t i = 0; i < ARRAY_COUNT(name_kinds); i++) {
        const struct name_kind *row = &name_kinds[i];

        if ((row->classes >> class & 1) && str_fits(name, row->words))
            return row->kind;
    }
    return presets[class];
}

enum copy_direction kineto_copy(struct str name)
{
    static const struct {
        struct str          part;
        enum copy_direction copy;
    } copies[] = {
        { STR_INIT("HtoD"), COPY_H2D },
        { STR_INIT("DtoH"), COPY_D2H },
        { STR_INIT("DtoD"), COPY_D2D },
        { STR_INIT("PtoP"), COPY_P2P },
        { STR_INIT("HtoH"), COPY_H2H },
        { STR_INIT("HostToDevice"), COPY_H2D },
        { STR_INIT("DeviceToHost"), COPY_D2H },
        { STR_INIT("DeviceToDevice"), COPY_D2D },
        { STR_INIT("PeerToPeer"), COPY_P2P },
        { STR_INIT("HostToHost"), COPY_H2H },
        { STR_INIT("M2D"), COPY_H2D },
        { STR_INIT("D2M"), COPY_D2H },
        { STR_INIT("D2D"), COPY_D2D },
        { STR_INIT("HOST_TO_DEVICE"), COPY_H2D },
        { STR_INIT("DEVICE_TO_HOST"), COPY_D2H },
        { STR_INIT("DEVICE_TO_DEVICE"), COPY_D2D },
    };

    for (size_t i = 0; i < ARRAY_COUNT(copies); i++)
        if (str_contains(name, copies[i].part))
            return copies[i].copy;
    return COPY_NONE;
}

enum dtype kineto_dtype(struct str name)
{
    static const struct {
        struct str name;
        enum dtype dtype;
    } dtypes[] = {
        { STR_INIT("float"), DTYPE_F32 },
        { STR_INIT("double"), DTYPE_F64 },
        { STR_INIT("half"), DTYPE_F16 },
        { STR_INIT("bfloat16"), DTYPE_BF16 },
        { STR_INIT("long int"), DTYPE_I64 },
        { STR_INIT("long"), DTYPE_I64 },
        { STR_INIT("int"), DTYPE_I32 },
        { STR_INIT("short int"), DTYPE_I16 },
        { STR_INIT("short"), DTYPE_I16 },
        { STR_INIT("signed char"), DTYPE_I8 },
        { STR_INIT("char"), DTYPE_I8 },
        { STR_INIT("unsigned char"), DTYPE_U8 },
        { STR_INIT("byte"), DTYPE_U8 },
        { STR_INIT("unsigned short"), DTYPE_U16 },
        { STR_INIT("unsigned int"), DTYPE_U32 },
        { STR_INIT("unsigned long"), DTYPE_U64 },
        { STR_INIT("bool"), DTYPE_BOOL },
        { STR_INIT("complex<float>"), DTYPE_C64 },
        { STR_INIT("complex<double>"), DTYPE_C128 },
        { STR_INIT("float8_e4m3fn"), DTYPE_F8 },
        { STR_INIT("float8_e4m3fnuz"), DTYPE_F8 },
        { STR_INIT("float8_e5m2"), DTYPE_F8 },
        { STR_INIT("float8_e5m2fnuz"), DTYPE_F8 },
        { STR_INIT("float4_e2m1fn_x2"), DTYPE_F4 },
    };

    if (str_starts(name, STR("c10::")))
        name = str_slice(name, 5, name.len);
    for (size_t i = 0; i < ARRAY_COUNT(dtypes); i++)
        if (name.len == dtypes[i].name.len &&
            strncasecmp(name.data, dtypes[i].name.data, name.len) == 0)
            return dtypes[i].dtype;
    return DTYPE_UNKNOWN;
}

bool kineto_is_tensor_type(struct str name)
{
    return !str_equal(name, STR("Scalar")) && !str_equal(name, STR("ScalarList")) &&
           !str_equal(name, STR("GenericList"));
}

/* Letters and digits only, lower case, so that all spellings of a collective are one. */
static struct str squeeze(struct str name, char *text, size_t bytes)
{
    size_t len = 0;

    for (size_t i = 0; i < name.len && len < bytes; i++) {
        char byte = name.data[i];

        if (byte >= 'A' && byte <= 'Z')
            byte = (char)(byte | 0x20);
        if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9'))
            text[len++] = byte;
    }
    return (struct str) { text, len };
}

struct str kineto_collective(struct str name)
{
    static const struct {
        struct str part, type;
    } types[] = {
        { STR_INIT("allreduce"), STR_INIT("all-reduce") },
        { STR_INIT("collectivereduce"), STR_INIT("all-reduce") }, /* TensorFlow's */
        { STR_INIT("collectivegather"), STR_INIT("all-gather") },
        { STR_INIT("crossdevicereduce"), STR_INIT("all-reduce") },
        { STR_INIT("reducescatter"), STR_INIT("reduce-scatter") },
        { STR_INIT("allgather"), STR_INIT("all-gather") },
        { STR_INIT("raggedalltoall"), STR_INIT("ragged-all-to-all") },
        { STR_INIT("alltoall"), STR_INIT("all-to-all") },
        { STR_INIT("collectivepermute"), STR_INIT("collective-permute") },
        { STR_INIT("broadcast"), STR_INIT("broadcast") },
        { STR_INIT("sendrecv"), STR_INIT("send-recv") },
        { STR_INIT("barrier"), STR_INIT("barrier") },
        { STR_INIT("scatter"), STR_INIT("scatter") },
        { STR_INIT("gather"), STR_INIT("gather") },
        { STR_INIT("send"), STR_INIT("send") },
        { STR_INIT("recv"), STR_INIT("recv") },
        { STR_INIT("reduce"), STR_INIT("reduce") },
    };
    char       text[96];
    struct str squeezed = squeeze(name, text, sizeof text);

    for (size_t i = 0; i < ARRAY_COUNT(types); i++)
        if (str_contains(squeezed, types[i].part))
            return types[i].type;
    return (struct str) { "", 0 };
}

struct str framework_of_event(struct str name)
{
    if (name_is(name, NAMES_JIT_CALL))
        return STR("jax");
    if (str_starts(name, STR("ExecutorState::")) || str_starts(name, STR("EagerExecute")))
        return STR("tensorflow");
    return STR("");
}
