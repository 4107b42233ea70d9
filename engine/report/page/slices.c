#include "report/page/slices.h"

#include "analyze/path/path.h"
#include "base/base64.h"
#include "base/gzip.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64, DURATION_CLASSES = 256 };

struct slice {
    int64_t  start_ns, duration_ns;
    uint32_t name; /* row of names; SHORT_ONES: several */
};
static const uint32_t SHORT_ONES = UINT32_MAX;

struct slice_name {
    uint32_t text; /* interned */
    uint8_t  part;
    uint64_t count;
    uint32_t rank; /* by falling count */
};

struct slice_row {
    uint32_t timeline, depth;
    size_t   first, count; /* of slices */
};

struct slice_set {
    const struct profile *profile;
    uint32_t             *name_of; /* by activity: row of names */
    struct slice_name    *names;
    uint32_t              name_count;
    uint32_t             *ranked;    /* rows of names by falling count; the last is "short ones" */
    bool                 *has_steps; /* by timeline: step markers are on it */
    uint32_t             *order;     /* timelines that have slices, devices first */
    size_t                order_count;
    struct slice         *slices;
    size_t                slice_count;
    VEC(struct slice_row) rows;
    int64_t  shortest_ns; /* slices below it were summed */
    uint64_t summed, short_count;
};

/* What a slice's colour says. Ops on a host with an accelerator only feed it. */
static enum part part_of(enum activity_kind kind, bool has_accelerator)
{
    static const uint8_t parts[KIND_CLASS_COUNT] = {
        [CLASS_MARK] = PART_UNKNOWN,
        [CLASS_HOST] = PART_HOST,
        [CLASS_WAIT] = PART_IDLE_DEPENDENCY,
        [CLASS_COMPUTE] = PART_COMPUTE,
        [CLASS_COPY] = PART_COPY,
        [CLASS_LAUNCH] = PART_IDLE_LAUNCH,
        [CLASS_SYNC] = PART_IDLE_SYNC,
        [CLASS_COMPILE] = PART_COMPILE,
        [CLASS_INPUT] = PART_INPUT,
        [CLASS_COMMUNICATION] = PART_COMMUNICATION,
        [CLASS_OUTPUT] = PART_OUTPUT,
    };

    return kind == ACTIVITY_OP && has_accelerator ? PART_HOST
                                                  : (enum part)parts[activity_kind_class(kind)];
}

static bool has_accelerator(const struct profile *profile)
{
    for (size_t i = 0; i < profile->devices.count; i++)
        if (profile->devices.items[i].kind != DEVICE_CPU)
            return true;
    return false;
}

struct named_activity {
    uint32_t text, activity;
    uint8_t  part;
};

static int compare_activities(const void *left, const void *right)
{
    const struct named_activity *a = left, *b = right;

    if (a->text != b->text)
        return a->text < b->text ? -1 : 1;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return (a->activity > b->activity) - (a->activity < b->activity);
}

/* Activities that look alike, in name and colour, are one name. */
static bool make_names(struct slice_set *set, struct arena *arena)
{
    const struct profile  *profile = set->profile;
    size_t                 count = profile->activities.count;
    bool                   is_fed = has_accelerator(profile);
    struct named_activity *sorted = arena_new_array(arena, struct named_activity, count);

    set->name_of = arena_new_array(arena, uint32_t, count);
    set->names = arena_new_array(arena, struct slice_name, count);
    if (!sorted || !set->name_of || !set->names)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct activity *activity = &profile->activities.items[i];
        enum part              part = part_of((enum activity_kind)activity->kind, is_fed);

        sorted[i] = (struct named_activity) { activity->name, i, (uint8_t)part };
    }
    if (count)
        qsort(sorted, count, sizeof *sorted, compare_activities);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || sorted[i].text != sorted[i - 1].text || sorted[i].part != sorted[i - 1].part)
            set->names[set->name_count++] =
                (struct slice_name) { .text = sorted[i].text, .part = sorted[i].part };
        set->name_of[sorted[i].activity] = set->name_count - 1;
    }
    return true;
}

static bool is_shown(const struct timeline *timeline)
{
    return timeline->event_count > 0 && timeline->kind != TIMELINE_DERIVED;
}

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

/* The duration from which on slices are kept. */
static void choose_shortest(struct slice_set *set, size_t most)
{
    const struct profile *profile = set->profile;
    uint64_t              counts[DURATION_CLASSES] = { 0 }, kept = 0;
    unsigned class = DURATION_CLASSES;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        for (uint32_t at = 0; is_shown(timeline) && at < timeline->event_count; at++) {
            uint32_t event = timeline->first_event + at;

            counts[duration_class(event_duration_ns(profile, event))]++;
            set->has_steps[i] |= event_activity(profile, event)->kind == ACTIVITY_STEP;
        }
    }
    while (class > 0 && kept + counts[class - 1] <= most)
        kept += counts[--class];
    set->shortest_ns = class > 0 ? class_begin(class) : 0;
}

