#include "base/macros.h"
#include "base/sort.h"
#include "read/kineto/reader_kineto.h"

#include <stdlib.h>
#include <string.h>

/* The statistics of a key, of all threads one after the other. */
static int64_t stat_at(const struct kineto_job *job, enum stat_key key, size_t row)
{
    const struct kineto *kineto = job->threads;

    while (row >= stat_count(&kineto->columns.stats[key]))
        row -= stat_count(&kineto++->columns.stats[key]);
    return stat_value(&kineto->columns.stats[key], row);
}

/* The rows of `row`, by event, that are set: into the column, and cleared. */
static bool place_column(struct placing *placing, enum stat_key key, uint32_t *row)
{
    enum { MOST = 512 };
    struct kineto_job *job = placing->job;
    struct profile    *profile = job->profile;
    int64_t            events[MOST], values[MOST];
    size_t             count = 0;

    for (uint32_t event = 0; event < profile->event_count; event++) {
        if (!row[event])
            continue;
        events[count] = event;
        values[count++] = stat_at(job, key, row[event] - 1);
        row[event] = 0;
        if (count == MOST && !profile_add_stats(profile, key, events, values, count))
            return false;
        count %= MOST;
    }
    return profile_add_stats(profile, key, events, values, count);
}

/* row, by event: the statistic it has, less one; their number comes back. */
static size_t find_rows(const struct placing *placing, enum stat_key key, uint32_t *row)
{
    enum { MOST = 512 };
    int64_t events[MOST];
    size_t  total = 0;

    for (unsigned t = 0; t < placing->job->thread_count; t++) {
        const struct packed *column = &placing->job->threads[t].columns.stats[key].events;
        size_t               some;

        for (size_t first = 0; first < column->count; first += some) {
            some = column->count - first < MOST ? column->count - first : MOST;
            packed_read(column, first, some, events);
            for (size_t i = 0; i < some; i++)
                row[placing->event[t][events[i]]] = (uint32_t)(++total);
        }
    }
    return total;
}

/* An event has one value a key, so walking a table by event gives the column in order. */
static bool place_stats(struct placing *placing)
{
    struct kineto_job *job = placing->job;
    uint32_t          *row = arena_new_array(&job->scratch, uint32_t, job->profile->event_count);

    if (!row)
        return false;
    for (int key = 0; key < STAT_KEY_COUNT; key++)
        if (find_rows(placing, (enum stat_key)key, row) &&
            !place_column(placing, (enum stat_key)key, row))
            return false;
    return true;
}

static bool add_flow(struct profile *profile, uint32_t from, uint32_t to, enum flow_kind kind)
{
    struct flow flow = { .from = from, .to = to, .kind = (uint8_t)kind };

    return from == NO_ID || from == to || vec_push(&profile->flows, profile->arena, flow);
}

static bool map_links(const struct placing *placing, struct id_map *map, size_t first, size_t end,
                      enum link_list list)
{
    for (size_t s = first; s < end; s++) {
        const struct kineto_stretch *stretch = &placing->job->stretches.items[s];
        const struct kineto_links   *links =
            &placing->job->threads[stretch->thread].columns.links[list];

        for (size_t i = stretch->first_link[list]; i < stretch->end_link[list]; i++)
            if (!id_map_put(map, (uint64_t)packed_get(&links->ids, i),
                            placing->event[stretch->thread][packed_get(&links->rows, i)]))
                return false;
    }
    return true;
}

struct joining { /* device work of one file */
    struct placing *placing;
    struct id_map   calls, ops;
    size_t          first, end; /* stretches */
    uint32_t        joined;     /* the event that a call was found for last */
    bool            has_ops;
};

/* Device work is joined with the call of the same correlation id, and where that call was not
 * recorded with the op of the same external id. An event's links follow one another. */
