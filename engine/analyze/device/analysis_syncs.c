/*
 * syncs: host calls that block on devices or on results, and calls that launch device work. Waiting
 * for a busy device costs nothing; the bubble is the idle time from the end of the wait until the
 * device has work again. Where another thread launches that work, only while the one that waited
 * goes on: a server's other requests do not hang on it.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"
#include "model/nesting.h"

#include <stdlib.h>

enum sync_fact {
    COUNT,
    WAIT_NS,
    WAIT_SHARE,
    BUBBLE_NS,
    BUBBLE_SHARE,
    LATE_NS,
    LAUNCH_COUNT,
    LAUNCH_NS,
    LAUNCH_MEDIAN_NS,
    LAUNCH_BLOCKING_SHARE,
    LATENCY_MEDIAN_NS,
    QUEUE_DEPTH,
    QUEUE_EMPTY_SHARE,
    QUEUE_FULL_SHARE,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [COUNT] = { "sync.count_per_step", UNIT_COUNT, "blocking calls of the host a step" },
    [WAIT_NS] = { "sync.wait_ns", UNIT_NS, "time a step inside them" },
    [WAIT_SHARE] = { "sync.wait_share", UNIT_RATIO, "that over the step" },
    [BUBBLE_NS] = { "sync.bubble_ns", UNIT_NS,
                    "device idle a step from their end to the next work" },
    [BUBBLE_SHARE] = { "sync.bubble_share", UNIT_SHARE, "that over the step" },
    [LATE_NS] = { "sync.late_ns", UNIT_NS,
                  "device idle a step until threads that wait launch work, or while they wait" },
    [LAUNCH_COUNT] = { "launch.count_per_step", UNIT_COUNT, "launch calls of the host a step" },
    [LAUNCH_NS] = { "launch.ns_per_step", UNIT_NS, "time a step inside launch calls" },
    [LAUNCH_MEDIAN_NS] = { "launch.median_ns", UNIT_NS, "median duration of a launch call" },
    [LAUNCH_BLOCKING_SHARE] = { "launch.blocking_share", UNIT_SHARE,
                                "share of launch calls that last as long as their kernel" },
    [LATENCY_MEDIAN_NS] = { "launch.latency_median_ns", UNIT_NS,
                            "median time from a launch call to its kernel" },
    [QUEUE_DEPTH] = { "launch.queue_depth_median", UNIT_COUNT,
                      "median number of kernels waiting when one is launched" },
    [QUEUE_EMPTY_SHARE] = { "launch.queue_empty_share", UNIT_SHARE,
                            "share of launches onto an empty queue" },
    [QUEUE_FULL_SHARE] = { "launch.queue_full_share", UNIT_SHARE,
                           "share of launches behind 1000 or more" },
};
enum syncs_column {
    NAME,
    OWNER,
    S_COUNT,
    S_WAIT_NS,
    S_MEAN_NS,
    S_BUBBLE_NS,
    SHARE,
    SOURCE_FILE,
    SOURCE_LINE
};
static const struct column_spec columns[] = {
    [NAME] = { "name", UNIT_NAME, "blocking call" },
    [OWNER] = { "owner", UNIT_NAME,
                "op or Python function around it, the program's own where that is recorded" },
    [S_COUNT] = { "count", UNIT_COUNT, "calls a step" },
    [S_WAIT_NS] = { "wait_ns", UNIT_NS, "time a step inside" },
    [S_MEAN_NS] = { "mean_ns", UNIT_NS, "mean of one call" },
    [S_BUBBLE_NS] = { "bubble_ns", UNIT_NS, "device idle a step after it; none without a device" },
    [SHARE] = { "wait_share", UNIT_RATIO, "time inside over the step" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
};
static const struct table_spec tables[] = {
    { "syncs", "blocking calls by call and origin", columns, ARRAY_COUNT(columns) },
};
enum { QUEUE_LIMIT = 1000 };

struct sync_sum {
    uint32_t activity, owner; /* activities; owner NO_ID: none */
    double   count, wait_ns, bubble_ns;
};
struct bubble { /* idle after a wait */
    int64_t  from_ns, to_ns;
    uint32_t row; /* of sync_sum */
};
struct summer {
    const struct study   *study;
    const struct windows *windows;
    struct arena         *scratch;
    struct id_map         rows_by_key;
    VEC(struct sync_sum) rows;
    VEC(struct bubble) bubbles;
    struct timeline_index index;
    bool                 *waits; /* by timeline: it waits in the steps */
    uint32_t *callers, *syncs;   /* by event: activity of the innermost one; NULL: no waits */
    bool     *is_user;           /* by row of sources: the program's own; where callers are */
    VEC(double) launch_ns;
    VEC(double) latency_ns;
    VEC(double) depths;
    double blocking_count, linked_count;
};

