#include "read/xspace/xspace_names.h"

#include "model/names.h"
#include "read/op_kinds.h"

enum how { EXACT, PREFIX, SUFFIX, PART };

struct name_row {
    enum how            how;
    const char         *text;
    enum activity_kind  kind;
    enum copy_direction copy;
};

/* Host events that are no ops. The first row that fits decides, so special names stand first. */
static const struct name_row host_names[] = {
    { EXACT, "IteratorGetNextOp::DoCompute", ACTIVITY_INPUT_WAIT, COPY_NONE },
    { EXACT, "IteratorGetNextAsOptionalOp::DoCompute", ACTIVITY_INPUT_WAIT, COPY_NONE },
    { PREFIX, "EagerLocalExecute: IteratorGetNext", ACTIVITY_INPUT_WAIT, COPY_NONE },
    { EXACT, "Iterator::Prefetch::Generator", ACTIVITY_INPUT_BUFFER, COPY_NONE },
    { PREFIX, "Iterator::", ACTIVITY_INPUT_STAGE, COPY_NONE },
    { PREFIX, "InstantiatedCapturedFunction::", ACTIVITY_INPUT_WORK, COPY_NONE },
    { PREFIX, "MakeIterator::", ACTIVITY_INPUT_WORK, COPY_NONE },
    { PREFIX, "EagerLocalExecute: MakeIterator", ACTIVITY_INPUT_WORK, COPY_NONE },
    { PREFIX, "EagerLocalExecute: Save", ACTIVITY_OUTPUT, COPY_NONE },
    { PREFIX, "EagerLocalExecute: MergeV2Checkpoints", ACTIVITY_OUTPUT, COPY_NONE },
    { PREFIX, "EagerLocalExecute: Write", ACTIVITY_OUTPUT, COPY_NONE },
    { PREFIX, "EagerLocalExecute: FlushSummaryWriter", ACTIVITY_OUTPUT, COPY_NONE },
    { PREFIX, "EagerLocalExecute: Print", ACTIVITY_OUTPUT, COPY_NONE },
    { PREFIX, "EagerLocalExecute: StringFormat", ACTIVITY_OUTPUT, COPY_NONE },
    { PART, "DatasetOp::", ACTIVITY_INPUT_WORK, COPY_NONE },
    { PREFIX, "DecodeImageV2Op", ACTIVITY_INPUT_WORK, COPY_NONE },
    { SUFFIX, "Produce", ACTIVITY_INPUT_BUFFER, COPY_NONE },
    { SUFFIX, "Consume", ACTIVITY_INPUT_BUFFER, COPY_NONE },
    { EXACT, "ParallelInterleaveInitializeInput", ACTIVITY_INPUT_BUFFER, COPY_NONE },
    { EXACT, "MemoryAllocation", ACTIVITY_ALLOC, COPY_NONE },
    { EXACT, "MemoryDeallocation", ACTIVITY_ALLOC, COPY_NONE },
    { EXACT, "FunctionRun", ACTIVITY_RUN, COPY_NONE },
    { EXACT, "SessionRun", ACTIVITY_RUN, COPY_NONE },
    { EXACT, "RunGraph", ACTIVITY_RUN, COPY_NONE },
    { EXACT, "TfrtModelRun", ACTIVITY_RUN, COPY_NONE },
    { EXACT, "ServingModelRun", ACTIVITY_RUN, COPY_NONE },
    { SUFFIX, "(wait for completion)", ACTIVITY_WAIT, COPY_NONE },
    { PREFIX, "ThunkExecutor::Execute", ACTIVITY_RUN, COPY_NONE },
    { PREFIX, "TfrtCpuExecutable::", ACTIVITY_RUN, COPY_NONE },
    { PREFIX, "GpuExecutable::", ACTIVITY_RUN, COPY_NONE },
    { SUFFIX, ":XLA GPU module", ACTIVITY_RUN, COPY_NONE },
    { PREFIX, "tpu::System::Execute", ACTIVITY_RUN, COPY_NONE },
    { PART, "ThreadPool::Await", ACTIVITY_WAIT, COPY_NONE },
    { PREFIX, "Wait for ", ACTIVITY_WAIT, COPY_NONE },
    { PREFIX, "Acquire semaphore", ACTIVITY_WAIT, COPY_NONE },
    { PREFIX, "BatchingSessionRun", ACTIVITY_RUN, COPY_NONE },
    { PREFIX, "end: ", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "ExecutorState::", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "ExecutorDoneCallback", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "ThreadpoolListener::", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "CollectiveExecutor::", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "BaseCollectiveExecutor::", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "CollectiveOpV", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "ParallelFor", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "CompleteCallbacks", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "ScheduleWork", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "ThenExecuteCallback", ACTIVITY_EXECUTOR, COPY_NONE },
    { PREFIX, "EagerExecute", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "EagerKernelExecute", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "EagerLocalExecute", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "EagerCopyToDevice", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "KernelAndDevice", ACTIVITY_RUN, COPY_NONE },
    { PREFIX, "TFE_", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "ValidateInputTypeAndPlacement", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "convert_to_tensor", ACTIVITY_DISPATCH, COPY_NONE },
    { EXACT, "tf.constant", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "PjitFunction", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "ExecuteReplicated", ACTIVITY_DISPATCH, COPY_NONE },
    { PART, "LoadedExecutable::", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "PJRT_LoadedExecutable_Execute", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "CommonPjRtClient::", ACTIVITY_DISPATCH, COPY_NONE },
    { EXACT, "ParseArguments", ACTIVITY_DISPATCH, COPY_NONE },
    { EXACT, "Handle inputs", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "AllocateOutputBuffers", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "Build buffer allocations", ACTIVITY_DISPATCH, COPY_NONE },
    { PREFIX, "tf.function-graph_building", ACTIVITY_TRACING, COPY_NONE },
    { PREFIX, "trace_to_jaxpr", ACTIVITY_TRACING, COPY_NONE },
    { PREFIX, "lower_sharding_computation", ACTIVITY_TRACING, COPY_NONE },
    { PREFIX, "lower_jaxpr", ACTIVITY_TRACING, COPY_NONE },
    { PREFIX, "cached_lowering", ACTIVITY_TRACING, COPY_NONE },
    { PART, "grappler", ACTIVITY_TRACING, COPY_NONE },
    { PART, "Grappler", ACTIVITY_TRACING, COPY_NONE },
    { PREFIX, "OptimizeGraph", ACTIVITY_TRACING, COPY_NONE },
    { PREFIX, "GraphOptimizationPass", ACTIVITY_TRACING, COPY_NONE },
    { PREFIX, "backend_compile", ACTIVITY_COMPILE, COPY_NONE },
    { PART, "::Compile", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "XLA::TPU", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "XlaCompile", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "Compile", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "LLVM", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "LSRA", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "Codegen", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "ThunkEmitter::", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "CpuCompiler::", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "HLO passes", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "RunHloPasses", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "RunBackend", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "LoadProgram", ACTIVITY_COMPILE, COPY_NONE },
    { PREFIX, "np.asarray(jax.Array)", ACTIVITY_SYNC, COPY_NONE },
    { PART, "BlockUntilReady", ACTIVITY_SYNC, COPY_NONE },
    { PART, "block_until_ready", ACTIVITY_SYNC, COPY_NONE },
    { PART, "BlockHostUntil", ACTIVITY_SYNC, COPY_NONE },
    { SUFFIX, "Synchronize", ACTIVITY_SYNC, COPY_NONE },
    { PART, "::Await", ACTIVITY_SYNC, COPY_NONE },
    { PREFIX, "PjrtAsyncWait", ACTIVITY_SYNC, COPY_NONE },
    { PREFIX, "DevicePut", ACTIVITY_TRANSFER, COPY_H2D },
    { PREFIX, "batched_device_put", ACTIVITY_TRANSFER, COPY_H2D },
    { PREFIX, "BatchedDevicePut", ACTIVITY_TRANSFER, COPY_H2D },
    { PREFIX, "shard_args", ACTIVITY_TRANSFER, COPY_H2D },
    { PREFIX, "batched_copy_array_to_devices", ACTIVITY_TRANSFER, COPY_H2D },
    { PREFIX, "BatchedCopyToDevice", ACTIVITY_TRANSFER, COPY_H2D },
    { PART, "BufferFromHost", ACTIVITY_TRANSFER, COPY_H2D },
    { PART, "TransferH2D", ACTIVITY_TRANSFER, COPY_H2D },
    { PART, "TransferToDevice", ACTIVITY_TRANSFER, COPY_H2D },
    { PART, "CopyToDevice", ACTIVITY_TRANSFER, COPY_H2D },
    { PREFIX, "H2D Dispatch", ACTIVITY_TRANSFER, COPY_H2D },
    { PREFIX, "Linearize", ACTIVITY_TRANSFER, COPY_H2D },
    { PREFIX, "XlaLinearize", ACTIVITY_TRANSFER, COPY_H2D },
    { PART, "TransferD2H", ACTIVITY_TRANSFER, COPY_D2H },
    { PART, "TransferFromDevice", ACTIVITY_TRANSFER, COPY_D2H },
    { PREFIX, "D2H Dispatch", ACTIVITY_TRANSFER, COPY_D2H },
    { PREFIX, "Delinearize", ACTIVITY_TRANSFER, COPY_D2H },
    { PREFIX, "XlaDelinearize", ACTIVITY_TRANSFER, COPY_D2H },
    { PART, "copy_to_host_async", ACTIVITY_TRANSFER, COPY_D2H },
    { PART, "ToLiteral", ACTIVITY_TRANSFER, COPY_D2H },
    { PREFIX, "CopyToHost", ACTIVITY_TRANSFER, COPY_D2H },
    { PREFIX, "HostCallback", ACTIVITY_CALLBACK, COPY_NONE },
    { PART, "python_callback", ACTIVITY_CALLBACK, COPY_NONE },
    { PART, "PythonCpuCallback", ACTIVITY_CALLBACK, COPY_NONE },
    { PART, "python_cpu_callback", ACTIVITY_CALLBACK, COPY_NONE },
    { PART, "python_gpu_callback", ACTIVITY_CALLBACK, COPY_NONE },
    { PREFIX, "cuLaunch", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "hipLaunch", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "hipModuleLaunch", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "hipExtModuleLaunch", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "cudaLaunch", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "cuGraphLaunch", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "hipGraphLaunch", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "cuMemcpy", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "hipMemcpy", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "cuMemset", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "hipMemset", ACTIVITY_LAUNCH, COPY_NONE },
    { PREFIX, "cuMemAlloc", ACTIVITY_ALLOC, COPY_NONE },
    { PREFIX, "cuMemFree", ACTIVITY_ALLOC, COPY_NONE },
    { PREFIX, "hipMalloc", ACTIVITY_ALLOC, COPY_NONE },
    { PREFIX, "hipFree", ACTIVITY_ALLOC, COPY_NONE },
    { PREFIX, "DeviceMemAllocator::", ACTIVITY_ALLOC, COPY_NONE },
    { EXACT, "CUPTI overhead", ACTIVITY_OVERHEAD, COPY_NONE },
    { EXACT, "TraceContext", ACTIVITY_STEP, COPY_NONE },
    { PART, "CollectGarbage", ACTIVITY_GC, COPY_NONE },
    { EXACT, "gc", ACTIVITY_GC, COPY_NONE },
};