static int compare_timelines(const struct slice_set *set, uint32_t left, uint32_t right)
{
    const struct timeline *a = &set->profile->timelines.items[left],
                          *b = &set->profile->timelines.items[right];

    if ((a->device == NO_ID) != (b->device == NO_ID))
        return a->device == NO_ID ? 1 : -1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (set->has_steps[left] != set->has_steps[right])
        return set->has_steps[left] ? -1 : 1;
    if (a->device == NO_ID && a->event_count != b->event_count)
        return a->event_count > b->event_count ? -1 : 1;
    return left < right ? -1 : 1;
}

/* Devices first, then threads, those with steps and with most events first. Few enough to insert.
 */
static bool order_timelines(struct slice_set *set, struct arena *arena)
{
    const struct profile *profile = set->profile;

    set->order = arena_new_array(arena, uint32_t, profile->timelines.count);
    for (uint32_t i = 0; set->order && i < profile->timelines.count; i++) {
        size_t at = set->order_count;

        if (!is_shown(&profile->timelines.items[i]))
            continue;
        for (; at > 0 && compare_timelines(set, i, set->order[at - 1]) < 0; at--)
            set->order[at] = set->order[at - 1];
        set->order[at] = i;
        set->order_count++;
    }
    return set->order != NULL;
}

/* Depth of each event of a timeline: how many open events hold it wholly. Recorders let some events
 * end behind the one they began in; those stand beside it. */
static void find_depths(const struct profile *profile, const struct timeline *timeline,
                        uint8_t *depths, size_t counts[MOST_DEPTH])
{
    int64_t  ends[MOST_DEPTH];
    unsigned open = 0;

    memset(counts, 0, MOST_DEPTH * sizeof *counts);
    for (uint32_t i = 0; i < timeline->event_count; i++) {
        int64_t start = event_start_ns(profile, timeline->first_event + i);
        int64_t end = start + event_duration_ns(profile, timeline->first_event + i);

        while (open > 0 && (ends[open - 1] <= start || ends[open - 1] < end))
            open--;
        if (open == MOST_DEPTH)
            open--;
        depths[i] = (uint8_t)open;
        counts[open]++;
        ends[open++] = end;
    }
}

/* A run of slices that are too short to be kept. */
struct short_run {
    int64_t  start_ns, end_ns;
    uint32_t name;
    uint64_t count;
};

static void add_slice(struct slice_set *set, struct slice slice)
{
    set->slices[set->slice_count++] = slice;
    if (slice.name != SHORT_ONES)
        set->names[slice.name].count++;
    else
        set->short_count++;
}

static void end_run(struct slice_set *set, struct short_run *run)
{
    if (run->count) {
        add_slice(set, (struct slice) { run->start_ns, run->end_ns - run->start_ns,
                                        run->count == 1 ? run->name : SHORT_ONES });
        set->summed += run->count > 1 ? run->count : 0;
    }
    run->count = 0;
}

static void add_event(struct slice_set *set, uint32_t event, struct short_run *run)
{
    int64_t  start = event_start_ns(set->profile, event);
    int64_t  duration = event_duration_ns(set->profile, event);
    uint32_t name = set->name_of[event_activity_id(set->profile, event)];

    if (duration < 0)
        duration = 0;
    if (duration >= set->shortest_ns) {
        end_run(set, run);
        add_slice(set, (struct slice) { start, duration, name });
        return;
    }
    if (run->count && start - run->end_ns > set->shortest_ns)
        end_run(set, run);
    if (!run->count)
        *run = (struct short_run) { start, start, name, 0 };
    run->count++;
    if (start + duration > run->end_ns)
        run->end_ns = start + duration;
}

static bool add_timeline(struct slice_set *set, uint32_t at, uint8_t *depths, struct arena *arena)
{
    const struct timeline *timeline = &set->profile->timelines.items[at];
    size_t                 counts[MOST_DEPTH];

    find_depths(set->profile, timeline, depths, counts);
    for (unsigned depth = 0; depth < MOST_DEPTH && counts[depth]; depth++) {
        struct slice_row row = { .timeline = at, .depth = depth, .first = set->slice_count };
        struct short_run run = { 0 };

        for (uint32_t i = 0; i < timeline->event_count; i++)
            if (depths[i] == depth)
                add_event(set, timeline->first_event + i, &run);
        end_run(set, &run);
        row.count = set->slice_count - row.first;
        if (!vec_push(&set->rows, arena, row))
            return false;
    }
    return true;
}

static bool add_timelines(struct slice_set *set, struct arena *arena)
{
    uint32_t longest = 0;
    uint64_t total = 0;
    uint8_t *depths;
    bool     is_done;

    for (size_t i = 0; i < set->order_count; i++) {
        uint32_t count = set->profile->timelines.items[set->order[i]].event_count;

        longest = count > longest ? count : longest;
        total += count;
    }
    set->slices = arena_new_array(arena, struct slice, total);
    depths = arena_new_array(arena, uint8_t, longest);
    is_done = set->slices && depths;
    for (size_t i = 0; is_done && i < set->order_count; i++)
        is_done = add_timeline(set, set->order[i], depths, arena);
    return is_done;
}