/* The gap of the first device in which time_ns lies, or NULL. With several devices they wait
 * together; one stands for all. */
static const struct device_gap *find_gap(const struct summer *summer, int64_t time_ns)
{
    const struct device_activity *devices = summer->study->devices;
    const struct device_row      *row = devices && devices->rows.count ? devices->rows.items : NULL;
    size_t low = LOWER_BOUND(row ? row->gaps.count : 0, i, row->gaps.items[i].end_ns <= time_ns);

    return row && low < row->gaps.count && row->gaps.items[low].start_ns <= time_ns
               ? &row->gaps.items[low]
               : NULL;
}

static uint32_t launching_thread(const struct summer *summer, const struct device_gap *gap)
{
    return gap->launch == NO_ID
               ? NO_ID
               : timeline_index_find(summer->study->profile, &summer->index, gap->launch);
}

/* Until when a thread goes on after `event`: what is open around it, and what follows without a
 * longer pause than Python takes between calls. At most limit_ns. */
static int64_t goes_on_until(const struct summer *summer, const struct timeline *timeline,
                             uint32_t event, int64_t limit_ns)
{
    enum { PAUSE_NS = 200000 };
    const struct profile *profile = summer->study->profile;
    uint32_t              last = timeline->first_event + timeline->event_count;
    int64_t               reach_ns = event_end_ns(profile, event);

    for (uint32_t outer = event; outer != NO_ID; outer = summer->study->around[outer])
        if (event_end_ns(profile, outer) > reach_ns)
            reach_ns = event_end_ns(profile, outer);
    for (uint32_t next = event + 1; next < last && reach_ns < limit_ns; next++) {
        if (event_start_ns(profile, next) > reach_ns + PAUSE_NS)
            break;
        if (event_end_ns(profile, next) > reach_ns)
            reach_ns = event_end_ns(profile, next);
    }
    return reach_ns < limit_ns ? reach_ns : limit_ns;
}

/* Cuts it at the end of the gap in which it begins; empty where the device is busy. */
static void cut_bubble(const struct summer *summer, const struct timeline *timeline, uint32_t event,
                       struct bubble *bubble)
{
    const struct device_gap *gap = find_gap(summer, bubble->from_ns);
    uint32_t                 thread = gap ? launching_thread(summer, gap) : NO_ID;

    if (!gap)
        bubble->to_ns = bubble->from_ns;
    else if (gap->end_ns < bubble->to_ns)
        bubble->to_ns = gap->end_ns;
    if (thread != NO_ID && thread != (uint32_t)(timeline - summer->study->profile->timelines.items))
        bubble->to_ns = goes_on_until(summer, timeline, event, bubble->to_ns);
}

static int compare_bubbles(const void *a, const void *b)
{
    const struct bubble *left = a, *right = b;

    return IN_ORDER(COMPARE(left->from_ns, right->from_ns), COMPARE(left->row, right->row));
}

/* Waits of several threads share idle time: it counts once, for the one that ended first. */
static void share_bubbles(struct summer *summer)
{
    int64_t reach_ns = INT64_MIN;

    if (summer->bubbles.count > 1)
        qsort(summer->bubbles.items, summer->bubbles.count, sizeof *summer->bubbles.items,
              compare_bubbles);
    for (size_t i = 0; i < summer->bubbles.count; i++) {
        const struct bubble *bubble = &summer->bubbles.items[i];
        int64_t              from_ns = bubble->from_ns > reach_ns ? bubble->from_ns : reach_ns;

        if (bubble->to_ns <= from_ns)
            continue;
        summer->rows.items[bubble->row].bubble_ns += (double)(bubble->to_ns - from_ns);
        reach_ns = bubble->to_ns;
    }
}

static struct sync_sum *find_row(struct summer *summer, uint32_t activity, uint32_t owner)
{
    uint64_t        key = (uint64_t)activity << 32 | owner;
    uint32_t        found = id_map_get(&summer->rows_by_key, key);
    struct sync_sum row = { .activity = activity, .owner = owner };

