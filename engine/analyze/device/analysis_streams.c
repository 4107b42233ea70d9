/*
 * streams: how the streams of a device share it: what each computes, which pairs never run side by
 * side, which kernels wait for a collective, and how evenly the device is used over the steps.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "base/macros.h"
#include "base/sort.h"
#include "model/name_class.h"

#include <stdlib.h>

enum stream_fact { COUNT, WAITS, COMM_WAIT_NS, USE_P5, USE_P95, USE_SWINGS, FACT_COUNT };
static const struct fact_spec produces[] = {
    [COUNT] = { "streams.count", UNIT_COUNT, "streams that compute, on the first device" },
    [WAITS] = { "streams.waits_per_step", UNIT_COUNT,
                "calls of the host a step that make a stream wait for an event" },
    [COMM_WAIT_NS] = { "streams.comm_wait_ns", UNIT_NS,
                       "time a step without computing, until a collective ends that a launched "
                       "kernel waits for" },
    [USE_P5] = { "device.use_p5", UNIT_SHARE,
                 "use of the device in its idlest twentieth of steps" },
    [USE_P95] = { "device.use_p95", UNIT_SHARE, "use in its busiest twentieth" },
    [USE_SWINGS] = { "device.use_swings", UNIT_COUNT,
                     "times a step that use falls below 10 % after 70 %" },
};
enum pair_column { P_DEVICE, P_A, P_B, P_A_NS, P_B_NS, P_OVERLAP_NS, P_SMALL_SHARE, P_B_KERNELS };
static const struct column_spec pair_columns[] = {
    [P_DEVICE] = { "device", UNIT_NAME, "device" },
    [P_A] = { "a", UNIT_NAME, "the busier stream" },
    [P_B] = { "b", UNIT_NAME, "the other" },
    [P_A_NS] = { "a_ns", UNIT_NS, "computing a step on a" },
    [P_B_NS] = { "b_ns", UNIT_NS, "computing a step on b" },
    [P_OVERLAP_NS] = { "overlap_ns", UNIT_NS, "of that, side by side" },
    [P_SMALL_SHARE] = { "small_share", UNIT_SHARE,
                        "of b's time, kernels known to leave multiprocessors free" },
    [P_B_KERNELS] = { "b_kernels", UNIT_COUNT, "kernels a step on b" },
};
enum wait_column { W_COLLECTIVE, W_KERNEL, W_COUNT, W_NS };
static const struct column_spec wait_columns[] = {
    [W_COLLECTIVE] = { "collective", UNIT_NAME, "what was waited for" },
    [W_KERNEL] = { "kernel", UNIT_NAME, "the first kernel that waited" },
    [W_COUNT] = { "count", UNIT_COUNT, "times a step" },
    [W_NS] = { "ns", UNIT_NS, "time a step" },
};
static const struct table_spec tables[] = {
    { "stream_pairs", "pairs of streams that compute", pair_columns, ARRAY_COUNT(pair_columns) },
    { "comm_waits", "collectives that kernels wait for", wait_columns, ARRAY_COUNT(wait_columns) },
};
enum { SLICES = 20, MOST_STREAMS = 64, WAKE_NS = 20000 };

struct stream {
    uint32_t         timeline, device;
    struct intervals compute; /* inside windows */
    double           ns, small_ns, kernels;
};
struct comm_wait {
    uint32_t collective, kernel; /* activities */
    double   count, ns;
};
struct seeing {
    struct study  *study;
    struct windows windows;
    struct arena  *scratch;
    VEC(struct stream) streams;
    VEC(struct comm_wait) waits;
    double wait_calls, comm_wait_ns;
};

/* A kernel of fewer blocks than multiprocessors leaves room for others; unknown ones fill it. */
static bool leaves_room(const struct profile *profile, uint32_t event, uint32_t sm_count)
{
    int64_t                     row;
    const struct kernel_config *config;

    if (sm_count == 0 || !profile_stat(profile, STAT_KERNEL_CONFIG, event, &row) || row < 0 ||
        (uint64_t)row >= profile->kernel_configs.count)
        return false;
    config = &profile->kernel_configs.items[row];
    return (uint64_t)config->grid[0] * config->grid[1] * config->grid[2] < sm_count;
}

static bool add_stream(struct seeing *seeing, uint32_t id)
{
    const struct profile  *profile = seeing->study->profile;
    const struct timeline *timeline = &profile->timelines.items[id];
    uint32_t               sm_count = profile->devices.items[timeline->device].sm_count;
    struct stream          stream = { .timeline = id, .device = timeline->device };

    for (uint32_t j = 0; j < timeline->event_count; j++) {
        uint32_t event = timeline->first_event + j;
        int64_t  start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);

        if (event_activity(profile, event)->kind != ACTIVITY_KERNEL ||
            windows_find(&seeing->windows, start_ns) == SIZE_MAX)
            continue;
        if (!intervals_add(&stream.compute, seeing->scratch, start_ns, end_ns))
            return false;
        stream.kernels++;
        if (leaves_room(profile, event, sm_count))
            stream.small_ns += (double)(end_ns - start_ns);
    }
    intervals_settle(&stream.compute);
    stream.ns = (double)intervals_total_ns(&stream.compute);
    return stream.ns <= 0 || seeing->streams.count == MOST_STREAMS ||
           vec_push(&seeing->streams, seeing->scratch, stream);
}

