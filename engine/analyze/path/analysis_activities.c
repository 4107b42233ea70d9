/*
 * activities: everything that happened in the looked-at steps on the reference host, by what it is:
 * how often, how long, and how much of the step's path lies inside it. Rules find callbacks,
 * compiles, transfers, logging, Python functions here by kind and name. Linear in frames, leaves
 * and segments of the path, but for activities that are open on two threads of the path at once.
 */
#include "analyze/analysis.h"
#include "analyze/path/work.h"
#include "analyze/step/own_lines.h"

#include <stdlib.h>

static const struct column_spec activity_columns[] = {
    { "name", UNIT_NAME, "as recorded" },
    { "kind", UNIT_NAME, "what it is: op, python, callback, transfer, compile" },
    { "type", UNIT_NAME, "op type, empty for what is no op" },
    { "file", UNIT_NAME, "source file, where recorded" },
    { "line", UNIT_COUNT, "source line" },
    { "events", UNIT_COUNT, "occurrences a step" },
    { "steps_share", UNIT_SHARE, "of the looked-at steps, those in which it occurs" },
    { "total_ns", UNIT_NS, "time a step, all threads, what is inside it included" },
    { "self_ns", UNIT_NS, "time a step, all threads, less what is inside it" },
    { "max_ns", UNIT_NS, "longest occurrence" },
    { "path_ns", UNIT_NS, "of the step's path, the time inside it" },
    { "path_self_ns", UNIT_NS, "of the step's path, the time in it alone" },
    { "path_share", UNIT_SHARE, "path_ns of the step" },
    { "on_leader", UNIT_BOOL, "occurs on the thread that leads the steps" },
    { "source_file", UNIT_NAME,
      "file of the program's own line around the longest occurrence; where none is known, its "
      "own" },
    { "source_line", UNIT_COUNT, "that line" },
};
static const struct table_spec tables[] = {
    { "activities", "what happened in a step, by name", activity_columns,
      ARRAY_COUNT(activity_columns) },
};

struct activity_sums {
    double   events, total_ns, self_ns, max_ns, path_ns, path_self_ns, steps;
    uint32_t longest;      /* event */
    uint32_t last_step;    /* + 1: step counted last */
    size_t   last_segment; /* + 1: path segment counted last */
    uint32_t thread_count; /* of the path's threads, those on which it is open */
    uint32_t shared_row;   /* of summing->shared, where there are two or more */
    bool     on_leader;
};
/* An activity on a thread while the path is walked. */
struct standing {
    uint32_t frame_count; /* of it that are open */
    double   since_ns;    /* on the thread's clock */
};
/* A thread of the path: what is open on it where the path was on it last. */
struct chain {
    uint32_t frame;    /* the innermost, or NO_ID */
    double   clock_ns; /* the path's time on it so far */
};

struct summing {
    struct study         *study;
    const struct path    *path;
    struct activity_sums *sums; /* by activity */
    struct arena         *scratch;
    const bool           *is_user; /* by row of sources */
    uint32_t             *depth;   /* by frame: how many are around it */
    struct chain         *chains;  /* by timeline */
    struct id_map         standing_of;
    VEC(struct standing) standings; /* by thread and activity */
    VEC(uint32_t) shared;           /* activities that are open on two threads or more */
};

static struct activity_sums *sums_of(struct summing *summing, uint32_t frame)
{
    uint32_t event = summing->path->frames.items[frame].event;

    return &summing->sums[event_activity_id(summing->study->profile, event)];
}

static void sum_frames(struct summing *summing)
{
    const struct profile *profile = summing->study->profile;

    for (uint32_t f = 0; f < summing->path->frames.count; f++) {
        const struct frame   *frame = &summing->path->frames.items[f];
        struct activity_sums *sums = sums_of(summing, f);
        double                ns = (double)event_duration_ns(profile, frame->event);
        uint32_t              step =
            (uint32_t)path_step_at(summing->study, event_start_ns(profile, frame->event)) + 1;

        sums->events++;
        sums->total_ns += ns;
        sums->self_ns += (double)summing->path->frame_self_ns[f];
        if (sums->events == 1 || ns > sums->max_ns)
            sums->max_ns = ns, sums->longest = frame->event;
        if (sums->last_step != step)
            sums->steps++;
        sums->last_step = step;
        sums->on_leader = sums->on_leader || frame->timeline == summing->path->leader;
    }
}

static uint32_t activity_of(const struct summing *summing, uint32_t frame)
{
    return event_activity_id(summing->study->profile, summing->path->frames.items[frame].event);
}

