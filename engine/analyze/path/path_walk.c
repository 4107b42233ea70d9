#include "analyze/path/path_walk.h"

#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

size_t path_step_at(const struct study *study, int64_t time_ns)
{
    return LOWER_BOUND(study->path.step_rows.count, i,
                       study->steps.list.items[study->path.step_rows.items[i]].end_ns <= time_ns);
}

/* Who is at work just before a moment. */
struct moment {
    const struct leaf *leader; /* open leaf of the leading thread, or NULL */
    uint32_t           frame;  /* what it does, or waits in; NO_ID */
    enum work          leading;
    const struct leaf *busy; /* leaf of the worker that the path follows, or NULL */
    enum work          working;
    const struct leaf *input;       /* leaf of a worker that makes input, or NULL */
    const struct leaf *awaited;     /* leaf of a worker that waits for input, or NULL */
    int64_t            last_end_ns; /* going back, when who is not busy now may have been busy */
    int64_t            changed_ns;  /* going back, when any worker was last at something else */
};

/* What a thread that does not lead does in a leaf that is open. */
static void look_at_leaf(const struct walk *walk, uint32_t worker, const struct leaf *leaf,
                         struct crew_view *view)
{
    enum work work = walk->path->frame_work[leaf->frame];

    if (work == WORK_INPUT) {
        view->input = worker;
    } else if (work == WORK_INPUT_WAIT) {
        if (walk->path->frames.items[leaf->frame].kinds & KIND_BIT(ACTIVITY_INPUT_WAIT))
            view->awaited = worker;
    } else if (work_is_active(work)) {
        view->busy = worker;
        view->rank = work_rank_on_threads(work);
    }
    if (work == WORK_INPUT || !work_is_active(work))
        view->last_end_ns = leaf->start_ns; /* it may have been busy before */
}

static struct crew_view look_at(void *context, uint32_t row, int64_t t_ns)
{
    struct walk       *walk = context;
    struct worker     *worker = &walk->workers.workers[row];
    const struct leaf *leaf = worker_leaf_before(worker, t_ns);
    struct crew_view   view = { .changed_ns = INT64_MIN,
                                .last_end_ns = INT64_MIN,
                                .busy = NO_ID,
                                .input = NO_ID,
                                .awaited = NO_ID };

    if (!leaf)
        return view;
    view.changed_ns = leaf->end_ns < t_ns ? leaf->end_ns : leaf->start_ns;
    if (leaf->end_ns < t_ns)
        view.last_end_ns = leaf->end_ns;
    else if (worker->line->timeline != walk->leader)
        look_at_leaf(walk, row, leaf, &view);
    return view;
}

/* The op started last that is still at work on pool threads just before t, or NO_ID. */
static uint32_t async_op_at(const struct walk *walk, int64_t t_ns)
{
    enum { LOOK_BACK = 64 }; /* more ops than this are not under way at once */
    size_t low = LOWER_BOUND(walk->async_ops.count, i, walk->async_ops.items[i].start_ns < t_ns);

    for (size_t i = low; i > 0 && low - i < LOOK_BACK; i--)
        if (walk->async_ops.items[i - 1].end_ns >= t_ns)
            return walk->async_ops.items[i - 1].frame;
    return NO_ID;
}

static const struct leaf *leaf_of(const struct walk *walk, uint32_t worker)
{
    return worker == NO_ID ? NULL : worker_leaf(&walk->workers.workers[worker]);
}

struct worker *path_leader(struct walk *walk)
{
    uint32_t row = walk->leader == NO_ID ? NO_ID : walk->worker_of[walk->leader];

    return row == NO_ID ? NULL : &walk->workers.workers[row];
}

/* XLA's runtime marks where a thread begins to wait for a buffer, with a name that ends in a
 * moment: what a function of Python, whose calls were recorded, then does without any event is that
 * wait. */
