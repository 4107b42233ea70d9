#include "analyze/ops/costs.h"

#include "analyze/kernel/kernel_names.h"
#include "analyze/ops/op_cost.h"

#include <math.h>

enum { BEST_MIN_FLOPS = 1000000 }; /* below, the clock's grain makes rates meaningless */

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

bool costs_collect(struct costs *costs, struct arena *scratch)
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
enum dtype cost_computes_in(const struct costs *costs, const struct cost_row *cost)
{
    return cost->time->dtype == DTYPE_F32 && costs->launched[cost->time->op].dtype == DTYPE_TF32
               ? DTYPE_TF32
               : (enum dtype)cost->time->dtype;
}

void costs_find_peak(struct costs *costs)
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
            main_dtype = cost_computes_in(costs, &costs->rows[i]);
        }
    if (!costs->hardware)
        return;
    if (costs->memory_bytes_per_s <= 0)
        costs->memory_bytes_per_s = costs->hardware->memory_bytes_per_s;
    if (costs->peak_flops_per_s <= 0)
        costs->peak_flops_per_s = hardware_peak_flops_per_s(costs->hardware, main_dtype);
}
