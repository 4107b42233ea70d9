/* profile_check: the model's promises that every reader must keep; aborts on a broken one. */
#ifndef TFPROF_TESTS_PROFILE_CHECK_H
#define TFPROF_TESTS_PROFILE_CHECK_H

#include "model/profile.h"

#include <stdlib.h>

static inline void profile_check_timeline(const struct profile  *profile,
                                          const struct timeline *timeline, uint32_t next)
{
    if (timeline->first_event != next || timeline->host >= profile->hosts.count ||
        (timeline->device != NO_ID && timeline->device >= profile->devices.count))
        abort();
    for (uint32_t i = next; i < next + timeline->event_count; i++) {
        if (event_duration_ns(profile, i) < 0 ||
            event_activity_id(profile, i) >= profile->activities.count)
            abort();
        if (i > next && event_start_ns(profile, i) < event_start_ns(profile, i - 1))
            abort();
    }
}

/* Timelines own all events in order; every id names a row. */
static inline void profile_check(const struct profile *profile)
{
    uint32_t next = 0;

    for (size_t t = 0; t < profile->timelines.count; t++) {
        profile_check_timeline(profile, &profile->timelines.items[t], next);
        next += profile->timelines.items[t].event_count;
    }
    if (next != profile->event_count)
        abort();
    for (size_t i = 0; i < profile->flows.count; i++)
        if (profile->flows.items[i].from >= next || profile->flows.items[i].to >= next)
            abort();
    for (size_t i = 0; i < profile->activities.count; i++) {
        const struct activity *activity = &profile->activities.items[i];

        if (activity->name >= profile->names.count ||
            (activity->op != NO_ID && activity->op >= profile->ops.count) ||
            (activity->source != NO_ID && activity->source >= profile->sources.count))
            abort();
    }
    for (int key = 0; key < STAT_KEY_COUNT; key++)
        for (size_t i = 0; i < stat_count(&profile->stats[key]); i++)
            if (stat_event(&profile->stats[key], i) >= next ||
                (i && stat_event(&profile->stats[key], i) < stat_event(&profile->stats[key], i - 1)))
                abort();
}

#endif
