#include "report/page/slices.h"

#include "analyze/path/path.h"
#include "base/base64.h"
#include "base/gzip.h"
#include "base/json_fields.h"
#include "base/sort.h"
#include "base/wire_out.h"
#include "report/page/slice_notes.h"

#include <stdlib.h>

enum { DURATION_CLASSES = 256 };

struct slice {
    int64_t  start_ns, duration_ns;
    uint32_t name;  /* row of names; SHORT_ONES: several */
    uint32_t event; /* NO_ID: several */
};
static const uint32_t SHORT_ONES = UINT32_MAX;

struct slice_row {
    uint32_t timeline, depth;
    size_t   first, count; /* of slices */
};

struct slice_set {
    const struct slice_index *index;
    struct slice_span         span;
    uint64_t                 *uses;   /* by name: slices, and once they are ranked the rank */
    uint32_t                 *ranked; /* names that are used, by falling count */
    uint32_t                  used_count;
    VEC(struct slice) slices;
    VEC(struct slice_row) rows;
    VEC(uint32_t) inside;           /* events of the span on the timeline that is being added */
    int64_t            shortest_ns; /* slices below it were summed */
    uint64_t           summed, short_count;
    struct slice_notes notes;
};

/* Quarters of powers of two: enough to choose what to leave out. */
static unsigned duration_class(int64_t ns)
{
    uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    unsigned log = 0;

    if (value < 4)
        return (unsigned)value;
    while (value >> log >= 8)
        log++;
    return 4 * log + (unsigned)(value >> log);
}

static int64_t class_begin(unsigned class)
{
    if (class < 4)
        return class;
    return class / 4 > 61 ? INT64_MAX : (int64_t)(class % 4 + 4) << (class / 4 - 1);
}

static int64_t duration_of(const struct slice_set *set, uint32_t event)
{
    int64_t duration = event_duration_ns(set->index->profile, event);

    return duration > 0 ? duration : 0;
}

static bool is_inside(const struct slice_set *set, uint32_t event)
{
    int64_t start = event_start_ns(set->index->profile, event);

    return start < set->span.to_ns && start + duration_of(set, event) >= set->span.from_ns;
}

/* The duration from which on slices are kept. */
static void choose_shortest(struct slice_set *set, size_t most)
{
    const struct slice_index *index = set->index;
    uint64_t                  counts[DURATION_CLASSES] = { 0 }, kept = 0;
    unsigned class = DURATION_CLASSES;

    for (size_t i = 0; i < index->order_count; i++) {
        const struct timeline *timeline = &index->profile->timelines.items[index->order[i]];

        for (uint32_t at = 0; at < timeline->event_count; at++) {
            uint32_t event = timeline->first_event + at;

            if (is_inside(set, event))
                counts[duration_class(duration_of(set, event))]++;
        }
    }
    while (class > 0 && kept + counts[class - 1] <= most)
        kept += counts[--class];
    set->shortest_ns = class > 0 ? class_begin(class) : 0;
}

/* A run of slices that are too short to be kept. */
struct short_run {
    int64_t  start_ns, end_ns;
    uint32_t name, event; /* of the first one */
    uint64_t count;
};

static bool add_slice(struct slice_set *set, struct slice slice, struct arena *arena)
{
    if (slice.name != SHORT_ONES)
        set->uses[slice.name]++;
    else
        set->short_count++;
    return vec_push(&set->slices, arena, slice);
}

static bool end_run(struct slice_set *set, struct short_run *run, struct arena *arena)
{
    struct slice slice = { run->start_ns, run->end_ns - run->start_ns,
                           run->count == 1 ? run->name : SHORT_ONES,
                           run->count == 1 ? run->event : NO_ID };

    if (!run->count)
        return true;
    set->summed += run->count > 1 ? run->count : 0;
    run->count = 0;
    return add_slice(set, slice, arena);
}

static bool add_event(struct slice_set *set, uint32_t event, struct short_run *run,
                      struct arena *arena)
{
    int64_t  start = event_start_ns(set->index->profile, event);
    int64_t  duration = duration_of(set, event);
    uint32_t name = set->index->name_of[event_activity_id(set->index->profile, event)];

