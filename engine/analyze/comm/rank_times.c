#include "analyze/comm/rank_times.h"

#include "analyze/device/device_activity.h"
#include "base/sample.h"

double rank_step_ns(const struct study *study, uint32_t host, struct arena *scratch)
{
    VEC(double) durations = { 0 };

    for (size_t i = 0; i < study->steps.list.count; i++) {
        const struct step *step = &study->steps.list.items[i];

        if (step->host == host && step->is_used &&
            !vec_push(&durations, scratch, (double)(step->end_ns - step->start_ns)))
            return 0;
    }
    return sample_middle(durations.items, durations.count);
}

double rank_kind_ns(const struct study *study, const struct windows *windows, uint32_t host,
                    enum activity_kind kind)
{
    const struct profile *profile = study->profile;
    double                total_ns = 0;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];
        int64_t                outer_end_ns = INT64_MIN;

        if (timeline->host != host || timeline->kind != TIMELINE_THREAD)
            continue;
        for (uint32_t j = 0; j < timeline->event_count; j++) {
            uint32_t event = timeline->first_event + j;
            int64_t  start_ns = event_start_ns(profile, event);

            if (event_activity(profile, event)->kind != kind || start_ns < outer_end_ns)
                continue;
            outer_end_ns = event_end_ns(profile, event);
            total_ns += (double)windows_overlap_ns(windows, start_ns, outer_end_ns);
        }
    }
    return total_ns;
}

double rank_compute_ns(const struct study *study, const struct windows *windows, uint32_t host)
{
    double total_ns = 0;

    for (size_t i = 0; study->devices && i < study->devices->rows.count; i++)
        if (study->profile->devices.items[study->devices->rows.items[i].device].host == host)
            total_ns += study->devices->rows.items[i].compute_ns;
    return total_ns > 0 ? total_ns : rank_kind_ns(study, windows, host, ACTIVITY_OP);
}
