#include "analyze/memory/memory_timeline.h"

#include "analyze/device/device_activity.h"
#include "base/sort.h"

#include <stdlib.h>

struct sorted_event {
    uint32_t allocator, device, host;
    int64_t  time_ns;
    uint32_t row; /* of profile->memory_events */
};

static int compare_events(const void *a, const void *b)
{
    const struct sorted_event *left = a, *right = b;

    return IN_ORDER(COMPARE(left->device, right->device), COMPARE(left->host, right->host),
                    COMPARE(left->allocator, right->allocator),
                    COMPARE(left->time_ns, right->time_ns), COMPARE(left->row, right->row));
}

struct live_block {
    double   bytes;
    uint32_t event; /* that took it: row of profile->memory_events */
    bool     is_live;
};
struct replay {
    const struct profile *profile;
    const struct windows *windows;
    struct arena         *arena;
    struct id_map         blocks_by_address;
    VEC(struct live_block) blocks;
    double running_bytes;
};

/* Bytes an event adds. Frees often tell no size: the block at that address does. */
static double event_delta(struct replay *replay, const struct memory_event *event, bool *is_full)
{
    uint32_t block =
        event->address ? id_map_get(&replay->blocks_by_address, event->address) : NO_ID;
    double bytes = (double)event->bytes;

    switch ((enum memory_event_kind)event->kind) {
    case MEMORY_SNAPSHOT:
        return bytes;
    case MEMORY_ALLOCATE: {
        uint32_t          row = (uint32_t)(event - replay->profile->memory_events.items);
        struct live_block fresh = { bytes < 0 ? -bytes : bytes, row, true };

        if (block != NO_ID)
            replay->blocks.items[block] = fresh;
        else if (event->address && (!vec_push(&replay->blocks, replay->arena, fresh) ||
                                    !id_map_put(&replay->blocks_by_address, event->address,
                                                (uint32_t)replay->blocks.count - 1)))
            *is_full = true;
        return fresh.bytes;
    }
    case MEMORY_FREE:
        bytes = bytes < 0 ? bytes : -bytes;
        if (block != NO_ID && replay->blocks.items[block].is_live) {
            replay->blocks.items[block].is_live = false;
            return bytes < 0 ? bytes : -replay->blocks.items[block].bytes;
        }
        return bytes;
    }
    return 0;
}

static void note_peak(struct memory_timeline *timeline, const struct memory_event *event,
                      double bytes)
{
    timeline->peak_bytes = bytes;
    timeline->peak_time_ns = (double)event->time_ns;
    if (event->reserved_bytes >= 0)
        timeline->reserved_bytes = (double)event->reserved_bytes;
    timeline->stack_bytes = (double)event->stack_bytes;
    if (event->fragmentation >= 0)
        timeline->fragmentation = event->fragmentation;
    if (event->in_use_bytes >= 0 && event->available_bytes >= 0)
        timeline->capacity_bytes = (double)event->in_use_bytes + (double)event->available_bytes;
}

/* Bytes in use at the end of each window that saw an event, then their slope. */
static bool fit_growth(struct memory_timeline *timeline, const double *ends, const bool *is_seen,
                       size_t count)
{
    enum { FEWEST_WINDOWS = 5 };
    double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, first = 0, last = 0;
    bool   never_falls = true;

    for (size_t i = 0; i < count; i++) {
        double x = (double)i;

        if (!is_seen[i])
            continue;
        if (n > 0 && ends[i] < last)
            never_falls = false;
        first = n > 0 ? first : ends[i];
        last = ends[i];
        n++;
        sum_x += x;
        sum_y += ends[i];
        sum_xx += x * x;
        sum_xy += x * ends[i];
    }
    if (n < FEWEST_WINDOWS)
        return false;
    timeline->growth_bytes = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
    timeline->is_growing = never_falls && last > first;
    return true;
}

/* Keeps the fullest moment of each of MEMORY_MOMENTS equal times between `first_ns` and `last_ns`:
 * a picture has no more columns, and the peak is one of them. */
static void note_moment(const struct replay *replay, struct memory_timeline *timeline, uint32_t row,
                        double bytes, double first_ns, double last_ns)
{
    const struct memory_event *event = &replay->profile->memory_events.items[row];
    double                     wide_ns = (last_ns - first_ns) / MEMORY_MOMENTS + 1;
    double                     time_ns = (double)event->time_ns;
    struct memory_moment       moment = { .time_ns = time_ns,
                                          .bytes = bytes,
                                          .available_bytes = (double)event->available_bytes,
                                          .reserved_bytes = (double)event->reserved_bytes,
                                          .fragmentation = event->fragmentation,
                                          .event = row };
    size_t                     count = timeline->moment_count;

    if (count > 0 && (int)((timeline->moments[count - 1].time_ns - first_ns) / wide_ns) ==
                         (int)((time_ns - first_ns) / wide_ns)) {
        if (bytes >= timeline->moments[count - 1].bytes)
            timeline->moments[count - 1] = moment;
        return;
    }
    timeline->moments[timeline->moment_count++] = moment;
}

