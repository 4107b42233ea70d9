/*
 * op_times: one pass over the events of the reference host with a stack a timeline; durations are
 * kept by row (a counting sort), so that medians need no second sort of everything.
 */
#include "analyze/ops/op_times.h"

#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "analyze/kernel/kernel_names.h"
#include "analyze/ops/op_cost.h"
#include "base/sample.h"
#include "base/sort.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An instruction that calls the host, by its primitive's name: XLA's runtime for GPUs records the
 * host's part of it alone, as no op of the program. */
static bool is_calling_back(const struct profile *profile, const struct activity *activity)
{
    return str_fits(profile_str(profile, activity->name),
                    "pure_callback*|io_callback*|debug_callback*|debug_print*");
}

static bool is_op_kind(const struct profile *profile, const struct activity *activity,
                       bool is_op_line)
{
    switch (activity->kind) {
    case ACTIVITY_OP:
    case ACTIVITY_COLLECTIVE:
        return true;
    case ACTIVITY_CALLBACK: /* the op that calls the host, not the Python that it calls */
        return activity->op != NO_ID || is_calling_back(profile, activity);
    case ACTIVITY_KERNEL:
    case ACTIVITY_OUTPUT: /* ops that prepare summaries, say; not what Python prints */
        return activity->op != NO_ID;
    case ACTIVITY_MEMCPY: /* an instruction like others, where a line is of these */
        return is_op_line && activity->op != NO_ID;
    default:
        return false;
    }
}

/* Floats rank above integers: a float matmul with an index operand computes in floats. */
static int dtype_weight(enum dtype dtype)
{
    static const uint8_t weights[DTYPE_COUNT] = {
        [DTYPE_C128] = 10, [DTYPE_F64] = 9, [DTYPE_C64] = 8, [DTYPE_F32] = 7,  [DTYPE_TF32] = 6,
        [DTYPE_BF16] = 5,  [DTYPE_F16] = 5, [DTYPE_F8] = 4,  [DTYPE_I64] = 3,  [DTYPE_U64] = 3,
        [DTYPE_I32] = 3,   [DTYPE_U32] = 3, [DTYPE_I16] = 2, [DTYPE_U16] = 2,  [DTYPE_I8] = 2,
        [DTYPE_U8] = 2,    [DTYPE_I4] = 2,  [DTYPE_F4] = 3,  [DTYPE_BOOL] = 1, [DTYPE_STRING] = 1,
    };

    return dtype < DTYPE_COUNT ? weights[dtype] : 0;
}

/* A Python number comes as a double of rank 0. It does not widen the tensors it meets, and by
 * itself it is no work in double precision. */
static bool is_number(const struct op *op, const struct tensor *tensor)
{
    return op->is_eager && tensor->rank == 0 &&
           (tensor->dtype == DTYPE_F64 || tensor->dtype == DTYPE_C128);
}

/* Of a product the wider type of its two factors, the first operands that are matrices: scales and
 * results of products in 8 and 4 bits are wider. DTYPE_UNKNOWN: it has no two such operands. */
static enum dtype factor_dtype(const struct profile *profile, const struct op *op)
{
    enum dtype widest = DTYPE_UNKNOWN;
    uint32_t   found = 0;

    for (uint32_t i = 0; i < op->input_count && found < 2; i++) {
        const struct tensor *tensor = &profile->tensors.items[op->first_input + i];

        if (tensor->rank < 2)
            continue;
        found++;
        if (dtype_weight((enum dtype)tensor->dtype) > dtype_weight(widest))
            widest = (enum dtype)tensor->dtype;
    }
    return found == 2 ? widest : DTYPE_UNKNOWN;
}

enum dtype op_dtype(const struct profile *profile, const struct op *op)
{
    enum dtype widest =
        op_is_product(profile_str(profile, op->type)) ? factor_dtype(profile, op) : DTYPE_UNKNOWN;

    if (widest != DTYPE_UNKNOWN)
        return widest;