    if (duration >= set->shortest_ns)
        return end_run(set, run, arena) &&
               add_slice(set, (struct slice) { start, duration, name, event }, arena);
    if (run->count && start - run->end_ns > set->shortest_ns && !end_run(set, run, arena))
        return false;
    if (!run->count)
        *run = (struct short_run) { start, start, name, event, 0 };
    run->count++;
    if (start + duration > run->end_ns)
        run->end_ns = start + duration;
    return true;
}

/* Those of a timeline's events that the span has. */
static bool find_inside(struct slice_set *set, const struct timeline *timeline, struct arena *arena)
{
    set->inside.count = 0;
    for (uint32_t i = 0; i < timeline->event_count; i++)
        if (is_inside(set, timeline->first_event + i) &&
            !vec_push(&set->inside, arena, timeline->first_event + i))
            return false;
    return true;
}

static bool add_row(struct slice_set *set, uint32_t at, unsigned depth, struct arena *arena)
{
    struct slice_row row = { .timeline = at, .depth = depth, .first = set->slices.count };
    struct short_run run = { 0 };

    for (size_t i = 0; i < set->inside.count; i++)
        if (set->index->depths[set->inside.items[i]] == depth &&
            !add_event(set, set->inside.items[i], &run, arena))
            return false;
    if (!end_run(set, &run, arena))
        return false;
    row.count = set->slices.count - row.first;
    return vec_push(&set->rows, arena, row);
}

static bool add_timeline(struct slice_set *set, uint32_t at, struct arena *arena)
{
    if (!find_inside(set, &set->index->profile->timelines.items[at], arena))
        return false;
    for (unsigned depth = 0; depth < set->index->depth_count[at]; depth++)
        if (!add_row(set, at, depth, arena))
            return false;
    return true;
}

static bool add_timelines(struct slice_set *set, struct arena *arena)
{
    for (size_t i = 0; i < set->index->order_count; i++)
        if (!add_timeline(set, set->index->order[i], arena))
            return false;
    return true;
}

struct counted {
    uint64_t count;
    uint32_t name;
};

static int compare_counts(const void *left, const void *right)
{
    const struct counted *a = left, *b = right;

    return IN_ORDER(COMPARE(b->count, a->count), COMPARE(a->name, b->name));
}

static bool rank_names(struct slice_set *set, struct arena *arena)
{
    struct counted *sorted = arena_new_array(arena, struct counted, set->index->name_count);

    set->ranked = arena_new_array(arena, uint32_t, set->index->name_count);
    if (!sorted || !set->ranked)
        return false;
    for (uint32_t i = 0; i < set->index->name_count; i++)
        if (set->uses[i])
            sorted[set->used_count++] = (struct counted) { set->uses[i], i };
    if (set->used_count)
        qsort(sorted, set->used_count, sizeof *sorted, compare_counts);
    for (uint32_t i = 0; i < set->used_count; i++) {
        set->ranked[i] = sorted[i].name;
        set->uses[sorted[i].name] = i;
    }
    return true;
}

static bool add_notes(struct slice_set *set, struct arena *arena)
{
    uint32_t *events = arena_new_array(arena, uint32_t, set->slices.count);

    for (size_t i = 0; events && i < set->slices.count; i++)
        events[i] = set->slices.items[i].event;
    return events &&
           slice_notes_make(&set->notes, set->index->profile, events, set->slices.count, arena);
}

struct slice_set *slices_make(const struct slice_index *index, struct slice_span span, size_t most,
                              struct arena *arena)
{
    struct slice_set *set = arena_new(arena, struct slice_set);

    if (!set)
        return NULL;
    set->index = index;
    set->span = span;
    set->uses = arena_new_array(arena, uint64_t, index->name_count);
    if (!set->uses)
        return NULL;
    choose_shortest(set, most);
    return add_timelines(set, arena) && rank_names(set, arena) && add_notes(set, arena) ? set
                                                                                        : NULL;
}

bool slices_are_empty(const struct slice_set *set)
{
    return set->slices.count == 0;
}

/* Another thread of the host has that name too, so that only its id tells it apart. */
static bool is_named_twice(const struct profile *profile, const struct timeline *timeline)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->timelines.count && count < 2; i++) {
        const struct timeline *other = &profile->timelines.items[i];

        count += other->device == NO_ID && other->host == timeline->host &&
                 other->name == timeline->name;
    }
    return count > 1;
}