struct counted {
    uint64_t count;
    uint32_t name;
};

static int compare_counts(const void *left, const void *right)
{
    const struct counted *a = left, *b = right;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static bool rank_names(struct slice_set *set, struct arena *arena)
{
    struct counted *sorted = arena_new_array(arena, struct counted, set->name_count);
    uint32_t        used = 0;

    set->ranked = arena_new_array(arena, uint32_t, set->name_count);
    if (!sorted || !set->ranked)
        return false;
    for (uint32_t i = 0; i < set->name_count; i++)
        if (set->names[i].count)
            sorted[used++] = (struct counted) { set->names[i].count, i };
    if (used)
        qsort(sorted, used, sizeof *sorted, compare_counts);
    for (uint32_t i = 0; i < used; i++) {
        set->ranked[i] = sorted[i].name;
        set->names[sorted[i].name].rank = i;
    }
    set->name_count = used;
    return true;
}

struct slice_set *slices_make(const struct profile *profile, size_t most, struct arena *arena)
{
    struct slice_set *set = arena_new(arena, struct slice_set);

    if (!set)
        return NULL;
    set->profile = profile;
    set->has_steps = arena_new_array(arena, bool, profile->timelines.count);
    if (!set->has_steps)
        return NULL;
    choose_shortest(set, most);
    if (!make_names(set, arena) || !order_timelines(set, arena) || !add_timelines(set, arena) ||
        !rank_names(set, arena))
        return NULL;
    return set;
}

bool slices_are_empty(const struct slice_set *set)
{
    return set->slice_count == 0;
}

static void put_track_name(struct json_writer *json, const struct slice_set *set,
                           const struct timeline *timeline, struct arena *arena)
{
    const struct profile *profile = set->profile;
    struct text           name = { .arena = arena };

    if (profile->hosts.count > 1)
        text_print(&name, "%.*s · ",
                   STR_ARG(profile_str(profile, profile->hosts.items[timeline->host].name)));
    if (timeline->device != NO_ID)
        text_print(&name, "%.*s · ",
                   STR_ARG(profile_str(profile, profile->devices.items[timeline->device].name)));
    text_print(&name, "%.*s", STR_ARG(profile_str(profile, timeline->name)));
    if (timeline->device == NO_ID)
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
        put_track_name(json, set, &set->profile->timelines.items[timeline], json->text->arena);
        json_key(json, "depths");
        json_array(json);
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
    json_key(json, "origin_ns");
    json_integer(json, set->profile->start_ns);
    json_key(json, "count");
    json_integer(json, (int64_t)set->slice_count);
    json_key(json, "summed");
    json_integer(json, (int64_t)set->summed);
    json_key(json, "shortest_ns");
    json_integer(json, set->shortest_ns);
    json_key(json, "names");
    json_integer(json, set->name_count + (set->short_count > 0));
    json_key(json, "parts");
    json_array(json);
    for (int part = 0; part < PART_COUNT; part++)
        json_text(json, part_name((enum part)part));
    json_array_end(json);
    json_key(json, "tracks");
    put_tracks(json, set);
    json_object_end(json);
}

static void put_varint(struct text *bytes, uint64_t value)
{
    for (; value > 127; value >>= 7)
        text_add_byte(bytes, (char)((value & 127) | 128));
    text_add_byte(bytes, (char)value);
}

static void put_name(struct text *bytes, enum part part, struct str name)
{
    put_varint(bytes, (uint64_t)part);
    put_varint(bytes, name.len);
    text_add(bytes, name);
}

static void put_columns(const struct slice_set *set, struct text *bytes)
{
    for (uint32_t i = 0; i < set->name_count; i++)
        put_name(bytes, (enum part)set->names[set->ranked[i]].part,
                 profile_str(set->profile, set->names[set->ranked[i]].text));
    if (set->short_count)
        put_name(bytes, PART_UNKNOWN, STR("short ones"));
    for (size_t row = 0; row < set->rows.count; row++) {
        int64_t last = set->profile->start_ns;

        for (size_t i = 0; i < set->rows.items[row].count; i++) {
            const struct slice *slice = &set->slices[set->rows.items[row].first + i];

            put_varint(bytes, (uint64_t)(slice->start_ns > last ? slice->start_ns - last : 0));
            last = slice->start_ns > last ? slice->start_ns : last;
        }
    }
    for (size_t i = 0; i < set->slice_count; i++)
        put_varint(bytes, (uint64_t)set->slices[i].duration_ns);
    for (size_t i = 0; i < set->slice_count; i++)
        put_varint(bytes, set->slices[i].name == SHORT_ONES ? set->name_count
                                                            : set->names[set->slices[i].name].rank);
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
