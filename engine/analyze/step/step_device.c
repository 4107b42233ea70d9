#include "analyze/step/step_device.h"

#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* Work that is left at the end of the last step, over a step, from which the host counts as ahead:
 * a step that reads its loss leaves none. */
#define AHEAD_SHARE 0.5
/* Kernels that are the same a step later, from which steps count as alike. */
#define PERIODIC_SHARE 0.9

/* The step of a host that was open at a time, or NO_ID; [first, end) are its steps, in order. */
static size_t step_at(const struct steps *steps, size_t first, size_t end, int64_t time_ns)
{
    size_t low =
        first + LOWER_BOUND(end - first, i, steps->list.items[first + i].end_ns <= time_ns);

    return low < end && steps->list.items[low].start_ns <= time_ns ? low : SIZE_MAX;
}

/* By step of [first, end): when the work launched in it was done. How much work that was. */
static size_t find_ends(const struct study *study, size_t first, size_t end, int64_t *done_ns)
{
    const struct profile *profile = study->profile;
    size_t                count = 0;

    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];
        size_t             step;

        if (flow->kind != FLOW_LAUNCH || flow->to >= profile->event_count ||
            flow->from >= profile->event_count)
            continue;
        step = step_at(&study->steps, first, end, event_start_ns(profile, flow->from));
        count += step != SIZE_MAX;
        if (step != SIZE_MAX && event_end_ns(profile, flow->to) > done_ns[step - first])
            done_ns[step - first] = event_end_ns(profile, flow->to);
    }
    return count;
}

struct kernel {
    int64_t  start_ns;
    uint32_t event;
};
/* Kernels of one device of the host, in the order in which they ran. */
struct kernels {
    VEC(struct kernel) list;
    const struct profile *profile;
};

static int compare_starts(const void *left, const void *right)
{
    const struct kernel *a = left, *b = right;

    return IN_ORDER(COMPARE(a->start_ns, b->start_ns), COMPARE(a->event, b->event));
}

/* Of the first device of the host that has any. */
static bool find_kernels(const struct study *study, uint32_t host, struct arena *scratch,
                         struct kernels *kernels)
{
    const struct profile *profile = study->profile;
    uint32_t              device = NO_ID;

    kernels->profile = profile;
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];

        if (line->kind != TIMELINE_STREAM || line->host != host ||
            (device != NO_ID && line->device != device))
            continue;
        for (uint32_t event = line->first_event; event < line->first_event + line->event_count;
             event++) {
            if (event_activity(profile, event)->kind != ACTIVITY_KERNEL)
                continue;
            device = line->device;
            if (!vec_push(&kernels->list, scratch,
                          (struct kernel) { event_start_ns(profile, event), event }))
                return false;
        }
    }
    if (kernels->list.count)
        qsort(kernels->list.items, kernels->list.count, sizeof *kernels->list.items,
              compare_starts);
    return true;
}

/* Whether the same kernels run over and over, `period` of them. */
static bool is_periodic(const struct kernels *kernels, size_t period)
{
    const struct kernel *list = kernels->list.items;
    size_t               same = 0, pairs = kernels->list.count - period;

    for (size_t i = 0; i < pairs; i++)
        same += event_activity_id(kernels->profile, list[i].event) ==
                event_activity_id(kernels->profile, list[i + period].event);
    return (double)same >= PERIODIC_SHARE * (double)pairs;
}

/* Where a runtime's own thread launches, long after the step that asked for it: steps that all do
 * the same have equal shares of the work, in order. The steps must be all that the host has. */
static bool find_ends_by_order(const struct study *study, size_t first, size_t count,
                               struct arena *scratch, int64_t *done_ns)
{
    struct kernels kernels = { .profile = study->profile };
    size_t         period;

    if (!find_kernels(study, study->steps.list.items[first].host, scratch, &kernels))
        return false;
    period = kernels.list.count / count;
    if (period == 0 || kernels.list.count % count != 0 || !is_periodic(&kernels, period))
        return true;
    for (size_t i = 0; i < kernels.list.count; i++) {
        int64_t end_ns = event_end_ns(study->profile, kernels.list.items[i].event);

        if (end_ns > done_ns[i / period])
            done_ns[i / period] = end_ns;
    }
    return true;
}

static size_t kernel_count(const struct study *study, uint32_t host)
{
    const struct profile *profile = study->profile;
    size_t                count = 0;

    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_STREAM &&
            profile->timelines.items[i].host == host)
            count += profile->timelines.items[i].event_count;
    return count;
}

static size_t step_count(const struct steps *steps, uint32_t host)
{
    size_t count = 0;

    for (size_t i = 0; i < steps->list.count; i++)
        count += steps->list.items[i].host == host;
    return count;
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
    if (find_ends(study, first, end, done_ns) < kernel_count(study, steps[first].host) / 2 &&
        step_count(&study->steps, steps[first].host) == count) {
        memset(done_ns, 0, count * sizeof *done_ns);
        if (!find_ends_by_order(study, first, count, scratch, done_ns))
            return false;
    }
    if ((double)(done_ns[count - 1] - steps[end - 1].end_ns) < AHEAD_SHARE * host_ns)
        return true;
    for (size_t i = 0; i < count; i++) {
        struct step *step = &steps[first + i];

        step->called_start_ns = step->start_ns;
        step->called_end_ns = step->end_ns;
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

    if (steps->source != STEPS_MARKER && steps->source != STEPS_INFERRED)
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
