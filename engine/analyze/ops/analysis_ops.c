/* ops: what ran, how often, how long, by op and by type, a step. */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/ops/op_times.h"
#include "analyze/ops/siblings.h"
#include "base/sort.h"

#include <stdlib.h>

enum ops_fact {
    COUNT_PER_STEP,
    DISTINCT,
    MEDIAN_NS,
    TOTAL_NS,
    SELF_NS,
    DEVICE_SELF_NS,
    SELF_SHARE,
    TINY_COUNT,
    TINY_SELF_NS,
    TINY_SHARE,
    GAP_NS,
    EAGER_SELF_NS,
    EAGER_SHARE,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [COUNT_PER_STEP] = { "ops.count_per_step", UNIT_COUNT,
                         "calls of host ops a step, those that prepare output among them" },
    [DISTINCT] = { "ops.distinct", UNIT_COUNT, "different ops that ran" },
    [MEDIAN_NS] = { "ops.median_ns", UNIT_NS, "median duration of one call of a host op" },
    [TOTAL_NS] = { "ops.total_ns", UNIT_NS, "time inside host ops a step, summed over threads" },
    [SELF_NS] = { "ops.self_ns", UNIT_NS, "self time of host ops a step, summed over threads" },
    [DEVICE_SELF_NS] = { "ops.device_self_ns", UNIT_NS, "self time of ops on accelerators a step" },
    [SELF_SHARE] = { "ops.self_share", UNIT_RATIO,
                     "self time of host ops over the step; above 1 when threads work in parallel" },
    [TINY_COUNT] = { "ops.tiny_count", UNIT_COUNT, "calls of host ops below 10 us a step" },
    [TINY_SELF_NS] = { "ops.tiny_self_ns", UNIT_NS, "self time of those a step" },
    [TINY_SHARE] = { "ops.tiny_share", UNIT_SHARE, "share of calls of host ops below 10 us" },
    [GAP_NS] = { "ops.gap_ns", UNIT_NS,
                 "pauses between consecutive ops of one run on one thread, a step" },
    [EAGER_SELF_NS] = { "ops.eager_self_ns", UNIT_NS, "self time of ops that ran eagerly, a step" },
    [EAGER_SHARE] = { "ops.eager_share", UNIT_SHARE, "share of op self time that ran eagerly" },
};

