/* async_ops: what cores do beside their instructions: copies, collectives and programs that one
 * instruction begins and another one waits for, and how much of it computing hides. */
#include "analyze/analysis.h"
#include "analyze/device/async_ops.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "base/sort.h"

#include <stdlib.h>

enum async_fact { F_COUNT, F_NS, F_EXPOSED_NS, F_HIDDEN_SHARE };
static const struct fact_spec produces[] = {
    [F_COUNT] = { "async.count_per_step", UNIT_COUNT,
                  "operations a step that one instruction of a core begins and another ends" },
    [F_NS] = { "async.ns", UNIT_NS, "their time a step; of those that share a link, each its own" },
    [F_EXPOSED_NS] = { "async.exposed_ns", UNIT_NS, "of that, what the core waits for" },
    [F_HIDDEN_SHARE] = { "async.hidden_share", UNIT_SHARE, "the share that it does not wait for" },
};
enum async_column {
    NAME,
    TYPE,
    WHERE,
    COUNT,
    BYTES,
    NS,
    EXPOSED_NS,
    HIDDEN_NS,
    HIDDEN_SHARE,
    SPAN_NS,
    BANDWIDTH
};
static const struct column_spec columns[] = {
    [NAME] = { "name", UNIT_NAME, "instruction that begins it" },
    [TYPE] = { "type", UNIT_NAME, "its type: copy-start, all-reduce-start, …" },
    [WHERE] = { "where", UNIT_NAME, "device; how many where several do the same" },
    [COUNT] = { "count", UNIT_COUNT, "a step" },
    [BYTES] = { "bytes", UNIT_BYTES, "a step" },
    [NS] = { "ns", UNIT_NS, "time a step; of those that share a link, each by its bytes" },
    [EXPOSED_NS] = { "exposed_ns", UNIT_NS, "of that, in the instructions that begin and end it" },
    [HIDDEN_NS] = { "hidden_ns", UNIT_NS, "the rest: the core did something else" },
    [HIDDEN_SHARE] = { "hidden_share", UNIT_SHARE, "that over its time" },
    [SPAN_NS] = { "span_ns", UNIT_NS, "mean of one from its begin to its end" },
    [BANDWIDTH] = { "bytes_per_s", UNIT_BYTES_PER_S, "bytes over time" },
};
static const struct table_spec tables[] = {
    { "async_ops", "what cores do beside their instructions", columns, ARRAY_COUNT(columns) },
};

struct async_sum {
    uint32_t activity, device, last_device, device_count;
    double   count, bytes, ns, exposed_ns, span_ns;
};
struct async_sums {
    VEC(struct async_sum) rows;
    double devices; /* whose mean is told */
};

static bool sum_ops(const struct study *study, const struct windows *windows, struct arena *scratch,
                    struct async_sums *sums)
{
    const struct profile *profile = study->profile;
    struct id_map         rows = { .arena = scratch };
    struct async_ops      ops;

    if (!async_ops_find(profile, windows->host, scratch, &ops))
        return false;
    for (size_t i = 0; i < ops.list.count; i++) {
        const struct async_op *op = &ops.list.items[i];
        uint32_t               activity = event_activity_id(profile, op->start_event);
        uint32_t               row = id_map_get(&rows, activity);
        struct async_sum       fresh = { activity, op->device, NO_ID, 0, 0, 0, 0, 0, 0 }, *sum;

        if (windows_find(windows, op->start_ns) == SIZE_MAX)
            continue;
        if (row == NO_ID) {
            row = (uint32_t)sums->rows.count;
            if (!vec_push(&sums->rows, scratch, fresh) || !id_map_put(&rows, activity, row))
                return false;
        }
        sum = &sums->rows.items[row];
        sum->device_count += sum->last_device != op->device;
        sum->last_device = op->device;
        sum->count++;
        sum->bytes += op->bytes;
        sum->ns += op->own_ns;
        sum->exposed_ns += op->blocked_ns;
        sum->span_ns += (double)(op->end_ns - op->start_ns);
    }
    sums->devices = device_activity_count(study, windows);
    return true;
}

static int compare_sums(const void *a, const void *b)
{
    const struct async_sum *left = a, *right = b;

    return IN_ORDER(COMPARE(right->exposed_ns, left->exposed_ns),
                    COMPARE(left->activity, right->activity));
}

static void fill_row(struct study *study, struct table *table, size_t row,
                     const struct async_sum *sum, double steps)
{
    const struct profile  *profile = study->profile;
    const struct activity *activity = &profile->activities.items[sum->activity];

    emit_name(table, NAME, row, profile->ops.items[activity->op].name);
    emit_name(table, TYPE, row, profile->ops.items[activity->op].type);
    emit_name(table, WHERE, row,
              sum->device_count > 1 ? emit_devices(study, sum->device_count)
                                    : profile->devices.items[sum->device].name);
    emit_number(table, COUNT, row, sum->count / steps);
    if (sum->bytes > 0)
        emit_number(table, BYTES, row, sum->bytes / steps);
    emit_number(table, NS, row, sum->ns / steps);
    emit_number(table, EXPOSED_NS, row, sum->exposed_ns / steps);
    emit_number(table, HIDDEN_NS, row, (sum->ns - sum->exposed_ns) / steps);
    if (sum->ns > 0)
        emit_number(table, HIDDEN_SHARE, row, 1 - sum->exposed_ns / sum->ns);
    emit_number(table, SPAN_NS, row, sum->span_ns / sum->count);
    if (sum->ns > 0 && sum->bytes > 0)
        emit_number(table, BANDWIDTH, row, sum->bytes / sum->ns * 1e9);
}

static bool emit_all(struct study *study, struct async_sums *sums, double steps)
{
    struct table *table = facts_table(&study->facts, &tables[0]);
    double        values[ARRAY_COUNT(produces)] = { 0 };
    bool          is_set = table != NULL;

    qsort(sums->rows.items, sums->rows.count, sizeof *sums->rows.items, compare_sums);
    for (size_t i = 0; table && i < sums->rows.count; i++) {
        const struct async_sum *sum = &sums->rows.items[i];
        size_t                  row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        fill_row(study, table, row, sum, steps);
        values[F_COUNT] += sum->count / steps;
        values[F_NS] += sum->ns / steps;
        values[F_EXPOSED_NS] += sum->exposed_ns / steps;
    }
    if (values[F_NS] > 0)
        values[F_HIDDEN_SHARE] = 1 - values[F_EXPOSED_NS] / values[F_NS];
    for (size_t i = 0; i < ARRAY_COUNT(produces); i++)
        is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    static const char reason[] = "no instruction of a core begins what another one ends";
    struct arena      scratch = { 0 };
    struct windows    windows;
    struct async_sums sums = { 0 };
    bool              is_done =
        windows_make(study, &scratch, &windows) && sum_ops(study, &windows, &scratch, &sums);

    if (is_done && sums.rows.count == 0)
        is_done = facts_absent(&study->facts, "async.|async_ops", NULL, reason);
    else if (is_done)
        is_done = emit_all(study, &sums, (double)windows.count * sums.devices);
    arena_free(&scratch);
    return is_done || emit_limit("what cores do beside their instructions", err);
}

const struct analysis analysis_async_ops = {
    .name = "async_ops",
    .summary = "what cores do beside their instructions",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
