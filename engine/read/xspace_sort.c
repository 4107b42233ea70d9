/* Brings a timeline's events into order. Nearly sorted ones, the common case of these rare ones,
 * are done by insertion. */
#include "read/xspace_merge.h"

#include <stdlib.h>

struct order {
    int64_t  start_ns, duration_ns;
    uint32_t index, activity;
};

struct pair {
    uint32_t event;
    int64_t  value;
};

static int by_start(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_pair(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    return (x->event > y->event) - (x->event < y->event);
}

static int by_long(const void *a, const void *b)
{
    const struct long_duration *x = a, *y = b;

    return (x->event > y->event) - (x->event < y->event);
}

static int by_memory(const void *a, const void *b)
{
    const struct memory_event *x = a, *y = b;

    return (x->event > y->event) - (x->event < y->event);
}

/* false: too far out of order for insertion. */
static bool insert_all(struct order *orders, size_t count)
{
    size_t moves = 0;

    for (size_t i = 1; i < count; i++) {
        struct order item = orders[i];
        size_t       to = i;

        for (; to > 0 && by_start(&orders[to - 1], &item) > 0; to--)
            orders[to] = orders[to - 1];
        orders[to] = item;
        moves += i - to;
        if (moves > 8 * count)
            return false;
    }
    return true;
}

static size_t first_at(const uint32_t *events, size_t count, uint32_t event)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (events[middle] < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* New rows for the stats of the timeline; `pairs` has room for one an event. */
static void move_stats(struct stat_column *column, const struct timeline *timeline,
                       const uint32_t *moved, struct pair *pairs)
{
    uint32_t first = timeline->first_event;
    size_t   from = first_at(column->events, column->count, first);
    size_t   to = first_at(column->events, column->count, first + timeline->event_count);

    for (size_t i = from; i < to; i++)
        pairs[i - from] =
            (struct pair) { first + moved[column->events[i] - first], column->values[i] };
    if (to > from)
        qsort(pairs, to - from, sizeof *pairs, by_pair);
    for (size_t i = from; i < to; i++) {
        column->events[i] = pairs[i - from].event;
        column->values[i] = pairs[i - from].value;
    }
}

static void move_rows(struct profile *profile, const struct timeline *timeline,
                      const uint32_t *moved)
{
    uint32_t first = timeline->first_event, end = first + timeline->event_count;

    for (size_t i = 0; i < profile->long_durations.count; i++) {
        uint32_t *event = &profile->long_durations.items[i].event;

        if (*event >= first && *event < end)
            *event = first + moved[*event - first];
    }
    if (profile->long_durations.count)
        qsort(profile->long_durations.items, profile->long_durations.count,
              sizeof *profile->long_durations.items, by_long);
    for (size_t i = 0; i < profile->memory_events.count; i++) {
        uint32_t *event = &profile->memory_events.items[i].event;

        if (*event >= first && *event < end)
            *event = first + moved[*event - first];
    }
    if (profile->memory_events.count)
        qsort(profile->memory_events.items, profile->memory_events.count,
              sizeof *profile->memory_events.items, by_memory);
}

static void write_events(struct profile *profile, const struct timeline *timeline,
                         const struct order *orders, uint32_t *moved)
{
    for (uint32_t i = 0; i < timeline->event_count; i++) {
        uint32_t row = timeline->first_event + i;

        moved[orders[i].index] = i;
        profile->event_start_ns[row] = orders[i].start_ns;
        profile->event_activity[row] = orders[i].activity;
        profile->event_duration_[row] = orders[i].duration_ns < EVENT_DURATION_LONG
                                            ? (uint32_t)orders[i].duration_ns
                                            : EVENT_DURATION_LONG;
    }
}

bool xspace_sort(struct profile *profile, const struct timeline *timeline)
{
    struct arena  scratch = { .budget_bytes = profile->arena->budget_bytes };
    uint32_t      count = timeline->event_count;
    struct order *orders = arena_new_array(&scratch, struct order, count);
    uint32_t     *moved = arena_new_array(&scratch, uint32_t, count);
    struct pair  *pairs = arena_new_array(&scratch, struct pair, count);
    bool          is_full = !orders || !moved || !pairs;

    for (uint32_t i = 0; !is_full && i < count; i++) {
        uint32_t row = timeline->first_event + i;

        orders[i] = (struct order) { profile->event_start_ns[row], event_duration_ns(profile, row),
                                     i, profile->event_activity[row] };
    }
    if (!is_full) {
        if (!insert_all(orders, count))
            qsort(orders, count, sizeof *orders, by_start);
        write_events(profile, timeline, orders, moved);
        for (int key = 0; key < STAT_KEY_COUNT; key++)
            move_stats(&profile->stats[key], timeline, moved, pairs);
        move_rows(profile, timeline, moved);
    }
    arena_free(&scratch);
    return !is_full;
}
