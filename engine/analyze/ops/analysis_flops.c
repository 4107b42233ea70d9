/*
 * flops: arithmetic and memory traffic against time. Efficiency is claimed only where the peak is
 * known (from the file or the hardware table); elsewhere the best rate seen in the same recording
 * for the same type serves as a yardstick, and is named as such.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/kernel/kernel_names.h"
#include "analyze/kernel/kernel_times.h"
#include "analyze/ops/op_cost.h"
#include "analyze/ops/op_profile.h"
#include "analyze/ops/op_times.h"
#include "analyze/ops/step_roofline.h"
#include "model/hardware.h"

#include <math.h>
#include <stdlib.h>

enum flops_fact {
    PER_STEP,
    BYTES_PER_STEP,
    KNOWN_SHARE,
    ACHIEVED,
    PEAK,
    MFU,
    MEMORY_PEAK,
    BEST_F64,
    BEST_F32,
    BEST_F16,
    PRODUCT_SHARE,
    MEMORY_BOUND,
    SOURCE,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [PER_STEP] = { "flops.per_step", UNIT_FLOPS, "floating point operations a step, where known" },
    [BYTES_PER_STEP] = { "flops.bytes_per_step", UNIT_BYTES, "memory traffic a step, where known" },
    [KNOWN_SHARE] = { "flops.known_share", UNIT_SHARE,
                      "share of compute time with known operations" },
    [ACHIEVED] = { "flops.achieved_per_s", UNIT_FLOPS_PER_S, "operations a step over the step" },
    [PEAK] = { "flops.peak_per_s", UNIT_FLOPS_PER_S, "dense peak of one device, its main type" },
    [MFU] = { "flops.mfu", UNIT_SHARE, "achieved over peak of all devices" },
    [MEMORY_PEAK] = { "flops.memory_peak_per_s", UNIT_BYTES_PER_S,
                      "memory bandwidth of one device" },
    [BEST_F64] = { "flops.best_f64_per_s", UNIT_FLOPS_PER_S,
                   "best rate of an op in 64 bit floats" },
    [BEST_F32] = { "flops.best_f32_per_s", UNIT_FLOPS_PER_S,
                   "best rate of an op in 32 bit floats" },
    [BEST_F16] = { "flops.best_f16_per_s", UNIT_FLOPS_PER_S,
                   "best rate of an op in 16 bit floats" },
    [PRODUCT_SHARE] = { "flops.product_share", UNIT_SHARE, "share of compute time in products" },
    [MEMORY_BOUND] = { "flops.memory_bound_share", UNIT_SHARE,
                       "share of compute time in ops that take longer to move their bytes than to "
                       "compute, at the device's best" },
    [SOURCE] = { "flops.peak_source", UNIT_NAME,
                 "where the maker says so, when the recording does not" },
};
enum roofline_column {
    NAME,
    TYPE,
    DTYPE,
    SHAPES,
    CALLS,
    FLOPS,
    BYTES,
    NS,
    SHARE,
    RATE,
    BANDWIDTH,
    INTENSITY,
    EFFICIENCY,
    BOUND,
    BEST_SHARE,
    SOURCE_FILE,
    SOURCE_LINE
};
static const struct column_spec columns[] = {
    [NAME] = { "op", UNIT_NAME, "op" },
    [TYPE] = { "type", UNIT_NAME, "its type" },
    [DTYPE] = { "dtype", UNIT_NAME, "type it computes in" },
    [SHAPES] = { "shapes", UNIT_NAME, "operands and results" },
    [CALLS] = { "calls", UNIT_COUNT, "calls a step" },
    [FLOPS] = { "flops", UNIT_FLOPS, "operations a step" },
    [BYTES] = { "bytes", UNIT_BYTES, "memory traffic a step" },
    [NS] = { "ns", UNIT_NS, "time a step" },
    [SHARE] = { "share", UNIT_SHARE, "share of compute time" },
    [RATE] = { "flops_per_s", UNIT_FLOPS_PER_S, "operations over time" },
    [BANDWIDTH] = { "bytes_per_s", UNIT_BYTES_PER_S, "traffic over time" },
    [INTENSITY] = { "intensity", UNIT_NONE, "operations a byte" },
    [EFFICIENCY] = { "efficiency", UNIT_SHARE,
                     "share of what the device could do at this intensity" },
    [BOUND] = { "bound", UNIT_NAME, "compute, memory or on-chip memory: what limits it at best" },
    [BEST_SHARE] = { "best_share", UNIT_SHARE, "rate over the best rate seen for the same type" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
};
static const struct table_spec tables[] = {
    { "roofline", "ops of known cost against the device", columns, ARRAY_COUNT(columns) },
    { "op_profile",
      "the time of ops by program, category and op, and how much of the device's best it used",
      op_profile_columns, OP_PROFILE_COLUMNS },
    { "step_roofline", "operations and memory traffic of each step against the device",
      step_roofline_columns, STEP_ROOFLINE_COLUMNS },
};
enum { BEST_MIN_FLOPS = 1000000 }; /* below, the clock's grain makes rates meaningless */
/* Traffic at less than the first is not what holds an op; above the second caches served it. */
static const double MIN_BANDWIDTH_USE = 0.20, MAX_BANDWIDTH_USE = 1.05;