enum ops_column {
    NAME,
    TYPE,
    KIND,
    DTYPE,
    DEVICE,
    SCOPE,
    MODULE,
    SOURCE_FILE,
    SOURCE_LINE,
    CALLS,
    ROW_TOTAL_NS,
    ROW_SELF_NS,
    INPUT_NS,
    MEAN_NS,
    ROW_MEDIAN_NS,
    FASTEST_NS,
    SHARE,
    FLOPS,
    BYTES,
    ON_CHIP_BYTES,
    SHAPES,
    IS_EAGER,
    CATEGORY,
    SIBLINGS
};
static const struct column_spec op_columns[] = {
    [NAME] = { "name", UNIT_NAME, "full name" },
    [TYPE] = { "type", UNIT_NAME, "op type" },
    [KIND] = { "kind", UNIT_NAME, "what it is: op, kernel, collective, callback" },
    [DTYPE] = { "dtype", UNIT_NAME, "widest type among operands and results" },
    [DEVICE] = { "device", UNIT_NAME, "device it ran on; none: a host thread" },
    [SCOPE] = { "scope", UNIT_NAME,
                "scopes it is in; of a compiled instruction, of what it was made from" },
    [MODULE] = { "module", UNIT_NAME, "program or function it belongs to" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
    [CALLS] = { "calls", UNIT_COUNT, "calls a step" },
    [ROW_TOTAL_NS] = { "total_ns", UNIT_NS, "time a step" },
    [ROW_SELF_NS] = { "self_ns", UNIT_NS, "time a step less the ops nested in it" },
    [INPUT_NS] = { "input_ns", UNIT_NS,
                   "of the self time, that on threads of a tf.data pipeline; none: no such" },
    [MEAN_NS] = { "mean_ns", UNIT_NS, "mean of one call" },
    [ROW_MEDIAN_NS] = { "median_ns", UNIT_NS, "median of one call" },
    [FASTEST_NS] = { "fastest_ns", UNIT_NS,
                     "self time in the step in which that is least; none: not in all steps" },
    [SHARE] = { "share", UNIT_RATIO, "self time over the step" },
    [FLOPS] = { "flops", UNIT_FLOPS, "floating point operations of one call" },
    [BYTES] = { "bytes", UNIT_BYTES, "memory traffic of one call" },
    [ON_CHIP_BYTES] = { "on_chip_bytes", UNIT_BYTES,
                        "beside it, traffic of memories inside of the chip, where recorded" },
    [SHAPES] = { "shapes", UNIT_NAME, "operands and results" },
    [IS_EAGER] = { "is_eager", UNIT_BOOL, "ran op by op" },
    [CATEGORY] = { "category", UNIT_NAME, "category as recorded" },
    [SIBLINGS] = { "siblings", UNIT_COUNT,
                   "instructions of its program, itself among them, that do the same with the same "
                   "shapes and need nothing of each other; none: fewer than 16" },
};
enum type_column {
    T_TYPE,
    T_CATEGORY,
    T_KIND,
    T_CALLS,
    T_TOTAL_NS,
    T_SELF_NS,
    T_SHARE,
    T_DISTINCT
};
static const struct column_spec type_columns[] = {
    [T_TYPE] = { "type", UNIT_NAME, "op type" },
    [T_CATEGORY] = { "category", UNIT_NAME, "category as recorded" },
    [T_KIND] = { "kind", UNIT_NAME, "what it is" },
    [T_CALLS] = { "calls", UNIT_COUNT, "calls a step" },
    [T_TOTAL_NS] = { "total_ns", UNIT_NS, "time a step" },
    [T_SELF_NS] = { "self_ns", UNIT_NS, "self time a step" },
    [T_SHARE] = { "share", UNIT_RATIO, "self time over the step" },
    [T_DISTINCT] = { "distinct", UNIT_COUNT, "different ops of the type" },
};
static const struct table_spec tables[] = {
    { "ops", "ops by self time", op_columns, ARRAY_COUNT(op_columns) },
    { "op_types", "types of ops by self time", type_columns, ARRAY_COUNT(type_columns) },
};

static void fill_source(const struct profile *profile, struct table *table, size_t row,
                        uint32_t source)
{
    source = profile_user_source(profile, source);
    emit_source(profile, table, SOURCE_FILE, row, source);
}

static void fill_op(struct study *study, struct table *table, size_t row, uint32_t id)
{
    const struct op *op;

    if (id == NO_ID)
        return;
    op = &study->profile->ops.items[id];
    emit_name(table, MODULE, row, op->module);
    emit_name(table, SHAPES, row, emit_shapes(study, op));
    if (op->flops >= 0)
        emit_number(table, FLOPS, row, (double)op->flops);
    if (op->bytes >= 0)
        emit_number(table, BYTES, row, (double)op->bytes);
    if (op->on_chip_bytes > 0)
        emit_number(table, ON_CHIP_BYTES, row, (double)op->on_chip_bytes);
}

static bool fill_ops(struct study *study, const struct op_times *times, const uint32_t *siblings)
{
    const struct profile *profile = study->profile;
    struct table         *table = facts_table(&study->facts, &tables[0]);

    for (size_t i = 0; table && i < times->count; i++) {
        const struct op_time *time = &times->rows[i];
        size_t                row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, NAME, row, time->name);
        emit_name(table, TYPE, row, time->type);
        emit_name(table, KIND, row,
                  facts_name(&study->facts, str_from(activity_kind_name(time->kind))));
        if (time->dtype != DTYPE_UNKNOWN)
            emit_name(table, DTYPE, row,
                      facts_name(&study->facts, str_from(dtype_name(time->dtype))));
        if (time->device != NO_ID)
            emit_name(table, DEVICE, row,
                      time->device_count > 1 ? emit_devices(study, time->device_count)
                                             : profile->devices.items[time->device].name);
        emit_name(table, SCOPE, row,
                  time->op != NO_ID && profile->ops.items[time->op].origin
                      ? profile->ops.items[time->op].origin
                      : emit_scope(study, time->name));
        emit_name(table, CATEGORY, row, time->category);
        fill_source(profile, table, row, time->source);
        fill_op(study, table, row, time->op);
        emit_number(table, CALLS, row, time->calls / times->step_count);
        emit_number(table, ROW_TOTAL_NS, row, time->total_ns / times->step_count);
        emit_number(table, ROW_SELF_NS, row, time->self_ns / times->step_count);
        if (time->input_ns > 0)
            emit_number(table, INPUT_NS, row, time->input_ns / times->step_count);
        emit_number(table, MEAN_NS, row, time->total_ns / time->calls);
        emit_number(table, ROW_MEDIAN_NS, row, time->median_ns);
        if (time->fastest_ns > 0)
            emit_number(table, FASTEST_NS, row, time->fastest_ns);
        emit_number(table, SHARE, row, time->self_ns / times->step_count / times->step_ns);
        emit_number(table, IS_EAGER, row, time->is_eager);
        if (siblings && time->op != NO_ID && siblings[time->op])
            emit_number(table, SIBLINGS, row, siblings[time->op]);
    }
    return table != NULL;
}

struct type_sum {
    uint32_t type, category;
    uint8_t  kind;
    double   calls, total_ns, self_ns, distinct;
};

static int compare_types(const void *a, const void *b)
{
    const struct type_sum *left = a, *right = b;

    return IN_ORDER(COMPARE(right->self_ns, left->self_ns), COMPARE(left->type, right->type),
                    COMPARE(left->kind, right->kind));
}

