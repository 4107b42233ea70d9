/* Brings a timeline's events into order. Nearly sorted ones, the common case of these rare ones,
 * are done by insertion. */
#include "base/sort.h"
#include "read/xspace/xspace_decode.h"

#include <stdlib.h>

enum { BATCH = 512 };

struct order {
    int64_t  start_ns, duration_ns;
    uint32_t index, label;
};

struct pair {
    int64_t event, value;
};

static int by_start(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    return IN_ORDER(COMPARE(x->start_ns, y->start_ns), COMPARE(y->duration_ns, x->duration_ns),
                    COMPARE(x->index, y->index));
}

static int by_pair(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    return COMPARE(x->event, y->event);
}

static int by_memory(const void *a, const void *b)
{
    const struct memory_event *x = a, *y = b;

    return COMPARE(x->event, y->event);
}

/* New rows for the stats of the timeline; `pairs` and `values` have room for one an event. */
static bool move_stats(struct profile *profile, struct stat_column *column,
                       const struct timeline *timeline, const uint32_t *moved, struct pair *pairs)
{
    uint32_t first = timeline->first_event;
    size_t   from = packed_find(&column->events, first);
    size_t   to = packed_find(&column->events, (int64_t)first + timeline->event_count);

    for (size_t i = from; i < to; i++)
        pairs[i - from] =
            (struct pair) { first + moved[stat_event(column, i) - first], stat_value(column, i) };
    if (to > from)
        qsort(pairs, to - from, sizeof *pairs, by_pair);
    for (size_t i = from; i < to; i += BATCH) {
        size_t  count = to - i < BATCH ? to - i : BATCH;
        int64_t events[BATCH], values[BATCH];

        for (size_t n = 0; n < count; n++) {
            events[n] = pairs[i - from + n].event;
            values[n] = pairs[i - from + n].value;
        }
        if (!packed_write(&column->events, profile->arena, i, events, count) ||
            !packed_write(&column->values, profile->arena, i, values, count))
            return false;
    }
    return true;
}

static void move_memory(struct profile *profile, const struct timeline *timeline,
                        const uint32_t *moved)
{
    uint32_t first = timeline->first_event, end = first + timeline->event_count;

    for (size_t i = 0; i < profile->memory_events.count; i++) {
        uint32_t *event = &profile->memory_events.items[i].event;

        if (*event >= first && *event < end)
            *event = first + moved[*event - first];
    }
    if (profile->memory_events.count)
        qsort(profile->memory_events.items, profile->memory_events.count,
              sizeof *profile->memory_events.items, by_memory);
}

static bool write_events(struct profile *profile, const struct timeline *timeline,
                         const struct order *orders, uint32_t *moved)
{
    int64_t           starts_ns[BATCH], durations_ns[BATCH], labels[BATCH];
    struct event_rows rows = { starts_ns, durations_ns, labels };

    for (uint32_t i = 0; i < timeline->event_count; i += BATCH) {
        uint32_t count = timeline->event_count - i < BATCH ? timeline->event_count - i : BATCH;

        for (uint32_t n = 0; n < count; n++) {
            moved[orders[i + n].index] = i + n;
            starts_ns[n] = orders[i + n].start_ns;
            durations_ns[n] = orders[i + n].duration_ns;
            labels[n] = orders[i + n].label;
        }
        if (!profile_write_events(profile, timeline->first_event + i, &rows, count))
            return false;
    }
    return true;
}

bool xspace_sort(struct profile *profile, const struct timeline *timeline)
{
    struct arena  scratch = { .budget_bytes = profile->arena->budget_bytes };
    uint32_t      count = timeline->event_count;
    struct order *orders = arena_new_array(&scratch, struct order, count);
    uint32_t     *moved = arena_new_array(&scratch, uint32_t, count);
    struct pair  *pairs = arena_new_array(&scratch, struct pair, count);
    bool          ok = orders && moved && pairs;

    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t row = timeline->first_event + i;

        orders[i] = (struct order) { event_start_ns(profile, row), event_duration_ns(profile, row),
                                     i, (uint32_t)packed_get(&profile->event_labels, row) };
    }
    if (ok) {
        sort_nearly_sorted(orders, count, sizeof *orders, by_start);
        ok = write_events(profile, timeline, orders, moved);
        for (int key = 0; ok && key < STAT_KEY_COUNT; key++)
            ok = move_stats(profile, &profile->stats[key], timeline, moved, pairs);
        move_memory(profile, timeline, moved);
    }
    arena_free(&scratch);
    return ok;
}
