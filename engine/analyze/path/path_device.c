/* path_device: the path of a step along the accelerator that works most. */
#include "analyze/path/path_walk.h"

struct device_position {
    int64_t  t_ns, start_ns;
    uint32_t step;
};

/* Which stream a moment is charged to when several are busy. */
static int precedence(const struct walk *walk, const struct leaf *leaf)
{
    uint32_t kinds = walk->path->frames.items[leaf->frame].kinds;

    /* Copies between devices and host before memory that is only set. */
    return work_rank_on_streams(walk->path->frame_work[leaf->frame]) -
           ((kinds & KIND_BIT(ACTIVITY_MEMSET)) != 0);
}

static struct crew_view look_at_stream(void *context, uint32_t row, int64_t t_ns)
{
    const struct walk *walk = context;
    const struct leaf *leaf = worker_leaf_before(&walk->streams.workers[row], t_ns);
    struct crew_view   view = { .changed_ns = INT64_MIN,
                                .last_end_ns = INT64_MIN,
                                .busy = NO_ID,
                                .input = NO_ID,
                                .awaited = NO_ID };

    if (!leaf)
        return view;
    view.changed_ns = leaf->end_ns < t_ns ? leaf->end_ns : leaf->start_ns;
    if (leaf->end_ns < t_ns || precedence(walk, leaf) <= 0)
        return view;
    view.busy = row;
    view.rank = precedence(walk, leaf);
    return view;
}

/* The busy leaf just before t that counts most, or NULL; *change_ns: since when that is so. */
static const struct leaf *look_at_streams(struct walk *walk, int64_t t_ns, int64_t *change_ns)
{
    const struct crew_view *view = crew_look(&walk->streams, look_at_stream, walk, t_ns);

    *change_ns = view->changed_ns;
    return view->busy == NO_ID ? NULL : worker_leaf(&walk->streams.workers[view->busy]);
}

/* The gap that holds the moment just before t, as its row; SIZE_MAX: none was found. */
static size_t gap_before(struct walk *walk, int64_t t_ns)
{
    const struct device_gap *gaps = walk->device->gaps.items;

    while (walk->gaps_left > 0 && gaps[walk->gaps_left - 1].start_ns >= t_ns)
        walk->gaps_left--;
    return walk->gaps_left > 0 && gaps[walk->gaps_left - 1].end_ns >= t_ns ? walk->gaps_left - 1
                                                                           : SIZE_MAX;
}

static bool take(struct walk *walk, struct device_position *at, int64_t from_ns,
                 struct segment segment)
{
    segment.start_ns = from_ns;
    segment.end_ns = at->t_ns;
    segment.step = at->step;
    segment.on_device = true;
    at->t_ns = from_ns;
    return path_take(walk, &segment);
}

/* The last wait of the leading thread between two times, or NO_ID. */
static uint32_t leading_wait(struct walk *walk, int64_t from_ns, int64_t t_ns)
{
    struct worker *worker = path_leader(walk);

    if (!worker)
        return NO_ID;
    worker_leaf_before(worker, t_ns);
    for (size_t k = worker->next; k > 0; k--) {
        const struct leaf *leaf = &worker->line->leaves.items[k - 1];

        if (leaf->end_ns <= from_ns)
            return NO_ID;
        if (walk->path->frame_work[leaf->frame] == WORK_WAITING)
            return leaf->frame;
    }
    return NO_ID;
}

/* The device was idle from from_ns to the position: charges it to what kept the next kernel. */
static bool take_gap(struct walk *walk, struct device_position *at, int64_t from_ns)
{
    size_t         row = gap_before(walk, at->t_ns);
    enum gap_cause cause = row == SIZE_MAX ? GAP_OTHER : walk->device->gaps.items[row].cause;
    uint32_t       launcher = row == SIZE_MAX ? NO_ID : walk->launchers[row];
    uint32_t       leader = walk->leader;
    int64_t        t_ns = at->t_ns, run_start_ns;
    struct segment idle = { .frame = NO_ID, .owner = NO_ID, .part = PART_IDLE_OTHER };
    bool           is_done;

    /* The ops of a session are run by whichever thread of its pool is free: none leads. */
    if (launcher != NO_ID && walk->profile->format != FORMAT_GRAPH)
        walk->leader = launcher;
    idle.frame = cause == GAP_SYNC ? leading_wait(walk, from_ns, t_ns) : NO_ID;
    if (cause == GAP_LAUNCH)
        idle.part = PART_IDLE_LAUNCH;
    else if (cause == GAP_SYNC)
        idle.part = PART_IDLE_SYNC;
    else if (cause == GAP_DEPENDENCY ||
             (cause == GAP_OTHER && launcher == NO_ID && path_in_run(walk, t_ns, &run_start_ns)))
        idle.part = PART_IDLE_DEPENDENCY;
    else if (cause == GAP_PROFILER || cause == GAP_UNRECORDED)
        idle.part = PART_UNKNOWN;
    if (idle.part == PART_IDLE_OTHER && (cause != GAP_OTHER || launcher == NO_ID)) {
        is_done = path_walk(walk, at->step, from_ns, t_ns);
        at->t_ns = from_ns;
    } else {
        is_done = take(walk, at, from_ns, idle);
    }
    walk->leader = leader;
    return is_done;
}

bool path_walk_device(struct walk *walk, uint32_t step, int64_t start_ns, int64_t end_ns)
{
    struct device_position at = { .t_ns = end_ns, .start_ns = start_ns, .step = step };

    while (at.t_ns > start_ns) {
        int64_t            from_ns;
        const struct leaf *leaf = look_at_streams(walk, at.t_ns, &from_ns);
        bool               is_taken;

        if (from_ns < start_ns)
            from_ns = start_ns;
        is_taken = leaf ? take(walk, &at, from_ns,
                               (struct segment) {
                                   .frame = leaf->frame,
                                   .owner = NO_ID,
                                   .part = (uint8_t)work_part(walk->path->frame_work[leaf->frame]),
                               })
                        : take_gap(walk, &at, from_ns);
        if (!is_taken)
            return false;
    }
    return true;
}