    for (uint32_t i = 0; i < op->input_count + op->output_count; i++) {
        const struct tensor *tensor = &profile->tensors.items[op->first_input + i];

        if (!is_number(op, tensor) &&
            dtype_weight((enum dtype)tensor->dtype) > dtype_weight(widest))
            widest = (enum dtype)tensor->dtype;
    }
    return widest;
}

struct str op_times_short_name(struct str name)
{
    struct str rest = str_starts(name, STR("void ")) ? str_slice(name, 5, name.len) : name;
    size_t     end = str_find(rest, '<');

    end = end < str_find(rest, '(') ? end : str_find(rest, '(');
    return end ? str_slice(rest, 0, end) : rest;
}

struct call { /* one occurrence inside a window */
    uint32_t row, window;
    int64_t  duration_ns, self_ns;
    bool     is_input; /* on a thread of a tf.data pipeline */
};
struct open_slice { /* an open event of the timeline being walked */
    uint32_t event;
    int64_t  end_ns;
    size_t   op_call;     /* call of the nearest op at or above it, SIZE_MAX none */
    int64_t  last_op_end; /* end of the last op directly below; INT64_MIN none */
};
struct collector {
    const struct profile *profile;
    struct arena         *scratch;
    struct windows        windows, called; /* of accelerators, of hosts */
    uint32_t             *row_of;          /* by activity, or by op for recorded runs; row + 1 */
    struct id_map         eager_rows;      /* by name of the op */
    VEC(struct op_time) rows;
    VEC(struct call) calls;
    VEC(struct open_slice) stack;
    double gap_ns;
};

static struct op_time new_row(const struct profile *profile, uint32_t op, uint32_t device)
{
    struct op_time row = {
        .op = op, .device = device, .last_device = NO_ID, .source = NO_ID, .flops = -1
    };

    if (op == NO_ID)
        return row;
    row.name = profile->ops.items[op].name;
    row.type = profile->ops.items[op].type;
    row.category = profile->ops.items[op].category;
    row.source = profile->ops.items[op].source;
    row.dtype = (uint8_t)op_dtype(profile, &profile->ops.items[op]);
    row.is_eager = profile->ops.items[op].is_eager;
    row.flops = op_flops(profile, &profile->ops.items[op]);
    return row;
}

/* Accelerators that do the same share rows; units of one do not do what it does. */
static bool is_alike(const struct profile *profile, uint32_t a, uint32_t b)
{
    const struct device *devices = profile->devices.items;

    return a == b ||
           (a != NO_ID && b != NO_ID && devices[a].kind != DEVICE_CPU &&
            devices[a].kind == devices[b].kind && !devices[a].unit_of && !devices[b].unit_of);
}

/* The row of an activity; a new one for a device of another kind. */
static uint32_t activity_row(struct collector *collector, uint32_t id, uint32_t device)
{
    const struct activity *activity = &collector->profile->activities.items[id];
    struct op_time         row;

    if (collector->row_of[id] &&
        is_alike(collector->profile, collector->rows.items[collector->row_of[id] - 1].device,
                 device))
        return collector->row_of[id] - 1;
    row = new_row(collector->profile, activity->op, device);
    row.kind = activity->kind;
    if (row.name == 0)
        row.name = activity->name;
    if (row.type == 0)
        row.type = activity->name;
    if (row.source == NO_ID)
        row.source = activity->source;
    if (row.category == 0)
        row.category = activity->category;
    if (!vec_push(&collector->rows, collector->scratch, row))
        return NO_ID;
    collector->row_of[id] = (uint32_t)collector->rows.count;
    return (uint32_t)collector->rows.count - 1;
}

/* Those kernels run on a thread of their own, which names its events after them. */
static bool is_asynchronous(struct str op)
{
    return str_fits(op, "Collective*|Nccl*");
}

/* An eager execution stands for the op it runs: the runtime names no event after the op itself,
 * unless the execution only hands it over. IteratorGetNext is a wait for input, which other
 * analyses count. */
