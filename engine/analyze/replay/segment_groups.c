#include "analyze/replay/segment_groups.h"

#include "analyze/input/pipeline.h"
#include "analyze/schedule/recorder.h"
#include "analyze/study.h"
#include "base/sample.h"

#include <math.h>
#include <string.h>

struct grouping {
    const struct study    *study;
    struct segment_groups *groups;
    struct arena           scratch;
    uint32_t              *group_of_frame;
    double recorder; /* of what a stretch of the host's is likely to be the recorder's */
};

/* What tells groups apart, by row, and the rows by a hash of that; of two with the same one the
 * second stands behind it. */
struct group_key {
    uint64_t words[2];
};
struct group_keys {
    struct id_map rows;
    VEC(struct group_key) list;
};

/* The group with this key; `*is_new` tells whether the caller has to add it. NO_ID: out of memory.
 */
static uint32_t group_of(struct group_keys *keys, struct group_key key, bool *is_new)
{
    uint64_t hash = (key.words[0] * UINT64_C(0x9e3779b97f4a7c15)) ^ key.words[1];
    uint32_t row;

    while ((row = id_map_get(&keys->rows, hash)) < keys->list.count && /* NO_ID is above */
           memcmp(&keys->list.items[row], &key, sizeof key) != 0)
        hash++;
    *is_new = row == NO_ID;
    if (row != NO_ID)
        return row;
    row = (uint32_t)keys->list.count;
    return vec_push(&keys->list, keys->rows.arena, key) && id_map_put(&keys->rows, hash, row)
               ? row
               : NO_ID;
}

static bool group_frames(struct grouping *grouping)
{
    const struct path     *path = &grouping->study->path;
    const struct profile  *profile = grouping->study->profile;
    const struct pipeline *pipeline = grouping->study->pipeline;
    struct group_keys      keys = { .rows.arena = &grouping->scratch };

    for (uint32_t f = 0; f < path->frames.count; f++) {
        const struct frame *frame = &path->frames.items[f];
        struct frame_group  group = { .frame = f, .parent = NO_ID, .stage = NO_ID };
        struct group_key    key;
        uint32_t            row;
        bool                is_new;

        if (frame->parent != NO_ID)
            group.parent = grouping->group_of_frame[frame->parent];
        if (pipeline && pipeline->stages.count)
            group.stage = pipeline->stage_of_frame[f];
        key.words[0] = (uint64_t)event_activity_id(profile, frame->event) << 32 | group.stage;
        key.words[1] = group.parent;
        row = group_of(&keys, key, &is_new);
        if (row == NO_ID ||
            (is_new && !vec_push(&grouping->groups->frames, grouping->study->arena, group)))
            return false;
        grouping->group_of_frame[f] = row;
    }
    return true;
}

/* The device waits for what the host does, and for its launches. */
static bool is_of_host(const struct segment *segment)
{
    return !segment->on_device && (segment->part == PART_HOST || segment->part == PART_IDLE_LAUNCH);
}

/* Python that its tracer was called in, where no accelerator's work tells what of it is waited for.
 */
static bool is_traced_python(const struct grouping *grouping, const struct segment *segment)
{
    const struct path    *path = &grouping->study->path;
    const struct profile *profile = grouping->study->profile;

    return profile->format == FORMAT_XSPACE && !path->has_device && segment->frame != NO_ID &&
           (segment->part == PART_HOST || segment->part == PART_INPUT) &&
           event_activity(profile, path->frames.items[segment->frame].event)->kind ==
               ACTIVITY_PYTHON;
}

static double recorder_ns(const struct grouping *grouping, const struct segment *segment)
{
    double ns = (double)(segment->end_ns - segment->start_ns);

    if (is_traced_python(grouping, segment))
        return recorder_of_python_ns(ns);
    return is_of_host(segment) ? fmin(grouping->recorder * recorder_of_ns(ns), ns) : 0;
}