/* Python functions that stand for something in particular: the part behind "$file.py:12 ". Names
 * that others use too count in these modules alone ("<unknown>": methods of built-in objects). */
struct python_row {
    const char         *function;
    enum activity_kind  kind;
    enum copy_direction copy;
    const char         *modules; /* NULL: any */
};
static const struct python_row python_names[] = {
    { "print", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "savez", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "savez_compressed", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "savefig", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "dump", ACTIVITY_OUTPUT, COPY_NONE, "pickle _pickle numpy_pickle" },
    { "imwrite", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "fsync", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "save_checkpoint", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "add_histogram", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "add_scalar", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "add_image", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "acquire", ACTIVITY_WAIT, COPY_NONE,
      "<unknown> _thread threading synchronize semaphore_tracker" },
    { "wait", ACTIVITY_WAIT, COPY_NONE,
      "threading multiprocessing synchronize popen_fork popen_forkserver pool connection "
      "subprocess _base tasks selectors queue" },
    { "sleep", ACTIVITY_WAIT, COPY_NONE, "time tasks" },
    { "join", ACTIVITY_WAIT, COPY_NONE, "threading process pool queue queues multiprocessing" },
    { "poll", ACTIVITY_WAIT, COPY_NONE, "<unknown> select selectors connection" },
    { "select", ACTIVITY_WAIT, COPY_NONE, "select selectors" },
    { "block_until_ready", ACTIVITY_SYNC, COPY_NONE, NULL },
    { "try_to_block", ACTIVITY_SYNC, COPY_NONE, NULL },
    { "_value", ACTIVITY_SYNC, COPY_NONE, "array" },
    { "device_put", ACTIVITY_TRANSFER, COPY_H2D, NULL },
    { "stop_trace", ACTIVITY_OVERHEAD, COPY_NONE, NULL },
    { "start_trace", ACTIVITY_OVERHEAD, COPY_NONE, NULL },
    { "backend_compile", ACTIVITY_COMPILE, COPY_NONE, NULL },
    { "backend_compile_and_load", ACTIVITY_COMPILE, COPY_NONE, NULL },
    { "compile_or_get_cached", ACTIVITY_COMPILE, COPY_NONE, NULL },
    { "trace_to_jaxpr_dynamic", ACTIVITY_TRACING, COPY_NONE, NULL },
    { "trace_to_jaxpr", ACTIVITY_TRACING, COPY_NONE, NULL },
    { "lower_jaxpr_to_module", ACTIVITY_TRACING, COPY_NONE, NULL },
    { "lower_sharding_computation", ACTIVITY_TRACING, COPY_NONE, NULL },
    { "pure_callback_impl", ACTIVITY_CALLBACK, COPY_NONE, NULL },
    { "io_callback_impl", ACTIVITY_CALLBACK, COPY_NONE, NULL },
    { "_wrapped_callback", ACTIVITY_CALLBACK, COPY_NONE, NULL },
    { "_flat_callback", ACTIVITY_CALLBACK, COPY_NONE, NULL },
};