uint32_t op_times_eager_name(const struct profile *profile, uint32_t event)
{
    int64_t name, is_function;

    if (event_activity(profile, event)->kind != ACTIVITY_DISPATCH ||
        !profile_stat(profile, STAT_EAGER_OP, event, &name) ||
        (profile_stat(profile, STAT_IS_FUNCTION, event, &is_function) && is_function) ||
        str_equal(profile_str(profile, (uint32_t)name), STR("IteratorGetNext")) ||
        is_asynchronous(profile_str(profile, (uint32_t)name)))
        return NO_ID;
    return (uint32_t)name;
}

static uint32_t eager_row(struct collector *collector, uint32_t name)
{
    struct op_time row = { .flops = -1,
                           .name = name,
                           .type = name,
                           .op = NO_ID,
                           .device = NO_ID,
                           .source = NO_ID,
                           .kind = ACTIVITY_OP,
                           .is_eager = true };
    uint32_t       found = id_map_get(&collector->eager_rows, name);

    if (found != NO_ID)
        return found;
    found = (uint32_t)collector->rows.count;
    if (!vec_push(&collector->rows, collector->scratch, row) ||
        !id_map_put(&collector->eager_rows, name, found))
        return NO_ID;
    return found;
}

static bool is_run_kind(const struct profile *profile, uint32_t event)
{
    uint8_t kind = event_activity(profile, event)->kind;

    return kind == ACTIVITY_RUN || kind == ACTIVITY_EXECUTOR || kind == ACTIVITY_DISPATCH;
}

/* Charges the pause since the previous op under the same run. */
static void count_gap(struct collector *collector, int64_t start_ns, int64_t end_ns)
{
    struct open_slice *top;

    if (collector->stack.count == 0)
        return;
    top = &collector->stack.items[collector->stack.count - 1];
    if (!is_run_kind(collector->profile, top->event))
        return;
    if (top->last_op_end != INT64_MIN && start_ns > top->last_op_end)
        collector->gap_ns += (double)(start_ns - top->last_op_end);
    top->last_op_end = end_ns;
}

/* A product inside a call whose shapes tell the same product: aten::mm in aten::linear. The nearest
 * call above that has a cost is told, so that the operations count once. */
static void note_cost_inside(struct collector *collector, const struct call *call)
{
    struct op_time *rows = collector->rows.items;

    for (size_t i = collector->stack.count; i-- > 0 && rows[call->row].flops > 0;) {
        size_t above = collector->stack.items[i].op_call;

        if (above == SIZE_MAX)
            return;
        if (rows[collector->calls.items[above].row].flops > 0) {
            rows[collector->calls.items[above].row].is_counted_inside = true;
            return;
        }
    }
}

static bool walk_event(struct collector *collector, uint32_t event, const struct timeline *timeline)
{
    uint32_t              device = timeline->device;
    const struct profile *profile = collector->profile;
    int64_t               start_ns = event_start_ns(profile, event);
    int64_t               duration_ns = event_duration_ns(profile, event);
    struct open_slice     frame = { event, start_ns + duration_ns, SIZE_MAX, INT64_MIN };
    struct call           call = { .duration_ns = duration_ns, .self_ns = duration_ns };
    size_t                window;
    uint32_t              eager_name;

    while (collector->stack.count > 0 &&
           collector->stack.items[collector->stack.count - 1].end_ns < frame.end_ns)
        collector->stack.count--;
    while (collector->stack.count > 0 &&
           collector->stack.items[collector->stack.count - 1].end_ns <= start_ns)
        collector->stack.count--;
    if (collector->stack.count > 0)
        frame.op_call = collector->stack.items[collector->stack.count - 1].op_call;
    eager_name = op_times_eager_name(profile, event);
    if (eager_name == NO_ID &&
        !is_op_kind(profile, event_activity(profile, event), timeline->kind == TIMELINE_OPS))
        return vec_push(&collector->stack, collector->scratch, frame);
    if (frame.op_call != SIZE_MAX) /* also where a window ends inside the op */
        collector->calls.items[frame.op_call].self_ns -= duration_ns;
    window = windows_find(device == NO_ID ? &collector->called : &collector->windows, start_ns);
    if (window == SIZE_MAX) {
        frame.op_call = SIZE_MAX;
        return vec_push(&collector->stack, collector->scratch, frame);
    }
    call.window = (uint32_t)window;
    call.row = eager_name != NO_ID
                   ? eager_row(collector, eager_name)
                   : activity_row(collector, event_activity_id(profile, event), device);
    if (call.row != NO_ID && collector->rows.items[call.row].last_device != device) {
        collector->rows.items[call.row].last_device = device;
        collector->rows.items[call.row].device_count++;
    }
    call.is_input =
        device == NO_ID && str_starts(profile_str(profile, timeline->name), STR("tf_data_"));
    if (frame.op_call == SIZE_MAX && device == NO_ID)
        count_gap(collector, start_ns, frame.end_ns);
    if (call.row != NO_ID)
        note_cost_inside(collector, &call);
    frame.op_call = collector->calls.count;
    if (call.row == NO_ID || !vec_push(&collector->calls, collector->scratch, call))
        return false;
    return vec_push(&collector->stack, collector->scratch, frame);
}

