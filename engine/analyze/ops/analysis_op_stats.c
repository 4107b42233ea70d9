/*
 * op_stats: ops of hosts and of accelerators by their own time, each side with its shares and what
 * idles beside them, as TensorFlow's profiler lists them. in    study->op_times, kernels by the op
 * that launched them, study->devices out   table "op_stats" and facts of both sides On accelerators
 * an op is what the program calls it: what a compiled instruction was made from, the op that
 * launched a kernel, else the kernel. Of several accelerators it is their mean.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/kernel/kernel_names.h"
#include "analyze/kernel/kernel_times.h"
#include "analyze/ops/op_times.h"
#include "analyze/step/runs.h"
#include "base/sort.h"
#include "model/names.h"

#include <stdlib.h>

enum { DEVICE_CALLS, DEVICE_EAGER, OUTSIDE, HOST_IDLE, TRAINS };
static const struct fact_spec produces[] = {
    [DEVICE_CALLS] = { "op_stats.device_calls_share", UNIT_SHARE,
                       "share of calls of ops that are on accelerators" },
    [DEVICE_EAGER] = { "op_stats.device_eager_share", UNIT_SHARE,
                       "share of the time of ops on accelerators that ran eagerly" },
    [OUTSIDE] = { "op_stats.outside_compiled_share", UNIT_SHARE,
                  "share of that in sending to the host and receiving from it inside of a "
                  "program" },
    [HOST_IDLE] = { "op_stats.host_idle_share", UNIT_SHARE,
                    "share of the time of host threads with ops that is outside of ops" },
    [TRAINS] = { "op_stats.trains", UNIT_BOOL, "gradients are among the ops, by their names" },
};
enum {
    WHERE,
    OP,
    TYPE,
    CALLS,
    SELF_NS,
    TOTAL_NS,
    MEAN_NS,
    SHARE,
    CUMULATIVE,
    SHARE_IDLE,
    CUMULATIVE_IDLE,
    TENSOR_CORE,
    ELIGIBLE,
    IS_EAGER
};
static const struct column_spec columns[] = {
    [WHERE] = { "where", UNIT_NAME, "device or host" },
    [OP] = { "op", UNIT_NAME, "op; IDLE: none, of the mean device or all host threads with ops" },
    [TYPE] = { "type", UNIT_NAME, "its type" },
    [CALLS] = { "calls", UNIT_COUNT, "calls a step; on devices: kernels or instructions" },
    [SELF_NS] = { "self_ns", UNIT_NS, "a step's time less the ops nested in it" },
    [TOTAL_NS] = { "total_ns", UNIT_NS, "a step's time" },
    [MEAN_NS] = { "mean_ns", UNIT_NS, "mean of one call" },
    [SHARE] = { "share", UNIT_SHARE, "self time over that of all ops there" },
    [CUMULATIVE] = { "cumulative_share", UNIT_SHARE, "the same with all rows above" },
    [SHARE_IDLE] = { "share_with_idle", UNIT_SHARE,
                     "self time over that of all ops and idle time" },
    [CUMULATIVE_IDLE] = { "cumulative_with_idle", UNIT_SHARE, "the same with all rows above" },
    [TENSOR_CORE] = { "tensor_core_share", UNIT_SHARE,
                      "share of the time of its kernels that is surely on tensor cores" },
    [ELIGIBLE] = { "tensor_core_eligible", UNIT_BOOL, "it is a product, which they could do" },
    [IS_EAGER] = { "is_eager", UNIT_BOOL, "ran op by op" },
};
static const struct table_spec tables[] = {
    { "op_stats", "ops of accelerators and hosts with their shares, with and without idle time",
      columns, ARRAY_COUNT(columns) },
};

enum side { ON_DEVICE, ON_HOST, SIDE_COUNT };
struct stat_row {
    uint8_t  side;
    bool     is_idle, is_eager, is_product, has_kernels;
    uint32_t name, type;
    double   calls, self_ns, total_ns, kernel_ns, tensor_core_ns; /* over all used steps */
};
struct op_stats {
    struct study  *study;
    struct arena  *scratch;
    struct windows windows;
    struct id_map  rows_by_key;
    VEC(struct stat_row) rows;
    double all_ns[SIDE_COUNT], idle_ns[SIDE_COUNT], calls[SIDE_COUNT];
};