    if (found == NO_ID) {
        found = (uint32_t)summer->rows.count;
        if (!vec_push(&summer->rows, summer->scratch, row) ||
            !id_map_put(&summer->rows_by_key, key, found))
            return NULL;
    }
    return &summer->rows.items[found];
}

/* Start of the next blocking call on the thread, which bounds the bubble of this one. */
static int64_t next_sync_ns(const struct profile *profile, const struct timeline *timeline,
                            uint32_t event, int64_t end_ns)
{
    enum { LOOK_AHEAD = 256 };
    uint32_t last = timeline->first_event + timeline->event_count;

    for (uint32_t next = event + 1; next < last && next < event + LOOK_AHEAD; next++)
        if (event_activity(profile, next)->kind == ACTIVITY_SYNC &&
            event_start_ns(profile, next) >= end_ns)
            return event_start_ns(profile, next);
    return INT64_MAX;
}

static bool add_sync(struct summer *summer, const struct timeline *timeline, uint32_t event,
                     uint32_t owner)
{
    const struct profile *profile = summer->study->profile;
    struct sync_sum      *row = find_row(summer, event_activity_id(profile, event), owner);
    struct bubble         bubble = { .from_ns = event_end_ns(profile, event) };

    if (!row)
        return false;
    row->count++;
    row->wait_ns += (double)(bubble.from_ns - event_start_ns(profile, event));
    bubble.row = (uint32_t)(row - summer->rows.items);
    bubble.to_ns = next_sync_ns(profile, timeline, event, bubble.from_ns);
    cut_bubble(summer, timeline, event, &bubble);
    summer->waits[timeline - profile->timelines.items] = true;
    return bubble.to_ns <= bubble.from_ns || vec_push(&summer->bubbles, summer->scratch, bubble);
}

static bool is_caller(const struct profile *profile, const struct activity *activity)
{
    (void)profile;
    return activity->kind == ACTIVITY_OP || activity->kind == ACTIVITY_PYTHON;
}

static bool is_sync(const struct profile *profile, const struct activity *activity)
{
    (void)profile;
    return activity->kind == ACTIVITY_SYNC;
}

/* The op or function that an event is inside of; instead of a library's function the program's own
 * that calls it, where that is recorded. */
static uint32_t owner_of(const struct summer *summer, uint32_t event)
{
    const struct profile *profile = summer->study->profile;
    uint32_t              around = summer->study->around[event];
    uint32_t              owner = around == NO_ID ? NO_ID : summer->callers[around];

    if (owner == NO_ID || profile->activities.items[owner].kind != ACTIVITY_PYTHON)
        return owner;
    for (; around != NO_ID; around = summer->study->around[around]) {
        const struct activity *activity = event_activity(profile, around);

        if (activity->kind == ACTIVITY_PYTHON && activity->source != NO_ID &&
            summer->is_user[activity->source])
            return event_activity_id(profile, around);
    }
    return owner;
}

static bool walk(struct summer *summer, const struct timeline *timeline)
{
    const struct profile *profile = summer->study->profile;

    for (uint32_t j = 0; j < timeline->event_count; j++) {
        uint32_t event = timeline->first_event + j, around = summer->study->around[event];
        uint8_t  kind = event_activity(profile, event)->kind;

        if ((kind != ACTIVITY_SYNC && kind != ACTIVITY_LAUNCH) ||
            windows_find(summer->windows, event_start_ns(profile, event)) == SIZE_MAX)
            continue;
        if (kind == ACTIVITY_SYNC && (around == NO_ID || summer->syncs[around] == NO_ID) &&
            !add_sync(summer, timeline, event, owner_of(summer, event)))
            return false;
        if (kind == ACTIVITY_LAUNCH && !vec_push(&summer->launch_ns, summer->scratch,
                                                 (double)event_duration_ns(profile, event)))
            return false;
    }
    return true;
}

/* Whether the launch of an event is that of the event before it: kernels of one replayed graph. */
static bool is_same_launch(const struct summer *summer, uint32_t first_event, uint32_t event)
{
    const uint32_t *launch_of = summer->study->devices->launch_of;

    return event > first_event && launch_of[event] != NO_ID &&
           launch_of[event] == launch_of[event - 1];
}