static bool fits(const struct name_row *row, struct str name)
{
    struct str text = str_from(row->text);

    switch (row->how) {
    case EXACT:
        return str_equal(name, text);
    case PREFIX:
        return str_starts(name, text);
    case SUFFIX:
        return str_ends(name, text);
    case PART:
        return str_contains(name, text);
    }
    return false;
}

static const struct name_row *look_up(const struct name_row *rows, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (fits(&rows[i], name))
            return &rows[i];
    return NULL;
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_op_type(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_letter(s.data[i]) && !(i > 0 && is_digit(s.data[i])))
            return false;
    return s.len && ((s.data[0] >= 'A' && s.data[0] <= 'Z') || s.data[0] == '_');
}

/* Characters of an op's scope beside letters and digits: those of TensorFlow, and those of JAX. */
#define TF_MARKS STR("./>-\\")
#define JAX_MARKS STR("./>-\\()[]=,<")

static bool is_op_name(struct str s, struct str marks)
{
    if (s.len == 0 || s.data[0] == '_' || s.data[0] == '/' || s.data[0] == '-')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!is_letter(s.data[i]) && !is_digit(s.data[i]) &&
            str_find(marks, s.data[i]) == marks.len)
            return false;
    return true;
}

/* Ops of a function that was put into its caller's place have the call's name in front, as all of a
 * train function have in Keras's fit. Other calls, "StatefulPartitionedCall_1", keep theirs. */
