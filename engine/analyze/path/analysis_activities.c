/*
 * activities: everything that happened in the looked-at steps on the reference host, by what it is:
 * how often, how long, and how much of the step's path lies inside it. Rules find callbacks,
 * compiles, transfers, logging, Python functions here by kind and name. cost  O(frames + leaves +
 * path segments x nesting depth)
 */
#include "analyze/analysis.h"
#include "analyze/path/work.h"

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
};
static const struct table_spec tables[] = {
    { "activities", "what happened in a step, by name", activity_columns,
      ARRAY_COUNT(activity_columns) },
};

struct activity_sums {
    double   events, total_ns, self_ns, max_ns, path_ns, path_self_ns, steps;
    uint32_t last_step;    /* + 1: step counted last */
    size_t   last_segment; /* + 1: path segment counted last */
    bool     on_leader;
};

struct summing {
    struct study         *study;
    const struct path    *path;
    struct activity_sums *sums; /* by activity */
};

static struct activity_sums *sums_of(struct summing *summing, uint32_t frame)
{
    uint32_t event = summing->path->frames.items[frame].event;

    return &summing->sums[event_activity_id(summing->study->profile, event)];
}

static uint32_t step_at(const struct summing *summing, int64_t t_ns)
{
    size_t low = 0, high = summing->path->step_rows.count;

    while (low < high) { /* first step that ends behind t */
        size_t             middle = low + (high - low) / 2;
        const struct step *step =
            &summing->study->steps.list.items[summing->path->step_rows.items[middle]];

        if (step->end_ns <= t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static void sum_frames(struct summing *summing)
{
    const struct profile *profile = summing->study->profile;

    for (uint32_t f = 0; f < summing->path->frames.count; f++) {
        const struct frame   *frame = &summing->path->frames.items[f];
        struct activity_sums *sums = sums_of(summing, f);
        double                ns = (double)event_duration_ns(profile, frame->event);
        uint32_t              step = step_at(summing, event_start_ns(profile, frame->event)) + 1;

        sums->events++;
        sums->total_ns += ns;
        if (ns > sums->max_ns)
            sums->max_ns = ns;
        if (sums->last_step != step)
            sums->steps++;
        sums->last_step = step;
        sums->on_leader = sums->on_leader || frame->timeline == summing->path->leader;
    }
}

static void sum_leaves(struct summing *summing)
{
    for (size_t l = 0; l < summing->path->lines.count; l++) {
        const struct path_line *line = &summing->path->lines.items[l];

        for (size_t i = 0; i < line->leaves.count; i++)
            sums_of(summing, line->leaves.items[i].frame)->self_ns +=
                (double)(line->leaves.items[i].end_ns - line->leaves.items[i].start_ns);
    }
}

/* A segment counts once for each activity around it, on either thread. */
static void add_chain(struct summing *summing, uint32_t frame, size_t segment, double ns)
{
    for (; frame != NO_ID; frame = summing->path->frames.items[frame].parent) {
        struct activity_sums *sums = sums_of(summing, frame);

        if (sums->last_segment == segment + 1)
            continue;
        sums->last_segment = segment + 1;
        sums->path_ns += ns;
    }
}

static void sum_path(struct summing *summing)
{
    for (size_t i = 0; i < summing->path->segments.count; i++) {
        const struct segment *segment = &summing->path->segments.items[i];
        double                ns = (double)(segment->end_ns - segment->start_ns);

        if (segment->frame != NO_ID && !segment->is_python)
            sums_of(summing, segment->frame)->path_self_ns += ns;
        add_chain(summing, segment->frame, i, ns);
        add_chain(summing, segment->owner, i, ns);
    }
}

static bool add_row(struct summing *summing, struct table *table, uint32_t activity)
{
    struct study               *study = summing->study;
    const struct profile       *profile = study->profile;
    const struct activity      *row = &profile->activities.items[activity];
    const struct activity_sums *sums = &summing->sums[activity];
    double                      steps = (double)summing->path->step_rows.count;
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
    };
    for (size_t c = 0; c < ARRAY_COUNT(values); c++)
        table->columns[c][at] = values[c];
    return true;
}

static bool sum_all(struct study *study, struct arena *scratch)
{
    struct summing summing = { .study = study, .path = &study->path };
    struct table  *table = facts_table(&study->facts, &tables[0]);

    summing.sums = arena_new_array(scratch, struct activity_sums, study->profile->activities.count);
    if (!table || !summing.sums)
        return false;
    sum_frames(&summing);
    sum_leaves(&summing);
    sum_path(&summing);
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
