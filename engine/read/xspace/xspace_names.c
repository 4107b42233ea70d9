#include "read/xspace/xspace_names.h"

#include "base/words.h"
#include "model/names.h"
#include "read/op_kinds.h"

#include <pthread.h>

struct name_row {
    const char         *words; /* str_fits */
    enum activity_kind  kind;
    enum copy_direction copy;
};

/* Host events that are no ops. The first row that fits decides, so special names stand first. */
static const struct name_row host_names[] = {
    { "IteratorGetNextOp::DoCompute|IteratorGetNextAsOptionalOp::DoCompute|"
      "EagerLocalExecute: IteratorGetNext*",
      ACTIVITY_INPUT_WAIT, COPY_NONE },
    { "Iterator::Prefetch::Generator", ACTIVITY_INPUT_BUFFER, COPY_NONE },
    { "Iterator::*", ACTIVITY_INPUT_STAGE, COPY_NONE },
    { "InstantiatedCapturedFunction::*|MakeIterator::*|EagerLocalExecute: MakeIterator*",
      ACTIVITY_INPUT_WORK, COPY_NONE },
    { "EagerLocalExecute: Save*|EagerLocalExecute: MergeV2Checkpoints*|"
      "EagerLocalExecute: Write*|EagerLocalExecute: FlushSummaryWriter*|"
      "EagerLocalExecute: Print*|EagerLocalExecute: StringFormat*",
      ACTIVITY_OUTPUT, COPY_NONE },
    { "*DatasetOp::*|DecodeImageV2Op*", ACTIVITY_INPUT_WORK, COPY_NONE },
    { "*Produce|*Consume|ParallelInterleaveInitializeInput", ACTIVITY_INPUT_BUFFER, COPY_NONE },
    { "MemoryAllocation|MemoryDeallocation", ACTIVITY_ALLOC, COPY_NONE },
    { "FunctionRun|SessionRun|RunGraph|TfrtModelRun|ServingModelRun", ACTIVITY_RUN, COPY_NONE },
    { "*(wait for completion)", ACTIVITY_WAIT, COPY_NONE },
    { "ThunkExecutor::Execute*|TfrtCpuExecutable::*|GpuExecutable::*|*:XLA GPU module|"
      "tpu::System::Execute*",
      ACTIVITY_RUN, COPY_NONE },
    { "*ThreadPool::Await*|Wait for *|Acquire semaphore*", ACTIVITY_WAIT, COPY_NONE },
    { "BatchingSessionRun*", ACTIVITY_RUN, COPY_NONE },
    { "end: *|ExecutorState::*|ExecutorDoneCallback*|ThreadpoolListener::*|"
      "CollectiveExecutor::*|BaseCollectiveExecutor::*|CollectiveOpV*|ParallelFor*|"
      "CompleteCallbacks*|ScheduleWork*|ThenExecuteCallback*",
      ACTIVITY_EXECUTOR, COPY_NONE },
    { "EagerExecute*|EagerKernelExecute*|EagerLocalExecute*|EagerCopyToDevice*", ACTIVITY_DISPATCH,
      COPY_NONE },
    { "KernelAndDevice*", ACTIVITY_RUN, COPY_NONE },
    { "TFE_*|ValidateInputTypeAndPlacement*|convert_to_tensor*|tf.constant|PjitFunction*|"
      "ExecuteReplicated*|*LoadedExecutable::*|PJRT_LoadedExecutable_Execute*|"
      "CommonPjRtClient::*|ParseArguments|Handle inputs|AllocateOutputBuffers*|"
      "Build buffer allocations*",
      ACTIVITY_DISPATCH, COPY_NONE },
    { "tf.function-graph_building*|trace_to_jaxpr*|lower_sharding_computation*|"
      "lower_jaxpr*|cached_lowering*|*grappler*|*Grappler*|OptimizeGraph*|"
      "GraphOptimizationPass*",
      ACTIVITY_TRACING, COPY_NONE },
    { "backend_compile*|*::Compile*|XLA::TPU*|XlaCompile*|Compile*|LLVM*|LSRA*|Codegen*|"
      "ThunkEmitter::*|CpuCompiler::*|HLO passes*|RunHloPasses*|RunBackend*|LoadProgram*",
      ACTIVITY_COMPILE, COPY_NONE },
    { "np.asarray(jax.Array)*|*BlockUntilReady*|*block_until_ready*|*BlockHostUntil*|"
      "*Synchronize|*::Await*|PjrtAsyncWait*",
      ACTIVITY_SYNC, COPY_NONE },
    { "DevicePut*|batched_device_put*|BatchedDevicePut*|shard_args*|"
      "batched_copy_array_to_devices*|BatchedCopyToDevice*|*BufferFromHost*|*TransferH2D*|"
      "*TransferToDevice*|*CopyToDevice*|H2D Dispatch*|Linearize*|XlaLinearize*",
      ACTIVITY_TRANSFER, COPY_H2D },
    { "*TransferD2H*|*TransferFromDevice*|D2H Dispatch*|Delinearize*|XlaDelinearize*|"
      "*copy_to_host_async*|*ToLiteral*|CopyToHost*",
      ACTIVITY_TRANSFER, COPY_D2H },
    { "HostCallback*|*python_callback*|*PythonCpuCallback*|*python_cpu_callback*|"
      "*python_gpu_callback*|pure_callback*|io_callback*|debug_callback*|debug_print*",
      ACTIVITY_CALLBACK, COPY_NONE },
    { "cuLaunch*|hipLaunch*|hipModuleLaunch*|hipExtModuleLaunch*|cudaLaunch*|"
      "cuGraphLaunch*|hipGraphLaunch*|cuMemcpy*|hipMemcpy*|cuMemset*|hipMemset*",
      ACTIVITY_LAUNCH, COPY_NONE },
    { "cuMemAlloc*|cuMemFree*|hipMalloc*|hipFree*|DeviceMemAllocator::*", ACTIVITY_ALLOC,
      COPY_NONE },
    { "CUPTI overhead", ACTIVITY_OVERHEAD, COPY_NONE },
    { "TraceContext", ACTIVITY_STEP, COPY_NONE },
    { "*CollectGarbage*|gc", ACTIVITY_GC, COPY_NONE },
};