static struct str without_call(struct str name)
{
    static const struct str calls[] = { STR_INIT("StatefulPartitionedCall/"),
                                        STR_INIT("PartitionedCall/") };

    for (size_t i = 0; i < ARRAY_COUNT(calls); i++)
        while (str_starts(name, calls[i]) && name.len > calls[i].len)
            name = str_slice(name, calls[i].len, name.len);
    return name;
}

/* "scope/name:Type" of a TensorFlow op; "scope/name:" without its type, which then is the name's
 * last part, as "jit(f)/dot_general:" of JAX. */
static bool parse_op(struct str name, struct xname *result)
{
    size_t     colon = str_find(name, ':'), slash;
    struct str type = str_slice(name, colon + 1, name.len), whole = str_slice(name, 0, colon);

    if (colon >= name.len || !is_op_name(whole, type.len ? TF_MARKS : JAX_MARKS))
        return false;
    slash = str_find_last(whole, '/');
    if (type.len ? !is_op_type(type) : slash + 1 >= whole.len)
        return false;
    result->op_name = without_call(whole);
    result->op_type = type.len ? type : str_slice(whole, slash + 1, whole.len);
    return true;
}

/* "%fusion.3 = f32[8]{0} fusion(…)" or "fusion.3": the instruction and its kind. */
static void parse_hlo(struct str name, struct xname *result)
{
    size_t end = str_find(name, ' ');
    size_t dot;

    result->op_name = str_slice(name, name.len && name.data[0] == '%' ? 1 : 0, end);
    result->op_type = result->op_name;
    dot = str_find_last(result->op_name, '.');
    if (dot + 1 < result->op_name.len && is_digit(result->op_name.data[dot + 1]))
        result->op_type = str_slice(result->op_name, 0, dot);
}

