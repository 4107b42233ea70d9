/* What recorders call things: one row a word and role, with a name a format. */
#include "base/macros.h"
#include "synth/writers.h"

struct name_row {
    enum sketch_word   word;
    enum recorded_role role;
    const char        *xspace, *kineto; /* "%": the name that the line gives */
};
static const struct name_row rows[] = {
    { WORD_RANGE, ROLE_SELF, "%", "%" },
    { WORD_CALL, ROLE_SELF, "%", "%" },
    { WORD_NEXT, ROLE_SELF, "IteratorGetNextOp::DoCompute",
      "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" },
    { WORD_ITERATOR, ROLE_SELF, "Iterator::", "Iterator::" },
    { WORD_COMPILE, ROLE_SELF, "backend_compile", "compile_fx_inner (dynamo_timed)" },
    { WORD_GC, ROLE_SELF, "gc", "Python GC" },
    { WORD_SYNC, ROLE_SELF, "cuCtxSynchronize", "cudaDeviceSynchronize" },
    { WORD_ALLOC, ROLE_SELF, "MemoryAllocation", "[memory]" },
    { WORD_FREE, ROLE_SELF, "MemoryDeallocation", "[memory]" },
    { WORD_KERNEL, ROLE_LAUNCH, "cuLaunchKernel", "cudaLaunchKernel" },
    { WORD_KERNEL, ROLE_WORK, "%", "%" },
    { WORD_COLLECTIVE, ROLE_LAUNCH, "cuLaunchKernelEx", "cudaLaunchKernelExC" },
    { WORD_MEMSET, ROLE_LAUNCH, "cuMemsetD8Async", "cudaMemsetAsync" },
    { WORD_MEMSET, ROLE_WORK, "Memset", "Memset (Device)" },
};

struct direction {
    const char *text, *xspace_call, *xspace_work, *letters, *from, *to;
};
static const struct direction directions[] = {
    { "h2d", "cuMemcpyHtoDAsync_v2", "MemcpyH2D", "HtoD", "Pinned", "Device" },
    { "d2h", "cuMemcpyDtoHAsync_v2", "MemcpyD2H", "DtoH", "Device", "Pinned" },
    { "d2d", "cuMemcpyDtoDAsync_v2", "MemcpyD2D", "DtoD", "Device", "Device" },
    { "p2p", "cuMemcpyPeerAsync", "MemcpyP2P", "PtoP", "Device", "Device" },
};

static const struct direction *direction_of(const struct sketch_line *line)
{
    for (size_t i = 0; i < ARRAY_COUNT(directions); i++)
        if (str_equal(line->name, str_from(directions[i].text)))
            return &directions[i];
    return &directions[0];
}

/* Memory of the host is pinned unless the line says otherwise. */
static const char *memory_kind(const struct sketch_line *line, const char *kind)
{
    return (line->flags & FLAG_PAGEABLE) && kind[0] == 'P' ? "Pageable" : kind;
}

static void name_copy(const struct sketch_line *line, enum recorded_role role,
                      enum sketch_format format, struct text *name)
{
    const struct direction *direction = direction_of(line);
    bool                    is_blocking = line->flags & FLAG_BLOCKING;

    if (format == SKETCH_KINETO && role == ROLE_LAUNCH)
        text_print(name, "%s", is_blocking ? "cudaMemcpy" : "cudaMemcpyAsync");
    else if (format == SKETCH_KINETO)
        text_print(name, "Memcpy %s (%s -> %s)", direction->letters,
                   memory_kind(line, direction->from), memory_kind(line, direction->to));
    else
        text_print(name, "%s",
                   role == ROLE_LAUNCH ? direction->xspace_call : direction->xspace_work);
}

