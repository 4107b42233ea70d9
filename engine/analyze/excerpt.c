#include "analyze/excerpt.h"

#include "analyze/emit.h"
#include "model/interval.h"

#include <string.h>

struct kept_run { /* consecutive events of the recording that are consecutive in the excerpt */
    uint32_t first, count, target;
};
struct cut {
    const struct profile *whole;
    struct profile       *part;
    struct arena         *arena, *scratch;
    struct intervals      stretches;
    bool                  is_rare[ACTIVITY_KIND_COUNT];
    VEC(struct kept_run) runs; /* by first */
};

/* Every used step is looked at. */
static uint32_t mark_all(struct steps *steps)
{
    uint32_t count = 0;

    for (size_t i = 0; i < steps->list.count; i++) {
        steps->list.items[i].is_sampled = steps->list.items[i].is_used;
        count += steps->list.items[i].is_used && steps->list.items[i].host == steps->host;
    }
    return count;
}

/* Keeps `wanted` of the reference host's used steps, in stretches spread evenly. */
static bool mark_some(struct cut *cut, struct steps *steps, uint32_t used, uint32_t wanted)
{
    uint32_t stretches = wanted < EXCERPT_STRETCHES ? wanted : EXCERPT_STRETCHES;
    uint32_t length = wanted / stretches, at = 0;

    for (size_t i = 0; i < steps->list.count; i++) {
        struct step *step = &steps->list.items[i];
        uint32_t     stretch, first;

        step->is_sampled = false;
        if (!step->is_used || step->host != steps->host)
            continue;
        stretch = (uint32_t)((uint64_t)at * stretches / used);
        first = (uint32_t)(((uint64_t)stretch * used + stretches - 1) / stretches);
        step->is_sampled = at - first < length;
        at++;
        if (step->is_sampled &&
            !intervals_add(&cut->stretches, cut->scratch, step->start_ns, step->end_ns))
            return false;
    }
    intervals_settle(&cut->stretches);
    return true;
}

static void find_rare_kinds(struct cut *cut, uint32_t most_events)
{
    const struct profile *whole = cut->whole;
    uint32_t              counts[ACTIVITY_KIND_COUNT] = { 0 };

    for (uint32_t event = 0; event < whole->event_count; event++)
        counts[event_activity(whole, event)->kind]++;
    for (int kind = 0; kind < ACTIVITY_KIND_COUNT; kind++)
        cut->is_rare[kind] = counts[kind] <= most_events / EXCERPT_RARE_PART;
}

static bool keep_event(struct cut *cut, uint32_t event, bool extends)
{
    struct kept_run *last = cut->runs.count ? &cut->runs.items[cut->runs.count - 1] : NULL;

    cut->part->event_count++;
    if (extends && last && last->first + last->count == event) {
        last->count++;
        return true;
    }
    return vec_push(&cut->runs, cut->scratch,
                    (struct kept_run) { event, 1, cut->part->event_count - 1 });
}

/* Events that share time with a stretch, and those of rare kinds. */
static bool cut_timeline(struct cut *cut, struct timeline *timeline)
{
    const struct profile  *whole = cut->whole;
    const struct interval *stretches = cut->stretches.list.items;
    size_t                 next = 0, count = cut->stretches.list.count;
    uint32_t               last = timeline->first_event + timeline->event_count;
    uint32_t               kept_before = cut->part->event_count;

    for (uint32_t event = timeline->first_event; event < last; event++) {
        int64_t start_ns = whole->event_start_ns[event];
        bool    is_inside;

        while (next < count && stretches[next].end_ns <= start_ns)
            next++;
        is_inside = next < count && (start_ns >= stretches[next].start_ns ||
                                     event_end_ns(whole, event) > stretches[next].start_ns);
        if ((is_inside || cut->is_rare[event_activity(whole, event)->kind]) &&
            !keep_event(cut, event, cut->part->event_count > kept_before))
            return false;
    }
    timeline->first_event = kept_before;
    timeline->event_count = cut->part->event_count - kept_before;
    return true;
}

static bool cut_timelines(struct cut *cut)
{
    const struct profile *whole = cut->whole;
    struct timeline      *timelines =
        arena_new_array(cut->arena, struct timeline, whole->timelines.count + 1);

    if (!timelines)
        return false;
    cut->part->event_count = 0;
    for (size_t i = 0; i < whole->timelines.count; i++) {
        timelines[i] = whole->timelines.items[i];
        if (!cut_timeline(cut, &timelines[i]))
            return false;
    }
    cut->part->timelines.items = timelines;
    return true;
}

static bool copy_columns(struct cut *cut)
{
    const struct profile *whole = cut->whole;
    struct profile       *part = cut->part;

    part->event_start_ns = arena_new_array(cut->arena, int64_t, part->event_count);
    part->event_duration_ = arena_new_array(cut->arena, uint32_t, part->event_count);
    part->event_activity = arena_new_array(cut->arena, uint32_t, part->event_count);
    if (!part->event_start_ns || !part->event_duration_ || !part->event_activity)
        return false;
    for (size_t i = 0; i < cut->runs.count; i++) {
        const struct kept_run *run = &cut->runs.items[i];

        memcpy(part->event_start_ns + run->target, whole->event_start_ns + run->first,
               run->count * sizeof *part->event_start_ns);
        memcpy(part->event_duration_ + run->target, whole->event_duration_ + run->first,
               run->count * sizeof *part->event_duration_);
        memcpy(part->event_activity + run->target, whole->event_activity + run->first,
               run->count * sizeof *part->event_activity);
    }
    return true;
}