static size_t replay_until(struct replay *replay, const struct sorted_event *events, size_t count,
                           struct memory_timeline *timeline, double *ends, bool *is_seen)
{
    const struct memory_event *all = replay->profile->memory_events.items;
    double                     first_ns = (double)all[events[0].row].time_ns,
           last_ns = (double)all[events[count - 1].row].time_ns;
    size_t peak = 0;
    bool   is_full = false;

    for (size_t i = 0; i < count; i++) {
        const struct memory_event *event = &all[events[i].row];
        size_t                     window = windows_find(replay->windows, event->time_ns);
        double                     bytes;

        replay->running_bytes += event_delta(replay, event, &is_full);
        if (is_full)
            return SIZE_MAX;
        bytes = event->in_use_bytes >= 0 ? (double)event->in_use_bytes : replay->running_bytes;
        note_moment(replay, timeline, events[i].row, bytes, first_ns, last_ns);
        /* Of equal peaks the last: most of what is held then was seen being taken. */
        if (i == 0 || bytes >= timeline->peak_bytes) {
            note_peak(timeline, event, bytes);
            peak = i;
        }
        if ((double)event->peak_bytes > timeline->lifetime_peak_bytes)
            timeline->lifetime_peak_bytes = (double)event->peak_bytes;
        if (window == SIZE_MAX)
            continue;
        ends[window] = bytes - (double)event->stack_bytes; /* which comes and goes */
        is_seen[window] = true;
        if (event->kind == MEMORY_ALLOCATE ||
            (event->kind == MEMORY_SNAPSHOT && event->bytes > 0)) {
            timeline->allocation_count++;
            timeline->allocated_bytes +=
                event->bytes < 0 ? -(double)event->bytes : (double)event->bytes;
        } else if (event->kind == MEMORY_FREE || event->bytes < 0) {
            timeline->free_count++;
        }
    }
    return peak;
}

/* Blocks of which all that is told is the same. */
static int compare_kinds(const void *a, const void *b)
{
    const struct memory_owner *left = a, *right = b;

    return IN_ORDER(COMPARE(left->op_name, right->op_name), COMPARE(left->region, right->region),
                    COMPARE(left->dtype, right->dtype), COMPARE(left->shape, right->shape));
}

/* Those that hold as much by what they are called, which no order of events changes. */
static int compare_owners(const void *a, const void *b)
{
    const struct memory_owner *left = a, *right = b;

    return IN_ORDER(COMPARE(right->bytes, left->bytes), str_compare(left->name, right->name),
                    str_compare(left->size, right->size), compare_kinds(a, b));
}

static struct memory_owner owner_of(const struct replay *replay, const struct live_block *block)
{
    const struct memory_event *event = &replay->profile->memory_events.items[block->event];

    return (struct memory_owner) { .op_name = event->op_name,
                                   .region = event->region,
                                   .shape = event->shape,
                                   .name = profile_str(replay->profile, event->op_name),
                                   .size = profile_str(replay->profile, event->shape),
                                   .dtype = event->dtype,
                                   .bytes = block->bytes,
                                   .requested_bytes = (double)event->requested_bytes,
                                   .count = 1 };
}

/* Sums those of one kind up; how many kinds there are. */
static size_t merge_owners(struct memory_owner *owners, size_t count)
{
    size_t kept = 0;

    if (count > 1)
        qsort(owners, count, sizeof *owners, compare_kinds);
    for (size_t i = 0; i < count; i++) {
        struct memory_owner *into = kept > 0 ? &owners[kept - 1] : NULL;

        if (!into || compare_kinds(into, &owners[i]) != 0) {
            owners[kept++] = owners[i];
            continue;
        }
        into->bytes += owners[i].bytes;
        into->count++;
        into->requested_bytes = into->requested_bytes < 0 || owners[i].requested_bytes < 0
                                    ? -1
                                    : into->requested_bytes + owners[i].requested_bytes;
    }
    return kept;
}

/* Who holds memory at the peak: the events up to it once more, with a fresh address map. */
static bool find_owners(struct replay *replay, const struct sorted_event *events, size_t count,
                        struct memory_timeline *timeline)
{
    double owned_bytes = timeline->stack_bytes;
    bool   is_full = false;