static bool collect_events(struct collector *collector)
{
    const struct profile *profile = collector->profile;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (timeline->host != collector->windows.host || timeline->kind == TIMELINE_DERIVED ||
            timeline->kind == TIMELINE_STEPS || timeline->kind == TIMELINE_MODULES)
            continue;
        collector->stack.count = 0;
        for (uint32_t j = 0; j < timeline->event_count; j++)
            if (!walk_event(collector, timeline->first_event + j, timeline))
                return false;
    }
    return true;
}

/* "stream:all" repeats what the numbered streams hold; where it exists, it alone counts. */
static bool has_stream_all(const struct profile *profile)
{
    for (size_t i = 0; i < profile->op_runs.count; i++)
        if (str_ends(profile_str(profile, profile->op_runs.items[i].stream), STR("stream:all")))
            return true;
    return false;
}

/* By op: whether it prepares output; NULL: scratch is exhausted. */
static bool *find_output_ops(const struct collector *collector)
{
    const struct profile *profile = collector->profile;
    bool *is_output = arena_new_array(collector->scratch, bool, profile->ops.count + 1);

    for (size_t i = 0; is_output && i < profile->activities.count; i++)
        if (profile->activities.items[i].kind == ACTIVITY_OUTPUT &&
            profile->activities.items[i].op != NO_ID)
            is_output[profile->activities.items[i].op] = true;
    return is_output;
}

static uint8_t kind_of_run(const struct op_run *run, const bool *is_output)
{
    if (run->is_accelerator)
        return ACTIVITY_KERNEL;
    return is_output[run->op] ? ACTIVITY_OUTPUT : ACTIVITY_OP;
}

static bool collect_runs(struct collector *collector, const bool *is_used)
{
    const struct profile *profile = collector->profile;
    bool                  only_all = has_stream_all(profile);
    const bool           *is_output = find_output_ops(collector);

    if (!is_output)
        return false;
    for (size_t i = 0; i < profile->op_runs.count; i++) {
        const struct op_run *run = &profile->op_runs.items[i];
        size_t               slot = (size_t)run->op * 2 + run->is_accelerator;
        struct call          call = { .window = run->step,
                                      .duration_ns = run->duration_ns,
                                      .self_ns = run->duration_ns };

        if (run->step >= profile->recorded_steps.count || !is_used[run->step] ||
            run->duration_ns < 0)
            continue;
        if (only_all && run->stream != 0 &&
            !str_ends(profile_str(profile, run->stream), STR("stream:all")))
            continue;
        if (!collector->row_of[slot]) {
            struct op_time row = new_row(profile, run->op, run->device);

            row.kind = kind_of_run(run, is_output);
            if (!vec_push(&collector->rows, collector->scratch, row))
                return false;
            collector->row_of[slot] = (uint32_t)collector->rows.count;
        }
        call.row = collector->row_of[slot] - 1;
        if (!vec_push(&collector->calls, collector->scratch, call))
            return false;
    }
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct op_time *left = a, *right = b;

    return IN_ORDER(COMPARE(right->self_ns, left->self_ns), COMPARE(left->name, right->name),
                    COMPARE(left->op, right->op));
}

