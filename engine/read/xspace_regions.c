#include "read/xspace_regions.h"

#include <stdlib.h>

/* Activities with this name (one a plane or more). NULL: none, or the budget is exhausted. */
static bool *activities_named(struct profile *profile, struct arena *scratch, struct str name,
                              uint32_t *any)
{
    bool    *is_named = arena_new_array(scratch, bool, profile->activities.count);
    uint32_t id = intern_find(&profile->names, name);

    *any = NO_ID;
    for (uint32_t a = 0; is_named && id != NO_ID && a < profile->activities.count; a++)
        if (profile->activities.items[a].name == id)
            is_named[a] = true, *any = a;
    return is_named;
}

static uint32_t add_region_activity(struct profile *profile, uint32_t like)
{
    struct activity region = profile->activities.items[like];

    region.name = profile_intern(profile, STR("ThreadpoolListener::Region"));
    region.kind = ACTIVITY_EXECUTOR;
    return region.name != NO_ID && vec_push(&profile->activities, profile->arena, region)
               ? (uint32_t)profile->activities.count - 1
               : NO_ID;
}

static bool set_duration(struct profile *profile, uint32_t event, int64_t duration_ns,
                         bool *is_added)
{
    profile->event_duration_[event] =
        duration_ns < EVENT_DURATION_LONG ? (uint32_t)duration_ns : EVENT_DURATION_LONG;
    if (duration_ns < EVENT_DURATION_LONG)
        return true;
    *is_added = true;
    return vec_push(&profile->long_durations, profile->arena,
                    (struct long_duration) { event, duration_ns });
}

static int by_event(const void *a, const void *b)
{
    const struct long_duration *x = a, *y = b;

    return (x->event > y->event) - (x->event < y->event);
}

bool xspace_join_regions(struct profile *profile)
{
    struct arena scratch = { .budget_bytes = profile->arena->budget_bytes };
    uint32_t     any_start, any_stop, region = NO_ID;
    bool        *is_start =
        activities_named(profile, &scratch, STR("ThreadpoolListener::StartRegion"), &any_start);
    bool *is_stop =
        activities_named(profile, &scratch, STR("ThreadpoolListener::StopRegion"), &any_stop);
    bool ok = is_start && is_stop, is_added = false;

    if (ok && any_start != NO_ID && any_stop != NO_ID) {
        region = add_region_activity(profile, any_start);
        ok = region != NO_ID;
    }
    for (size_t t = 0; ok && region != NO_ID && t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];
        uint32_t               open = NO_ID;

        for (uint32_t e = line->first_event; ok && e < line->first_event + line->event_count; e++) {
            uint32_t activity = profile->event_activity[e];

            if (is_start[activity]) {
                open = e;
            } else if (is_stop[activity] && open != NO_ID) {
                ok = set_duration(profile, open,
                                  profile->event_start_ns[e] - profile->event_start_ns[open],
                                  &is_added);
                profile->event_activity[open] = region;
                open = NO_ID;
            }
        }
    }
    if (is_added)
        qsort(profile->long_durations.items, profile->long_durations.count,
              sizeof *profile->long_durations.items, by_event);
    arena_free(&scratch);
    return ok;
}