/* What the kernels of one op tell. */
struct launched {
    double     ns, streaming_ns; /* of kernels that do few operations a byte */
    double     calls;            /* of the kernel that ran most often */
    enum dtype dtype;            /* of the kernel with most time, where its name tells */
    double     dtype_ns;
};
struct cost_row {
    const struct op_time *time;
    double                flops, bytes; /* over all used steps; < 0 unknown */
    double                on_chip;      /* the same of traffic inside of the chip */
    double                ns, calls;
};
struct costs {
    struct study          *study;
    struct op_times        ops;
    struct kernel_times    kernels;
    struct cost_row       *rows;
    size_t                 count;
    uint32_t              *row_of_op; /* row + 1 */
    struct launched       *launched;  /* by op */
    double                 compute_ns, known_ns, product_ns, flops, bytes;
    double                 best[DTYPE_COUNT];
    double                 peak_flops_per_s, memory_bytes_per_s, device_count;
    double                 on_chip_bytes_per_s; /* 0 unknown */
    const struct hardware *hardware;            /* of the first device that is known */
    struct hardware        made;
};

/* With kernels an op's time is that of the kernels it launched; without, its own. */
static bool kernel_time_by_op(struct costs *costs, struct arena *scratch, double *total_ns)
{
    const struct profile *profile = costs->study->profile;
    struct kernel_times  *kernels = &costs->kernels;

    *total_ns = -1;
    costs->launched = arena_new_array(scratch, struct launched, profile->ops.count + 1);
    if (!costs->launched || !kernel_times_get(costs->study, scratch, kernels))
        return false;
    if (kernels->count > 0)
        *total_ns = kernels->total_ns;
    for (size_t i = 0; i < kernels->count; i++) {
        const struct kernel_time *kernel = &kernels->rows[i];
        const struct activity    *activity = &profile->activities.items[kernel->activity];
        struct kernel_name        name = kernels->names[kernel->activity];
        struct launched          *by_op = kernel->op == NO_ID ? NULL : &costs->launched[kernel->op];

        if (!by_op || activity->kind == ACTIVITY_COLLECTIVE)
            continue;
        by_op->ns += kernel->total_ns;
        by_op->calls = kernel->calls > by_op->calls ? kernel->calls : by_op->calls;
        if (kernel_is_streaming(name.category))
            by_op->streaming_ns += kernel->total_ns;
        if (name.dtype != DTYPE_UNKNOWN && kernel->total_ns > by_op->dtype_ns) {
            by_op->dtype = name.dtype;
            by_op->dtype_ns = kernel->total_ns;
        }
    }
    return true;
}

/* Kernels that one op launches are one row; it ran as often as the one that ran most. */
static struct cost_row *row_of(struct costs *costs, const struct op_time *time)
{
    uint32_t        *known = &costs->row_of_op[time->op];
    struct cost_row *row;

    if (*known && time->kind == ACTIVITY_KERNEL)
        return &costs->rows[*known - 1];
    row = &costs->rows[costs->count++];
    *row = (struct cost_row) { .time = time, .flops = -1, .bytes = -1 };
    *known = (uint32_t)costs->count;
    return row;
}

static void add_time(struct costs *costs, const struct op_time *time, double ns)
{
    struct cost_row *row;

    if (op_is_product(profile_str(costs->study->profile, time->type)))
        costs->product_ns += ns;
    if (time->op == NO_ID || ns <= 0)
        return;
    row = row_of(costs, time);
    row->ns += ns;
    row->calls = time->calls > row->calls ? time->calls : row->calls;
}