/* Python functions that stand for something in particular: the part behind "$file.py:12 ". Names
 * that others use too count in these modules alone ("<unknown>": methods of built-in objects). */
struct python_row {
    const char         *functions; /* str_fits */
    enum activity_kind  kind;
    enum copy_direction copy;
    const char         *modules; /* NULL: any */
};
static const struct python_row python_names[] = {
    { "print|savez|savez_compressed|savefig", ACTIVITY_OUTPUT, COPY_NONE, NULL },
    { "dump", ACTIVITY_OUTPUT, COPY_NONE, "pickle _pickle numpy_pickle" },
    { "imwrite|fsync|save_checkpoint|add_histogram|add_scalar|add_image", ACTIVITY_OUTPUT,
      COPY_NONE, NULL },
    { "acquire", ACTIVITY_WAIT, COPY_NONE,
      "<unknown> _thread threading synchronize semaphore_tracker" },
    { "wait", ACTIVITY_WAIT, COPY_NONE,
      "threading multiprocessing synchronize popen_fork popen_forkserver pool connection "
      "subprocess _base tasks selectors queue" },
    { "sleep", ACTIVITY_WAIT, COPY_NONE, "time tasks" },
    { "join", ACTIVITY_WAIT, COPY_NONE, "threading process pool queue queues multiprocessing" },
    { "poll", ACTIVITY_WAIT, COPY_NONE, "<unknown> select selectors connection" },
    { "select", ACTIVITY_WAIT, COPY_NONE, "select selectors" },
    { "block_until_ready|try_to_block", ACTIVITY_SYNC, COPY_NONE, NULL },
    { "_value", ACTIVITY_SYNC, COPY_NONE, "array" },
    { "device_put", ACTIVITY_TRANSFER, COPY_H2D, NULL },
    { "stop_trace|start_trace", ACTIVITY_OVERHEAD, COPY_NONE, NULL },
    { "backend_compile|backend_compile_and_load|compile_or_get_cached", ACTIVITY_COMPILE, COPY_NONE,
      NULL },
    { "trace_to_jaxpr_dynamic|trace_to_jaxpr|lower_jaxpr_to_module|"
      "lower_sharding_computation",
      ACTIVITY_TRACING, COPY_NONE, NULL },
    { "pure_callback_impl|io_callback_impl|_wrapped_callback|_flat_callback", ACTIVITY_CALLBACK,
      COPY_NONE, NULL },
};

