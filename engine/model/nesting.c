/*
 * Events of a timeline come sorted by start, longest first: an event is inside of the one before
 * it, or of one that is around that one.
 */
#include "model/nesting.h"

#include <string.h>

static uint32_t *new_column(const struct profile *profile, struct arena *arena)
{
    uint32_t *column = arena_new_array(arena, uint32_t, (size_t)profile->event_count + 1);

    return column ? memset(column, 0xff, (size_t)profile->event_count * sizeof *column) : NULL;
}

uint32_t *nesting_find(const struct profile *profile, struct arena *arena)
{
    uint32_t *around = new_column(profile, arena);

    for (size_t i = 0; around && i < profile->timelines.count; i++) {
        uint32_t first = profile->timelines.items[i].first_event;
        uint32_t end = first + profile->timelines.items[i].event_count;

        for (uint32_t event = first; event < end; event++) {
            int64_t  start_ns = event_start_ns(profile, event);
            uint32_t outer = event > first ? event - 1 : NO_ID;

            while (outer != NO_ID && event_end_ns(profile, outer) <= start_ns)
                outer = around[outer];
            around[event] = outer;
        }
    }
    return around;
}

uint32_t *nesting_innermost(const struct profile *profile, const uint32_t *around,
                            bool (*is)(const struct profile *, const struct activity *),
                            struct arena *arena)
{
    uint32_t *innermost = new_column(profile, arena);

    for (size_t i = 0; innermost && i < profile->timelines.count; i++) {
        uint32_t first = profile->timelines.items[i].first_event;
        uint32_t end = first + profile->timelines.items[i].event_count;

        if (profile->timelines.items[i].kind != TIMELINE_THREAD)
            continue;
        for (uint32_t event = first; event < end; event++)
            if (is(profile, event_activity(profile, event)))
                innermost[event] = event_activity_id(profile, event);
            else if (around[event] != NO_ID)
                innermost[event] = innermost[around[event]];
    }
    return innermost;
}
