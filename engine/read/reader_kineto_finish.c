#include "read/reader_kineto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sort_item {
    int64_t  start_ns, duration_ns;
    uint32_t raw;
};

static int compare_items(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->duration_ns != b->duration_ns)
        return a->duration_ns > b->duration_ns ? -1 : 1;
    return (a->raw > b->raw) - (a->raw < b->raw);
}

static bool is_sorted(const struct sort_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare_items(&items[i - 1], &items[i]) > 0)
            return false;
    return true;
}

enum { RADIX_BITS = 11, RADIX_SIZE = 1 << RADIX_BITS, RADIX_WORTH = 4096 };

/* One stable pass by the digit of the start at `shift`. */
static void radix_pass(const struct sort_item *from, struct sort_item *to, size_t count,
                       int64_t least_ns, unsigned shift)
{
    size_t first[RADIX_SIZE] = { 0 }, sum = 0;

    for (size_t i = 0; i < count; i++)
        first[(uint64_t)(from[i].start_ns - least_ns) >> shift & (RADIX_SIZE - 1)]++;
    for (size_t i = 0; i < RADIX_SIZE; i++) {
        size_t size = first[i];

        first[i] = sum;
        sum += size;
    }
    for (size_t i = 0; i < count; i++)
        to[first[(uint64_t)(from[i].start_ns - least_ns) >> shift & (RADIX_SIZE - 1)]++] = from[i];
}

/* Categories of one thread are written one after the other, so a thread's events are far from
 * sorted: radix passes over the starts, then equal starts by what compare_items says. */
static void sort_items(struct sort_item *items, struct sort_item *spare, size_t count)
{
    int64_t least_ns = INT64_MAX, most_ns = INT64_MIN;
    size_t  first = 0;

    if (is_sorted(items, count))
        return;
    if (count < RADIX_WORTH) {
        qsort(items, count, sizeof *items, compare_items);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        least_ns = items[i].start_ns < least_ns ? items[i].start_ns : least_ns;
        most_ns = items[i].start_ns > most_ns ? items[i].start_ns : most_ns;
    }
    for (unsigned shift = 0; shift < 64 && (uint64_t)(most_ns - least_ns) >> shift;
         shift += RADIX_BITS) {
        radix_pass(items, spare, count, least_ns, shift);
        memcpy(items, spare, count * sizeof *items);
    }
    for (size_t i = 1; i <= count; i++) {
        if (i < count && items[i].start_ns == items[first].start_ns)
            continue;
        if (i - first > 1 && !is_sorted(items + first, i - first))
            qsort(items + first, i - first, sizeof *items, compare_items);
        first = i;
    }
}

struct placing {
    struct kineto    *kineto;
    uint32_t         *order;    /* timelines: rows of kineto->tracks */
    uint32_t         *timeline; /* by track; NO_ID for empty ones */
    uint32_t         *by_track; /* raw events grouped by timeline */
    uint32_t         *event;    /* by raw event */
    uint32_t         *under;    /* by event: the one begun last and still under way, or NO_ID */
    struct sort_item *items, *spare;
};

struct track_order {
    const struct track *track;
    uint32_t            row;
};