static bool is_behind_await(const struct walk *walk, const struct worker *leader,
                            const struct leaf *leaf)
{
    enum { MARK_NS = 10000 }; /* a wait that is recorded as a whole is longer */
    const struct leaf     *before = leaf - 1;
    const struct activity *activity;

    if (leaf == leader->line->leaves.items || before->end_ns != leaf->start_ns ||
        before->end_ns - before->start_ns > MARK_NS || before->frame == NO_ID ||
        walk->path->frames.items[before->frame].parent != leaf->frame ||
        event_activity(walk->profile, walk->path->frames.items[leaf->frame].event)->kind !=
            ACTIVITY_PYTHON)
        return false;
    activity = event_activity(walk->profile, walk->path->frames.items[before->frame].event);
    return activity->kind == ACTIVITY_SYNC &&
           str_ends(profile_str(walk->profile, activity->name), STR("::Await"));
}

static size_t runs_before(const struct intervals *runs, int64_t t_ns)
{
    return LOWER_BOUND(runs->list.count, i, runs->list.items[i].start_ns < t_ns);
}

bool path_in_run(const struct walk *walk, int64_t t_ns, int64_t *run_start_ns)
{
    const struct intervals *runs = walk->runs;
    size_t                  low = runs_before(runs, t_ns);

    if (low == 0 || runs->list.items[low - 1].end_ns < t_ns)
        return false;
    *run_start_ns = runs->list.items[low - 1].start_ns;
    return true;
}

/* The call of a program waits for inputs only if some program ran when it began. */
static bool is_awaiting_inputs(const struct walk *walk, const struct leaf *leaf)
{
    uint32_t event = walk->path->frames.items[leaf->frame].event;
    int64_t  run_start_ns;

    return event_activity(walk->profile, event)->kind != ACTIVITY_DISPATCH ||
           path_in_run(walk, event_start_ns(walk->profile, event), &run_start_ns);
}

static struct moment look(struct walk *walk, int64_t t_ns)
{
    struct worker          *leader = path_leader(walk);
    const struct leaf      *leading = leader ? worker_leaf_before(leader, t_ns) : NULL;
    const struct crew_view *view;
    struct moment           moment = { .frame = NO_ID };

    if (walk->led != walk->leader) {
        crew_forget(&walk->workers, walk->led == NO_ID ? NO_ID : walk->worker_of[walk->led]);
        crew_forget(&walk->workers, walk->leader == NO_ID ? NO_ID : walk->worker_of[walk->leader]);
    }
    walk->led = walk->leader;
    view = crew_look(&walk->workers, look_at, walk, t_ns);
    if (leading && leading->end_ns >= t_ns) {
        moment.leader = leading;
        moment.frame =
            is_behind_await(walk, leader, leading) ? (leading - 1)->frame : leading->frame;
        moment.leading = walk->path->frame_work[moment.frame];
        if (moment.leading == WORK_RUNNING && !is_awaiting_inputs(walk, leading))
            moment.leading = WORK_HOST;
    }
    moment.busy = leaf_of(walk, view->busy);
    if (moment.busy)
        moment.working = walk->path->frame_work[moment.busy->frame];
    moment.input = leaf_of(walk, view->input);
    moment.awaited = leaf_of(walk, view->awaited);
    moment.last_end_ns = view->last_end_ns;
    moment.changed_ns = view->changed_ns;
    return moment;
}

static int by_start(const void *a, const void *b)
{
    const struct async_op *x = a, *y = b;

    return IN_ORDER(COMPARE(x->start_ns, y->start_ns), COMPARE(x->frame, y->frame));
}

bool path_find_async_ops(struct walk *walk, struct arena *arena)
{
    const struct profile     *profile = walk->profile;
    const struct stat_column *consumers = &profile->stats[STAT_CONSUMER];
    struct id_map             end_by_id = { .arena = arena };

    for (size_t i = 0; i < stat_count(consumers); i++)
        if (!id_map_put(&end_by_id, (uint64_t)stat_value(consumers, i), stat_event(consumers, i)))
            return false;
    for (uint32_t f = 0; f < walk->path->frames.count && end_by_id.count; f++) {
        uint32_t event = walk->path->frames.items[f].event, end;
        int64_t  id;

        if (event_activity(profile, event)->kind != ACTIVITY_OP ||
            !profile_stat(profile, STAT_PRODUCER, event, &id))
            continue;
        end = id_map_get(&end_by_id, (uint64_t)id);
        if (end == NO_ID || event_start_ns(profile, end) <= event_end_ns(profile, event))
            continue;
        if (!vec_push(&walk->async_ops, arena,
                      (struct async_op) { event_start_ns(profile, event),
                                          event_start_ns(profile, end), f }))
            return false;
    }
    if (walk->async_ops.count)
        qsort(walk->async_ops.items, walk->async_ops.count, sizeof *walk->async_ops.items,
              by_start);
    return true;
}