static uint8_t waits_for_event(struct str name)
{
    return str_contains(name, STR("StreamWaitEvent"));
}

static bool collect_streams(struct seeing *seeing)
{
    const struct profile *profile = seeing->study->profile;
    struct name_classes   names;

    if (!name_classes_open(&names, profile, waits_for_event, seeing->scratch))
        return false;
    for (uint32_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (timeline->kind == TIMELINE_STREAM && timeline->device != NO_ID &&
            timeline->host == seeing->windows.host && !add_stream(seeing, i))
            return false;
        if (timeline->kind != TIMELINE_THREAD || timeline->host != seeing->windows.host)
            continue;
        for (uint32_t j = 0; j < timeline->event_count; j++) {
            uint32_t event = timeline->first_event + j;

            seeing->wait_calls +=
                event_name_class(&names, event) &&
                windows_find(&seeing->windows, event_start_ns(profile, event)) != SIZE_MAX;
        }
    }
    return true;
}

static bool fill_pair(struct seeing *seeing, struct table *table, const struct stream *a,
                      const struct stream *b)
{
    const struct profile *profile = seeing->study->profile;
    double                steps = (double)seeing->windows.count;
    struct intervals      both;
    size_t                row;

    if (!intervals_intersect(&a->compute, &b->compute, seeing->scratch, &both))
        return false;
    row = table_add(table, seeing->study->arena);
    if (row == SIZE_MAX)
        return false;
    emit_name(table, P_DEVICE, row, profile->devices.items[a->device].name);
    emit_name(table, P_A, row, profile->timelines.items[a->timeline].name);
    emit_name(table, P_B, row, profile->timelines.items[b->timeline].name);
    emit_number(table, P_A_NS, row, a->ns / steps);
    emit_number(table, P_B_NS, row, b->ns / steps);
    emit_number(table, P_OVERLAP_NS, row, (double)intervals_total_ns(&both) / steps);
    emit_number(table, P_SMALL_SHARE, row, b->small_ns / b->ns);
    emit_number(table, P_B_KERNELS, row, b->kernels / steps);
    return true;
}

static bool fill_pairs(struct seeing *seeing)
{
    struct table *table = facts_table(&seeing->study->facts, &tables[0]);

    for (size_t i = 0; table && i < seeing->streams.count; i++)
        for (size_t j = i + 1; j < seeing->streams.count; j++) {
            const struct stream *a = &seeing->streams.items[i], *b = &seeing->streams.items[j];

            if (a->device != b->device)
                continue;
            if (!fill_pair(seeing, table, a->ns >= b->ns ? a : b, a->ns >= b->ns ? b : a))
                return false;
        }
    return table != NULL;
}

static bool add_comm_wait(struct seeing *seeing, uint32_t collective, uint32_t kernel, double ns)
{
    const struct profile *profile = seeing->study->profile;
    uint32_t              awaited = event_activity_id(profile, collective);
    struct comm_wait      fresh = { awaited, event_activity_id(profile, kernel), 1, ns };

    seeing->comm_wait_ns += ns;
    for (size_t i = 0; i < seeing->waits.count; i++)
        if (seeing->waits.items[i].collective == awaited) {
            seeing->waits.items[i].count++;
            seeing->waits.items[i].ns += ns;
            return true;
        }
    return vec_push(&seeing->waits, seeing->scratch, fresh);
}

struct computing { /* starts of kernels of one device, by time */
    int64_t  start_ns;
    uint32_t event;
};

static int compare_starts(const void *a, const void *b)
{
    const struct computing *left = a, *right = b;

    return IN_ORDER(COMPARE(left->start_ns, right->start_ns), COMPARE(left->event, right->event));
}

/* The first kernel at or behind a time, or NO_ID. */
static uint32_t kernel_behind(const struct computing *kernels, size_t count, int64_t time_ns)
{
    size_t low = LOWER_BOUND(count, i, kernels[i].start_ns < time_ns);

    return low < count ? kernels[low].event : NO_ID;
}

/* A kernel that was launched while the collective ran and that starts right as it ends, on a
 * device that computed nothing meanwhile, waited for it. */
static bool add_collective(struct seeing *seeing, const struct device_row *row,
                           const struct computing *kernels, size_t count, uint32_t event)
{
    const struct profile *profile = seeing->study->profile;
    int64_t  start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);
    uint32_t kernel = kernel_behind(kernels, count, end_ns), launch;
    double   waited_ns;

    if (kernel == NO_ID || event_start_ns(profile, kernel) > end_ns + WAKE_NS)
        return true;
    launch = seeing->study->devices->launch_of[kernel];
    waited_ns = (double)(end_ns - start_ns - intervals_overlap_ns(&row->compute, start_ns, end_ns));
    if (launch == NO_ID || event_start_ns(profile, launch) >= end_ns || waited_ns <= 0 ||
        intervals_overlap_ns(&row->compute, end_ns - 1, end_ns) > 0)
        return true;
    return add_comm_wait(seeing, event, kernel, waited_ns);
}

