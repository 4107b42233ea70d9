/* kernels: device kernels by time, with what their names and launch configurations tell. */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/kernel/kernel_names.h"
#include "analyze/kernel/kernel_times.h"
#include "analyze/kernel/kernel_waves.h"
#include "analyze/step/own_lines.h"

#include <inttypes.h>
#include <stdio.h>

enum kernel_fact {
    COUNT_PER_STEP,
    DISTINCT,
    TOTAL_NS,
    MEDIAN_NS,
    TINY_COUNT,
    TINY_SHARE,
    TINY_NS,
    PRODUCT_NS,
    TC_YES_NS,
    TC_NO_NS,
    TC_SHARE,
    TOP_NAME,
    TOP_SHARE,
    KNOWN_OCCUPANCY,
    KNOWN_WAVES,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [COUNT_PER_STEP] = { "kernels.count_per_step", UNIT_COUNT, "kernels a step" },
    [DISTINCT] = { "kernels.distinct", UNIT_COUNT, "different kernels" },
    [TOTAL_NS] = { "kernels.total_ns", UNIT_NS, "kernel time a step, summed over streams" },
    [MEDIAN_NS] = { "kernels.median_ns", UNIT_NS, "median duration of a kernel" },
    [TINY_COUNT] = { "kernels.tiny_count", UNIT_COUNT, "kernels below 10 us a step" },
    [TINY_SHARE] = { "kernels.tiny_share", UNIT_SHARE, "share of kernels below 10 us" },
    [TINY_NS] = { "kernels.tiny_ns", UNIT_NS, "their time a step" },
    [PRODUCT_NS] = { "kernels.product_ns", UNIT_NS,
                     "time a step of matrix products, convolutions, attention" },
    [TC_YES_NS] = { "kernels.tensor_core_ns", UNIT_NS, "of that, surely on tensor cores" },
    [TC_NO_NS] = { "kernels.no_tensor_core_ns", UNIT_NS, "of that, surely not on tensor cores" },
    [TC_SHARE] = { "kernels.tensor_core_share", UNIT_SHARE, "tensor core share of product time" },
    [TOP_NAME] = { "kernels.top_name", UNIT_NAME, "kernel with the most time" },
    [TOP_SHARE] = { "kernels.top_share", UNIT_SHARE, "its share of kernel time" },
    [KNOWN_OCCUPANCY] = { "kernels.occupancy_known_share", UNIT_SHARE,
                          "share of kernel time whose occupancy is told" },
    [KNOWN_WAVES] = { "kernels.waves_known_share", UNIT_SHARE,
                      "share of kernel time whose blocks at once are known" },
};
enum kernel_column {
    NAME,
    FAMILY,
    LIBRARY,
    CATEGORY,
    TENSOR_CORE,
    OP,
    DTYPE,
    CALLS,
    ROW_TOTAL_NS,
    MEAN_NS,
    MIN_NS,
    MAX_NS,
    SHARE,
    GRID_BLOCKS,
    BLOCK_THREADS,
    GRID,
    BLOCK,
    GRID_SHARE,
    REGISTERS,
    STATIC_SHARED,
    DYNAMIC_SHARED,
    OCCUPANCY,
    WAVES,
    SM_COUNT,
    SOURCE_FILE,
    SOURCE_LINE,
    SHAPES,
    OP_TYPE,
    TENSOR_CORE_ELIGIBLE
};
static const struct column_spec columns[] = {
    [NAME] = { "name", UNIT_NAME, "kernel" },
    [FAMILY] = { "family", UNIT_NAME, "name without templates, arguments and trailing numbers" },
    [LIBRARY] = { "library", UNIT_NAME, "library, from the name" },
    [CATEGORY] = { "category", UNIT_NAME, "gemm, conv, attention, norm, elementwise, …" },
    [TENSOR_CORE] = { "tensor_core", UNIT_NAME, "yes, no or unknown" },
    [OP] = { "op", UNIT_NAME, "op that launched it" },
    [DTYPE] = { "dtype", UNIT_NAME, "type it computes in" },
    [CALLS] = { "calls", UNIT_COUNT, "calls a step" },
    [ROW_TOTAL_NS] = { "total_ns", UNIT_NS, "time a step" },
    [MEAN_NS] = { "mean_ns", UNIT_NS, "mean of one call" },
    [MIN_NS] = { "min_ns", UNIT_NS, "shortest call" },
    [MAX_NS] = { "max_ns", UNIT_NS, "longest call" },
    [SHARE] = { "share", UNIT_SHARE, "share of kernel time" },
    [GRID_BLOCKS] = { "grid_blocks", UNIT_COUNT, "blocks launched, where most time goes" },
    [BLOCK_THREADS] = { "block_threads", UNIT_COUNT, "threads a block" },
    [GRID] = { "grid", UNIT_NAME, "the same along x,y,z" },
    [BLOCK] = { "block", UNIT_NAME, "threads a block along x,y,z" },
    [GRID_SHARE] = { "grid_share", UNIT_SHARE,
                     "share of its time in launches of that grid and block" },
    [REGISTERS] = { "registers", UNIT_COUNT, "registers a thread" },
    [STATIC_SHARED] = { "static_shared_bytes", UNIT_BYTES,
                        "shared memory a block; Kineto: dynamic shared memory too" },
    [DYNAMIC_SHARED] = { "dynamic_shared_bytes", UNIT_BYTES,
                         "shared memory a block that the launch asked for" },
    [OCCUPANCY] = { "occupancy", UNIT_SHARE, "estimated occupancy" },
    [WAVES] = { "waves", UNIT_NONE, "grid over what the device holds at once" },
    [SM_COUNT] = { "sm_count", UNIT_COUNT, "multiprocessors of the device" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
    [SHAPES] = { "shapes", UNIT_NAME, "operands and results of that op" },
    [OP_TYPE] = { "op_type", UNIT_NAME, "type of that op" },
    [TENSOR_CORE_ELIGIBLE] = { "tensor_core_eligible", UNIT_BOOL,
                               "that op is a product, which tensor cores could do" },
};
static const struct table_spec tables[] = {
    { "kernels", "kernels by time", columns, ARRAY_COUNT(columns) },
};

static void emit_extent(struct facts *facts, struct table *table, int column, size_t row,
                        const uint32_t extent[3])
{
    char text[40];

    snprintf(text, sizeof text, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, extent[0], extent[1],
             extent[2]);
    emit_name(table, column, row, facts_name(facts, str_from(text)));
}

static void fill_config(struct study *study, struct table *table, size_t row,
                        const struct kernel_time *time)
{
    const struct profile       *profile = study->profile;
    struct facts               *facts = &study->facts;
    const struct device        *device = &profile->devices.items[time->device];
    const struct kernel_config *config;
    double                      grid, block, resident;

    if (device->sm_count > 0)
        emit_number(table, SM_COUNT, row, device->sm_count);
    if (time->config == NO_ID)
        return;
    config = &profile->kernel_configs.items[time->config];
    grid = (double)config->grid[0] * config->grid[1] * config->grid[2];
    block = (double)config->block[0] * config->block[1] * config->block[2];
    emit_number(table, GRID_BLOCKS, row, grid);
    emit_number(table, BLOCK_THREADS, row, block);
    emit_extent(facts, table, GRID, row, config->grid);
    emit_extent(facts, table, BLOCK, row, config->block);
    emit_number(table, GRID_SHARE, row, time->config_share);
    if (config->registers > 0)
        emit_number(table, REGISTERS, row, config->registers);
    emit_number(table, STATIC_SHARED, row, config->static_shared_bytes);
    emit_number(table, DYNAMIC_SHARED, row, config->dynamic_shared_bytes);
    if (config->occupancy_pct >= 0)
        emit_number(table, OCCUPANCY, row, (double)config->occupancy_pct / 100);
    resident = kernel_resident_blocks(device, config);
    if (resident > 0)
        emit_number(table, WAVES, row, grid / resident);
}

static void fill_row(struct study *study, const bool *is_user, struct table *table, size_t row,
                     const struct kernel_time *time, struct kernel_name name)
{
    const struct profile  *profile = study->profile;
    const struct activity *activity = &profile->activities.items[time->activity];
    struct str             text = profile_str(profile, activity->name);
    uint32_t               source = activity->source;
    enum dtype             dtype = name.dtype;

    emit_name(table, NAME, row, activity->name);
    emit_name(table, FAMILY, row, facts_name(&study->facts, kernel_name_family(text)));
    emit_name(table, LIBRARY, row, facts_name(&study->facts, str_from(name.library)));
    emit_name(table, CATEGORY, row,
              facts_name(&study->facts, str_from(kernel_category_name(name.category))));
    emit_name(table, TENSOR_CORE, row,
              facts_name(&study->facts, str_from(tensor_core_name(name.tensor_core))));
    if (time->op_activity != NO_ID) {
        emit_name(table, OP, row, profile->activities.items[time->op_activity].name);
        if (source == NO_ID)
            source = profile->activities.items[time->op_activity].source;
    } else if (time->op != NO_ID) {
        emit_name(table, OP, row, profile->ops.items[time->op].name);
    }
    if (time->op != NO_ID) {
        emit_name(table, SHAPES, row, emit_shapes(study, &profile->ops.items[time->op]));
        emit_name(table, OP_TYPE, row, profile->ops.items[time->op].type);
        emit_number(table, TENSOR_CORE_ELIGIBLE, row,
                    op_is_product(profile_str(profile, profile->ops.items[time->op].type)) ||
                        op_is_product(profile_str(profile, profile->ops.items[time->op].name)));
    }
    if (dtype == DTYPE_UNKNOWN && time->op != NO_ID) {
        const struct op *op = &profile->ops.items[time->op];

        dtype = op->input_count + op->output_count > 0
                    ? profile->tensors.items[op->first_input].dtype
                    : DTYPE_UNKNOWN;
    }
    if (dtype != DTYPE_UNKNOWN)
        emit_name(table, DTYPE, row, facts_name(&study->facts, str_from(dtype_name(dtype))));
    emit_source(profile, table, SOURCE_FILE, row,
                source == NO_ID ? own_line(study, is_user, time->launch) : source);
    fill_config(study, table, row, time);
}

static bool fill(struct study *study, struct arena *scratch, const struct kernel_times *times,
                 double steps, double values[FACT_COUNT])
{
    struct table *table = facts_table(&study->facts, &tables[0]);
    const bool   *is_user = profile_user_sources(study->profile, scratch);

    if (!is_user)
        return false;
    for (size_t i = 0; table && i < times->count; i++) {
        const struct kernel_time *time = &times->rows[i];
        struct kernel_name        name = times->names[time->activity];
        size_t                    row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        fill_row(study, is_user, table, row, time, name);
        emit_number(table, CALLS, row, time->calls / steps);
        emit_number(table, ROW_TOTAL_NS, row, time->total_ns / steps);
        emit_number(table, MEAN_NS, row, time->total_ns / time->calls);
        emit_number(table, MIN_NS, row, time->min_ns);
        emit_number(table, MAX_NS, row, time->max_ns);
        if (times->total_ns > 0)
            emit_number(table, SHARE, row, time->total_ns / times->total_ns);
        if (name.category != KERNEL_GEMM && name.category != KERNEL_CONV &&
            name.category != KERNEL_ATTENTION)
            continue;
        values[PRODUCT_NS] += time->total_ns / steps;
        values[TC_YES_NS] += name.tensor_core == TENSOR_CORE_YES ? time->total_ns / steps : 0;
        values[TC_NO_NS] += name.tensor_core == TENSOR_CORE_NO ? time->total_ns / steps : 0;
    }
    return table != NULL;
}

/* A kernel is one by its name, whatever ops launched it; rows are ordered by their own time alone.
 */
static bool sum_names(const struct study *study, const struct kernel_times *times,
                      struct arena *scratch, double values[FACT_COUNT])
{
    struct id_map index_of = { .arena = scratch };
    double       *sums_ns = arena_new_array(scratch, double, times->count);
    uint32_t      count = 0;
    double        most_ns = -1;

    for (size_t i = 0; sums_ns && i < times->count; i++) {
        uint32_t name = study->profile->activities.items[times->rows[i].activity].name;
        uint32_t index = id_map_get(&index_of, name);

        if (index == NO_ID && !id_map_put(&index_of, name, index = count++))
            return false;
        sums_ns[index] += times->rows[i].total_ns;
        if (sums_ns[index] > most_ns) {
            most_ns = sums_ns[index];
            values[TOP_NAME] = name;
        }
    }
    values[DISTINCT] = count;
    if (times->total_ns > 0)
        values[TOP_SHARE] = most_ns / times->total_ns;
    return sums_ns != NULL;
}

/* Over kernel time: where occupancy is told, and where it is known how many blocks fit at once. */
static void sum_known(const struct profile *profile, const struct kernel_times *times,
                      double values[FACT_COUNT])
{
    for (size_t i = 0; i < times->count && times->total_ns > 0; i++) {
        const struct kernel_time   *time = &times->rows[i];
        const struct kernel_config *config =
            time->config == NO_ID ? NULL : &profile->kernel_configs.items[time->config];
        double share = time->total_ns / times->total_ns;

        if (config && config->occupancy_pct >= 0)
            values[KNOWN_OCCUPANCY] += share;
        if (config && kernel_resident_blocks(&profile->devices.items[time->device], config) > 0)
            values[KNOWN_WAVES] += share;
    }
}

static bool set_facts(struct study *study, const struct kernel_times *times, double steps,
                      double values[FACT_COUNT])
{
    bool is_set = true;

    values[COUNT_PER_STEP] = times->call_count / steps;
    values[TOTAL_NS] = times->total_ns / steps;
    values[MEDIAN_NS] = times->median_ns;
    values[TINY_COUNT] = times->tiny_count / steps;
    values[TINY_SHARE] = times->tiny_count / times->call_count;
    values[TINY_NS] = times->tiny_ns / steps;
    if (values[PRODUCT_NS] > 0)
        values[TC_SHARE] = values[TC_YES_NS] / values[PRODUCT_NS];
    sum_known(study->profile, times, values);
    for (size_t i = 0; i < FACT_COUNT; i++)
        if (i == TC_SHARE ? values[PRODUCT_NS] > 0 : i < KNOWN_OCCUPANCY || values[i] > 0)
            is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    if (values[KNOWN_OCCUPANCY] <= 0)
        is_set = is_set && facts_absent(&study->facts, produces[KNOWN_OCCUPANCY].name, NULL,
                                        "the recording does not tell the occupancy of kernels");
    if (values[KNOWN_WAVES] <= 0)
        is_set = is_set && facts_absent(&study->facts, produces[KNOWN_WAVES].name, NULL,
                                        "registers or the device's limits are not known");
    if (values[PRODUCT_NS] <= 0)
        is_set = is_set && facts_absent(&study->facts, produces[TC_SHARE].name, NULL,
                                        "no kernel is known to be a product or a convolution");
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    static const char   reason[] = "no kernels of an accelerator are in the recorded steps";
    static const char   capture[] = "device tracing";
    struct arena        scratch = { 0 };
    double              values[FACT_COUNT] = { 0 };
    struct windows      windows;
    struct kernel_times times;
    bool                is_done =
        windows_make(study, &scratch, &windows) && kernel_times_get(study, &scratch, &times);

    if (is_done && times.count == 0)
        is_done = facts_absent(&study->facts, "kernels.|kernels", capture, reason);
    else if (is_done)
        is_done = fill(study, &scratch, &times, (double)windows.count, values) &&
                  sum_names(study, &times, &scratch, values) &&
                  set_facts(study, &times, (double)windows.count, values);
    arena_free(&scratch);
    return is_done || emit_limit("the table of kernels", err);
}

const struct analysis analysis_kernels = {
    .name = "kernels",
    .summary = "device kernels by time",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