/* "$file.py:12 function" of the Python tracer; "$module function" of built-ins. */
static bool parse_python(struct str name, struct xname *result)
{
    size_t     blank = str_find(name, ' ');
    struct str place = str_slice(name, 1, blank);
    size_t     colon = str_find_last(place, ':');
    uint64_t   line = 0;

    if (name.len < 2 || name.data[0] != '$' || blank >= name.len)
        return false;
    result->function = str_slice(name, blank + 1, name.len);
    result->file = place;
    if (colon < place.len && str_to_uint64(str_slice(place, colon + 1, place.len), &line) &&
        line <= UINT32_MAX) {
        result->file = str_slice(place, 0, colon);
        result->line = (uint32_t)line;
    }
    return true;
}

/* Whether a part of the path, "multiprocessing/pool.py", is one of the words. */
static bool is_in_modules(struct str file, struct str modules)
{
    while (file.len) {
        struct str part = str_cut(&file, '/'), words = modules;

        if (str_ends(part, STR(".py")))
            part.len -= 3;
        while (words.len)
            if (str_equal(str_cut(&words, ' '), part))
                return true;
    }
    return false;
}

static const struct python_row *python_row(const struct xname *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(python_names); i++) {
        const struct python_row *row = &python_names[i];

        if (str_equal(name->function, str_from(row->function)))
            return !row->modules || is_in_modules(name->file, str_from(row->modules)) ? row : NULL;
    }
    return NULL;
}

enum copy_direction xspace_copy_direction(struct str name)
{
    static const struct {
        const char         *part;
        enum copy_direction copy;
    } rows[] = {
        { "H2D", COPY_H2D },          { "HtoD", COPY_H2D },         { "HToD", COPY_H2D },
        { "HostToDevice", COPY_H2D }, { "D2H", COPY_D2H },          { "DtoH", COPY_D2H },
        { "DToH", COPY_D2H },         { "DeviceToHost", COPY_D2H }, { "D2D", COPY_D2D },
        { "DtoD", COPY_D2D },         { "DToD", COPY_D2D },         { "DeviceToDevice", COPY_D2D },
        { "P2P", COPY_P2P },          { "PeerToPeer", COPY_P2P },   { "PtoP", COPY_P2P },
        { "HtoH", COPY_H2H },         { "HToH", COPY_H2H },         { "HostToHost", COPY_H2H },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (str_contains(name, str_from(rows[i].part)))
            return rows[i].copy;
    return COPY_NONE;
}

static struct xname device_name(struct str name, unsigned seen)
{
    struct xname result = { .kind = ACTIVITY_KERNEL };

    parse_hlo(name, &result);
    if ((seen & SEEN_MEMCPY) || str_starts(name, STR("Memcpy")) ||
        str_starts(name, STR("__amd_rocclr_copy"))) {
        result = (struct xname) { .kind = ACTIVITY_MEMCPY, .copy = xspace_copy_direction(name) };
    } else if (str_starts(result.op_type, STR("copy-start")) ||
               str_starts(result.op_type, STR("copy-done"))) {
        result.kind = ACTIVITY_MEMCPY;
        result.copy = COPY_D2D;
    } else if (str_starts(name, STR("Memset")) || str_starts(name, STR("__amd_rocclr_fill"))) {
        result = (struct xname) { .kind = ACTIVITY_MEMSET };
    } else if (seen & SEEN_MEMALLOC) {
        result = (struct xname) { .kind = ACTIVITY_ALLOC };
    } else {
        result.kind = op_type_kind(result.op_type, result.kind);
        if (seen & SEEN_KERNEL)
            result.op_name = result.op_type = (struct str) { "", 0 };
    }
    return result;
}

static struct xname host_name(struct str name, unsigned seen)
{
    struct xname             result = { .kind = ACTIVITY_OTHER };
    const struct name_row   *row;
    const struct python_row *python;