    replay->blocks_by_address = (struct id_map) { .arena = replay->arena };
    replay->blocks.count = 0;
    for (size_t i = 0; i < count && !is_full; i++)
        event_delta(replay, &replay->profile->memory_events.items[events[i].row], &is_full);
    timeline->owners =
        arena_new_array(replay->arena, struct memory_owner, replay->blocks.count + 1);
    if (is_full || !timeline->owners)
        return false;
    for (size_t i = 0; i < replay->blocks.count; i++) {
        if (!replay->blocks.items[i].is_live)
            continue;
        owned_bytes += replay->blocks.items[i].bytes;
        timeline->owners[timeline->owner_count++] = owner_of(replay, &replay->blocks.items[i]);
    }
    timeline->owner_count = merge_owners(timeline->owners, timeline->owner_count);
    if (timeline->owner_count > 1)
        qsort(timeline->owners, timeline->owner_count, sizeof *timeline->owners, compare_owners);
    if (timeline->peak_bytes > owned_bytes)
        timeline->earlier_bytes = timeline->peak_bytes - owned_bytes;
    return true;
}

static bool make_one(const struct study *study, const struct windows *windows, struct arena *arena,
                     const struct sorted_event *events, size_t count,
                     struct memory_timeline *timeline)
{
    struct replay replay = { .profile = study->profile, .windows = windows, .arena = arena };
    double       *ends = arena_new_array(arena, double, windows->count);
    bool         *is_seen = arena_new_array(arena, bool, windows->count);
    size_t        peak;

    *timeline = (struct memory_timeline) { .allocator = events->allocator,
                                           .device = events->device,
                                           .host = events->host,
                                           .event_count = count,
                                           .reserved_bytes = -1,
                                           .capacity_bytes = -1,
                                           .fragmentation = -1,
                                           .lifetime_peak_bytes = -1 };
    timeline->moments = arena_new_array(arena, struct memory_moment, MEMORY_MOMENTS + 1);
    replay.blocks_by_address.arena = arena;
    if (!ends || !is_seen || !timeline->moments)
        return false;
    peak = replay_until(&replay, events, count, timeline, ends, is_seen);
    if (peak == SIZE_MAX)
        return false;
    if (events->device != NO_ID) {
        const struct device *device = &study->profile->devices.items[events->device];

        if (device->memory_bytes > 0 && timeline->capacity_bytes < 0)
            timeline->capacity_bytes = (double)device->memory_bytes;
    }
    timeline->has_growth = fit_growth(timeline, ends, is_seen, windows->count);
    return find_owners(&replay, events, peak + 1, timeline);
}

static int compare_timelines(const void *a, const void *b)
{
    const struct memory_timeline *left = a, *right = b;

    return IN_ORDER(COMPARE(left->device == NO_ID, right->device == NO_ID),
                    COMPARE(right->peak_bytes, left->peak_bytes),
                    COMPARE(left->device, right->device), COMPARE(left->host, right->host),
                    COMPARE(left->allocator, right->allocator));
}

/* By memory, then by time. */
static struct sorted_event *sort_events(const struct profile *profile, struct arena *arena)
{
    size_t                count = profile->memory_events.count;
    struct sorted_event  *events = arena_new_array(arena, struct sorted_event, count + 1);
    struct timeline_index index;

    if (!events || !timeline_index_make(profile, arena, &index))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const struct memory_event *event = &profile->memory_events.items[i];
        uint32_t                   timeline = event->event == NO_ID || profile->hosts.count < 2
                                                  ? NO_ID
                                                  : timeline_index_find(profile, &index, event->event);

        events[i] = (struct sorted_event) { .allocator = event->allocator,
                                            .device = event->device,
                                            .host = profile->hosts.count == 1 ? 0 : NO_ID,
                                            .time_ns = event->time_ns,
                                            .row = (uint32_t)i };
        if (event->device != NO_ID)
            events[i].host = profile->devices.items[event->device].host;
        else if (timeline != NO_ID)
            events[i].host = profile->timelines.items[timeline].host;
    }
    if (count > 1)
        qsort(events, count, sizeof *events, compare_events);
    return events;
}

static bool is_one_memory(const struct sorted_event *a, const struct sorted_event *b)
{
    return a->device == b->device && a->host == b->host && a->allocator == b->allocator;
}

bool memory_timelines_make(const struct study *study, const struct windows *windows,
                           struct arena *arena, struct memory_timelines *timelines)
{
    const struct profile *profile = study->profile;
    size_t                count = profile->memory_events.count, end;
    struct sorted_event  *events = sort_events(profile, arena);

    *timelines = (struct memory_timelines) { 0 };
    if (!events)
        return false;
    for (size_t start = 0; start < count; start = end) {
        struct memory_timeline timeline;

        for (end = start + 1; end < count && is_one_memory(&events[start], &events[end]);)
            end++;
        if (!make_one(study, windows, arena, &events[start], end - start, &timeline) ||
            !vec_push(&timelines->list, arena, timeline))
            return false;
    }
    if (timelines->list.count > 1)
        qsort(timelines->list.items, timelines->list.count, sizeof *timelines->list.items,
              compare_timelines);
    return true;
}