struct position {
    int64_t  t_ns, start_ns;
    uint32_t step;
    bool     on_workers;
    int64_t  waiting_since_ns; /* the leader waited from here on; INT64_MAX: it did not */
};

bool path_take(struct walk *walk, const struct segment *segment)
{
    size_t count = walk->path->segments.count;

    if (count) {
        struct segment *behind = &walk->path->segments.items[count - 1];

        if (behind->step == segment->step && behind->start_ns == segment->end_ns &&
            behind->frame == segment->frame && behind->owner == segment->owner &&
            behind->part == segment->part) {
            behind->start_ns = segment->start_ns;
            return true;
        }
    }
    return vec_push(&walk->path->segments, walk->arena, *segment);
}

/* Takes [from, position->t) for the path. */
static bool take(struct walk *walk, struct position *at, int64_t from_ns, struct segment segment)
{
    if (from_ns < at->start_ns)
        from_ns = at->start_ns;
    if (from_ns >= at->t_ns)
        return true;
    segment.start_ns = from_ns;
    segment.end_ns = at->t_ns;
    segment.step = at->step;
    at->t_ns = from_ns;
    return path_take(walk, &segment);
}

static uint32_t frame_of(const struct leaf *leaf)
{
    return leaf ? leaf->frame : NO_ID;
}

/* Blocked, or in a call that may be. */
static bool may_be_blocked(const struct moment *moment)
{
    return moment->leading == WORK_WAITING || moment->leading == WORK_RUNNING ||
           moment->leading == WORK_OUTPUT_WAIT;
}

static bool leader_waits(const struct moment *moment)
{
    return may_be_blocked(moment) || moment->leading == WORK_NONE;
}

/* A Python function, and a range or step that the program marked, can wait for a program in a call
 * that no event shows: what it then does without any ends just behind the program. When that
 * program ended; INT64_MIN: no such wait. */
static int64_t waited_unseen(const struct walk *walk, const struct position *at,
                             const struct moment *moment)
{
    enum { WAKING_NS = 50000, WAKING_PART = 10, SHORTEST_NS = 200000 };
    const struct intervals *runs = walk->runs;
    enum activity_kind      kind;
    size_t                  low;

    if (walk->path->has_device || !moment->leader || moment->leader->frame == NO_ID ||
        moment->busy || (moment->leading != WORK_HOST && moment->leading != WORK_NONE))
        return INT64_MIN;
    kind = (enum activity_kind)event_activity(walk->profile,
                                              walk->path->frames.items[moment->leader->frame].event)
               ->kind;
    if (kind != ACTIVITY_PYTHON && kind != ACTIVITY_OTHER && kind != ACTIVITY_STEP)
        return INT64_MIN;
    low = runs_before(runs, at->t_ns);
    if (low == 0)
        return INT64_MIN;
    int64_t end_ns = runs->list.items[low - 1].end_ns;
    int64_t waking_ns = int64_most((at->t_ns - moment->leader->start_ns) / WAKING_PART, WAKING_NS);

    return end_ns < at->t_ns && end_ns > at->t_ns - waking_ns &&
                   end_ns > moment->leader->start_ns + SHORTEST_NS
               ? end_ns
               : INT64_MIN;
}

/* The open leaf of the thread that leads the steps, where another one launches what the device
 * waits for and has nothing to do: it works for a blocking call, which does the rest itself. NULL:
 * no such call. */