static int compare_tracks(const void *left, const void *right)
{
    const struct track_order *a = left, *b = right;
    int64_t                   keys[5][2] = {
                          { a->track->host, b->track->host },
                          { a->track->role, b->track->role },
                          { a->track->process, b->track->process },
                          { a->track->thread, b->track->thread },
                          { a->row, b->row },
    };

    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static uint32_t timeline_name(struct kineto *kineto, const struct track *track)
{
    static const char *const roles[] = {
        "thread", "stream", "annotations of stream", "syncs of stream", "counters of stream",
        "other"
    };
    char text[64];
    int  len;

    if (track->name)
        return track->name;
    len = snprintf(text, sizeof text, "%s %lld", roles[track->role], (long long)track->thread);
    return kineto_intern(kineto, (struct str) { text, (size_t)len });
}

static bool make_timelines(struct placing *placing)
{
    struct kineto      *kineto = placing->kineto;
    size_t              count = kineto->tracks.count;
    struct track_order *order = arena_new_array(&kineto->scratch, struct track_order, count);
    uint32_t            first = 0;

    placing->timeline = arena_new_array(&kineto->scratch, uint32_t, count);
    if (!order || !placing->timeline)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = (struct track_order) { &kineto->tracks.items[i], (uint32_t)i };
    if (count)
        qsort(order, count, sizeof *order, compare_tracks);
    for (size_t i = 0; i < count; i++) {
        const struct track *track = order[i].track;
        struct timeline     timeline = {
                .name = track->count ? timeline_name(kineto, track) : 0,
                .id = track->thread,
                .process = track->process,
                .host = track->host,
                .device = track->device,
                .kind = track->kind,
                .first_event = first,
                .event_count = track->count,
        };

        placing->timeline[order[i].row] = NO_ID;
        if (!track->count)
            continue;
        placing->timeline[order[i].row] = (uint32_t)kineto->profile->timelines.count;
        if (!vec_push(&kineto->profile->timelines, kineto->profile->arena, timeline))
            return false;
        first += track->count;
    }
    return true;
}

static bool group_raws(struct placing *placing)
{
    struct kineto  *kineto = placing->kineto;
    struct profile *profile = kineto->profile;
    size_t          count = kineto->raws.count, largest = 0;
    uint32_t       *next = arena_new_array(&kineto->scratch, uint32_t, profile->timelines.count);

    placing->by_track = arena_new_array(&kineto->scratch, uint32_t, count);
    placing->event = arena_new_array(&kineto->scratch, uint32_t, count);
    if (!next || !placing->by_track || !placing->event)
        return false;
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        next[i] = timeline->first_event;
        largest = timeline->event_count > largest ? timeline->event_count : largest;
    }
    for (size_t i = 0; i < count; i++)
        placing->by_track[next[placing->timeline[kineto->raws.items[i].track]]++] = (uint32_t)i;
    placing->items = arena_new_array(&kineto->scratch, struct sort_item, largest);
    placing->spare = arena_new_array(&kineto->scratch, struct sort_item, largest);
    return placing->items && placing->spare;
}

/* Sorted events of a timeline as the next rows. */
static bool add_rows(struct placing *placing, const struct sort_item *items, uint32_t count)
{
    enum { MOST = 1024 };
    struct profile   *profile = placing->kineto->profile;
    int64_t           starts_ns[MOST], durations_ns[MOST], labels[MOST];
    struct event_rows rows = { starts_ns, durations_ns, labels };

    while (count > 0) {
        uint32_t some = count < MOST ? count : MOST;

        for (uint32_t i = 0; i < some; i++) {
            placing->event[items[i].raw] = profile->event_count + i;
            starts_ns[i] = items[i].start_ns;
            durations_ns[i] = items[i].duration_ns;
            labels[i] = placing->kineto->raws.items[items[i].raw].activity;
        }
        if (!profile_add_events(profile, &rows, some))
            return false;
        items += some;
        count -= some;
    }
    return true;
}

static bool place_events(struct placing *placing)
{
    struct kineto  *kineto = placing->kineto;
    struct profile *profile = kineto->profile;

    if (!profile_label_activities(profile))
        return false;
    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *timeline = &profile->timelines.items[t];

        for (uint32_t i = 0; i < timeline->event_count; i++) {
            uint32_t                row = placing->by_track[timeline->first_event + i];
            const struct raw_event *raw = &kineto->raws.items[row];

            placing->items[i] = (struct sort_item) { raw->start_ns, raw->duration_ns, row };
        }
        sort_items(placing->items, placing->spare, timeline->event_count);
        if (!add_rows(placing, placing->items, timeline->event_count))
            return false;
    }
    return true;
}

/* The rows of `row`, by event, that are set: into the column, and cleared. */
static bool place_column(struct placing *placing, enum stat_key key, uint32_t *row)
{
    enum { MOST = 512 };
    struct kineto  *kineto = placing->kineto;
    struct profile *profile = kineto->profile;
    int64_t         events[MOST], values[MOST];
    size_t          count = 0;

    for (uint32_t event = 0; event < profile->event_count; event++) {
        if (!row[event])
            continue;
        events[count] = event;
        values[count++] = kineto->stats[key].items[row[event] - 1].value;
        row[event] = 0;
        if (count == MOST && !profile_add_stats(profile, key, events, values, count))
            return false;
        count %= MOST;
    }
    return profile_add_stats(profile, key, events, values, count);
}

/* An event has one value a key, so walking a table by event gives the column in order. */
static bool place_stats(struct placing *placing)
{
    struct kineto  *kineto = placing->kineto;
    struct profile *profile = kineto->profile;
    uint32_t       *row = arena_new_array(&kineto->scratch, uint32_t, profile->event_count);

    if (!row)
        return false;
    for (size_t key = 0; key < STAT_KEY_COUNT; key++) {
        size_t count = kineto->stats[key].count;

        for (size_t i = 0; i < count; i++)
            row[placing->event[kineto->stats[key].items[i].event]] = (uint32_t)i + 1;
        if (count && !place_column(placing, (enum stat_key)key, row))
            return false;
    }
    return true;
}