static bool join_link(struct joining *joining, enum link_kind kind, uint64_t id, uint32_t event)
{
    struct profile *profile = joining->placing->job->profile;
    bool            is_sync = event_activity(profile, event)->kind == ACTIVITY_SYNC;
    uint32_t        from = NO_ID;

    if (kind == LINK_WORK || kind == LINK_RECORDED) {
        from = id_map_get(&joining->calls, id);
        if (from != NO_ID)
            joining->joined = event;
    } else if (event != joining->joined) {
        if (!joining->has_ops &&
            !map_links(joining->placing, &joining->ops, joining->first, joining->end, LINKS_OPS))
            return false;
        joining->has_ops = true;
        from = id_map_get(&joining->ops, id);
    }
    return add_flow(profile, from, event, is_sync ? FLOW_SYNC : FLOW_LAUNCH);
}

static bool join_links(struct placing *placing, size_t first, size_t end)
{
    struct kineto_job *job = placing->job;
    struct joining     joining = { .placing = placing,
                                   .calls.arena = &job->scratch,
                                   .ops.arena = &job->scratch,
                                   .first = first,
                                   .end = end,
                                   .joined = NO_ID };

    if (!map_links(placing, &joining.calls, first, end, LINKS_CALLS))
        return false;
    for (size_t s = first; s < end; s++) {
        const struct kineto_stretch *stretch = &job->stretches.items[s];
        const struct kineto_links   *links =
            &job->threads[stretch->thread].columns.links[LINKS_WAITS];

        for (size_t i = stretch->first_link[LINKS_WAITS]; i < stretch->end_link[LINKS_WAITS]; i++)
            if (!join_link(&joining, (enum link_kind)packed_get(&links->kinds, i),
                           (uint64_t)packed_get(&links->ids, i),
                           placing->event[stretch->thread][packed_get(&links->rows, i)]))
                return false;
    }
    return true;
}

/* Fills placing->under with a stack of what is under way; ended events leave it from the top, so
 * that everything under way at an event's start is found by following it. */
static bool stack_events(struct placing *placing)
{
    const struct profile *profile = placing->job->profile;

    if (!profile->memory_events.count && !placing->job->flow_ends.count)
        return true;
    placing->under = arena_new_array(&placing->job->scratch, uint32_t, profile->event_count);
    if (!placing->under)
        return false;
    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *timeline = &profile->timelines.items[t];
        uint32_t               end = timeline->first_event + timeline->event_count, top = NO_ID;

        for (uint32_t event = timeline->first_event; event < end; event++) {
            while (top != NO_ID && event_end_ns(profile, top) < event_start_ns(profile, event))
                top = placing->under[top];
            placing->under[event] = top;
            top = event;
        }
    }
    return true;
}

/* The innermost op of a timeline that is under way at a time, or NO_ID. Looks through as many calls
 * inside each other as no program has, for the sake of traces made to be slow. */
static uint32_t find_op(const struct placing *placing, const struct timeline *timeline,
                        int64_t time_ns)
{
    enum { DEEPEST = 4096 };
    const struct profile *profile = placing->job->profile;
    uint32_t              first = timeline->first_event;
    size_t                begun = LOWER_BOUND(timeline->event_count, i,
                                              event_start_ns(profile, first + (uint32_t)i) <= time_ns);
    uint32_t              event = begun ? first + (uint32_t)begun - 1 : NO_ID;

    for (int depth = 0; event != NO_ID && depth < DEEPEST; depth++) {
        if (event_end_ns(profile, event) >= time_ns &&
            event_activity(profile, event)->kind == ACTIVITY_OP)
            return event;
        event = placing->under[event];
    }
    return NO_ID;
}

static const struct timeline *track_timeline(const struct placing *placing, uint32_t track)
{
    uint32_t row = placing->timeline[track];

    return row == NO_ID ? NULL : &placing->job->profile->timelines.items[row];
}