static const struct leaf *blocking_leaf(const struct walk *walk, int64_t t_ns)
{
    uint32_t           main = walk->path->leader;
    uint32_t           row = main == NO_ID ? NO_ID : walk->worker_of[main];
    const struct leaf *leaf;

    if (main == walk->leader || row == NO_ID)
        return NULL;
    leaf = worker_leaf_before(&walk->workers.workers[row], t_ns);
    return leaf && leaf->end_ns >= t_ns && walk->path->frame_work[leaf->frame] == WORK_WAITING &&
                   (walk->path->frames.items[leaf->frame].kinds & KIND_BIT(ACTIVITY_SYNC))
               ? leaf
               : NULL;
}

static bool step_on_leader(struct walk *walk, struct position *at, const struct moment *moment)
{
    bool               has_work = moment->busy && moment->working != WORK_PROFILER;
    int64_t            end_ns = waited_unseen(walk, at, moment);
    const struct leaf *blocking = blocking_leaf(walk, at->t_ns);

    if (moment->leading == WORK_INPUT || moment->leading == WORK_INPUT_WAIT) {
        const struct leaf *cause =
            moment->input && moment->leading == WORK_INPUT_WAIT ? moment->input : moment->leader;
        int64_t from_ns = int64_most(moment->leader->start_ns, cause->start_ns);

        return take(walk, at, int64_most(from_ns, moment->last_end_ns),
                    (struct segment) { .frame = cause->frame,
                                       .owner = moment->leader->frame,
                                       .part = PART_INPUT });
    }
    if (end_ns != INT64_MIN) {
        at->on_workers = true;
        at->waiting_since_ns = moment->leader->start_ns;
        return take(
            walk, at, end_ns,
            (struct segment) { .frame = moment->leader->frame, .owner = NO_ID, .part = PART_HOST });
    }
    if (leader_waits(moment) && (has_work || moment->leading != WORK_NONE)) {
        at->on_workers = true;
        at->waiting_since_ns = moment->leader ? moment->leader->start_ns : moment->last_end_ns;
        return true;
    }
    if (moment->leader && moment->leading != WORK_NONE)
        return take(walk, at, moment->leader->start_ns,
                    (struct segment) { .frame = moment->leader->frame,
                                       .owner = frame_of(blocking),
                                       .part = (uint8_t)work_part(moment->leading) });
    if (blocking)
        return take(walk, at, int64_most(blocking->start_ns, moment->last_end_ns),
                    (struct segment) { .frame = blocking->frame,
                                       .owner = blocking->frame,
                                       .part = PART_IDLE_SYNC });
    int64_t from_ns = moment->leader ? moment->leader->start_ns : moment->last_end_ns;
    return take(walk, at, int64_most(from_ns, moment->last_end_ns),
                (struct segment) { .frame = frame_of(moment->leader),
                                   .owner = NO_ID,
                                   .part = PART_HOST,
                                   .is_python = true });
}

/* No worker is busy: a program's own gap, an idle wait, or the leader's time again. */
static bool step_without_workers(struct walk *walk, struct position *at,
                                 const struct moment *moment)
{
    int64_t        floor_ns = moment->last_end_ns, run_start_ns = INT64_MIN;
    bool           is_in_run = path_in_run(walk, at->t_ns, &run_start_ns);
    struct segment gap = { .frame = moment->frame, .owner = moment->frame };

    if (walk->leader != NO_ID &&
        ((at->t_ns <= at->waiting_since_ns && !leader_waits(moment) && !is_in_run) ||
         moment->leading == WORK_INPUT || moment->leading == WORK_INPUT_WAIT)) {
        at->on_workers = false; /* the work had not started yet, or the leader makes input */
        return true;
    }
    if (moment->leader)
        floor_ns = int64_most(floor_ns, moment->leader->start_ns);
    if (is_in_run && walk->path->is_fed_by_queue && moment->input) {
        gap.frame = moment->input->frame; /* what takes from the queue leaves no event */
        gap.part = PART_INPUT;
        return take(walk, at,
                    int64_most(int64_most(floor_ns, run_start_ns), moment->input->start_ns), gap);
    }
    if (is_in_run) {
        gap.part = walk->path->has_device ? PART_IDLE_DEPENDENCY : PART_HOST;
        if (work_is_active(moment->leading) && !walk->path->has_device) {
            gap.owner = NO_ID; /* the thread runs the program itself */
            gap.part = (uint8_t)work_part(moment->leading);
        }
        return take(walk, at, int64_most(floor_ns, run_start_ns), gap);
    }
    if (walk->leader != NO_ID && !may_be_blocked(moment)) {
        at->on_workers = false;
        return true;
    }
    gap.part = walk->leader != NO_ID ? (uint8_t)work_part(moment->leading) : PART_IDLE_OTHER;
    return take(walk, at, floor_ns, gap);
}