/* The row of that name; NULL: scratch is exhausted. */
static struct stat_row *row_of(struct op_stats *stats, enum side side, uint32_t name, uint32_t type)
{
    uint64_t key = (uint64_t)side << 32 | name;
    uint32_t row = id_map_get(&stats->rows_by_key, key);

    if (row == NO_ID) {
        row = (uint32_t)stats->rows.count;
        if (!id_map_put(&stats->rows_by_key, key, row) ||
            !vec_push(&stats->rows, stats->scratch,
                      (struct stat_row) { .side = (uint8_t)side, .name = name, .type = type }))
            return NULL;
    }
    return &stats->rows.items[row];
}

static void add_time(struct op_stats *stats, struct stat_row *row, double calls, double self_ns,
                     double total_ns)
{
    row->calls += calls;
    row->self_ns += self_ns;
    row->total_ns += total_ns;
    stats->calls[row->side] += calls;
    stats->all_ns[row->side] += self_ns;
}

/* What the program calls an op: of a compiled instruction, what it was made from. */
static uint32_t name_of(const struct profile *profile, uint32_t op, uint32_t name)
{
    return op != NO_ID && profile->ops.items[op].origin ? profile->ops.items[op].origin : name;
}

static bool is_product(const struct profile *profile, uint32_t op)
{
    return op != NO_ID && (op_is_product(profile_str(profile, profile->ops.items[op].type)) ||
                           op_is_product(profile_str(profile, profile->ops.items[op].name)));
}

static bool add_ops(struct op_stats *stats)
{
    const struct profile  *profile = stats->study->profile;
    const struct op_times *times = stats->study->op_times;

    for (size_t i = 0; times && i < times->count; i++) {
        const struct op_time *time = &times->rows[i];
        bool                  is_host =
            time->device == NO_ID || profile->devices.items[time->device].kind == DEVICE_CPU;
        struct stat_row *row;

        if (op_time_is_of_unit(profile, time) || (is_host && !op_time_is_host_op(profile, time)))
            continue;
        row = row_of(stats, is_host ? ON_HOST : ON_DEVICE, name_of(profile, time->op, time->name),
                     time->type);
        if (!row)
            return false;
        row->is_eager |= time->is_eager;
        row->is_product |= !is_host && is_product(profile, time->op);
        add_time(stats, row, time->calls, time->self_ns, time->total_ns);
    }
    return true;
}

/* Kernels that are no ops of their own count for the one that launched them. All tell of tensor
 * cores. */
static bool add_kernel(struct op_stats *stats, const struct kernel_time *time,
                       const struct kernel_name *parsed)
{
    const struct profile  *profile = stats->study->profile;
    const struct activity *kernel = &profile->activities.items[time->activity];
    bool                   is_op = kernel->op != NO_ID;
    uint32_t               name = kernel->name, type = kernel->category;
    struct stat_row       *row;

    if (time->op != NO_ID) {
        name = name_of(profile, time->op, profile->ops.items[time->op].name);
        type = profile->ops.items[time->op].type;
    } else if (time->op_activity != NO_ID) {
        name = profile->activities.items[time->op_activity].name;
    }
    row = row_of(stats, ON_DEVICE, name, type);
    if (!row)
        return false;
    row->has_kernels |= profile->devices.items[time->device].kind == DEVICE_GPU;
    row->kernel_ns += time->total_ns;
    row->tensor_core_ns += parsed->tensor_core == TENSOR_CORE_YES ? time->total_ns : 0;
    row->is_product |= is_product(profile, time->op);
    row->is_eager |= time->op != NO_ID && profile->ops.items[time->op].is_eager;
    if (!is_op)
        add_time(stats, row, time->calls, time->total_ns, time->total_ns);
    return true;
}

