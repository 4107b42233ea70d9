#include "model/subset.h"

#include "base/macros.h"

#include <string.h>

void subset_start(struct subset *subset, const struct profile *whole, struct profile *part,
                  struct arena *arena, struct arena *scratch)
{
    *subset = (struct subset) { .whole = whole, .part = part, .arena = arena, .scratch = scratch };
    *part = *whole;
    part->event_count = 0;
    part->event_starts_ns = part->event_durations_ns = part->event_labels = (struct packed) { 0 };
    memset(part->stats, 0, sizeof part->stats);
    memset(&part->flows, 0, sizeof part->flows);
    memset(&part->memory_events, 0, sizeof part->memory_events);
}

bool subset_keep(struct subset *subset, uint32_t first, uint32_t count)
{
    struct kept_run *last = subset->runs.count ? &subset->runs.items[subset->runs.count - 1] : NULL;
    uint32_t         target = subset->part->event_count;

    subset->part->event_count += count;
    if (last && last->first + last->count == first) {
        last->count += count;
        return true;
    }
    return count == 0 ||
           vec_push(&subset->runs, subset->scratch, (struct kept_run) { first, count, target });
}

static bool copy_column(const struct subset *subset, const struct packed *from, struct packed *to)
{
    int64_t values[EVENT_BATCH];

    for (size_t i = 0; i < subset->runs.count; i++) {
        const struct kept_run *run = &subset->runs.items[i];

        for (uint32_t done = 0; done < run->count; done += EVENT_BATCH) {
            uint32_t some = run->count - done < EVENT_BATCH ? run->count - done : EVENT_BATCH;

            packed_read(from, run->first + done, some, values);
            if (!packed_append(to, subset->arena, values, some))
                return false;
        }
    }
    return true;
}

uint32_t subset_event(const struct subset *subset, uint32_t event)
{
    const struct kept_run *runs = subset->runs.items;
    size_t                 low = LOWER_BOUND(subset->runs.count, i, runs[i].first <= event);

    if (low == 0 || event - runs[low - 1].first >= runs[low - 1].count)
        return NO_ID;
    return runs[low - 1].target + event - runs[low - 1].first;
}

static bool copy_stats(const struct subset *subset, const struct stat_column *from,
                       struct stat_column *to)
{
    int64_t events[EVENT_BATCH], values[EVENT_BATCH];
    size_t  count = 0, row = 0;

    for (size_t i = 0; i < subset->runs.count && row < stat_count(from); i++) {
        const struct kept_run *run = &subset->runs.items[i];

        for (row = packed_find(&from->events, run->first);
             row < stat_count(from) && stat_event(from, row) - run->first < run->count; row++) {
            events[count] = stat_event(from, row) - run->first + run->target;
            values[count++] = stat_value(from, row);
            if (count == EVENT_BATCH &&
                (!packed_append(&to->events, subset->arena, events, count) ||
                 !packed_append(&to->values, subset->arena, values, count)))
                return false;
            count %= EVENT_BATCH;
        }
    }
    return packed_append(&to->events, subset->arena, events, count) &&
           packed_append(&to->values, subset->arena, values, count);
}

static bool copy_rows(struct subset *subset)
{
    const struct profile *whole = subset->whole;
    struct profile       *part = subset->part;

    for (size_t i = 0; i < whole->flows.count; i++) {
        struct flow flow = whole->flows.items[i];

        flow.from = subset_event(subset, flow.from);
        flow.to = flow.from == NO_ID ? NO_ID : subset_event(subset, flow.to);
        if (flow.to != NO_ID && !vec_push(&part->flows, subset->arena, flow))
            return false;
    }
    for (size_t i = 0; i < whole->memory_events.count; i++) {
        struct memory_event event = whole->memory_events.items[i];

        event.event = event.event == NO_ID ? NO_ID : subset_event(subset, event.event);
        if (!vec_push(&part->memory_events, subset->arena, event))
            return false;
    }
    return true;
}

bool subset_finish(struct subset *subset)
{
    const struct profile *whole = subset->whole;
    struct profile       *part = subset->part;

    if (!copy_column(subset, &whole->event_starts_ns, &part->event_starts_ns) ||
        !copy_column(subset, &whole->event_durations_ns, &part->event_durations_ns) ||
        !copy_column(subset, &whole->event_labels, &part->event_labels))
        return false;
    for (int key = 0; key < STAT_KEY_COUNT; key++)
        if (!copy_stats(subset, &whole->stats[key], &part->stats[key]))
            return false;
    return copy_rows(subset);
}
