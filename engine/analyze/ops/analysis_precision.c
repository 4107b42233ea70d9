/*
 * precision: which element types the computing time goes into. Where there are kernels they are
 * weighed (by their names, else by the op that launched them), otherwise ops by their self time.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/kernel/kernel_names.h"
#include "analyze/kernel/kernel_times.h"
#include "analyze/ops/op_times.h"

enum dtype_class {
    CLASS_F64,
    CLASS_F32,
    CLASS_TF32,
    CLASS_F16,
    CLASS_F8,
    CLASS_INTEGER,
    CLASS_UNKNOWN,
    CLASS_COUNT
};
enum precision_fact {
    COMPUTE_NS,
    F64_NS,
    F64_SHARE,
    F64_STEP_SHARE,
    F32_SHARE,
    TF32_SHARE,
    F16_SHARE,
    F8_SHARE,
    INTEGER_SHARE,
    UNKNOWN_SHARE,
    PRODUCT_NS,
    PRODUCT_F32_NS,
    PRODUCT_F64_NS,
    PRODUCT_F16_NS,
    CAST_NS,
    CAST_COUNT,
    CAST_SHARE,
    INPUT_DTYPES,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [COMPUTE_NS] = { "precision.compute_ns", UNIT_NS, "time a step that the shares are of" },
    [F64_NS] = { "precision.f64_ns", UNIT_NS, "time a step computing in 64 bit floats" },
    [F64_SHARE] = { "precision.f64_share", UNIT_SHARE, "share of compute in 64 bit floats" },
    [F64_STEP_SHARE] = { "precision.f64_step_share", UNIT_RATIO,
                         "64 bit float time over the step; above 1 with parallel threads" },
    [F32_SHARE] = { "precision.f32_share", UNIT_SHARE, "share of compute in 32 bit floats" },
    [TF32_SHARE] = { "precision.tf32_share", UNIT_SHARE, "share of compute in TF32" },
    [F16_SHARE] = { "precision.f16_share", UNIT_SHARE, "share of compute in 16 bit floats" },
    [F8_SHARE] = { "precision.f8_share", UNIT_SHARE, "share of compute in 8 and 4 bit floats" },
    [INTEGER_SHARE] = { "precision.integer_share", UNIT_SHARE, "share of compute in integers" },
    [UNKNOWN_SHARE] = { "precision.unknown_share", UNIT_SHARE, "share of compute of unknown type" },
    [PRODUCT_NS] = { "precision.product_ns", UNIT_NS, "products and convolutions a step" },
    [PRODUCT_F32_NS] = { "precision.product_f32_ns", UNIT_NS, "of those, in 32 bit floats" },
    [PRODUCT_F64_NS] = { "precision.product_f64_ns", UNIT_NS, "of those, in 64 bit floats" },
    [PRODUCT_F16_NS] = { "precision.product_f16_ns", UNIT_NS, "of those, in 16 bit floats" },
    [CAST_NS] = { "precision.cast_ns", UNIT_NS, "time a step converting element types" },
    [CAST_COUNT] = { "precision.cast_count", UNIT_COUNT, "conversions of element types a step" },
    [CAST_SHARE] = { "precision.cast_share", UNIT_SHARE, "share of compute converting types" },
    [INPUT_DTYPES] = { "precision.input_dtypes", UNIT_NAME,
                       "element types that the input pipeline yields, as recorded" },
};
enum dtypes_column { D_DTYPE, D_NS, D_SHARE, D_CALLS };
static const struct column_spec dtype_columns[] = {
    [D_DTYPE] = { "dtype", UNIT_NAME, "element type; none: unknown" },
    [D_NS] = { "ns", UNIT_NS, "time a step" },
    [D_SHARE] = { "share", UNIT_SHARE, "share of compute" },
    [D_CALLS] = { "calls", UNIT_COUNT, "calls a step" },
};
enum casts_column { C_NAME, C_FROM, C_TO, C_CALLS, C_NS, C_SHAPES, C_SOURCE_FILE, C_SOURCE_LINE };
static const struct column_spec cast_columns[] = {
    [C_NAME] = { "name", UNIT_NAME, "op" },
    [C_FROM] = { "from", UNIT_NAME, "type of its operand" },
    [C_TO] = { "to", UNIT_NAME, "type of its result" },
    [C_CALLS] = { "calls", UNIT_COUNT, "calls a step" },
    [C_NS] = { "ns", UNIT_NS, "time a step" },
    [C_SHAPES] = { "shapes", UNIT_NAME, "operand and result" },
    [C_SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [C_SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
};
static const struct table_spec tables[] = {
    { "dtypes", "compute time by element type", dtype_columns, ARRAY_COUNT(dtype_columns) },
    { "casts", "conversions of element types", cast_columns, ARRAY_COUNT(cast_columns) },
};

static enum dtype_class class_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64:
    case DTYPE_C128:
        return CLASS_F64;
    case DTYPE_F32:
    case DTYPE_C64:
        return CLASS_F32;
    case DTYPE_TF32:
        return CLASS_TF32;
    case DTYPE_F16:
    case DTYPE_BF16:
        return CLASS_F16;
    case DTYPE_F8:
    case DTYPE_F4:
        return CLASS_F8;
    case DTYPE_I64:
    case DTYPE_I32:
    case DTYPE_I16:
    case DTYPE_I8:
    case DTYPE_I4:
    case DTYPE_U64:
    case DTYPE_U32:
    case DTYPE_U16:
    case DTYPE_U8:
    case DTYPE_BOOL:
        return CLASS_INTEGER;
    case DTYPE_UNKNOWN:
    case DTYPE_STRING:
    case DTYPE_OTHER:
    case DTYPE_COUNT:
        break;
    }
    return CLASS_UNKNOWN;
}

struct weigher {
    struct study *study;
    struct table *casts;
    double        steps;
    double        ns[DTYPE_COUNT], calls[DTYPE_COUNT];
    double        product_ns[CLASS_COUNT];
    double        cast_ns, cast_count;
};
struct work { /* one row of op_times or kernel_times */
    uint32_t   name, type, op, source;
    enum dtype dtype;
    double     ns, calls;
    bool       is_product;
};