static bool find_comm_waits(struct seeing *seeing, const struct device_row *row)
{
    const struct profile *profile = seeing->study->profile;
    VEC(struct computing) kernels = { 0 };
    VEC(uint32_t) collectives = { 0 };

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        for (uint32_t j = 0; timeline->device == row->device && timeline->kind == TIMELINE_STREAM &&
                             j < timeline->event_count;
             j++) {
            uint32_t         event = timeline->first_event + j;
            uint8_t          kind = event_activity(profile, event)->kind;
            struct computing kernel = { event_start_ns(profile, event), event };

            if (windows_find(&seeing->windows, kernel.start_ns) == SIZE_MAX)
                continue;
            if ((kind == ACTIVITY_KERNEL && !vec_push(&kernels, seeing->scratch, kernel)) ||
                (kind == ACTIVITY_COLLECTIVE && !vec_push(&collectives, seeing->scratch, event)))
                return false;
        }
    }
    if (kernels.count > 1)
        qsort(kernels.items, kernels.count, sizeof *kernels.items, compare_starts);
    for (size_t i = 0; i < collectives.count; i++)
        if (!add_collective(seeing, row, kernels.items, kernels.count, collectives.items[i]))
            return false;
    return true;
}

static bool fill_waits(struct seeing *seeing)
{
    const struct profile *profile = seeing->study->profile;
    struct table         *table = facts_table(&seeing->study->facts, &tables[1]);
    double                steps = (double)seeing->windows.count;

    for (size_t i = 0; table && i < seeing->waits.count; i++) {
        const struct comm_wait *wait = &seeing->waits.items[i];
        size_t                  row = table_add(table, seeing->study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, W_COLLECTIVE, row, profile->activities.items[wait->collective].name);
        emit_name(table, W_KERNEL, row, profile->activities.items[wait->kernel].name);
        emit_number(table, W_COUNT, row, wait->count / steps);
        emit_number(table, W_NS, row, wait->ns / steps);
    }
    return table != NULL;
}

static int compare_shares(const void *a, const void *b)
{
    const double *left = a, *right = b;

    return COMPARE(*left, *right);
}

/* Each step is cut into equal slices; use is the share of a slice with work on the device. */
static bool measure_use(struct seeing *seeing, const struct device_row *row,
                        double values[FACT_COUNT])
{
    size_t  count = seeing->windows.count * SLICES;
    double *shares = arena_new_array(seeing->scratch, double, count);
    bool    is_high = false;

    if (!shares)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct interval *window = &seeing->windows.items[i / SLICES];
        int64_t                length_ns = window->end_ns - window->start_ns;
        int64_t start_ns = window->start_ns + length_ns / SLICES * (int64_t)(i % SLICES);
        int64_t end_ns = start_ns + length_ns / SLICES;

        if (end_ns > start_ns)
            shares[i] = (double)intervals_overlap_ns(&row->busy, start_ns, end_ns) /
                        (double)(end_ns - start_ns);
        values[USE_SWINGS] += is_high && shares[i] < 0.1;
        is_high = shares[i] >= 0.7 || (is_high && shares[i] >= 0.1);
    }
    qsort(shares, count, sizeof *shares, compare_shares);
    values[USE_P5] = shares[count / 20];
    values[USE_P95] = shares[count - 1 - count / 20];
    values[USE_SWINGS] /= (double)seeing->windows.count;
    return true;
}

static bool examine(struct seeing *seeing)
{
    struct study            *study = seeing->study;
    const struct device_row *leading = device_activity_leading(study);
    const struct device_row *row = leading ? leading : &study->devices->rows.items[0];
    double                   values[FACT_COUNT] = { 0 }, steps;
    bool                     is_set = true;

    if (!windows_make(study, seeing->scratch, &seeing->windows) || !collect_streams(seeing) ||
        !find_comm_waits(seeing, row) || !measure_use(seeing, row, values) || !fill_pairs(seeing) ||
        !fill_waits(seeing))
        return false;
    steps = (double)seeing->windows.count;
    for (size_t i = 0; i < seeing->streams.count; i++)
        values[COUNT] += seeing->streams.items[i].device == row->device;
    values[WAITS] = seeing->wait_calls / steps;
    values[COMM_WAIT_NS] = seeing->comm_wait_ns / steps;
    for (size_t i = 0; i < FACT_COUNT; i++)
        is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    static const char names[] = "streams.|device.use|stream_pairs|comm_waits";
    struct arena      scratch = { 0 };
    struct seeing     seeing = { .study = study, .scratch = &scratch };
    bool              is_done;

    if (study->devices && study->devices->rows.count > 0 && study->devices->launch_of)
        is_done = examine(&seeing);
    else
        is_done =
            facts_absent(&study->facts, names, NULL, "no accelerator's work is in the recording");
    arena_free(&scratch);
    return is_done || emit_limit("streams of devices", err);
}

const struct analysis analysis_streams = {
    .name = "streams",
    .summary = "how streams share a device, and who waits for collectives",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