/* Work of a stream that begins at a time, or NO_ID. */
static uint32_t find_work(const struct placing *placing, const struct timeline *timeline,
                          int64_t time_ns)
{
    const struct profile *profile = placing->job->profile;
    uint32_t              first = timeline->first_event;
    size_t                row = LOWER_BOUND(timeline->event_count, i,
                                            event_start_ns(profile, first + (uint32_t)i) < time_ns);

    return row < timeline->event_count && event_start_ns(profile, first + (uint32_t)row) == time_ns
               ? first + (uint32_t)row
               : NO_ID;
}

static uint32_t bind_flow_end(const struct placing *placing, const struct flow_end *end)
{
    const struct timeline *timeline = track_timeline(placing, end->track);

    if (timeline && end->is_work && end->is_target)
        return find_work(placing, timeline, end->time_ns);
    return timeline ? find_op(placing, timeline, end->time_ns) : NO_ID;
}

static bool join_flows(struct placing *placing, size_t first, size_t end)
{
    struct kineto_job *job = placing->job;
    struct id_map      starts = { .arena = &job->scratch };

    for (size_t i = first; i < end; i++) {
        const struct flow_end *item = &job->flow_ends.items[i];
        uint32_t               event = item->is_target ? NO_ID : bind_flow_end(placing, item);

        if (event != NO_ID && !id_map_put(&starts, item->id, event))
            return false;
    }
    for (size_t i = first; i < end; i++) {
        const struct flow_end *item = &job->flow_ends.items[i];
        uint32_t               from = item->is_target ? id_map_get(&starts, item->id) : NO_ID, to;

        if (from == NO_ID)
            continue;
        to = bind_flow_end(placing, item);
        if (to != NO_ID &&
            !add_flow(job->profile, from, to, item->is_work ? FLOW_LAUNCH : FLOW_FORWARD_BACKWARD))
            return false;
    }
    return true;
}

static bool join_sources(struct placing *placing)
{
    struct kineto_job *job = placing->job;

    for (size_t i = 0; i < job->sources.count; i++) {
        const struct kineto_source *source = &job->sources.items[i];
        bool                        is_last = i + 1 == job->sources.count;

        if (!join_links(placing, source->first_stretch,
                        is_last ? job->stretches.count : source[1].first_stretch) ||
            !join_flows(placing, source->first_flow_end,
                        is_last ? job->flow_ends.count : source[1].first_flow_end))
            return false;
    }
    return true;
}

static int compare_memory(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    return IN_ORDER(COMPARE(a->start_ns, b->start_ns), COMPARE(a->raw, b->raw));
}

/* Memory events get the op they happened in, and stand in the order of time. */
static bool place_memory(struct placing *placing)
{
    struct kineto_job   *job = placing->job;
    struct profile      *profile = job->profile;
    size_t               count = profile->memory_events.count;
    struct sort_item    *order = arena_new_array(&job->scratch, struct sort_item, count);
    struct memory_event *sorted = arena_new_array(profile->arena, struct memory_event, count);

    if (!order || !sorted)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct memory_event   *memory = &profile->memory_events.items[i];
        const struct timeline *timeline = track_timeline(placing, job->memory_tracks.items[i]);

        if (timeline)
            memory->event = find_op(placing, timeline, memory->time_ns);
        if (memory->event != NO_ID)
            memory->op_name = event_activity(profile, memory->event)->name;
        order[i] = (struct sort_item) { .start_ns = memory->time_ns, .raw = (uint32_t)i };
    }
    if (count)
        qsort(order, count, sizeof *order, compare_memory);
    for (size_t i = 0; i < count; i++)
        sorted[i] = profile->memory_events.items[order[i].raw];
    profile->memory_events.items = sorted;
    profile->memory_events.capacity = count;
    return true;
}

/* A trace with a base tells times since it; some versions wrote the base and Unix times. */
#define UNIX_2001_NS INT64_C(1000000000000000000)

