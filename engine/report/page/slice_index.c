#include "report/page/slice_index.h"

#include "analyze/path/path.h"
#include "base/sort.h"

#include <stdlib.h>

enum { MOST_DEPTH = 64 };

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

    return IN_ORDER(COMPARE(a->text, b->text), COMPARE(a->part, b->part),
                    COMPARE(a->activity, b->activity));
}

/* Activities that look alike, in name and colour, are one name. */
static bool make_names(struct slice_index *index, struct arena *arena)
{
    const struct profile  *profile = index->profile;
    size_t                 count = profile->activities.count;
    bool                   is_fed = has_accelerator(profile);
    struct named_activity *sorted = arena_new_array(arena, struct named_activity, count);

    index->name_of = arena_new_array(arena, uint32_t, count);
    index->names = arena_new_array(arena, struct slice_name, count);
    if (!sorted || !index->name_of || !index->names)
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
            index->names[index->name_count++] =
                (struct slice_name) { .text = sorted[i].text, .part = sorted[i].part };
        index->name_of[sorted[i].activity] = index->name_count - 1;
    }
    return true;
}

/* Step markers are on it. */
static bool has_steps(const struct profile *profile, const struct timeline *timeline)
{
    for (uint32_t i = 0; i < timeline->event_count; i++)
        if (event_activity(profile, timeline->first_event + i)->kind == ACTIVITY_STEP)
            return true;
    return false;
}

/* Devices first, then threads, those with steps and with most events first. */
static int compare_timelines(const struct profile *profile, const bool *stepped, uint32_t left,
                             uint32_t right)
{
    const struct timeline *a = &profile->timelines.items[left],
                          *b = &profile->timelines.items[right];

    return IN_ORDER(COMPARE(a->device == NO_ID, b->device == NO_ID), COMPARE(a->host, b->host),
                    COMPARE(stepped[right], stepped[left]),
                    a->device == NO_ID ? COMPARE(b->event_count, a->event_count) : 0,
                    COMPARE(left, right));
}

/* Few enough to insert. */
static bool order_timelines(struct slice_index *index, struct arena *arena)
{
    const struct profile *profile = index->profile;
    bool                 *stepped = arena_new_array(arena, bool, profile->timelines.count);

    index->order = arena_new_array(arena, uint32_t, profile->timelines.count);
    if (!stepped || !index->order)
        return false;
    for (uint32_t i = 0; i < profile->timelines.count; i++) {
        size_t at = index->order_count;

        if (!timeline_is_shown(&profile->timelines.items[i]))
            continue;
        stepped[i] = has_steps(profile, &profile->timelines.items[i]);
        for (; at > 0 && compare_timelines(profile, stepped, i, index->order[at - 1]) < 0; at--)
            index->order[at] = index->order[at - 1];
        index->order[at] = i;
        index->order_count++;
    }
    return true;
}

/* Depths of a timeline's events, and how many there are. Recorders let some events end behind the
 * one they began in; those stand beside it. */
static uint8_t find_depths(const struct slice_index *index, const struct timeline *timeline)
{
    int64_t  ends[MOST_DEPTH];
    unsigned open = 0, deepest = 0;

    for (uint32_t i = 0; i < timeline->event_count; i++) {
        uint32_t event = timeline->first_event + i;
        int64_t  start = event_start_ns(index->profile, event);
        int64_t  end = start + event_duration_ns(index->profile, event);

        while (open > 0 && (ends[open - 1] <= start || ends[open - 1] < end))
            open--;
        if (open == MOST_DEPTH)
            open--;
        index->depths[event] = (uint8_t)open;
        deepest = open > deepest ? open : deepest;
        ends[open++] = end;
    }
    return (uint8_t)(deepest + 1);
}

static bool nest_events(struct slice_index *index, struct arena *arena)
{
    const struct profile *profile = index->profile;

    index->depths = arena_new_array(arena, uint8_t, profile->event_count);
    index->depth_count = arena_new_array(arena, uint8_t, profile->timelines.count);
    if (!index->depths || !index->depth_count)
        return false;
    for (size_t i = 0; i < index->order_count; i++)
        index->depth_count[index->order[i]] =
            find_depths(index, &profile->timelines.items[index->order[i]]);
    return true;
}

struct slice_index *slice_index_make(const struct profile *profile, struct arena *arena)
{
    struct slice_index *index = arena_new(arena, struct slice_index);

    if (!index)
        return NULL;
    index->profile = profile;
    return make_names(index, arena) && order_timelines(index, arena) && nest_events(index, arena)
               ? index
               : NULL;
}