/* Keeps the rows of known cost. */
static void add_costs(struct costs *costs)
{
    const struct profile *profile = costs->study->profile;
    size_t                kept = 0;

    for (size_t i = 0; i < costs->count; i++) {
        struct cost_row  row = costs->rows[i];
        const struct op *op = &profile->ops.items[row.time->op];
        double          *best = &costs->best[row.time->dtype];

        row.flops = row.time->is_counted_inside ? -1 : op_flops(profile, op) * row.calls;
        row.bytes = op_bytes(profile, op) * row.calls;
        row.on_chip = fmax(0, (double)op->on_chip_bytes) * row.calls;
        if (row.flops >= 0) {
            costs->known_ns += row.ns;
            costs->flops += row.flops;
        }
        if (row.bytes >= 0)
            costs->bytes += row.bytes;
        if (row.flops >= BEST_MIN_FLOPS && row.flops / row.ns * 1e9 > *best)
            *best = row.flops / row.ns * 1e9;
        if (row.flops > 0 || row.bytes > 0)
            costs->rows[kept++] = row;
    }
    costs->count = kept;
}

/* Ops whose kernels ran in the used steps though they were called before them have no time there.
 */
static bool add_early(struct costs *costs, struct arena *scratch)
{
    const struct profile *profile = costs->study->profile;

    for (size_t i = 0; i < profile->ops.count; i++) {
        const struct op *op = &profile->ops.items[i];
        struct op_time  *time;

        if (costs->launched[i].ns <= 0 || costs->row_of_op[i] ||
            (op_flops(profile, op) < 0 && op_bytes(profile, op) < 0))
            continue;
        time = arena_new(scratch, struct op_time);
        if (!time)
            return false;
        *time = (struct op_time) { .name = op->name,
                                   .type = op->type,
                                   .op = (uint32_t)i,
                                   .device = NO_ID,
                                   .source = op->source,
                                   .kind = ACTIVITY_OP,
                                   .dtype = (uint8_t)op_dtype(profile, op),
                                   .calls = costs->launched[i].calls };
        costs->compute_ns += costs->launched[i].ns;
        add_time(costs, time, costs->launched[i].ns);
    }
    return true;
}

/* Where the whole recording is a step, it begins with the first kernel, whose op's call may lie
 * before it. */
static void settle_calls(struct costs *costs)
{
    for (size_t i = 0; i < costs->count; i++) {
        struct cost_row *row = &costs->rows[i];
        double           calls = costs->launched[row->time->op].calls;

        if (costs->study->steps.source == STEPS_WHOLE_TRACE && row->time->device == NO_ID &&
            calls > row->calls && calls - row->calls <= 1)
            row->calls = calls;
    }
}

static bool collect(struct costs *costs, struct arena *scratch)
{
    size_t  op_count = costs->study->profile->ops.count;
    double  kernel_ns;
    uint8_t device_kind;

    if (!kernel_time_by_op(costs, scratch, &kernel_ns) ||
        !op_times_make(costs->study, scratch, &costs->ops))
        return false;
    device_kind = kernel_ns >= 0 ? ACTIVITY_KERNEL : ACTIVITY_OP;
    costs->rows = arena_new_array(scratch, struct cost_row, costs->ops.count + op_count + 1);
    costs->row_of_op = arena_new_array(scratch, uint32_t, op_count + 1);
    if (!costs->rows || !costs->row_of_op)
        return false;
    for (size_t i = 0; i < costs->ops.count; i++) {
        const struct op_time *time = &costs->ops.rows[i];
        double                ns = time->self_ns;

        if (time->kind == ACTIVITY_COLLECTIVE || time->kind == ACTIVITY_CALLBACK ||
            time->kind == ACTIVITY_MEMCPY || op_time_is_of_unit(costs->study->profile, time))
            continue;
        if (device_kind == ACTIVITY_KERNEL && time->kind == ACTIVITY_OP) {
            if (time->op == NO_ID || costs->launched[time->op].ns <= 0)
                continue;
            ns = costs->launched[time->op].ns;
        }
        costs->compute_ns += ns;
        add_time(costs, time, ns);
    }
    if (!add_early(costs, scratch))
        return false;
    settle_calls(costs);
    add_costs(costs);
    if (kernel_ns > costs->compute_ns)
        costs->compute_ns = kernel_ns;
    return true;
}