/* Work of accelerators is told of one of them. */
static void take_means(struct collector *collector, double device_count)
{
    const struct device *devices = collector->profile->devices.items;

    for (size_t i = 0; i < collector->rows.count; i++) {
        struct op_time *row = &collector->rows.items[i];

        if (row->device == NO_ID || devices[row->device].kind == DEVICE_CPU)
            continue;
        row->calls /= device_count;
        row->total_ns /= device_count;
        row->self_ns /= device_count;
        row->fastest_ns /= device_count;
    }
}

/* What a row took in the step in which it took least, whole ns; 0: some step of `step_count` is
 * without it. sums: zero by window, and again afterwards. */
static double fastest_ns(const struct call *calls, size_t count, double step_count, double *sums)
{
    double least_ns = INFINITY, steps = 0;

    for (size_t i = 0; i < count; i++) {
        double *sum = &sums[calls[i].window];

        steps += *sum == 0;
        *sum += calls[i].self_ns > 0 ? (double)calls[i].self_ns : DBL_MIN; /* seen */
    }
    for (size_t i = 0; i < count; i++)
        least_ns = fmin(least_ns, sums[calls[i].window]);
    for (size_t i = 0; i < count; i++)
        sums[calls[i].window] = 0;
    return steps >= step_count ? floor(least_ns) : 0;
}

/* What needs all calls of a row: `first` bounds them, by row, among those that are sorted by it. */
static bool settle_rows(struct collector *collector, const struct call *sorted, const size_t *first,
                        size_t window_limit, double step_count)
{
    double *ns = arena_new_array(collector->scratch, double, collector->calls.count + 1);
    double *sums = arena_new_array(collector->scratch, double, window_limit + 1);

    for (size_t i = 0; ns && sums && i < collector->rows.count; i++) {
        struct op_time    *row = &collector->rows.items[i];
        const struct call *calls = &sorted[first[i]];
        size_t             count = first[i + 1] - first[i];

        for (size_t j = 0; j < count; j++)
            ns[j] = (double)calls[j].duration_ns;
        row->median_ns = sample_middle(ns, count);
        row->fastest_ns = fastest_ns(calls, count, step_count, sums);
    }
    return ns && sums;
}

/* Sums calls into rows and takes the medians. */
static bool settle(struct collector *collector, struct op_times *times, size_t window_limit)
{
    size_t  row_count = collector->rows.count, call_count = collector->calls.count, host_count = 0;
    size_t *first = arena_new_array(collector->scratch, size_t, row_count + 2);
    double *host = arena_new_array(collector->scratch, double, call_count + 1);
    struct call *sorted = arena_new_array(collector->scratch, struct call, call_count + 1);

    if (!first || !sorted || !host)
        return false;
    for (size_t i = 0; i < call_count; i++) {
        const struct call *call = &collector->calls.items[i];
        struct op_time    *row = &collector->rows.items[call->row];
        int64_t            self_ns = call->self_ns > 0 ? call->self_ns : 0;

        row->calls++;
        row->total_ns += (double)call->duration_ns;
        row->self_ns += (double)self_ns;
        row->input_ns += call->is_input ? (double)self_ns : 0;
        first[call->row + 2]++;
        if (!op_time_is_host_op(collector->profile, row))
            continue;
        host[host_count++] = (double)call->duration_ns;
        if (call->duration_ns < OP_TINY_NS) {
            times->tiny_count++;
            times->tiny_self_ns += (double)self_ns;
        }
    }
    for (size_t i = 0; i < row_count; i++)
        first[i + 2] += first[i + 1];
    for (size_t i = 0; i < call_count; i++)
        sorted[first[collector->calls.items[i].row + 1]++] = collector->calls.items[i];
    times->call_count = host_count;
    times->median_ns = sample_middle(host, host_count);
    return settle_rows(collector, sorted, first, window_limit, times->step_count);
}