/* Depth of a stream's queue at each launch: launches so far less those that had begun by then. */
static bool walk_stream(struct summer *summer, const struct timeline *timeline)
{
    const struct profile *profile = summer->study->profile;
    const uint32_t       *launch_of = summer->study->devices->launch_of;
    uint32_t              first = timeline->first_event, next = 0, launched = 0, begun = 0;

    for (uint32_t j = 0; j < timeline->event_count; j++) {
        uint32_t event = first + j, launch = launch_of[event];
        bool     is_more = is_same_launch(summer, first, event);
        int64_t  launched_ns;

        launched += !is_more;
        if (launch == NO_ID ||
            windows_find(summer->windows, event_start_ns(profile, event)) == SIZE_MAX)
            continue;
        launched_ns = event_start_ns(profile, launch);
        for (; next < j && event_start_ns(profile, first + next) <= launched_ns; next++)
            begun += !is_same_launch(summer, first, first + next);
        summer->linked_count++;
        summer->blocking_count +=
            event_duration_ns(profile, launch) >= event_duration_ns(profile, event) &&
            event_end_ns(profile, launch) >= event_end_ns(profile, event);
        if (!is_more &&
            (!vec_push(&summer->latency_ns, summer->scratch,
                       (double)(event_start_ns(profile, event) - launched_ns)) ||
             !vec_push(&summer->depths, summer->scratch, (double)(launched - 1 - begun))))
            return false;
    }
    return true;
}

/* What is around waits, where there are any. */
static bool find_around(struct summer *summer)
{
    const struct profile *profile = summer->study->profile;
    const uint32_t       *around = summer->study->around;
    size_t                i = 0;

    while (i < profile->activities.count && profile->activities.items[i].kind != ACTIVITY_SYNC)
        i++;
    if (i == profile->activities.count)
        return true;
    summer->callers = nesting_innermost(profile, around, is_caller, summer->scratch);
    summer->syncs = nesting_innermost(profile, around, is_sync, summer->scratch);
    summer->is_user = profile_user_sources(profile, summer->scratch);
    return summer->callers && summer->syncs && summer->is_user;
}

static bool sum_all(struct summer *summer)
{
    const struct profile *profile = summer->study->profile;
    bool                  has_devices = summer->study->devices && summer->study->devices->launch_of;

    summer->waits = arena_new_array(summer->scratch, bool, profile->timelines.count + 1);
    if (!summer->waits || !find_around(summer) ||
        !timeline_index_make(profile, summer->scratch, &summer->index))
        return false;
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (timeline->host != summer->windows->host)
            continue;
        if (timeline->kind == TIMELINE_THREAD && !walk(summer, timeline))
            return false;
        if (timeline->kind == TIMELINE_STREAM && has_devices && !walk_stream(summer, timeline))
            return false;
    }
    share_bubbles(summer);
    return true;
}

/* Idle time for want of work that threads launch which wait: they have lost their lead. */
static double late_ns(const struct summer *summer)
{
    const struct device_activity *devices = summer->study->devices;
    double                        sum_ns = 0;

    for (size_t i = 0; i < devices->rows.count; i++) {
        const struct device_row *row = &devices->rows.items[i];

        for (size_t j = 0; j < row->gaps.count; j++) {
            const struct device_gap *gap = &row->gaps.items[j];
            uint32_t                 thread = launching_thread(summer, gap);

            if ((gap->cause == GAP_HOST_LATE || gap->cause == GAP_SYNC) &&
                (thread == NO_ID || summer->waits[thread]))
                sum_ns += (double)(gap->end_ns - gap->start_ns);
        }
    }
    return sum_ns;
}

static int compare_rows(const void *a, const void *b)
{
    const struct sync_sum *left = a, *right = b;

    return IN_ORDER(COMPARE(right->bubble_ns, left->bubble_ns),
                    COMPARE(right->wait_ns, left->wait_ns),
                    COMPARE(left->activity, right->activity), COMPARE(left->owner, right->owner));
}