static bool add_flow(struct profile *profile, uint32_t from, uint32_t to, enum flow_kind kind)
{
    struct flow flow = { .from = from, .to = to, .kind = (uint8_t)kind };

    return from == NO_ID || from == to || vec_push(&profile->flows, profile->arena, flow);
}

static bool map_links(struct placing *placing, struct id_map *map, size_t first, size_t end,
                      enum link_kind kind)
{
    for (size_t i = first; i < end; i++) {
        const struct raw_link *link = &placing->kineto->links.items[i];

        if (link->kind == kind && !id_map_put(map, link->id, placing->event[link->event]))
            return false;
    }
    return true;
}

/* Device work is joined with the call of the same correlation id, and where that call was not
 * recorded with the op of the same external id. An event's links follow one another. */
static bool join_links(struct placing *placing, size_t first, size_t end)
{
    struct kineto  *kineto = placing->kineto;
    struct profile *profile = kineto->profile;
    struct id_map   calls = { .arena = &kineto->scratch }, ops = { .arena = &kineto->scratch };
    uint32_t        joined = NO_ID;
    bool            has_ops = false;

    if (!map_links(placing, &calls, first, end, LINK_CALL))
        return false;
    for (size_t i = first; i < end; i++) {
        const struct raw_link *link = &kineto->links.items[i];
        uint32_t               event = placing->event[link->event], from = NO_ID;
        bool                   is_sync = event_activity(profile, event)->kind == ACTIVITY_SYNC;

        if (link->kind == LINK_WORK || link->kind == LINK_RECORDED) {
            from = id_map_get(&calls, link->id);
            if (from != NO_ID)
                joined = link->event;
        } else if (link->kind == LINK_OP_WORK && link->event != joined) {
            if (!has_ops && !map_links(placing, &ops, first, end, LINK_OP))
                return false;
            has_ops = true;
            from = id_map_get(&ops, link->id);
        }
        if (!add_flow(profile, from, event, is_sync ? FLOW_SYNC : FLOW_LAUNCH))
            return false;
    }
    return true;
}

/* Fills placing->under with a stack of what is under way; ended events leave it from the top, so
 * that everything under way at an event's start is found by following it. */
static bool stack_events(struct placing *placing)
{
    const struct profile *profile = placing->kineto->profile;

    if (!profile->memory_events.count && !placing->kineto->flow_ends.count)
        return true;
    placing->under = arena_new_array(&placing->kineto->scratch, uint32_t, profile->event_count);
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
    const struct profile *profile = placing->kineto->profile;
    uint32_t              low = 0, high = timeline->event_count, event;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (event_start_ns(profile, timeline->first_event + middle) <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    event = low ? timeline->first_event + low - 1 : NO_ID;
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

    return row == NO_ID ? NULL : &placing->kineto->profile->timelines.items[row];
}

static uint32_t bind_flow_end(const struct placing *placing, const struct flow_end *end)
{
    const struct timeline *timeline = track_timeline(placing, end->track);

    return timeline ? find_op(placing, timeline, end->time_ns) : NO_ID;
}

static bool join_flows(struct placing *placing, size_t first, size_t end)
{
    struct kineto *kineto = placing->kineto;
    struct id_map  starts = { .arena = &kineto->scratch };

    for (size_t i = first; i < end; i++) {
        const struct flow_end *item = &kineto->flow_ends.items[i];
        uint32_t               event = item->is_target ? NO_ID : bind_flow_end(placing, item);

        if (event != NO_ID && !id_map_put(&starts, item->id, event))
            return false;
    }
    for (size_t i = first; i < end; i++) {
        const struct flow_end *item = &kineto->flow_ends.items[i];
        uint32_t               from = item->is_target ? id_map_get(&starts, item->id) : NO_ID, to;

        if (from == NO_ID)
            continue;
        to = bind_flow_end(placing, item);
        if (to != NO_ID && !add_flow(kineto->profile, from, to, FLOW_FORWARD_BACKWARD))
            return false;
    }
    return true;
}

static bool join_sources(struct placing *placing)
{
    struct kineto *kineto = placing->kineto;

    for (size_t i = 0; i < kineto->sources.count; i++) {
        const struct kineto_source *source = &kineto->sources.items[i];
        bool                        is_last = i + 1 == kineto->sources.count;

        if (!join_links(placing, source->first_link,
                        is_last ? kineto->links.count : source[1].first_link) ||
            !join_flows(placing, source->first_flow_end,
                        is_last ? kineto->flow_ends.count : source[1].first_flow_end))
            return false;
    }
    return true;
}

static int compare_memory(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->raw > b->raw) - (a->raw < b->raw);
}