static bool add_kernels(struct op_stats *stats)
{
    struct kernel_times times;

    if (!kernel_times_get(stats->study, stats->scratch, &times))
        return false;
    for (size_t i = 0; i < times.count; i++)
        if (!add_kernel(stats, &times.rows[i], &times.names[times.rows[i].activity]))
            return false;
    return true;
}

static bool has_ops(const struct op_stats *stats, const struct timeline *line)
{
    const struct profile *profile = stats->study->profile;

    for (uint32_t event = line->first_event; event < line->first_event + line->event_count; event++)
        if (event_activity(profile, event)->kind == ACTIVITY_OP &&
            windows_find(&stats->windows, event_start_ns(profile, event)) != SIZE_MAX)
            return true;
    return false;
}

/* Of the mean accelerator, and of all host threads that run ops. */
static bool add_idle(struct op_stats *stats)
{
    const struct profile *profile = stats->study->profile;
    double                threads_ns = 0, count = 0;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];

        if (line->kind == TIMELINE_THREAD && line->host == stats->windows.host &&
            has_ops(stats, line))
            threads_ns += (double)stats->windows.total_ns;
    }
    if (threads_ns > stats->all_ns[ON_HOST])
        stats->idle_ns[ON_HOST] = threads_ns - stats->all_ns[ON_HOST];
    for (size_t i = 0; stats->study->devices && i < stats->study->devices->rows.count; i++) {
        const struct device_row *row = &stats->study->devices->rows.items[i];

        if (profile->devices.items[row->device].host != stats->windows.host || row->busy_ns <= 0)
            continue;
        stats->idle_ns[ON_DEVICE] += row->idle_ns;
        count++;
    }
    stats->idle_ns[ON_DEVICE] /= count > 0 ? count : 1;
    for (int side = 0; side < SIDE_COUNT; side++)
        if (stats->all_ns[side] > 0 &&
            !vec_push(&stats->rows, stats->scratch,
                      (struct stat_row) { .side = (uint8_t)side,
                                          .is_idle = true,
                                          .self_ns = stats->idle_ns[side],
                                          .total_ns = stats->idle_ns[side] }))
            return false;
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct stat_row *left = a, *right = b;

    return IN_ORDER(COMPARE(left->side, right->side), COMPARE(right->self_ns, left->self_ns),
                    COMPARE(right->is_idle, left->is_idle), COMPARE(left->name, right->name));
}