static bool add_cast(struct weigher *weigher, const struct work *work)
{
    struct study         *study = weigher->study;
    const struct profile *profile = study->profile;
    size_t                row = table_add(weigher->casts, study->arena);

    if (row == SIZE_MAX)
        return false;
    weigher->cast_ns += work->ns;
    weigher->cast_count += work->calls;
    emit_name(weigher->casts, C_NAME, row, work->name);
    emit_number(weigher->casts, C_CALLS, row, work->calls / weigher->steps);
    emit_number(weigher->casts, C_NS, row, work->ns / weigher->steps);
    emit_source(profile, weigher->casts, C_SOURCE_FILE, row, work->source);
    if (work->op != NO_ID) {
        const struct op     *op = &profile->ops.items[work->op];
        const struct tensor *tensors = profile->tensors.items;

        emit_name(weigher->casts, C_SHAPES, row, emit_shapes(study, op));
        if (op->input_count > 0)
            emit_name(
                weigher->casts, C_FROM, row,
                facts_name(&study->facts, str_from(dtype_name(tensors[op->first_input].dtype))));
        if (op->output_count > 0)
            emit_name(
                weigher->casts, C_TO, row,
                facts_name(&study->facts, str_from(dtype_name(tensors[op->first_output].dtype))));
    }
    return true;
}

static bool weigh(struct weigher *weigher, const struct work *work)
{
    weigher->ns[work->dtype] += work->ns;
    weigher->calls[work->dtype] += work->calls;
    if (work->is_product)
        weigher->product_ns[class_of(work->dtype)] += work->ns;
    if (op_is_cast(profile_str(weigher->study->profile, work->type)))
        return add_cast(weigher, work);
    return true;
}

static bool weigh_ops(struct weigher *weigher, const struct op_times *times)
{
    const struct profile *profile = weigher->study->profile;

    for (size_t i = 0; i < times->count; i++) {
        const struct op_time *time = &times->rows[i];
        struct work           work = { .name = time->name,
                                       .type = time->type,
                                       .op = time->op,
                                       .source = time->source,
                                       .dtype = time->dtype,
                                       .ns = time->self_ns,
                                       .calls = time->calls,
                                       .is_product = op_is_product(profile_str(profile, time->type)) };

        if (time->kind == ACTIVITY_COLLECTIVE || time->kind == ACTIVITY_CALLBACK ||
            time->kind == ACTIVITY_MEMCPY || op_time_is_of_unit(profile, time))
            continue;
        if (!weigh(weigher, &work))
            return false;
    }
    return true;
}

static bool weigh_kernels(struct weigher *weigher, const struct kernel_times *times)
{
    const struct profile *profile = weigher->study->profile;

    for (size_t i = 0; i < times->count; i++) {
        const struct kernel_time *time = &times->rows[i];
        const struct activity    *activity = &profile->activities.items[time->activity];
        struct kernel_name        name = times->names[time->activity];
        struct work               work = { .name = activity->name,
                                           .type = activity->name,
                                           .op = time->op,
                                           .source = activity->source,
                                           .dtype = name.dtype,
                                           .ns = time->total_ns,
                                           .calls = time->calls,
                                           .is_product =
                                               name.category == KERNEL_GEMM || name.category == KERNEL_CONV };

        if (name.category == KERNEL_COLLECTIVE)
            continue;
        if (time->op != NO_ID) {
            work.type = profile->ops.items[time->op].type;
            work.is_product = work.is_product || op_is_product(profile_str(profile, work.type));
            if (work.dtype == DTYPE_UNKNOWN)
                work.dtype = op_dtype(profile, &profile->ops.items[time->op]);
        }
        if (!weigh(weigher, &work))
            return false;
    }
    return true;
}