/* How much of what has no time goes to the used steps: as much as of the steps is used. */
static double used_share(const struct study *study)
{
    const struct steps *steps = &study->steps;
    size_t              count = 0;

    for (size_t i = 0; i < steps->list.count; i++)
        count += steps->list.items[i].host == steps->host;
    return steps->used_count ? (double)steps->used_count / (double)count : 1;
}

/* Rows of ops that the recording sums up itself. */
static bool add_aggregates(const struct study *study, struct collector *collector)
{
    const struct profile *profile = study->profile;
    double                share = used_share(study);

    for (size_t i = 0; i < profile->aggregates.count; i++) {
        const struct aggregate *from = &profile->aggregates.items[i];
        const struct timeline  *timeline = &profile->timelines.items[from->timeline];
        uint32_t                activity = profile->labels.items[from->label], index;
        double                  total_ns = (double)from->total_ns * share;
        struct op_time         *row;

        if (timeline->host != collector->windows.host || timeline->kind == TIMELINE_DERIVED ||
            !is_op_kind(profile, &profile->activities.items[activity],
                        timeline->kind == TIMELINE_OPS))
            continue;
        index = activity_row(collector, activity, timeline->device);
        if (index == NO_ID)
            return false;
        row = &collector->rows.items[index];
        row->calls += (double)from->count * share;
        row->total_ns += total_ns;
        row->self_ns += total_ns;
        row->fastest_ns = 0; /* its steps are not told apart */
        if (row->median_ns <= 0)
            row->median_ns = (double)from->total_ns / (double)from->count;
    }
    return true;
}

bool op_times_make(const struct study *study, struct arena *scratch, struct op_times *times)
{
    const struct profile *profile = study->profile;
    struct collector      collector = { .profile = profile, .scratch = scratch };
    size_t                step_count, window_limit, slot_count = profile->activities.count;

    if (study->op_times) {
        *times = *study->op_times;
        return true;
    }
    *times = (struct op_times) { 0 };
    if (profile->ops.count * 2 > slot_count)
        slot_count = profile->ops.count * 2;
    collector.row_of = arena_new_array(scratch, uint32_t, slot_count + 1);
    collector.eager_rows.arena = scratch;
    if (!collector.row_of || !windows_make(study, scratch, &collector.windows) ||
        !windows_make_called(study, scratch, &collector.called))
        return false;
    step_count = window_limit = collector.windows.count;
    if (profile->op_runs.count > 0) {
        bool *is_used = windows_recorded(study, scratch, &step_count);

        window_limit = profile->recorded_steps.count;
        if (!is_used || !collect_runs(&collector, is_used))
            return false;
    } else if (!collect_events(&collector)) {
        return false;
    }
    times->step_count = (double)step_count;
    times->step_ns = collector.windows.step_ns;
    times->gap_ns = collector.gap_ns;
    if (!settle(&collector, times, window_limit) || !add_aggregates(study, &collector))
        return false;
    take_means(&collector, device_activity_count(study, &collector.windows));
    times->rows = collector.rows.items;
    times->count = collector.rows.count;
    if (times->count > 1)
        qsort(times->rows, times->count, sizeof *times->rows, compare_rows);
    return true;
}

bool op_time_is_host_op(const struct profile *profile, const struct op_time *time)
{
    return time->kind == ACTIVITY_OP ||
           (time->kind == ACTIVITY_OUTPUT && /* an outfeed is its device's */
            (time->device == NO_ID || profile->devices.items[time->device].kind == DEVICE_CPU));
}

bool op_time_is_of_unit(const struct profile *profile, const struct op_time *time)
{
    return time->device != NO_ID && profile->devices.items[time->device].unit_of;
}

bool op_times_keep(struct study *study, const struct op_times *times)
{
    struct op_times *kept = arena_new(study->arena, struct op_times);
    struct op_time  *rows = arena_new_array(study->arena, struct op_time, times->count + 1);

    if (!kept || !rows)
        return false;
    if (times->count)
        memcpy(rows, times->rows, times->count * sizeof *rows);
    *kept = *times;
    kept->rows = rows;
    study->op_times = kept;
    return true;
}