/* "all-reduce" -> "AllReduce", as kernels have it, or "all_reduce", as their callers do. */
static void add_collective(const struct sketch_line *line, bool is_kernel, struct text *name)
{
    bool is_first = true;

    for (size_t i = 0; i < line->name.len; i++) {
        char byte = line->name.data[i];

        if (byte == '-' || byte == '_') {
            is_first = true;
            if (!is_kernel)
                text_add_byte(name, '_');
            continue;
        }
        if (is_kernel && is_first && byte >= 'a' && byte <= 'z')
            byte = (char)(byte - 'a' + 'A');
        text_add_byte(name, byte);
        is_first = false;
    }
}

static void name_collective(const struct sketch_line *line, enum recorded_role role,
                            enum sketch_format format, struct text *name)
{
    if (role == ROLE_WORK) {
        text_add(name, STR("ncclDevKernel_"));
        add_collective(line, true, name);
        text_add(name, STR("_Sum_f32_RING_LL"));
    } else if (format == SKETCH_KINETO) {
        text_add(name, STR("gloo:"));
        add_collective(line, false, name);
    } else {
        text_add(name, line->name);
        text_add(name, STR(".1"));
    }
}

/* "train.py:12 step": the place and the function. */
static void name_python(struct str written, enum sketch_format format, struct text *name)
{
    size_t     blank = str_find(written, ' '), colon;
    struct str place = str_slice(written, 0, blank);

    colon = str_find_last(place, ':');
    if (format == SKETCH_KINETO && blank < written.len && colon < place.len)
        text_print(name, "%.*s(%.*s): %.*s", STR_ARG(str_slice(place, 0, colon)),
                   STR_ARG(str_slice(place, colon + 1, place.len)),
                   STR_ARG(str_slice(written, blank + 1, written.len)));
    else
        text_print(name, "%s%.*s", format == SKETCH_KINETO ? "" : "$", STR_ARG(written));
}

/* TensorFlow names an op "scope/name:Type", XLA and PyTorch by its type. */
static void name_op(const struct recording *recording, const struct sketch_line *line,
                    enum sketch_format format, struct text *name)
{
    if (format == SKETCH_XSPACE && recording->sketch->framework != FRAMEWORK_JAX) {
        text_add(name, line->title.len ? line->title : line->name);
        text_add_byte(name, ':');
    }
    text_add(name, line->name);
}

static void name_by_row(const struct sketch_line *line, enum recorded_role role,
                        enum sketch_format format, struct text *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *text = format == SKETCH_KINETO ? rows[i].kineto : rows[i].xspace;

        if (rows[i].word != line->word || rows[i].role != role)
            continue;
        if (text[0] == '%' ||
            ((line->word == WORD_NEXT || line->word == WORD_COMPILE) && line->name.len))
            text_add(name, line->name);
        else
            text_add(name, str_from(text));
    }
    if (line->word == WORD_ITERATOR)
        text_add(name, line->path);
}

void write_name(const struct recording *recording, const struct recorded_event *event,
                enum sketch_format format, struct text *name)
{
    const struct sketch_line *line = recorded_line(recording, event);
    enum recorded_role        role = (enum recorded_role)event->role;

    name->len = 0;
    if (role == ROLE_STEP && format == SKETCH_KINETO)
        text_print(name, "ProfilerStep#%lld", (long long)event->number);
    else if (role == ROLE_STEP)
        text_add(name, line->name.len ? line->name : STR("train"));
    else if (line->word == WORD_OP)
        name_op(recording, line, format, name);
    else if (line->word == WORD_COPY)
        name_copy(line, role, format, name);
    else if (line->word == WORD_COLLECTIVE && role != ROLE_LAUNCH)
        name_collective(line, role, format, name);
    else if (line->word == WORD_PYTHON)
        name_python(line->name, format, name);
    else if (line->word == WORD_SYNC && line->stream >= 0)
        text_add(name, format == SKETCH_KINETO ? STR("cudaStreamSynchronize")
                                               : STR("cuStreamSynchronize"));
    else
        name_by_row(line, role, format, name);
}
