#include "analyze/path/unseen_waits.h"

#include "analyze/device/device_activity.h"
#include "analyze/path/path_walk.h"
#include "base/macros.h"

/* Until a thread has learnt of it, woken up and got the interpreter's lock some time goes by. */
static const int64_t WAKING_NS = 300000, WAKING_PART = 8, SHORTEST_NS = 200000;

/* The gap that goes on at a moment, from its begin: one over the end of a step is two. NULL: the
 * device works. */
static const struct device_gap *gap_at(const struct device_row *device, int64_t time_ns)
{
    const struct device_gap *gaps = device->gaps.items;
    size_t                   row = LOWER_BOUND(device->gaps.count, i, gaps[i].end_ns <= time_ns);

    if (row == device->gaps.count || gaps[row].start_ns > time_ns)
        return NULL;
    while (row > 0 && gaps[row].is_boundary && gaps[row - 1].end_ns == gaps[row].start_ns)
        row--;
    return &gaps[row];
}

/* The thread itself launched what the device did before the gap. Where another one did, that one
 * may be what it waits for. */
static bool is_own_work(const struct study *study, const struct device_gap *gap)
{
    const struct timeline *leader = &study->profile->timelines.items[study->path.leader];
    uint32_t launch = gap->before == NO_ID ? NO_ID : study->devices->launch_of[gap->before];

    return launch != NO_ID && launch >= leader->first_event &&
           launch - leader->first_event < leader->event_count;
}

/* Whether nothing was recorded from from_ns on because the thread waited for what the device ended
 * with just before to_ns. */
static bool is_wait(const struct study *study, const struct device_row *device, int64_t from_ns,
                    int64_t to_ns)
{
    const struct device_gap *gap = to_ns - from_ns < SHORTEST_NS ? NULL : gap_at(device, to_ns);
    int64_t                  waking_ns = gap ? to_ns - gap->start_ns : 0;

    return gap && waking_ns > 0 && waking_ns <= WAKING_NS &&
           waking_ns <= (to_ns - from_ns) / WAKING_PART && gap->start_ns >= from_ns + SHORTEST_NS &&
           is_own_work(study, gap);
}

struct unseen_waits unseen_waits_find(const struct study *study, const struct path_line *line)
{
    const struct path       *path = &study->path;
    const struct device_row *device = device_activity_leading(study);
    struct unseen_waits      waits = { 0 };
    int64_t                  last_ns = INT64_MAX;
    size_t                   last_step = SIZE_MAX;

    for (size_t i = 0; device && i < line->leaves.count; i++) {
        const struct leaf *leaf = &line->leaves.items[i];
        size_t             step;

        if (path->frame_work[leaf->frame] == WORK_NONE)
            continue;
        if (last_ns < leaf->start_ns && is_wait(study, device, last_ns, leaf->start_ns)) {
            step = path_step_at(study, last_ns);
            waits.count++;
            waits.ns += (double)(leaf->start_ns - last_ns);
            waits.steps += step != last_step;
            last_step = step;
        }
        last_ns = leaf->end_ns;
    }
    return waits;
}