/* Of the path as much is taken off as the schedule of the steps says; there the host also runs
 * ahead where it can. */
static void find_recorder(struct grouping *grouping)
{
    const struct steps_schedule *schedule = steps_schedule_of(grouping->study);
    const struct path           *path = &grouping->study->path;
    double                       all_ns = 0, sum_ns = 0;

    if (!schedule || !schedule->recorder_ns || schedule->step_ns <= 0)
        return;
    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        double                ns = (double)(segment->end_ns - segment->start_ns);

        all_ns += ns;
        sum_ns += is_of_host(segment) ? recorder_of_ns(ns) : 0;
    }
    if (sum_ns > 0)
        grouping->recorder =
            all_ns * (1 - schedule->without_recorder_ns / schedule->step_ns) / sum_ns;
}

/* What others compute meanwhile is waited for without it. Devices of a host's own cores wait in
 * collectives for each other's computation. */
static bool goes_beside(const struct path *path, const struct segment *segment)
{
    return segment->part == PART_HOST || segment->part == PART_COPY ||
           segment->part == PART_INPUT ||
           (segment->part == PART_COMMUNICATION && !path->has_device);
}

static bool group_segments(struct grouping *grouping)
{
    const struct path     *path = &grouping->study->path;
    struct segment_groups *groups = grouping->groups;
    struct group_keys      keys = { .rows.arena = &grouping->scratch };

    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        double                recorded_ns = (double)(segment->end_ns - segment->start_ns);
        double                length_ns = recorded_ns - recorder_ns(grouping, segment);
        struct segment_group  group = { .frame = NO_ID,
                                        .owner = NO_ID,
                                        .cell = segment->cell,
                                        .part = segment->part,
                                        .on_device = segment->on_device };
        struct group_key      key;
        uint32_t              row;
        bool                  is_new;

        if (segment->frame != NO_ID)
            group.frame = grouping->group_of_frame[segment->frame];
        if (segment->owner != NO_ID)
            group.owner = grouping->group_of_frame[segment->owner];
        key.words[0] = (uint64_t)group.frame << 32 | group.owner;
        key.words[1] = (uint64_t)group.cell << 32 | (uint32_t)group.part << 1 | group.on_device;
        row = group_of(&keys, key, &is_new);
        if (row == NO_ID || (is_new && !vec_push(&groups->groups, grouping->study->arena, group)))
            return false;
        groups->group_of_segment[i] = row;
        groups->groups.items[row].length_ns += length_ns;
        groups->groups.items[row].recorded_ns += recorded_ns;
        groups->groups.items[row].threads_ns +=
            recorded_ns * (segment->other_threads > 1 ? segment->other_threads : 1);
        if (goes_beside(path, segment))
            groups->groups.items[row].beside_ns += length_ns * fmin(1, segment->compute_threads);
    }
    return true;
}

/* The usual one of a few times, taken this many times, is the most that one of them counts as. */
static const double MOST_OF_USUAL = 2;

/* What is left of an op's times by step when those far above the usual one count as less. */
static double without_spikes(const double *times_ns, double *sorted, size_t steps)
{
    double sum_ns = 0, left_ns = 0, most_ns;

    memcpy(sorted, times_ns, steps * sizeof *sorted);
    most_ns = MOST_OF_USUAL * sample_median(sorted, steps);
    for (size_t k = 0; k < steps; k++) {
        sum_ns += times_ns[k];
        left_ns += most_ns > 0 ? fmin(times_ns[k], most_ns) : times_ns[k];
    }
    return sum_ns > 0 ? left_ns / sum_ns : 1;
}

/* Of an op that the leading thread runs itself; what pool threads do for one op is easily taken for
 * another's. NO_ID: none. */
