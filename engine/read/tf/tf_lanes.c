/*
 * Timelines of runs that came without threads. A ProfileProto says when each op began on which
 * device and how long it ran, not on which thread: runs that overlap are put side by side, each on
 * the first lane that is free, as if a pool of threads handed its work to the first idle one.
 */
#include "read/tf/tf_lanes.h"

#include "base/macros.h"
#include "base/sort.h"
#include "read/tf/tf_run.h"

#include <stdlib.h>

/* More at once than threads could be: what comes on top of them is left out. */
enum { MOST_LANES = 1 << 12 };

struct lane_run {
    uint32_t track; /* runs of one device or stream */
    uint32_t run;   /* row of op_runs */
    int64_t  start_ns, duration_ns;
};

/* When each lane is free again: a tree of minima whose leaves are the lanes. */
struct lanes {
    int64_t  free_ns[2 * MOST_LANES];
    uint32_t used; /* lanes so far */
};

static int compare_runs(const void *left, const void *right)
{
    const struct lane_run *a = left, *b = right;

    return IN_ORDER(COMPARE(a->track, b->track), COMPARE(a->start_ns, b->start_ns),
                    COMPARE(b->duration_ns, a->duration_ns), COMPARE(a->run, b->run));
}

static void clear_lanes(struct lanes *lanes)
{
    for (size_t i = 0; i < ARRAY_COUNT(lanes->free_ns); i++)
        lanes->free_ns[i] = INT64_MIN;
}

/* The first lane that is free at the start, taken until the end; NO_ID: none is. */
static uint32_t take_lane(struct lanes *lanes, int64_t start_ns, int64_t end_ns)
{
    uint32_t at = 1, lane;

    if (lanes->free_ns[1] > start_ns)
        return NO_ID;
    while (at < MOST_LANES)
        at = lanes->free_ns[2 * at] <= start_ns ? 2 * at : 2 * at + 1;
    lane = at - MOST_LANES;
    lanes->free_ns[at] = end_ns;
    for (at /= 2; at; at /= 2)
        lanes->free_ns[at] = lanes->free_ns[2 * at] < lanes->free_ns[2 * at + 1]
                                 ? lanes->free_ns[2 * at]
                                 : lanes->free_ns[2 * at + 1];
    return lane;
}

/* The runs from row `first` on, by track and start; NULL: full. */
static struct lane_run *sorted_runs(struct tf_model *model, size_t first)
{
    struct profile  *profile = model->profile;
    size_t           count = profile->op_runs.count - first;
    struct id_map    tracks = { .arena = &model->scratch };
    struct lane_run *runs = arena_new_array(&model->scratch, struct lane_run, count);
    uint32_t         track_count = 0;

    for (size_t i = 0; runs && i < count; i++) {
        const struct op_run *run = &profile->op_runs.items[first + i];
        uint64_t             key = (uint64_t)run->device << 32 | run->stream;
        uint32_t             track = id_map_get(&tracks, key);

        if (track == NO_ID) {
            track = track_count++;
            if (!id_map_put(&tracks, key, track))
                return NULL;
        }
        runs[i] =
            (struct lane_run) { track, (uint32_t)(first + i), run->start_ns, run->duration_ns };
    }
    if (runs && count)
        qsort(runs, count, sizeof *runs, compare_runs);
    return runs;
}

static bool add_event(struct tf_model *model, const struct op_run *run, uint32_t lane)
{
    struct profile *profile = model->profile;
    uint32_t        name = profile->ops.items[run->op].name;
    struct timeline timeline = {
        .name = run->stream ? run->stream : profile->devices.items[run->device].name,
        .host = model->host,
        .device = run->stream ? run->device : NO_ID,
        .kind = run->stream ? TIMELINE_STREAM : TIMELINE_THREAD,
        .id = lane,
    };
    struct tf_event event = {
        .timeline = tf_model_add_timeline(model, &timeline),
        .activity = tf_run_activity(model, profile_str(profile, name), name, run->op, !run->stream),
        .sequence = (uint32_t)model->events.count,
        .start_ns = run->start_ns,
        .duration_ns = run->duration_ns,
    };

    return event.timeline != NO_ID && event.activity != NO_ID &&
           vec_push(&model->events, &model->scratch, event);
}

bool tf_lanes_place(struct tf_model *model, size_t first)
{
    struct profile  *profile = model->profile;
    size_t           count = profile->op_runs.count - first;
    struct lane_run *runs = sorted_runs(model, first);
    struct lanes    *lanes = arena_new(&model->scratch, struct lanes);
    uint64_t         left_out = 0;

    if (!runs || !lanes)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t lane;

        if (i == 0 || runs[i].track != runs[i - 1].track)
            clear_lanes(lanes);
        lane = take_lane(lanes, runs[i].start_ns, runs[i].start_ns + runs[i].duration_ns);
        left_out += lane == NO_ID;
        if (lane != NO_ID && !add_event(model, &profile->op_runs.items[runs[i].run], lane))
            return false;
    }
    return !left_out ||
           profile_note(profile, NULL, left_out, "runs beside more than %d others have no timeline",
                        MOST_LANES);
}