static uint32_t timeline_of(const struct summing *summing, uint32_t frame)
{
    return summing->path->frames.items[frame].timeline;
}

static struct standing *standing_of(const struct summing *summing, uint32_t timeline,
                                    uint32_t activity)
{
    uint32_t row = id_map_get(&summing->standing_of, (uint64_t)timeline << 32 | activity);

    return row == NO_ID ? NULL : &summing->standings.items[row];
}

static bool open_frame(struct summing *summing, uint32_t frame)
{
    uint32_t              activity = activity_of(summing, frame);
    uint32_t              timeline = timeline_of(summing, frame);
    struct activity_sums *sums = &summing->sums[activity];
    struct standing      *standing = standing_of(summing, timeline, activity);

    if (!standing) {
        uint32_t row = (uint32_t)summing->standings.count;

        if (!vec_push(&summing->standings, summing->scratch, (struct standing) { 0 }) ||
            !id_map_put(&summing->standing_of, (uint64_t)timeline << 32 | activity, row))
            return false;
        standing = &summing->standings.items[row];
    }
    if (standing->frame_count++ > 0)
        return true;
    standing->since_ns = summing->chains[timeline].clock_ns;
    if (++sums->thread_count != 2)
        return true;
    sums->shared_row = (uint32_t)summing->shared.count;
    return vec_push(&summing->shared, summing->scratch, activity);
}

static void close_frame(struct summing *summing, uint32_t frame)
{
    uint32_t              activity = activity_of(summing, frame), last;
    uint32_t              timeline = timeline_of(summing, frame);
    struct activity_sums *sums = &summing->sums[activity];
    struct standing      *standing = standing_of(summing, timeline, activity);

    if (--standing->frame_count > 0)
        return;
    sums->path_ns += summing->chains[timeline].clock_ns - standing->since_ns;
    if (--sums->thread_count != 1)
        return;
    last = summing->shared.items[--summing->shared.count];
    summing->shared.items[sums->shared_row] = last;
    summing->sums[last].shared_row = sums->shared_row;
}

/* Opens and closes what differs between two places on a thread; to NO_ID: closes all. */
static bool move_chain(struct summing *summing, uint32_t timeline, uint32_t to)
{
    const struct frame *frames = summing->path->frames.items;
    uint32_t            from = summing->chains[timeline].frame;

    summing->chains[timeline].frame = to;
    while (from != to) {
        if (to == NO_ID || (from != NO_ID && summing->depth[from] >= summing->depth[to])) {
            close_frame(summing, from);
            from = frames[from].parent;
        } else {
            if (!open_frame(summing, to))
                return false;
            to = frames[to].parent;
        }
    }
    return true;
}

/* What is around the frame and not around the place that its thread is at. */
static void add_beside(struct summing *summing, uint32_t frame, size_t segment, double ns)
{
    for (; frame != NO_ID; frame = summing->path->frames.items[frame].parent) {
        struct activity_sums  *sums = sums_of(summing, frame);
        const struct standing *standing =
            standing_of(summing, timeline_of(summing, frame), activity_of(summing, frame));

        if (sums->last_segment == segment + 1 || (standing && standing->frame_count > 0))
            continue;
        sums->last_segment = segment + 1;
        sums->path_ns += ns;
    }
}

/* What is open on both threads counts once. */
static void take_shared(struct summing *summing, uint32_t one, uint32_t other, double ns)
{
    for (size_t i = 0; i < summing->shared.count; i++) {
        uint32_t               activity = summing->shared.items[i];
        const struct standing *a = standing_of(summing, one, activity);
        const struct standing *b = standing_of(summing, other, activity);

        if (a && b && a->frame_count > 0 && b->frame_count > 0)
            summing->sums[activity].path_ns -= ns;
    }
}

/* A segment counts once for each activity around it, on either thread. The path goes along each
 * thread in time, so what is open changes little from one segment to the next. */
static bool add_chains(struct summing *summing, const struct segment *segment, size_t row)
{
    double   ns = (double)(segment->end_ns - segment->start_ns);
    uint32_t owner = segment->owner == NO_ID ? segment->frame : segment->owner;
    uint32_t one, other;

    if (owner == NO_ID)
        return true;
    one = timeline_of(summing, owner);
    other = segment->frame == NO_ID ? one : timeline_of(summing, segment->frame);
    if (!move_chain(summing, one, owner))
        return false;
    summing->chains[one].clock_ns += ns;
    if (other == one) {
        if (segment->frame != owner)
            add_beside(summing, segment->frame, row, ns);
        return true;
    }
    if (!move_chain(summing, other, segment->frame))
        return false;
    summing->chains[other].clock_ns += ns;
    take_shared(summing, one, other, ns);
    return true;
}