/* The event's id in the excerpt, or NO_ID. */
static uint32_t kept_id(const struct cut *cut, uint32_t event)
{
    size_t low = 0, high = cut->runs.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (cut->runs.items[middle].first <= event)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || event - cut->runs.items[low - 1].first >= cut->runs.items[low - 1].count)
        return NO_ID;
    return cut->runs.items[low - 1].target + event - cut->runs.items[low - 1].first;
}

/* First row of an ascending column at or behind an event. */
static size_t first_row(const struct stat_column *column, size_t low, uint32_t event)
{
    size_t high = column->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (column->events[middle] < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t copy_stats(const struct cut *cut, const struct stat_column *from,
                         struct stat_column *to)
{
    size_t row = 0, count = 0;

    for (size_t i = 0; i < cut->runs.count; i++) {
        const struct kept_run *run = &cut->runs.items[i];

        for (row = first_row(from, row, run->first);
             row < from->count && from->events[row] - run->first < run->count; row++) {
            if (to->events) {
                to->events[count] = from->events[row] - run->first + run->target;
                to->values[count] = from->values[row];
            }
            count++;
        }
    }
    return count;
}

static bool cut_stats(struct cut *cut)
{
    for (int key = 0; key < STAT_KEY_COUNT; key++) {
        const struct stat_column *from = &cut->whole->stats[key];
        struct stat_column       *to = &cut->part->stats[key];

        *to = (struct stat_column) { 0 };
        if (from->count == 0)
            continue;
        to->count = copy_stats(cut, from, to);
        to->events = arena_new_array(cut->arena, uint32_t, to->count);
        to->values = arena_new_array(cut->arena, int64_t, to->count);
        if (!to->events || !to->values)
            return false;
        copy_stats(cut, from, to);
    }
    return true;
}

static bool cut_rows(struct cut *cut)
{
    const struct profile *whole = cut->whole;
    struct profile       *part = cut->part;

    memset(&part->flows, 0, sizeof part->flows);
    memset(&part->long_durations, 0, sizeof part->long_durations);
    memset(&part->memory_events, 0, sizeof part->memory_events);
    for (size_t i = 0; i < whole->flows.count; i++) {
        struct flow flow = whole->flows.items[i];

        flow.from = kept_id(cut, flow.from);
        flow.to = flow.from == NO_ID ? NO_ID : kept_id(cut, flow.to);
        if (flow.to != NO_ID && !vec_push(&part->flows, cut->arena, flow))
            return false;
    }
    for (size_t i = 0; i < whole->long_durations.count; i++) {
        struct long_duration item = whole->long_durations.items[i];

        item.event = kept_id(cut, item.event);
        if (item.event != NO_ID && !vec_push(&part->long_durations, cut->arena, item))
            return false;
    }
    for (size_t i = 0; i < whole->memory_events.count; i++) {
        struct memory_event event = whole->memory_events.items[i];

        event.event = event.event == NO_ID ? NO_ID : kept_id(cut, event.event);
        if (!vec_push(&part->memory_events, cut->arena, event))
            return false;
    }
    return true;
}

static bool note_sample(struct cut *cut, uint32_t sampled, uint32_t used)
{
    struct profile *part = cut->part;
    struct note    *notes = arena_new_array(cut->arena, struct note, part->notes.count + 1);
    char           *what = arena_text(cut->arena,
                                      "a long recording: %u of its %u steps, evenly spread, are "
                                                "looked at in detail",
                                      sampled, used);

    if (!notes || !what)
        return false;
    for (size_t i = 0; i < part->notes.count; i++)
        notes[i] = part->notes.items[i];
    notes[part->notes.count] = (struct note) { .what = what, .count = 1 };
    part->notes.items = notes;
    part->notes.count++;
    return true;
}

static void move_markers(const struct cut *cut, struct steps *steps)
{
    for (size_t i = 0; i < steps->list.count; i++)
        if (steps->list.items[i].event != NO_ID)
            steps->list.items[i].event = kept_id(cut, steps->list.items[i].event);
}

bool excerpt_make(struct study *study, uint32_t most_events, struct err *err)
{
    const struct profile *whole = study->profile;
    struct arena          scratch = { 0 };
    uint32_t              used = mark_all(&study->steps), wanted;
    struct cut            cut = { .whole = whole, .arena = study->arena, .scratch = &scratch };
    bool                  is_done;

    if (whole->event_count <= most_events || used < 2)
        return true;
    wanted = (uint32_t)((uint64_t)used * (most_events / 2) / whole->event_count);
    if (wanted == 0)
        wanted = 1;
    cut.part = arena_new(study->arena, struct profile);
    if (!cut.part)
        return emit_limit("an excerpt of the recording", err);
    *cut.part = *whole;
    find_rare_kinds(&cut, most_events);
    is_done = mark_some(&cut, &study->steps, used, wanted) && cut_timelines(&cut) &&
              copy_columns(&cut) && cut_stats(&cut) && cut_rows(&cut);
    if (is_done) {
        uint32_t sampled = 0;

        for (size_t i = 0; i < study->steps.list.count; i++)
            sampled += study->steps.list.items[i].is_sampled;
        move_markers(&cut, &study->steps);
        study->profile = cut.part;
        is_done = note_sample(&cut, sampled, used);
    }
    arena_free(&scratch);
    return is_done || emit_limit("an excerpt of the recording", err);
}