    row = look_up(host_names, ARRAY_COUNT(host_names), name);
    if ((seen & SEEN_HLO_OP) && row && row->kind == ACTIVITY_LAUNCH) {
        result.kind = ACTIVITY_LAUNCH; /* ROCm tells there for which op */
        return result;
    }
    if (seen & SEEN_HLO_OP) {
        parse_hlo(name, &result);
        result.kind = op_type_kind(result.op_type, ACTIVITY_OP);
        return result;
    }
    if (parse_op(name, &result)) {
        result.kind =
            op_type_kind(result.op_type,
                         str_contains(name, STR("write_summary")) ? ACTIVITY_OUTPUT : ACTIVITY_OP);
        return result;
    }
    if (row) {
        result.kind = row->kind;
        result.copy = row->copy;
    } else if (parse_python(name, &result)) {
        python = python_row(&result);
        result.kind = python ? python->kind : ACTIVITY_PYTHON;
        result.copy = python ? python->copy : COPY_NONE;
    } else if (seen & SEEN_STEP_NUMBER) {
        result.kind = ACTIVITY_STEP;
    } else if (seen & SEEN_STAGE) {
        result.kind = ACTIVITY_INPUT_STAGE;
    } else if (seen & SEEN_FUNCTION_CALL) {
        result.kind = ACTIVITY_DISPATCH;
    }
    return result;
}

struct xname xspace_name(struct str name, unsigned seen, enum xline_class line_class)
{
    switch (line_class) {
    case XLINE_CLASS_HOST:
        return host_name(name, seen);
    case XLINE_CLASS_DEVICE:
        return device_name(name, seen);
    case XLINE_CLASS_MODULES:
        return (struct xname) { .kind = ACTIVITY_RUN };
    case XLINE_CLASS_STEPS:
        return (struct xname) { .kind = ACTIVITY_STEP };
    case XLINE_CLASS_OTHER:
    case XLINE_CLASS_COUNT:
        break;
    }
    return (struct xname) { .kind = ACTIVITY_OTHER };
}

static const struct {
    const char *name;
    unsigned    key, seen;
} stat_rows[] = {
    { "step_num", STAT_STEP_NUMBER, SEEN_STEP_NUMBER },
    { "_r", EXTRA_NONE, SEEN_ROOT },
    { "correlation_id", STAT_CORRELATION, SEEN_CORRELATION },
    { "kernel_details", EXTRA_DETAILS, SEEN_KERNEL },
    { "memcpy_details", EXTRA_DETAILS, SEEN_MEMCPY },
    { "Memset_details", EXTRA_DETAILS, 0 },
    { "memset_details", EXTRA_DETAILS, 0 },
    { "memalloc_details", EXTRA_DETAILS, SEEN_MEMALLOC },
    { "MemFree_details", EXTRA_NONE, SEEN_MEMALLOC },
    { "hlo_op", EXTRA_HLO_OP, SEEN_HLO_OP },
    { "hlo_module", STAT_MODULE_NAME, 0 },
    { "tf_op", EXTRA_TF_OP, 0 },
    { "shape", EXTRA_SHAPE, 0 },
    { "annotation", EXTRA_NONE, 0 },
    { "context_id", EXTRA_NONE, 0 },
    { "device_id", EXTRA_NONE, 0 },
    { "program_id", STAT_PROGRAM, 0 },
    { "run_id", STAT_RUN_ID, 0 },
    { "_p", STAT_PRODUCER, 0 },
    { "_c", STAT_CONSUMER, 0 },
    { "_pt", EXTRA_NONE, 0 },
    { "_ct", EXTRA_NONE, 0 },
    { "_src", EXTRA_NONE, 0 },
    { "_ipl_stage_id", STAT_ITERATOR, SEEN_STAGE },
    { "_ipl_stage_name", STAT_DATASET, SEEN_STAGE },
    { "_ipl_stage_cat", EXTRA_NONE, SEEN_STAGE },
    { "id", EXTRA_ID, 0 },
    { "step_id", STAT_EXECUTOR_STEP, 0 },
    { "iter_num", EXTRA_NONE, 0 },
    { "iter_id", EXTRA_NONE, 0 },
    { "parent_id", EXTRA_NONE, 0 },
    { "element_id", EXTRA_NONE, 0 },
    { "name", EXTRA_NAME, 0 },
    { "shapes", EXTRA_NONE, 0 },
    { "types", STAT_DTYPES, 0 },
    { "buffered_elements", EXTRA_NONE, 0 },
    { "buffer_size", EXTRA_NONE, 0 },
    { "buffer_limit", EXTRA_NONE, 0 },
    { "max_batch_results", EXTRA_NONE, 0 },
    { "parallelism", STAT_PARALLELISM, 0 },
    { "num_parallel_calls", STAT_PARALLELISM, 0 },
    { "max_parallelism", EXTRA_NONE, 0 },
    { "batch_size", EXTRA_NONE, 0 },
    { "cpu_budget", STAT_CPU_BUDGET, 0 },
    { "autotune", EXTRA_NONE, 0 },
    { "tracing_count", STAT_TRACING_COUNT, 0 },
    { "tf_function_call", STAT_FUNCTION_CALL, SEEN_FUNCTION_CALL },
    { "is_func", STAT_IS_FUNCTION, 0 },
    { "eager_op", STAT_EAGER_OP, 0 },
    { "group_id", EXTRA_NONE, 0 },
    { "padding_amount", EXTRA_NONE, 0 },
    { "request_id", EXTRA_NONE, 0 },
    { "queue_id", EXTRA_NONE, 0 },
    { "bytes_accessed", EXTRA_NONE, 0 },
    { "flops", EXTRA_NONE, 0 },
    { "size", STAT_BYTES, 0 },
    { "bytes", STAT_BYTES, 0 },
    { "bytes_transferred", STAT_BYTES, 0 },
    { "requested_bytes", EXTRA_REQUESTED, 0 },
    { "cuda_graph_id", EXTRA_NONE, 0 },
    { "continuation", EXTRA_NONE, 0 },
    { "flow", EXTRA_NONE, 0 },
    { "_a", EXTRA_NONE, 0 },
    { "all_reduce_id", EXTRA_NONE, 0 },
    { "all_reduce_unique_id", EXTRA_NONE, 0 },
    { "inner_kernel_is_memcpy", EXTRA_NONE, 0 },
    { "inner_block_elems", EXTRA_NONE, 0 },
    { "device_offset_ps", STAT_DEVICE_START_PS, 0 },
    { "device_duration_ps", STAT_DEVICE_PS, 0 },
    { "step_idle_time_ps", EXTRA_NONE, 0 },
    { "allocator_name", EXTRA_ALLOCATOR, 0 },
    { "index_on_host", EXTRA_ORDINAL, 0 },
    { "device_ordinal", EXTRA_ORDINAL, 0 },
    { "data_type", EXTRA_DATA_TYPE, 0 },
    { "bytes_allocated", EXTRA_ALLOCATED, 0 },
    { "bytes_reserved", EXTRA_RESERVED, 0 },
    { "bytes_available", EXTRA_AVAILABLE, 0 },
    { "peak_bytes_in_use", EXTRA_PEAK, 0 },
    { "fragmentation", EXTRA_FRAGMENTATION, 0 },
    { "allocation_bytes", EXTRA_ALLOCATION_BYTES, 0 },
    { "addr", EXTRA_ADDRESS, 0 },
    { "region_type", EXTRA_REGION, 0 },
};

unsigned xspace_stat(struct str name, unsigned *seen, bool *is_known)
{
    for (size_t i = 0; i < ARRAY_COUNT(stat_rows); i++)
        if (str_equal(name, str_from(stat_rows[i].name))) {
            *seen = stat_rows[i].seen;
            *is_known = true;
            return stat_rows[i].key;
        }
    *seen = 0;
    *is_known = name_is(name, NAMES_XSPACE_UNWANTED);
    return EXTRA_NONE;
}

bool xspace_stat_is_name(unsigned key)
{
    static const bool is_name[EXTRA_COUNT] = {
        [STAT_DATASET] = true,       [STAT_SHAPES] = true,   [STAT_DTYPES] = true,
        [STAT_FUNCTION_CALL] = true, [STAT_EAGER_OP] = true, [STAT_COPY_KIND] = true,
        [STAT_MODULE_NAME] = true,   [EXTRA_HLO_OP] = true,  [EXTRA_TF_OP] = true,
        [EXTRA_SHAPE] = true,        [EXTRA_DETAILS] = true, [EXTRA_NAME] = true,
        [EXTRA_ALLOCATOR] = true,    [EXTRA_REGION] = true,
    };

    return key < EXTRA_COUNT && is_name[key];
}