/* A thread that launches for the one that leads the steps has pauses between its events: who works
 * meanwhile has the path until the launching thread, going back, did something itself. */
static bool is_back_at_launcher(const struct walk *walk, const struct moment *moment)
{
    return walk->leader != walk->path->leader && walk->leader != NO_ID && moment->leader &&
           work_is_active(moment->leading);
}

static int64_t launcher_end_ns(struct walk *walk, int64_t t_ns)
{
    struct worker     *launcher = walk->leader == walk->path->leader ? NULL : path_leader(walk);
    const struct leaf *leaf = launcher ? worker_leaf_before(launcher, t_ns) : NULL;

    return leaf && leaf->end_ns < t_ns ? leaf->end_ns : INT64_MIN;
}

static bool step_on_workers(struct walk *walk, struct position *at, const struct moment *moment)
{
    if (is_back_at_launcher(walk, moment)) {
        at->on_workers = false;
        return true;
    }
    if (moment->busy) {
        bool      is_pool = moment->working == WORK_POOL;
        uint32_t  op = is_pool ? async_op_at(walk, at->t_ns) : NO_ID;
        enum work work = moment->working;

        /* A compiler has its code made by pool threads. */
        if (is_pool && op == NO_ID && moment->leading == WORK_COMPILE)
            work = WORK_COMPILE;
        /* A pool thread often goes on a moment longer than the op it helps: look again soon. */
        int64_t from_ns = is_pool ? moment->changed_ns : moment->busy->start_ns;

        return take(walk, at, int64_most(from_ns, launcher_end_ns(walk, at->t_ns)),
                    (struct segment) { .frame = op != NO_ID ? op : moment->busy->frame,
                                       .owner = frame_of(moment->leader),
                                       .part = (uint8_t)work_part(work) });
    }
    if (moment->awaited) {
        const struct leaf *cause = moment->input ? moment->input : moment->awaited;

        return take(walk, at, int64_most(cause->start_ns, moment->last_end_ns),
                    (struct segment) { .frame = cause->frame,
                                       .owner = moment->awaited->frame,
                                       .part = PART_INPUT });
    }
    return step_without_workers(walk, at, moment);
}

bool path_walk(struct walk *walk, uint32_t step, int64_t start_ns, int64_t end_ns)
{
    struct position at = {
        .t_ns = end_ns, .start_ns = start_ns, .step = step, .waiting_since_ns = INT64_MAX
    };
    struct moment moment = look(walk, end_ns);
    bool          was_on_workers;

    at.on_workers = walk->leader == NO_ID ||
                    (moment.busy && moment.working != WORK_HOST && moment.working != WORK_PROFILER);
    while (at.t_ns > start_ns) {
        int64_t t_ns = at.t_ns;

        was_on_workers = at.on_workers;
        moment = look(walk, at.t_ns);
        if (!(at.on_workers ? step_on_workers(walk, &at, &moment)
                            : step_on_leader(walk, &at, &moment)))
            return false;
        if (at.t_ns < t_ns || at.on_workers != was_on_workers)
            continue;
        /* Nothing explains this nanosecond: leaves that touch without overlapping. */
        if (!take(walk, &at, t_ns - 1,
                  (struct segment) { .frame = NO_ID, .owner = NO_ID, .part = PART_UNKNOWN }))
            return false;
    }
    return true;
}