/* Libraries compute products of 32 bits in TF32 where they may; their kernels tell. */
static enum dtype computes_in(const struct costs *costs, const struct cost_row *cost)
{
    return cost->time->dtype == DTYPE_F32 && costs->launched[cost->time->op].dtype == DTYPE_TF32
               ? DTYPE_TF32
               : (enum dtype)cost->time->dtype;
}

static void find_peak(struct costs *costs)
{
    const struct study   *study = costs->study;
    const struct profile *profile = study->profile;
    enum dtype            main_dtype = DTYPE_F16; /* what devices are sold by */
    double                most = 0;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct device *device = &profile->devices.items[i];

        if (device->host != study->steps.host || !device_activity_row(study->devices, (uint32_t)i))
            continue;
        costs->device_count++;
        if (!costs->hardware)
            costs->hardware = hardware_of(profile, device, &costs->made);
        if (device->peak_flops_per_s > 0)
            costs->peak_flops_per_s = device->peak_flops_per_s;
        if (device->memory_bytes_per_s > 0)
            costs->memory_bytes_per_s = device->memory_bytes_per_s;
        if (device->on_chip_bytes_per_s > 0)
            costs->on_chip_bytes_per_s = device->on_chip_bytes_per_s;
    }
    for (size_t i = 0; i < costs->count; i++)
        if (costs->rows[i].flops > most) {
            most = costs->rows[i].flops;
            main_dtype = computes_in(costs, &costs->rows[i]);
        }
    if (!costs->hardware)
        return;
    if (costs->memory_bytes_per_s <= 0)
        costs->memory_bytes_per_s = costs->hardware->memory_bytes_per_s;
    if (costs->peak_flops_per_s <= 0)
        costs->peak_flops_per_s = hardware_peak_flops_per_s(costs->hardware, main_dtype);
}

static double peak_of(const struct costs *costs, enum dtype dtype)
{
    double peak = costs->hardware ? hardware_peak_flops_per_s(costs->hardware, dtype) : 0;

    return peak > 0 ? peak : costs->peak_flops_per_s;
}

/* Kernels that do few operations a byte are held by memory, whatever few operations these are. */
static bool is_streaming(const struct costs *costs, const struct cost_row *cost)
{
    return costs->launched[cost->time->op].streaming_ns >= 0.9 * cost->ns;
}

/* What the op uses of the device's peaks; not known: NAN. */
static struct op_use use_of(const struct costs *costs, const struct cost_row *cost)
{
    double peak = peak_of(costs, computes_in(costs, cost)), memory = costs->memory_bytes_per_s;

    if ((cost->bytes <= 0 && cost->on_chip <= 0) || memory <= 0 ||
        (cost->flops < 0 && !is_streaming(costs, cost)) || (cost->flops >= 0 && peak <= 0))
        return (struct op_use) { NAN, NAN, NAN };
    return (struct op_use) {
        .compute = cost->flops >= 0 ? cost->flops / peak / (cost->ns / 1e9) : 0,
        .memory = fmax(0, cost->bytes) / memory / (cost->ns / 1e9),
        .on_chip = costs->on_chip_bytes_per_s > 0
                       ? cost->on_chip / costs->on_chip_bytes_per_s / (cost->ns / 1e9)
                       : 0,
    };
}

static void fill_efficiency(const struct costs *costs, struct table *table, size_t row,
                            const struct cost_row *cost)
{
    struct op_use use = use_of(costs, cost);
    double        most = fmax(use.on_chip, fmax(use.compute, use.memory));
    struct str    bound = STR("memory");

    if (isnan(use.memory))
        return;
    if (use.on_chip > fmax(use.compute, use.memory))
        bound = STR("on-chip memory");
    else if (use.compute > use.memory)
        bound = STR("compute");
    emit_number(table, EFFICIENCY, row, most);
    emit_name(table, BOUND, row, facts_name(&costs->study->facts, bound));
}