/* Rows of times summed by type and kind, in scratch, most self time first. */
static struct type_sum *sum_types(const struct op_times *times, struct arena *scratch,
                                  size_t *count)
{
    struct type_sum *sums = arena_new_array(scratch, struct type_sum, times->count + 1);
    struct id_map    rows = { .arena = scratch };

    *count = 0;
    for (size_t i = 0; sums && i < times->count; i++) {
        const struct op_time *time = &times->rows[i];
        uint64_t              key = (uint64_t)time->type << 8 | time->kind;
        uint32_t              row = id_map_get(&rows, key);

        if (row == NO_ID) {
            row = (uint32_t)*count;
            if (!id_map_put(&rows, key, row))
                return NULL;
            sums[(*count)++] = (struct type_sum) { .type = time->type,
                                                   .category = time->category,
                                                   .kind = time->kind };
        }
        sums[row].calls += time->calls;
        sums[row].total_ns += time->total_ns;
        sums[row].self_ns += time->self_ns;
        sums[row].distinct += 1;
    }
    if (sums && *count > 1)
        qsort(sums, *count, sizeof *sums, compare_types);
    return sums;
}

static bool fill_types(struct study *study, const struct op_times *times, struct arena *scratch)
{
    struct table    *table = facts_table(&study->facts, &tables[1]);
    size_t           count = 0;
    struct type_sum *sums = sum_types(times, scratch, &count);

    if (!table || !sums)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, T_TYPE, row, sums[i].type);
        emit_name(table, T_CATEGORY, row, sums[i].category);
        emit_name(table, T_KIND, row,
                  facts_name(&study->facts, str_from(activity_kind_name(sums[i].kind))));
        emit_number(table, T_CALLS, row, sums[i].calls / times->step_count);
        emit_number(table, T_TOTAL_NS, row, sums[i].total_ns / times->step_count);
        emit_number(table, T_SELF_NS, row, sums[i].self_ns / times->step_count);
        emit_number(table, T_SHARE, row, sums[i].self_ns / times->step_count / times->step_ns);
        emit_number(table, T_DISTINCT, row, sums[i].distinct);
    }
    return true;
}

static bool set_facts(struct study *study, const struct op_times *times)
{
    double values[FACT_COUNT] = { 0 }, self_ns = 0;
    bool   is_set = true;

    for (size_t i = 0; i < times->count; i++) {
        const struct op_time *time = &times->rows[i];

        self_ns += time->self_ns;
        if (time->is_eager)
            values[EAGER_SELF_NS] += time->self_ns / times->step_count;
        if (time->kind == ACTIVITY_KERNEL && !op_time_is_of_unit(study->profile, time))
            values[DEVICE_SELF_NS] += time->self_ns / times->step_count;
        if (!op_time_is_host_op(study->profile, time))
            continue;
        values[SELF_NS] += time->self_ns / times->step_count;
        values[TOTAL_NS] += time->total_ns / times->step_count;
    }
    values[COUNT_PER_STEP] = (double)times->call_count / times->step_count;
    values[DISTINCT] = (double)times->count;
    values[MEDIAN_NS] = times->median_ns;
    values[SELF_SHARE] = values[SELF_NS] / times->step_ns;
    values[TINY_COUNT] = (double)times->tiny_count / times->step_count;
    values[TINY_SELF_NS] = times->tiny_self_ns / times->step_count;
    if (times->call_count > 0)
        values[TINY_SHARE] = (double)times->tiny_count / (double)times->call_count;
    values[GAP_NS] = times->gap_ns / times->step_count;
    if (self_ns > 0)
        values[EAGER_SHARE] = values[EAGER_SELF_NS] * times->step_count / self_ns;
    for (size_t i = 0; i < FACT_COUNT; i++)
        is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    struct arena    scratch = { 0 };
    struct op_times times;
    uint32_t       *siblings = NULL;
    bool is_done = op_times_make(study, &scratch, &times) && op_times_keep(study, &times) &&
                   siblings_count(study->profile, &scratch, &siblings);

    if (is_done && times.count == 0) {
        for (size_t i = 0; is_done && i < ARRAY_COUNT(tables); i++)
            is_done = facts_absent(&study->facts, tables[i].name, "host tracing or run metadata",
                                   "no op ran in the recorded steps");
        is_done = is_done && facts_absent(&study->facts, "ops.", "host tracing or run metadata",
                                          "no op ran in the recorded steps");
    } else if (is_done) {
        is_done = fill_ops(study, &times, siblings) && fill_types(study, &times, &scratch) &&
                  set_facts(study, &times);
    }
    arena_free(&scratch);
    return is_done || emit_limit("the table of ops", err);
}

const struct analysis analysis_ops = {
    .name = "ops",
    .summary = "what ran, how often and how long",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