static uint32_t own_op(const struct study *study, const struct segment *segment)
{
    uint32_t event;

    if (segment->part != PART_COMPUTE || segment->frame == NO_ID || segment->owner != NO_ID ||
        segment->on_device)
        return NO_ID;
    event = study->path.frames.items[segment->frame].event;
    return study->path.frames.items[segment->frame].timeline ==
                   study->steps.list.items[segment->step].timeline
               ? event_activity_id(study->profile, event)
               : NO_ID;
}

struct spikes {
    size_t    steps;
    uint32_t *row_of;   /* by activity: 1 + its row */
    double   *times_ns; /* by row and step */
    double   *left;     /* by row */
};

static bool sum_by_step(struct grouping *grouping, struct spikes *spikes)
{
    const struct study *study = grouping->study;
    uint32_t            rows = 0;
    double             *sorted = arena_new_array(&grouping->scratch, double, spikes->steps);

    for (size_t i = 0; i < study->path.segments.count; i++) {
        uint32_t op = own_op(study, &study->path.segments.items[i]);

        if (op != NO_ID && !spikes->row_of[op])
            spikes->row_of[op] = ++rows;
    }
    spikes->times_ns = arena_new_array(&grouping->scratch, double, (rows + 1) * spikes->steps);
    spikes->left = arena_new_array(&grouping->scratch, double, rows + 1);
    if (!sorted || !spikes->times_ns || !spikes->left)
        return false;
    for (size_t i = 0, k = 0; i < study->path.segments.count; i++) {
        const struct segment *segment = &study->path.segments.items[i];
        uint32_t              op = own_op(study, segment);

        while (study->path.step_rows.items[k] != segment->step)
            k++;
        if (op != NO_ID)
            spikes->times_ns[spikes->row_of[op] * spikes->steps + k] +=
                (double)(segment->end_ns - segment->start_ns);
    }
    for (uint32_t row = 1; row <= rows; row++)
        spikes->left[row] =
            without_spikes(spikes->times_ns + row * spikes->steps, sorted, spikes->steps);
    return true;
}

/* An op does the same in each step. Where another program, or memory that is touched for the first
 * time, held it up in one of them, few steps do not even that out. */
static bool take_spikes_off(struct grouping *grouping)
{
    enum { FEWEST_STEPS = 3 };
    const struct path *path = &grouping->study->path;
    struct spikes      spikes = { .steps = path->step_rows.count };

    if (spikes.steps < FEWEST_STEPS || path->has_device)
        return true;
    spikes.row_of = arena_new_array(&grouping->scratch, uint32_t,
                                    grouping->study->profile->activities.count + 1);
    if (!spikes.row_of || !sum_by_step(grouping, &spikes))
        return false;
    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        uint32_t              op = own_op(grouping->study, segment);

        if (op != NO_ID)
            grouping->groups->groups.items[grouping->groups->group_of_segment[i]].length_ns -=
                (1 - spikes.left[spikes.row_of[op]]) *
                (double)(segment->end_ns - segment->start_ns);
    }
    return true;
}

struct segment_groups *segment_groups_make(struct study *study, struct err *err)
{
    struct grouping grouping = { .study = study,
                                 .scratch.budget_bytes = study->arena->budget_bytes,
                                 .groups = arena_new(study->arena, struct segment_groups) };
    bool            ok = grouping.groups != NULL;

    if (ok) {
        grouping.group_of_frame =
            arena_new_array(&grouping.scratch, uint32_t, study->path.frames.count);
        grouping.groups->group_of_segment =
            arena_new_array(study->arena, uint32_t, study->path.segments.count);
        ok =
            grouping.group_of_frame && grouping.groups->group_of_segment && group_frames(&grouping);
        if (ok)
            find_recorder(&grouping);
        ok = ok && group_segments(&grouping) && take_spikes_off(&grouping) &&
             intern_init(&grouping.groups->asked, study->arena);
    }
    arena_free(&grouping.scratch);
    if (!ok)
        err_set(err, ERR_LIMIT, "the path does not fit the memory budget");
    return ok ? grouping.groups : NULL;
}