static double over(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static void fill_op(struct op_stats *stats, struct table *table, size_t row,
                    const struct stat_row *from, double *sum)
{
    emit_name(table, OP, row, from->name);
    emit_name(table, TYPE, row, from->type);
    emit_number(table, CALLS, row, from->calls / (double)stats->windows.count);
    if (from->calls > 0)
        emit_number(table, MEAN_NS, row, from->total_ns / from->calls);
    *sum += over(from->self_ns, stats->all_ns[from->side]);
    emit_number(table, SHARE, row, over(from->self_ns, stats->all_ns[from->side]));
    emit_number(table, CUMULATIVE, row, *sum < 1 ? *sum : 1);
    emit_number(table, IS_EAGER, row, from->is_eager);
    if (!from->has_kernels)
        return;
    emit_number(table, TENSOR_CORE, row, over(from->tensor_core_ns, from->kernel_ns));
    emit_number(table, ELIGIBLE, row, from->is_product || from->tensor_core_ns > 0);
}

static bool fill(struct op_stats *stats)
{
    static const struct str sides[SIDE_COUNT] = { STR_INIT("device"), STR_INIT("host") };
    struct study           *study = stats->study;
    struct table           *table = facts_table(&study->facts, &tables[0]);
    double                  sums[SIDE_COUNT] = { 0 }, idle_sums[SIDE_COUNT] = { 0 };

    for (size_t i = 0; table && i < stats->rows.count; i++) {
        const struct stat_row *from = &stats->rows.items[i];
        size_t                 row = table_add(table, study->arena);
        double share = over(from->self_ns, stats->all_ns[from->side] + stats->idle_ns[from->side]);

        if (row == SIZE_MAX)
            return false;
        idle_sums[from->side] += share;
        emit_name(table, WHERE, row, facts_name(&study->facts, sides[from->side]));
        emit_number(table, SELF_NS, row, from->self_ns / (double)stats->windows.count);
        emit_number(table, TOTAL_NS, row, from->total_ns / (double)stats->windows.count);
        emit_number(table, SHARE_IDLE, row, share);
        emit_number(table, CUMULATIVE_IDLE, row,
                    idle_sums[from->side] < 1 ? idle_sums[from->side] : 1);
        if (from->is_idle)
            emit_name(table, OP, row, facts_name(&study->facts, STR("IDLE")));
        else
            fill_op(stats, table, row, from, &sums[from->side]);
    }
    return table != NULL;
}

static bool trains(const struct profile *profile)
{
    for (size_t i = 0; i < profile->activities.count; i++) {
        struct str name = profile_str(profile, profile->activities.items[i].name);

        /* Eager ops are known by the calls of them alone. */
        if (name_is(name, NAMES_GRADIENT_OP) ||
            (profile->activities.items[i].kind == ACTIVITY_DISPATCH &&
             name_is(runs_called(name), NAMES_TF_GRADIENT_TYPE)))
            return true;
    }
    for (size_t i = 0; i < profile->ops.count; i++)
        if (name_is(profile_str(profile, profile->ops.items[i].origin), NAMES_GRADIENT_OP) ||
            name_is(profile_str(profile, profile->ops.items[i].type), NAMES_TF_GRADIENT_TYPE))
            return true;
    return false;
}

static bool set_facts(struct op_stats *stats)
{
    struct facts         *facts = &stats->study->facts;
    const struct profile *profile = stats->study->profile;
    double                eager_ns = 0, outside_ns = 0;
    bool                  ok = true;

    for (size_t i = 0; i < stats->rows.count; i++) {
        const struct stat_row *row = &stats->rows.items[i];

        if (row->side != ON_DEVICE)
            continue;
        eager_ns += row->is_eager ? row->self_ns : 0;
        if (name_is(profile_str(profile, row->type), NAMES_TF_OUTSIDE_COMPILED) ||
            name_is(profile_str(profile, row->name), NAMES_TF_OUTSIDE_COMPILED))
            outside_ns += row->self_ns;
    }
    if (stats->all_ns[ON_DEVICE] > 0)
        ok = facts_set(
                 facts, &produces[DEVICE_CALLS],
                 over(stats->calls[ON_DEVICE], stats->calls[ON_DEVICE] + stats->calls[ON_HOST])) &&
             facts_set(facts, &produces[DEVICE_EAGER], eager_ns / stats->all_ns[ON_DEVICE]) &&
             facts_set(facts, &produces[OUTSIDE], outside_ns / stats->all_ns[ON_DEVICE]);
    if (stats->all_ns[ON_HOST] > 0)
        ok = ok && facts_set(facts, &produces[HOST_IDLE],
                             over(stats->idle_ns[ON_HOST],
                                  stats->idle_ns[ON_HOST] + stats->all_ns[ON_HOST]));
    return ok && facts_set(facts, &produces[TRAINS], trains(profile));
}

static bool make(struct op_stats *stats)
{
    static const char reason[] = "no op is in the recorded steps";

    if (!windows_make(stats->study, stats->scratch, &stats->windows) || !add_ops(stats) ||
        !add_kernels(stats))
        return false;
    if (!stats->rows.count)
        return facts_absent(&stats->study->facts, "op_stats|op_stats.", NULL, "%s", reason);
    if (!add_idle(stats))
        return false;
    qsort(stats->rows.items, stats->rows.count, sizeof *stats->rows.items, compare_rows);
    return fill(stats) && set_facts(stats);
}

static bool run(struct study *study, struct err *err)
{
    struct arena    scratch = { .budget_bytes = study->arena->budget_bytes };
    struct op_stats stats = { .study = study, .scratch = &scratch };
    bool            is_done;

    stats.rows_by_key.arena = &scratch;
    is_done = make(&stats);
    arena_free(&scratch);
    return is_done || emit_limit("the table of ops with idle time", err);
}

const struct analysis analysis_op_stats = {
    .name = "op_stats",
    .summary = "ops of accelerators and hosts with their shares, with and without idle time",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