static bool fill_dtypes(struct weigher *weigher, double total_ns)
{
    struct study *study = weigher->study;
    struct table *table = facts_table(&study->facts, &tables[0]);

    for (int dtype = 0; table && dtype < DTYPE_COUNT; dtype++) {
        size_t row;

        if (weigher->calls[dtype] <= 0)
            continue;
        row = table_add(table, study->arena);
        if (row == SIZE_MAX)
            return false;
        if (dtype != DTYPE_UNKNOWN)
            emit_name(table, D_DTYPE, row,
                      facts_name(&study->facts, str_from(dtype_name((enum dtype)dtype))));
        emit_number(table, D_NS, row, weigher->ns[dtype] / weigher->steps);
        emit_number(table, D_SHARE, row, weigher->ns[dtype] / total_ns);
        emit_number(table, D_CALLS, row, weigher->calls[dtype] / weigher->steps);
    }
    return table != NULL;
}

static bool set_facts(struct weigher *weigher, double total_ns, double step_ns)
{
    static const int share_of[CLASS_COUNT] = {
        [CLASS_F64] = F64_SHARE,         [CLASS_F32] = F32_SHARE, [CLASS_TF32] = TF32_SHARE,
        [CLASS_F16] = F16_SHARE,         [CLASS_F8] = F8_SHARE,   [CLASS_INTEGER] = INTEGER_SHARE,
        [CLASS_UNKNOWN] = UNKNOWN_SHARE,
    };
    double values[FACT_COUNT] = { 0 };
    bool   is_set = true;

    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        values[share_of[class_of((enum dtype)dtype)]] += weigher->ns[dtype] / total_ns;
    for (int class = 0; class < CLASS_COUNT; class ++)
        values[PRODUCT_NS] += weigher->product_ns[class] / weigher->steps;
    values[PRODUCT_F64_NS] = weigher->product_ns[CLASS_F64] / weigher->steps;
    values[PRODUCT_F32_NS] = weigher->product_ns[CLASS_F32] / weigher->steps;
    values[PRODUCT_F16_NS] = weigher->product_ns[CLASS_F16] / weigher->steps;
    values[COMPUTE_NS] = total_ns / weigher->steps;
    values[F64_NS] = values[F64_SHARE] * values[COMPUTE_NS];
    values[F64_STEP_SHARE] = values[F64_NS] / step_ns;
    values[CAST_NS] = weigher->cast_ns / weigher->steps;
    values[CAST_COUNT] = weigher->cast_count / weigher->steps;
    values[CAST_SHARE] = weigher->cast_ns / total_ns;
    for (size_t i = 0; i < INPUT_DTYPES; i++)
        is_set = is_set && facts_set(&weigher->study->facts, &produces[i], values[i]);
    return is_set;
}

static bool say_absent(struct study *study, const char *reason)
{
    return facts_absent(&study->facts, "precision.|dtypes|casts", "shapes and element types", "%s",
                        reason);
}

static bool weigh_all(struct study *study, struct arena *scratch)
{
    struct weigher      weigher = { .study = study, .steps = 1 };
    struct windows      windows;
    struct op_times     ops;
    struct kernel_times kernels;
    double              total_ns = 0, known_ns = 0;

    if (!windows_make(study, scratch, &windows) || !op_times_make(study, scratch, &ops) ||
        !kernel_times_get(study, scratch, &kernels))
        return false;
    if (ops.count + kernels.count == 0)
        return say_absent(study, "no op and no kernel is in the recorded steps");
    weigher.casts = facts_table(&study->facts, &tables[1]);
    weigher.steps = ops.step_count;
    if (!weigher.casts)
        return false;
    if (kernels.count > 0 ? !weigh_kernels(&weigher, &kernels) : !weigh_ops(&weigher, &ops))
        return false;
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        total_ns += weigher.ns[dtype];
        known_ns += dtype == DTYPE_UNKNOWN ? 0 : weigher.ns[dtype];
    }
    if (known_ns <= 0)
        return facts_absent(&study->facts, "precision.|dtypes", "shapes and element types",
                            "the recording does not tell the element types of ops");
    return fill_dtypes(&weigher, total_ns) && set_facts(&weigher, total_ns, windows.step_ns);
}

/* What the outermost input stage yields hints at the types of ops that do not tell theirs. */
static bool set_input_dtypes(struct study *study)
{
    const struct stat_column *column = &study->profile->stats[STAT_DTYPES];
    int64_t                   dtypes = 0;

    for (size_t i = 0; i < stat_count(column) && dtypes == 0; i++)
        dtypes = stat_value(column, i);
    if (dtypes == 0)
        return facts_absent(&study->facts, produces[INPUT_DTYPES].name, NULL,
                            "no stage of an input pipeline tells its element types");
    return facts_set(&study->facts, &produces[INPUT_DTYPES], (double)dtypes);
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { 0 };
    bool         is_done = set_input_dtypes(study) && weigh_all(study, &scratch);

    arena_free(&scratch);
    return is_done || emit_limit("element types", err);
}

const struct analysis analysis_precision = {
    .name = "precision",
    .summary = "element types that computing time goes into",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
