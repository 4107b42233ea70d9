/*
 * flops: arithmetic and memory traffic against time. Efficiency is claimed only where the peak is
 * known (from the file or the hardware table); elsewhere the best rate seen in the same recording
 * for the same type serves as a yardstick, and is named as such.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/ops/costs.h"
#include "analyze/ops/op_profile.h"
#include "analyze/ops/step_roofline.h"
#include "model/names.h"

#include <math.h>

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
/* Traffic at less than the first is not what holds an op; above the second caches served it. */
static const double MIN_BANDWIDTH_USE = 0.20, MAX_BANDWIDTH_USE = 1.05;

/* For the type that it computes in; with two of four values of a factor left out hardware does more
 * at once. */
static double peak_of(const struct costs *costs, const struct cost_row *cost)
{
    const struct hardware *hardware = costs->hardware;
    struct str             type = profile_str(costs->study->profile, cost->time->type);
    double peak = hardware ? hardware_peak_flops_per_s(hardware, cost_computes_in(costs, cost)) : 0;

    if (peak <= 0)
        peak = costs->peak_flops_per_s;
    return hardware && hardware->sparse > 0 && name_is(type, NAMES_ATEN_SPARSE_PRODUCT)
               ? peak * hardware->sparse
               : peak;
}

/* Kernels that do few operations a byte are held by memory, whatever few operations these are. */
static bool is_streaming(const struct costs *costs, const struct cost_row *cost)
{
    return costs->launched[cost->time->op].streaming_ns >= 0.9 * cost->ns;
}

/* What the op uses of the device's peaks; not known: NAN. */
static struct op_use use_of(const struct costs *costs, const struct cost_row *cost)
{
    double peak = peak_of(costs, cost), memory = costs->memory_bytes_per_s;

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
    emit_source(profile, table, SOURCE_FILE, row, time->source);
}

/* Whether an op's bytes hold it: they take longer than its operations, and much of its time. What
 * elementwise kernels compute is unknown, but little. */
static bool is_memory_bound(const struct costs *costs, const struct cost_row *cost)
{
    double peak = peak_of(costs, cost), memory_ns, use;

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

    if (!windows_make(study, scratch, &windows) || !costs_collect(&costs, scratch))
        return false;
    costs_find_peak(&costs);
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
