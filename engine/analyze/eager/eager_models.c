/* eager_models.c: see eager_models.h. */
#include "analyze/eager/eager_models.h"

static void count_on(const struct profile *profile, const struct timeline *line, uint32_t *count_of)
{
    int64_t reached_ns = INT64_MIN;

    for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++) {
        const struct activity *activity = event_activity(profile, i);

        if (activity->kind != ACTIVITY_PYTHON || event_start_ns(profile, i) < reached_ns ||
            !str_starts(profile_str(profile, activity->name), STR("nn.Module: ")))
            continue;
        reached_ns = event_end_ns(profile, i);
        count_of[activity->name]++;
    }
}

bool eager_models_count(const struct study *study, struct arena *scratch, double *calls)
{
    const struct profile *profile = study->profile;
    uint32_t *count_of = arena_new_array(scratch, uint32_t, (size_t)profile->names.count + 1);

    *calls = 0;
    if (!count_of)
        return false;
    for (uint32_t t = 0; t < profile->timelines.count; t++)
        if (profile->timelines.items[t].kind == TIMELINE_THREAD)
            count_on(profile, &profile->timelines.items[t], count_of);
    for (uint32_t name = 0; name <= profile->names.count; name++)
        *calls = count_of[name] > *calls ? count_of[name] : *calls;
    return true;
}