static void fill_row(const struct costs *costs, struct table *table, size_t row,
                     const struct cost_row *cost)
{
    struct study         *study = costs->study;
    const struct profile *profile = study->profile;
    const struct op_time *time = cost->time;
    double                steps = costs->ops.step_count;

    emit_name(table, NAME, row, time->name);
    emit_name(table, TYPE, row, time->type);
    if (time->dtype != DTYPE_UNKNOWN)
        emit_name(table, DTYPE, row, facts_name(&study->facts, str_from(dtype_name(time->dtype))));
    emit_name(table, SHAPES, row, emit_shapes(study, &profile->ops.items[time->op]));
    emit_number(table, CALLS, row, cost->calls / steps);
    emit_number(table, NS, row, cost->ns / steps);
    emit_number(table, SHARE, row, cost->ns / costs->compute_ns);
    if (cost->flops >= 0) {
        emit_number(table, FLOPS, row, cost->flops / steps);
        emit_number(table, RATE, row, cost->flops / cost->ns * 1e9);
        if (costs->best[time->dtype] > 0)
            emit_number(table, BEST_SHARE, row,
                        cost->flops / cost->ns * 1e9 / costs->best[time->dtype]);
    }
    if (cost->bytes > 0) {
        emit_number(table, BYTES, row, cost->bytes / steps);
        emit_number(table, BANDWIDTH, row, cost->bytes / cost->ns * 1e9);
        if (cost->flops >= 0)
            emit_number(table, INTENSITY, row, cost->flops / cost->bytes);
    }
    fill_efficiency(costs, table, row, cost);
    if (time->source < profile->sources.count) {
        emit_name(table, SOURCE_FILE, row, profile->sources.items[time->source].file);
        emit_number(table, SOURCE_LINE, row, profile->sources.items[time->source].line);
    }
}

/* Whether an op's bytes hold it: they take longer than its operations, and much of its time. What
 * elementwise kernels compute is unknown, but little. */
static bool is_memory_bound(const struct costs *costs, const struct cost_row *cost)
{
    double peak = peak_of(costs, computes_in(costs, cost)), memory_ns, use;

    if (cost->bytes <= 0 || costs->memory_bytes_per_s <= 0)
        return false;
    memory_ns = cost->bytes / costs->memory_bytes_per_s * 1e9;
    use = memory_ns / cost->ns;
    if (use < MIN_BANDWIDTH_USE || use > MAX_BANDWIDTH_USE)
        return false;
    if (cost->flops < 0)
        return is_streaming(costs, cost);
    return peak > 0 && memory_ns > cost->flops / peak * 1e9;
}

static double memory_bound_ns(const struct costs *costs)
{
    double ns = 0;

    for (size_t i = 0; i < costs->count; i++)
        if (is_memory_bound(costs, &costs->rows[i]))
            ns += costs->rows[i].ns;
    return ns;
}

static const char *no_peak(const struct costs *costs)
{
    if (costs->device_count == 0)
        return "the peak of a CPU is not known from a profile";
    return costs->peak_flops_per_s > 0 ? "no op of known cost ran"
                                       : "the peak of this device is not known";
}

/* Facts that set_peaks has set. */
static bool is_peak(const double values[FACT_COUNT], size_t fact)
{
    return (fact == PEAK || fact == MEMORY_PEAK || fact == SOURCE) && isfinite(values[fact]) &&
           values[fact] > 0;
}

/* Peaks are known of a device though no op's cost is. */
static bool set_peaks(const struct costs *costs, double values[FACT_COUNT])
{
    struct facts *facts = &costs->study->facts;
    bool          is_set = true;

    values[PEAK] = costs->peak_flops_per_s;
    values[MEMORY_PEAK] = costs->memory_bytes_per_s;
    if (costs->hardware)
        values[SOURCE] = facts_name(facts, str_from(costs->hardware->source));
    for (size_t i = 0; i < FACT_COUNT && is_set; i++)
        is_set = !is_peak(values, i) || facts_set(facts, &produces[i], values[i]);
    return is_set;
}