static struct word    host_items[256];
static struct words   host_words = { .items = host_items, .room = ARRAY_COUNT(host_items) };
static pthread_once_t host_words_made = PTHREAD_ONCE_INIT;

static void make_host_words(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(host_names); i++)
        words_add(&host_words, host_names[i].words, (uint16_t)i);
}

static const struct name_row *host_row(struct str name)
{
    size_t row;

    pthread_once(&host_words_made, make_host_words);
    row = words_first_row(&host_words, name, ARRAY_COUNT(host_names));
    return row < ARRAY_COUNT(host_names) ? &host_names[row] : NULL;
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

        if (str_fits(name->function, row->functions))
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
    if ((seen & SEEN_MEMCPY) || str_fits(name, "Memcpy*|__amd_rocclr_copy*")) {
        result = (struct xname) { .kind = ACTIVITY_MEMCPY, .copy = xspace_copy_direction(name) };
    } else if (str_fits(result.op_type, "copy-start*|copy-done*")) {
        result.kind = ACTIVITY_MEMCPY;
        result.copy = COPY_D2D;
    } else if (str_fits(name, "Memset*|__amd_rocclr_fill*")) {
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

/* What a runtime says with a colon, as ops have one: "what runs: for which call". */
static const char runtime_names[] = "ThenExecuteCallback:*";

static struct xname host_name(struct str name, unsigned seen)
{
    struct xname             result = { .kind = ACTIVITY_OTHER };
    const struct name_row   *row;
    const struct python_row *python;

    row = host_row(name);
    if ((seen & SEEN_HLO_OP) && row && row->kind == ACTIVITY_LAUNCH) {
        result.kind = ACTIVITY_LAUNCH; /* ROCm tells there for which op */
        return result;
    }
    if (seen & SEEN_HLO_OP) {
        parse_hlo(name, &result);
        result.kind = op_type_kind(result.op_type, ACTIVITY_OP);
        return result;
    }
    if (!str_fits(name, runtime_names) && parse_op(name, &result)) {
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
    { "graph_type", STAT_STEP_FAMILY, 0 }, /* Keras up to TensorFlow 2.4 */
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
    { "kernel_type", EXTRA_KERNEL, 0 },
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
    { "batching_input_task_size", STAT_TASK_SIZE, 0 },
    { "batch_size_after_padding", STAT_BATCH_SIZE, 0 },
    { "batch_size_before_padding", EXTRA_NONE, 0 },
    { "disable_padding", EXTRA_NONE, 0 },
    { "padding_amount", STAT_PADDING, 0 },
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
        [STAT_STEP_FAMILY] = true, [STAT_DATASET] = true,       [STAT_SHAPES] = true,
        [STAT_DTYPES] = true,      [STAT_FUNCTION_CALL] = true, [STAT_EAGER_OP] = true,
        [STAT_COPY_KIND] = true,   [STAT_MODULE_NAME] = true,   [EXTRA_HLO_OP] = true,
        [EXTRA_TF_OP] = true,      [EXTRA_SHAPE] = true,        [EXTRA_DETAILS] = true,
        [EXTRA_NAME] = true,       [EXTRA_KERNEL] = true,       [EXTRA_ALLOCATOR] = true,
        [EXTRA_REGION] = true,
    };

    return key < EXTRA_COUNT && is_name[key];
}