static bool make_chains(struct summing *summing)
{
    const struct path *path = summing->path;
    size_t             timelines = summing->study->profile->timelines.count;

    summing->depth = arena_new_array(summing->scratch, uint32_t, path->frames.count + 1);
    summing->chains = arena_new_array(summing->scratch, struct chain, timelines + 1);
    if (!summing->depth || !summing->chains)
        return false;
    for (size_t i = 0; i < path->frames.count; i++)
        if (path->frames.items[i].parent != NO_ID)
            summing->depth[i] = summing->depth[path->frames.items[i].parent] + 1;
    for (size_t i = 0; i < timelines; i++)
        summing->chains[i].frame = NO_ID;
    return true;
}

static bool sum_path(struct summing *summing)
{
    const struct path *path = summing->path;

    if (!make_chains(summing))
        return false;
    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];

        if (segment->frame != NO_ID && !segment->is_python)
            sums_of(summing, segment->frame)->path_self_ns +=
                (double)(segment->end_ns - segment->start_ns);
        if (!add_chains(summing, segment, i))
            return false;
    }
    for (uint32_t i = 0; i < summing->study->profile->timelines.count; i++)
        if (!move_chain(summing, i, NO_ID))
            return false;
    return true;
}

/* Functions that are written in C have a module's name for a file, and no line. */
static uint32_t place_of(const struct summing *summing, const struct activity *activity,
                         uint32_t event)
{
    uint32_t own = own_line(summing->study, summing->is_user, event);

    if (own == NO_ID && activity->source != NO_ID &&
        summing->study->profile->sources.items[activity->source].line > 0)
        own = activity->source;
    return own;
}

static bool add_row(struct summing *summing, struct table *table, uint32_t activity)
{
    struct study               *study = summing->study;
    const struct profile       *profile = study->profile;
    const struct activity      *row = &profile->activities.items[activity];
    const struct activity_sums *sums = &summing->sums[activity];
    double                      steps = (double)summing->path->step_rows.count;
    uint32_t                    place = place_of(summing, row, sums->longest);
    size_t                      at = table_add(table, study->arena);

    if (at == SIZE_MAX)
        return false;
    const double values[] = {
        row->name,
        facts_name(&study->facts, str_from(activity_kind_name(row->kind))),
        row->op != NO_ID ? profile->ops.items[row->op].type : 0,
        row->source != NO_ID ? profile->sources.items[row->source].file : 0,
        row->source != NO_ID ? profile->sources.items[row->source].line : 0,
        sums->events / steps,
        sums->steps / steps > 1 ? 1 : sums->steps / steps,
        sums->total_ns / steps,
        sums->self_ns / steps,
        sums->max_ns,
        sums->path_ns / steps,
        sums->path_self_ns / steps,
        study->steps.mean_ns > 0 ? sums->path_ns / steps / study->steps.mean_ns : 0,
        sums->on_leader,
        place != NO_ID ? profile->sources.items[place].file : 0,
        place != NO_ID ? profile->sources.items[place].line : 0,
    };
    for (size_t c = 0; c < ARRAY_COUNT(values); c++)
        table->columns[c][at] = values[c];
    return true;
}

static bool sum_all(struct study *study, struct arena *scratch)
{
    struct summing summing = {
        .study = study, .path = &study->path, .scratch = scratch, .standing_of.arena = scratch
    };
    struct table *table = facts_table(&study->facts, &tables[0]);

    summing.sums = arena_new_array(scratch, struct activity_sums, study->profile->activities.count);
    summing.is_user = profile_user_sources(study->profile, scratch);
    if (!table || !summing.sums || !summing.is_user)
        return false;
    sum_frames(&summing);
    if (!sum_path(&summing))
        return false;
    for (uint32_t a = 0; a < study->profile->activities.count; a++)
        if (summing.sums[a].events > 0 && !add_row(&summing, table, a))
            return false;
    return true;
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { .budget_bytes = study->arena->budget_bytes };
    bool         ok = study->path.segments.count
                          ? sum_all(study, &scratch)
                          : facts_absent(&study->facts, "activities", "at least one whole step",
                                         "no step with a timeline of events");

    arena_free(&scratch);
    return ok || err_set(err, ERR_LIMIT, "the activities do not fit the memory budget");
}

const struct analysis analysis_activities = {
    .name = "activities",
    .summary = "what happened in a step, by name and kind",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