/* Flow ends and memory events; events get their shift when they are placed. */
static void shift_source(struct kineto_job *job, size_t index)
{
    const struct kineto_source *source = &job->sources.items[index];
    bool                        is_last = index + 1 == job->sources.count;
    size_t flow_end = is_last ? job->flow_ends.count : source[1].first_flow_end;
    size_t memory_end = is_last ? job->profile->memory_events.count : source[1].first_memory;

    for (size_t i = source->first_flow_end; i < flow_end; i++)
        job->flow_ends.items[i].time_ns += source->shift_ns;
    for (size_t i = source->first_memory; i < memory_end; i++)
        job->profile->memory_events.items[i].time_ns += source->shift_ns;
}

static int64_t source_base_ns(const struct kineto_source *source)
{
    if (!source->has_base || source->base_ns < 0 || source->base_ns > INT64_MAX / 4 ||
        !source->event_count || source->first_ns >= UNIX_2001_NS)
        return 0;
    return source->base_ns;
}

/* Times become ns since the first event of all files. */
static void settle_times(struct kineto_job *job)
{
    struct profile *profile = job->profile;
    int64_t         least_ns = INT64_MAX, most_ns = INT64_MIN;

    for (size_t i = 0; i < job->sources.count; i++) {
        struct kineto_source *source = &job->sources.items[i];
        int64_t               base_ns = source_base_ns(source);

        source->shift_ns = base_ns;
        if (!source->event_count)
            continue;
        least_ns = source->least_ns + base_ns < least_ns ? source->least_ns + base_ns : least_ns;
        most_ns = source->most_ns + base_ns > most_ns ? source->most_ns + base_ns : most_ns;
    }
    for (size_t i = 0; i < job->sources.count; i++) {
        job->sources.items[i].shift_ns -= least_ns;
        shift_source(job, i);
    }
    profile->origin_ns = least_ns >= UNIX_2001_NS ? least_ns : 0;
    profile->start_ns = 0;
    profile->end_ns = most_ns - least_ns;
    profile->resolution_ns = job->has_fractions ? 1 : 1000;
}

static void mark_used(const struct profile *profile, bool *is_used, bool *uses_any)
{
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].device != NO_ID)
            is_used[profile->timelines.items[i].device] = true;
    for (size_t i = 0; i < profile->memory_events.count; i++)
        if (profile->memory_events.items[i].device != NO_ID)
            is_used[profile->memory_events.items[i].device] = true;
    for (size_t i = 0; i < profile->devices.count; i++)
        uses_any[profile->devices.items[i].host] |= is_used[i];
}

/* A file lists every device its process can see; a rank works on one of them. The others are left
 * out, unless the host shows work on none: then that they are there is worth knowing. */
static bool drop_unused_devices(struct kineto_job *job)
{
    struct profile *profile = job->profile;
    size_t          count = profile->devices.count, kept = 0;
    bool           *is_used = arena_new_array(&job->scratch, bool, count);
    bool           *uses_any = arena_new_array(&job->scratch, bool, profile->hosts.count);
    uint32_t       *row = arena_new_array(&job->scratch, uint32_t, count);

    if (!is_used || !uses_any || !row)
        return false;
    mark_used(profile, is_used, uses_any);
    for (size_t i = 0; i < count; i++) {
        row[i] = (uint32_t)kept;
        if (is_used[i] || !uses_any[profile->devices.items[i].host])
            profile->devices.items[kept++] = profile->devices.items[i];
    }
    profile->devices.count = kept;
    profile->device_rows = (struct id_map) { 0 };
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].device != NO_ID)
            profile->timelines.items[i].device = row[profile->timelines.items[i].device];
    for (size_t i = 0; i < profile->memory_events.count; i++)
        if (profile->memory_events.items[i].device != NO_ID)
            profile->memory_events.items[i].device = row[profile->memory_events.items[i].device];
    return true;
}

bool kineto_finish(struct kineto_job *job)
{
    struct placing placing = { .job = job };

    settle_times(job);
    kineto_share_properties(job->profile);
    return kineto_place_events(&placing) && place_stats(&placing) && stack_events(&placing) &&
           join_sources(&placing) && place_memory(&placing) && drop_unused_devices(job) &&
           !job->is_full;
}