static void fill_row(struct study *study, struct table *table, size_t row,
                     const struct sync_sum *sum, const struct windows *windows)
{
    const struct profile *profile = study->profile;
    uint32_t              source = profile->activities.items[sum->activity].source;
    double                steps = (double)windows->count;

    emit_name(table, NAME, row, profile->activities.items[sum->activity].name);
    if (sum->owner != NO_ID) {
        emit_name(table, OWNER, row, profile->activities.items[sum->owner].name);
        if (source == NO_ID)
            source = profile->activities.items[sum->owner].source;
    }
    emit_number(table, S_COUNT, row, sum->count / steps);
    emit_number(table, S_WAIT_NS, row, sum->wait_ns / steps);
    emit_number(table, S_MEAN_NS, row, sum->wait_ns / sum->count);
    if (study->devices && study->devices->rows.count > 0)
        emit_number(table, S_BUBBLE_NS, row, sum->bubble_ns / steps);
    emit_number(table, SHARE, row, sum->wait_ns / (double)windows->total_ns);
    emit_source(profile, table, SOURCE_FILE, row, source);
}

static bool emit_syncs(struct study *study, struct summer *summer)
{
    struct table *table = facts_table(&study->facts, &tables[0]);
    double        values[FACT_COUNT] = { 0 }, steps = (double)summer->windows->count;
    double        step_ns = (double)summer->windows->total_ns / steps;
    bool          is_set = table != NULL;
    int           last = study->devices && study->devices->rows.count > 0 ? LATE_NS : WAIT_SHARE;

    if (summer->rows.count > 1)
        qsort(summer->rows.items, summer->rows.count, sizeof *summer->rows.items, compare_rows);
    for (size_t i = 0; table && i < summer->rows.count; i++) {
        const struct sync_sum *sum = &summer->rows.items[i];
        size_t                 row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        fill_row(study, table, row, sum, summer->windows);
        values[COUNT] += sum->count / steps;
        values[WAIT_NS] += sum->wait_ns / steps;
        values[BUBBLE_NS] += sum->bubble_ns / steps;
    }
    if (last != WAIT_SHARE)
        values[LATE_NS] = late_ns(summer) / steps / device_activity_count(study, summer->windows);
    values[WAIT_SHARE] = values[WAIT_NS] / step_ns;
    values[BUBBLE_SHARE] = values[BUBBLE_NS] / step_ns;
    for (int i = COUNT; i <= last; i++)
        is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    return is_set;
}

static bool emit_launches(struct study *study, struct summer *summer)
{
    double values[FACT_COUNT] = { 0 }, steps = (double)summer->windows->count;
    size_t depth_count = summer->depths.count;
    int    last = depth_count > 0 ? QUEUE_FULL_SHARE : LAUNCH_MEDIAN_NS;
    bool   is_set = true;

    if (summer->launch_ns.count == 0)
        return facts_absent(&study->facts, "launch.", NULL,
                            "no launch of device work is in the recorded steps");
    for (size_t i = 0; i < summer->launch_ns.count; i++)
        values[LAUNCH_NS] += summer->launch_ns.items[i] / steps;
    values[LAUNCH_COUNT] = (double)summer->launch_ns.count / steps;
    values[LAUNCH_MEDIAN_NS] = sample_middle(summer->launch_ns.items, summer->launch_ns.count);
    for (size_t i = 0; i < depth_count; i++) {
        values[QUEUE_EMPTY_SHARE] += summer->depths.items[i] < 1;
        values[QUEUE_FULL_SHARE] += summer->depths.items[i] >= QUEUE_LIMIT;
    }
    if (depth_count > 0) {
        values[QUEUE_EMPTY_SHARE] /= (double)depth_count;
        values[QUEUE_FULL_SHARE] /= (double)depth_count;
        values[LAUNCH_BLOCKING_SHARE] = summer->blocking_count / summer->linked_count;
        values[QUEUE_DEPTH] = sample_middle(summer->depths.items, depth_count);
        values[LATENCY_MEDIAN_NS] =
            sample_middle(summer->latency_ns.items, summer->latency_ns.count);
    }
    for (int i = LAUNCH_COUNT; i <= last; i++)
        is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    struct arena   scratch = { 0 };
    struct windows windows;
    struct summer  summer = { .study = study, .windows = &windows, .scratch = &scratch };
    bool           is_done;

    summer.rows_by_key.arena = &scratch;
    is_done = windows_make(study, &scratch, &windows) && sum_all(&summer) &&
              emit_syncs(study, &summer) && emit_launches(study, &summer);
    arena_free(&scratch);
    return is_done || emit_limit("blocking calls", err);
}

const struct analysis analysis_syncs = {
    .name = "syncs",
    .summary = "blocking calls, launches and queue depth",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