static bool set_facts(const struct costs *costs)
{
    struct study *study = costs->study;
    double        steps = costs->ops.step_count, values[FACT_COUNT] = { 0 };
    bool          is_set = set_peaks(costs, values);

    values[PER_STEP] = costs->flops / steps;
    values[BYTES_PER_STEP] = costs->bytes / steps;
    values[KNOWN_SHARE] = costs->known_ns / costs->compute_ns;
    values[PRODUCT_SHARE] = costs->product_ns / costs->compute_ns;
    values[ACHIEVED] = values[PER_STEP] / costs->ops.step_ns * 1e9;
    values[BEST_F64] = costs->best[DTYPE_F64];
    values[BEST_F32] = costs->best[DTYPE_F32];
    values[BEST_F16] = costs->best[DTYPE_F16] > costs->best[DTYPE_BF16] ? costs->best[DTYPE_F16]
                                                                        : costs->best[DTYPE_BF16];
    if (costs->memory_bytes_per_s > 0 && costs->device_count > 0)
        values[MEMORY_BOUND] = memory_bound_ns(costs) / costs->compute_ns;
    else
        values[MEMORY_BOUND] = NAN;
    if (costs->peak_flops_per_s > 0 && costs->device_count > 0)
        values[MFU] = values[ACHIEVED] / costs->peak_flops_per_s;
    for (size_t i = 0; i < FACT_COUNT && is_set; i++) {
        bool is_always = i == PER_STEP || i == KNOWN_SHARE || i == BYTES_PER_STEP ||
                         i == PRODUCT_SHARE || i == ACHIEVED || i == MEMORY_BOUND;

        if (is_peak(values, i))
            continue;
        if (isfinite(values[i]) && (values[i] > 0 || is_always)) /* a file may claim anything */
            is_set = facts_set(&study->facts, &produces[i], values[i]);
        else if (i == PEAK || i == MFU || i == MEMORY_PEAK || i == MEMORY_BOUND || i == SOURCE)
            is_set = facts_absent(&study->facts, produces[i].name, NULL, "%s", no_peak(costs));
        else
            is_set = facts_absent(&study->facts, produces[i].name, NULL,
                                  "no op of this type has a known cost");
    }
    return is_set;
}

static bool fill_op_profile(const struct costs *costs, struct arena *scratch)
{
    size_t            op_count = costs->study->profile->ops.count;
    struct op_use    *uses = arena_new_array(scratch, struct op_use, op_count + 1);
    struct op_profile input = {
        .study = costs->study,
        .table = &tables[1],
        .ops = &costs->ops,
        .kernels = &costs->kernels,
        .uses = uses,
    };

    for (size_t i = 0; uses && i < op_count; i++)
        uses[i] = (struct op_use) { NAN, NAN, NAN };
    for (size_t i = 0; uses && i < costs->count; i++)
        uses[costs->rows[i].time->op] = use_of(costs, &costs->rows[i]);
    return uses && op_profile_fill(&input, scratch);
}

static bool fill_steps(const struct costs *costs, struct arena *scratch)
{
    struct op_work *work =
        arena_new_array(scratch, struct op_work, costs->study->profile->ops.count + 1);
    struct step_roofline input = { .study = costs->study,
                                   .table = &tables[2],
                                   .work = work,
                                   .flops_per_s =
                                       costs->device_count > 0 ? costs->peak_flops_per_s : 0,
                                   .memory_per_s = costs->memory_bytes_per_s };

    for (size_t i = 0; work && i < costs->count; i++) {
        const struct cost_row *row = &costs->rows[i];

        work[row->time->op] =
            (struct op_work) { row->flops, row->bytes, true, row->time->device != NO_ID };
    }
    return work && step_roofline_fill(&input, scratch);
}

static bool make(struct study *study, struct arena *scratch)
{
    static const char reason[] = "no op has known floating point operations or traffic";
    static const char capture[] = "shapes (record_shapes, with_flops, run metadata)";
    struct costs      costs = { .study = study };
    double            peaks[FACT_COUNT] = { 0 };
    struct windows    windows;
    struct table     *table;

    if (!windows_make(study, scratch, &windows) || !collect(&costs, scratch))
        return false;
    find_peak(&costs);
    if (!fill_op_profile(&costs, scratch))
        return false;
    if (costs.count == 0 || costs.compute_ns <= 0)
        return set_peaks(&costs, peaks) &&
               facts_absent(&study->facts, "flops.|roofline", capture, reason) &&
               facts_absent(&study->facts, tables[2].name, capture, reason);
    table = facts_table(&study->facts, &tables[0]);
    for (size_t i = 0; table && i < costs.count; i++) {
        size_t row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        fill_row(&costs, table, row, &costs.rows[i]);
    }
    return table && fill_steps(&costs, scratch) && set_facts(&costs);
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { 0 };
    bool         is_done = make(study, &scratch);

    arena_free(&scratch);
    return is_done || emit_limit("the cost of ops", err);
}

const struct analysis analysis_flops = {
    .name = "flops",
    .summary = "arithmetic and memory traffic against time",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
