#include "analyze/step_device.h"

#include <string.h>

/* Work that is left at the end of the last step, over a step, from which the host counts as ahead:
 * a step that reads its loss leaves none. */
#define AHEAD_SHARE 0.5

/* The step of a host that was open at a time, or NO_ID; [first, end) are its steps, in order. */
static size_t step_at(const struct steps *steps, size_t first, size_t end, int64_t time_ns)
{
    size_t low = first, high = end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (steps->list.items[middle].end_ns > time_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low < end && steps->list.items[low].start_ns <= time_ns ? low : SIZE_MAX;
}

/* By step of [first, end): when the work launched in it was done. */
static void find_ends(const struct study *study, size_t first, size_t end, int64_t *done_ns)
{
    const struct profile *profile = study->profile;

    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];
        size_t             step;

        if (flow->kind != FLOW_LAUNCH || flow->to >= profile->event_count ||
            flow->from >= profile->event_count)
            continue;
        step = step_at(&study->steps, first, end, event_start_ns(profile, flow->from));
        if (step != SIZE_MAX && event_end_ns(profile, flow->to) > done_ns[step - first])
            done_ns[step - first] = event_end_ns(profile, flow->to);
    }
}

static bool follow(struct study *study, size_t first, size_t end, struct arena *scratch)
{
    struct step *steps = study->steps.list.items;
    size_t       count = end - first;
    int64_t     *done_ns = arena_new_array(scratch, int64_t, count);
    double       host_ns = (double)(steps[end - 1].end_ns - steps[first].start_ns) / (double)count;

    if (!done_ns)
        return false;
    memset(done_ns, 0, count * sizeof *done_ns);
    find_ends(study, first, end, done_ns);
    if ((double)(done_ns[count - 1] - steps[end - 1].end_ns) < AHEAD_SHARE * host_ns)
        return true;
    for (size_t i = 0; i < count; i++) {
        struct step *step = &steps[first + i];

        if (i > 0 && steps[first + i - 1].end_ns > step->start_ns)
            step->start_ns = steps[first + i - 1].end_ns;
        if (done_ns[i] > step->end_ns)
            step->end_ns = done_ns[i];
        if (step->end_ns < step->start_ns)
            step->end_ns = step->start_ns;
        step->marker_end_ns = step->end_ns;
    }
    return true;
}

bool steps_follow_device(struct study *study, struct arena *scratch)
{
    struct steps *steps = &study->steps;

    if (study->profile->format != FORMAT_KINETO || steps->source != STEPS_MARKER)
        return true;
    for (size_t first = 0, end; first < steps->list.count; first = end) {
        for (end = first + 1; end < steps->list.count; end++)
            if (steps->list.items[end].host != steps->list.items[first].host ||
                steps->list.items[end].start_ns > steps->list.items[end - 1].end_ns)
                break;
        if (end - first >= 2 && !follow(study, first, end, scratch))
            return false;
    }
    return true;
}