static void put_track_name(struct json_writer *json, const struct slice_set *set,
                           const struct timeline *timeline, struct arena *arena)
{
    const struct profile *profile = set->index->profile;
    struct text           name = { .arena = arena };

    if (profile->hosts.count > 1)
        text_print(&name, "%.*s · ",
                   STR_ARG(profile_str(profile, profile->hosts.items[timeline->host].name)));
    if (timeline->device != NO_ID)
        text_print(&name, "%.*s · ",
                   STR_ARG(profile_str(profile, profile->devices.items[timeline->device].name)));
    text_print(&name, "%.*s", STR_ARG(profile_str(profile, timeline->name)));
    if (timeline->device == NO_ID && is_named_twice(profile, timeline))
        text_print(&name, " (%lld)", (long long)timeline->id);
    json_str(json, text_str(&name));
}

static void put_tracks(struct json_writer *json, const struct slice_set *set)
{
    json_array(json);
    for (size_t i = 0; i < set->rows.count;) {
        uint32_t timeline = set->rows.items[i].timeline;

        json_object(json);
        json_key(json, "name");
        put_track_name(json, set, &set->index->profile->timelines.items[timeline],
                       json->text->arena);
        put_array(json, "depths");
        for (; i < set->rows.count && set->rows.items[i].timeline == timeline; i++)
            json_integer(json, (int64_t)set->rows.items[i].count);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

void slices_about(struct json_writer *json, const struct slice_set *set)
{
    json_object(json);
    put_integer(json, "origin_ns", set->index->profile->start_ns);
    put_integer(json, "count", (int64_t)set->slices.count);
    put_integer(json, "summed", (int64_t)set->summed);
    put_integer(json, "shortest_ns", set->shortest_ns);
    put_integer(json, "names", set->used_count + (set->short_count > 0));
    put_integer(json, "texts", set->notes.text_count);
    put_integer(json, "links", (int64_t)set->notes.links.count);
    put_array(json, "parts");
    for (int part = 0; part < PART_COUNT; part++)
        json_text(json, part_name((enum part)part));
    json_array_end(json);
    json_key(json, "tracks");
    put_tracks(json, set);
    json_object_end(json);
}

static void put_name(struct text *bytes, enum part part, struct str name)
{
    wire_out_varint(bytes, (uint64_t)part);
    wire_out_varint(bytes, name.len);
    text_add(bytes, name);
}

static void put_columns(const struct slice_set *set, struct text *bytes)
{
    for (uint32_t i = 0; i < set->used_count; i++)
        put_name(bytes, (enum part)set->index->names[set->ranked[i]].part,
                 profile_str(set->index->profile, set->index->names[set->ranked[i]].text));
    if (set->short_count)
        put_name(bytes, PART_UNKNOWN, STR("short ones"));
    for (size_t row = 0; row < set->rows.count; row++) {
        int64_t last = set->index->profile->start_ns;

        for (size_t i = 0; i < set->rows.items[row].count; i++) {
            const struct slice *slice = &set->slices.items[set->rows.items[row].first + i];

            wire_out_varint(bytes, (uint64_t)(slice->start_ns > last ? slice->start_ns - last : 0));
            last = slice->start_ns > last ? slice->start_ns : last;
        }
    }
    for (size_t i = 0; i < set->slices.count; i++)
        wire_out_varint(bytes, (uint64_t)set->slices.items[i].duration_ns);
    for (size_t i = 0; i < set->slices.count; i++)
        wire_out_varint(bytes, set->slices.items[i].name == SHORT_ONES
                                   ? set->used_count
                                   : set->uses[set->slices.items[i].name]);
    slice_notes_pack(&set->notes, bytes);
}

bool slices_pack(const struct slice_set *set, struct text *text)
{
    struct arena scratch = { .budget_bytes = text->arena->budget_bytes };
    struct text  bytes = { .arena = &scratch }, packed = { .arena = &scratch };
    bool         is_done;

    put_columns(set, &bytes);
    is_done = !bytes.is_cut && gzip_deflate(text_str(&bytes), &packed) && !packed.is_cut;
    if (is_done)
        base64_add(text, text_str(&packed));
    arena_free(&scratch);
    return is_done && !text->is_cut;
}
