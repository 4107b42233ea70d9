#include "analyze/kernel/kernel_times.h"

#include "analyze/emit.h"
#include "base/sample.h"
#include "base/sort.h"
#include "model/nesting.h"

#include <stdlib.h>
#include <string.h>

enum { TINY_NS = 10000 };

/* Launches of one row that are configured alike. */
struct alike {
    uint32_t row, config;
    double   ns;
};
struct counter {
    const struct study   *study;
    const struct windows *windows;
    struct arena         *scratch;
    const uint32_t       *launcher; /* struct kernel_times */
    struct id_map         rows_by_key, alike_by_key;
    VEC(struct kernel_time) rows;
    VEC(struct alike) alike;
    VEC(double) durations;
};

static bool is_op(const struct profile *profile, const struct activity *activity)
{
    (void)profile;
    return activity->kind == ACTIVITY_OP;
}

static struct kernel_name *parse_names(const struct profile *profile, struct arena *arena)
{
    struct kernel_name *names =
        arena_new_array(arena, struct kernel_name, profile->activities.count + 1);

    for (size_t i = 0; names && i < profile->activities.count; i++)
        if (profile->activities.items[i].kind == ACTIVITY_KERNEL ||
            profile->activities.items[i].kind == ACTIVITY_COLLECTIVE)
            names[i] = kernel_name_parse(profile_str(profile, profile->activities.items[i].name));
    return names;
}

static bool count_config(struct counter *counter, uint32_t row, uint32_t event, double ns)
{
    const struct profile *profile = counter->study->profile;
    int64_t               config;
    uint64_t              key;
    uint32_t              found;

    if (!profile_stat(profile, STAT_KERNEL_CONFIG, event, &config) || config < 0 ||
        (uint64_t)config >= profile->kernel_configs.count)
        return true;
    key = (uint64_t)row << 32 | (uint32_t)config;
    found = id_map_get(&counter->alike_by_key, key);
    if (found == NO_ID) {
        found = (uint32_t)counter->alike.count;
        if (!vec_push(&counter->alike, counter->scratch,
                      (struct alike) { .row = row, .config = (uint32_t)config }) ||
            !id_map_put(&counter->alike_by_key, key, found))
            return false;
    }
    counter->alike.items[found].ns += ns;
    return true;
}

/* What most of a row's time was launched with stands for it. */
static void choose_configs(struct counter *counter)
{
    for (size_t i = 0; i < counter->alike.count; i++) {
        const struct alike *alike = &counter->alike.items[i];
        struct kernel_time *row = &counter->rows.items[alike->row];
        double              share = row->total_ns > 0 ? alike->ns / row->total_ns : 1;

        if (row->config != NO_ID && share <= row->config_share)
            continue;
        row->config = alike->config;
        row->config_share = share;
    }
}

static bool count_event(struct counter *counter, uint32_t event, uint32_t device)
{
    const struct profile *profile = counter->study->profile;
    uint32_t              id = event_activity_id(profile, event);
    uint32_t              launch = counter->study->devices->launch_of[event];
    uint32_t              op_activity = launch == NO_ID ? NO_ID : counter->launcher[launch];
    double                duration_ns = (double)event_duration_ns(profile, event);
    uint64_t              key = (uint64_t)id << 32 | op_activity;
    uint32_t              found = id_map_get(&counter->rows_by_key, key);
    struct kernel_time   *row;

    if (found == NO_ID) {
        struct kernel_time fresh = { .activity = id,
                                     .op = profile->activities.items[id].op,
                                     .op_activity = op_activity,
                                     .launch = launch,
                                     .device = device,
                                     .config = NO_ID,
                                     .min_ns = duration_ns };

        if (fresh.op == NO_ID && op_activity != NO_ID)
            fresh.op = profile->activities.items[op_activity].op;
        found = (uint32_t)counter->rows.count;
        if (!vec_push(&counter->rows, counter->scratch, fresh) ||
            !id_map_put(&counter->rows_by_key, key, found))
            return false;
    }
    row = &counter->rows.items[found];
    row->calls++;
    row->total_ns += duration_ns;
    row->min_ns = duration_ns < row->min_ns ? duration_ns : row->min_ns;
    row->max_ns = duration_ns > row->max_ns ? duration_ns : row->max_ns;
    return count_config(counter, found, event, duration_ns) &&
           vec_push(&counter->durations, counter->scratch, duration_ns);
}

static bool count_all(struct counter *counter)
{
    const struct profile *profile = counter->study->profile;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (timeline->device == NO_ID || timeline->host != counter->windows->host ||
            profile->devices.items[timeline->device].kind == DEVICE_CPU ||
            profile->devices.items[timeline->device].unit_of ||
            (timeline->kind != TIMELINE_STREAM && timeline->kind != TIMELINE_OPS))
            continue;
        for (uint32_t j = 0; j < timeline->event_count; j++) {
            uint32_t event = timeline->first_event + j;
            uint8_t  kind = event_activity(profile, event)->kind;

            if (kind != ACTIVITY_KERNEL && kind != ACTIVITY_COLLECTIVE)
                continue;
            if (windows_find(counter->windows, event_start_ns(profile, event)) != SIZE_MAX &&
                !count_event(counter, event, timeline->device))
                return false;
        }
    }
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct kernel_time *left = a, *right = b;

    return IN_ORDER(COMPARE(right->total_ns, left->total_ns),
                    COMPARE(left->activity, right->activity),
                    COMPARE(left->op_activity, right->op_activity));
}

static void take_means(struct kernel_times *times, double device_count)
{
    for (size_t i = 0; i < times->count; i++) {
        times->rows[i].calls /= device_count;
        times->rows[i].total_ns /= device_count;
    }
    times->call_count /= device_count;
    times->tiny_count /= device_count;
    times->total_ns /= device_count;
    times->tiny_ns /= device_count;
}

static bool make(const struct study *study, struct arena *arena, struct kernel_times *times)
{
    struct windows windows;
    struct counter counter = { .study = study, .windows = &windows, .scratch = arena };

    *times = (struct kernel_times) { 0 };
    counter.rows_by_key.arena = counter.alike_by_key.arena = arena;
    if (!study->devices || !study->devices->launch_of)
        return true;
    times->names = parse_names(study->profile, arena);
    times->launchers = nesting_innermost(study->profile, study->around, is_op, arena);
    counter.launcher = times->launchers;
    if (!times->names || !times->launchers || !windows_make(study, arena, &windows) ||
        !count_all(&counter))
        return false;
    for (size_t i = 0; i < counter.durations.count; i++) {
        double duration_ns = counter.durations.items[i];

        times->total_ns += duration_ns;
        if (duration_ns >= TINY_NS)
            continue;
        times->tiny_count++;
        times->tiny_ns += duration_ns;
    }
    times->call_count = (double)counter.durations.count;
    times->median_ns = sample_middle(counter.durations.items, counter.durations.count);
    choose_configs(&counter);
    times->rows = counter.rows.items;
    times->count = counter.rows.count;
    take_means(times, device_activity_count(study, &windows));
    if (times->count > 1)
        qsort(times->rows, times->count, sizeof *times->rows, compare_rows);
    return true;
}

bool kernel_times_get(struct study *study, struct arena *scratch, struct kernel_times *times)
{
    if (!study->lane_arena)
        return make(study, scratch, times);
    if (!study->kernels) {
        struct kernel_times *kept = arena_new(study->lane_arena, struct kernel_times);

        if (!kept || !make(study, study->lane_arena, kept))
            return false;
        study->kernels = kept;
    }
    *times = *study->kernels;
    return true;
}