/* Memory events get the op they happened in, and stand in the order of time. */
static bool place_memory(struct placing *placing)
{
    struct kineto       *kineto = placing->kineto;
    struct profile      *profile = kineto->profile;
    size_t               count = profile->memory_events.count;
    struct sort_item    *order = arena_new_array(&kineto->scratch, struct sort_item, count);
    struct memory_event *sorted = arena_new_array(profile->arena, struct memory_event, count);

    if (!order || !sorted)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct memory_event   *memory = &profile->memory_events.items[i];
        const struct timeline *timeline = track_timeline(placing, kineto->memory_tracks.items[i]);

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

static void shift_source(struct kineto *kineto, size_t index, int64_t shift_ns)
{
    const struct kineto_source *source = &kineto->sources.items[index];
    bool                        is_last = index + 1 == kineto->sources.count;
    size_t                      raw_end = is_last ? kineto->raws.count : source[1].first_raw;
    size_t flow_end = is_last ? kineto->flow_ends.count : source[1].first_flow_end;
    size_t memory_end = is_last ? kineto->profile->memory_events.count : source[1].first_memory;

    for (size_t i = source->first_raw; i < raw_end; i++)
        kineto->raws.items[i].start_ns += shift_ns;
    for (size_t i = source->first_flow_end; i < flow_end; i++)
        kineto->flow_ends.items[i].time_ns += shift_ns;
    for (size_t i = source->first_memory; i < memory_end; i++)
        kineto->profile->memory_events.items[i].time_ns += shift_ns;
}

static int64_t source_base_ns(const struct kineto *kineto, size_t index)
{
    const struct kineto_source *source = &kineto->sources.items[index];

    if (!source->has_base || source->base_ns < 0 || source->base_ns > INT64_MAX / 4 ||
        source->first_raw >= kineto->raws.count ||
        kineto->raws.items[source->first_raw].start_ns >= UNIX_2001_NS)
        return 0;
    return source->base_ns;
}

/* Times become ns since the first event of all files. */
static void settle_times(struct kineto *kineto)
{
    struct profile *profile = kineto->profile;
    int64_t         least_ns = INT64_MAX, most_ns = INT64_MIN;

    for (size_t i = 0; i < kineto->sources.count; i++)
        shift_source(kineto, i, source_base_ns(kineto, i));
    for (size_t i = 0; i < kineto->raws.count; i++) {
        const struct raw_event *raw = &kineto->raws.items[i];

        least_ns = raw->start_ns < least_ns ? raw->start_ns : least_ns;
        most_ns =
            raw->start_ns + raw->duration_ns > most_ns ? raw->start_ns + raw->duration_ns : most_ns;
    }
    for (size_t i = 0; i < kineto->sources.count; i++)
        shift_source(kineto, i, -least_ns);
    profile->origin_ns = least_ns >= UNIX_2001_NS ? least_ns : 0;
    profile->start_ns = 0;
    profile->end_ns = most_ns - least_ns;
    profile->resolution_ns = kineto->has_fractions ? 1 : 1000;
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
static bool drop_unused_devices(struct kineto *kineto)
{
    struct profile *profile = kineto->profile;
    size_t          count = profile->devices.count, kept = 0;
    bool           *is_used = arena_new_array(&kineto->scratch, bool, count);
    bool           *uses_any = arena_new_array(&kineto->scratch, bool, profile->hosts.count);
    uint32_t       *row = arena_new_array(&kineto->scratch, uint32_t, count);

    if (!is_used || !uses_any || !row)
        return false;
    mark_used(profile, is_used, uses_any);
    for (size_t i = 0; i < count; i++) {
        row[i] = (uint32_t)kept;
        if (is_used[i] || !uses_any[profile->devices.items[i].host])
            profile->devices.items[kept++] = profile->devices.items[i];
    }
    profile->devices.count = kept;
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].device != NO_ID)
            profile->timelines.items[i].device = row[profile->timelines.items[i].device];
    for (size_t i = 0; i < profile->memory_events.count; i++)
        if (profile->memory_events.items[i].device != NO_ID)
            profile->memory_events.items[i].device = row[profile->memory_events.items[i].device];
    return true;
}

bool kineto_finish(struct kineto *kineto)
{
    struct placing placing = { .kineto = kineto };

    settle_times(kineto);
    return make_timelines(&placing) && group_raws(&placing) && place_events(&placing) &&
           place_stats(&placing) && stack_events(&placing) && join_sources(&placing) &&
           place_memory(&placing) && drop_unused_devices(kineto) && !kineto->is_full;
}
