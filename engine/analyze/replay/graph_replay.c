#include "analyze/replay/graph_replay.h"

#include "analyze/schedule/skeleton.h"
#include "analyze/schedule/whatif_select.h"
#include "base/pattern.h"

#include <math.h>
#include <string.h>

static const double MOST_ERROR = 0.05;  /* a graph that is further off the recording proves less */
static const double MOST_UNKNOWN = 0.5; /* of the critical path: delays that no edit would move */
#define DEVICE_PARTS                                                                               \
    (UINT32_C(1) << PART_COMPUTE | UINT32_C(1) << PART_COMMUNICATION | UINT32_C(1) << PART_COPY)

struct graph_replay {
    const struct event_graph *whole;
    const int32_t  *recorder_ns; /* by node of the whole graph: not the program's; or NULL */
    struct skeleton skeleton;
    double          step_ns; /* scheduled without edits */
    bool            is_usable;
};

struct editing {
    const struct study       *study;
    const struct event_graph *graph;
    const struct skeleton    *skeleton;
    const int32_t            *recorder_ns;
    struct arena             *scratch;
    struct graph_changes      changes;     /* by node of the skeleton */
    bool                     *is_selected; /* by node, for one edit */
    bool                     *is_gone;     /* by node: a call that is taken away */
    double                    aside_ns;    /* longest of what then runs beside the step */
};

/* The analysis of the steps has made it; not in a study of which parts alone were analysed. */
static const struct steps_schedule *get_schedule(struct study *study)
{
    struct err err = { 0 };

    if (!study->schedule) {
        struct steps_schedule *fresh = arena_new(study->arena, struct steps_schedule);

        if (!fresh || !steps_schedule_make(fresh, study, study->arena, &err))
            return NULL;
        study->schedule = fresh;
    }
    return steps_schedule_of(study);
}

static void make(struct study *study, struct graph_replay *replay)
{
    const struct steps_schedule *schedule = study->path.has_device ? get_schedule(study) : NULL;

    if (!schedule || !schedule->graph.windows.count || !schedule->graph.has_device)
        return;
    replay->whole = &schedule->graph;
    replay->recorder_ns = schedule->recorder_ns;
    replay->step_ns = schedule->without_recorder_ns;
    replay->is_usable = replay->step_ns > 0 && schedule->error <= MOST_ERROR &&
                        schedule->chain_ns[PART_UNKNOWN] <= MOST_UNKNOWN * schedule->step_ns &&
                        skeleton_make(&replay->skeleton, replay->whole, study->arena);
}

static const struct graph_replay *get(struct study *study)
{
    if (!study->graph_replay) {
        struct graph_replay *fresh = arena_new(study->arena, struct graph_replay);

        if (!fresh)
            return NULL;
        make(study, fresh);
        study->graph_replay = fresh;
    }
    return study->graph_replay->is_usable ? study->graph_replay : NULL;
}

/* About an accelerator's work alone, and the recording shows that work. */
static bool is_of_device(const struct event_graph *graph, const struct edit *edit)
{
    uint32_t parts = edit->select.part_mask;

    if (edit->kind != EDIT_SCALE && edit->kind != EDIT_SUBTRACT && edit->kind != EDIT_OVERLAP)
        return false;
    if (!parts || parts & ~DEVICE_PARTS || edit->select.stage || edit->select.cell)
        return false;
    if (parts & (UINT32_C(1) << PART_COMMUNICATION) && !graph->path.shows_collectives)
        return false;
    return !(parts & (UINT32_C(1) << PART_COPY)) || graph->path.shows_copies;
}

/* An event is known by its name, and by its op's. */
static bool is_named(const struct profile *profile, const struct pattern *pattern,
                     const struct activity *activity, bool is_type)
{
    const struct op *op =
        activity->op < profile->ops.count ? &profile->ops.items[activity->op] : NULL;

    if (!is_type && pattern_matches(pattern, profile_str(profile, activity->name)) == PATTERN_YES)
        return true;
    return op && pattern_matches(pattern, profile_str(profile, is_type ? op->type : op->name)) ==
                     PATTERN_YES;
}

/* Marks frames that bear a name or an op of the type, or that are inside such. */
static bool match_frames(const struct editing *editing, const char *name, bool is_type,
                         bool *is_match)
{
    enum { UNSEEN, NO, YES };
    const struct profile *profile = editing->study->profile;
    const struct path    *path = &editing->graph->path;
    struct err            err = { 0 };
    struct pattern       *pattern = pattern_new(str_from(name), PATTERN_WHOLE, true, &err);
    uint8_t *seen = arena_new_array(editing->scratch, uint8_t, profile->activities.count + 1);
    bool     is_settled;

    for (uint32_t f = 0; pattern && seen && f < path->frames.count; f++) {
        const struct frame    *frame = &path->frames.items[f];
        uint32_t               row = event_activity_id(profile, frame->event);
        const struct activity *activity = &profile->activities.items[row];

        if (seen[row] == UNSEEN)
            seen[row] = is_named(profile, pattern, activity, is_type) ? YES : NO;
        is_match[f] = seen[row] == YES || (frame->parent != NO_ID && is_match[frame->parent]);
    }
    is_settled = pattern && pattern_settled(pattern, &err);
    pattern_free(pattern);
    return is_settled && seen;
}

static bool has_kind(const struct event_graph *graph, const struct graph_node *node, uint32_t kinds)
{
    return !kinds ||
           (node->frame != NO_ID && graph->path.frames.items[node->frame].kinds & kinds) ||
           (node->launcher != NO_ID && graph->path.frames.items[node->launcher].kinds & kinds);
}

/* Keeps of the selected nodes those whose frame, or whose launch's, matches. */
static bool narrow(struct editing *editing, const char *name, bool is_type)
{
    const struct event_graph *graph = editing->graph;
    bool *is_match = arena_new_array(editing->scratch, bool, graph->path.frames.count + 1);

    if (!name)
        return true;
    if (!is_match || !match_frames(editing, name, is_type, is_match))
        return false;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];

        editing->is_selected[i] =
            editing->is_selected[i] && ((node->frame != NO_ID && is_match[node->frame]) ||
                                        (node->launcher != NO_ID && is_match[node->launcher]));
    }
    return true;
}

static bool select_nodes(struct editing *editing, const struct edit_select *select)
{
    const struct event_graph *graph = editing->graph;

    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];
        const struct graph_line *line = &graph->lines.items[node->line];

        editing->is_selected[i] = line->is_device && node->frame != NO_ID &&
                                  select->part_mask >> node->class & 1 &&
                                  has_kind(graph, node, select->kind_mask) &&
                                  (select->host == NO_ID || select->host == line->host);
    }
    return narrow(editing, select->name, false) && narrow(editing, select->op_type, true);
}

/* What the reference host's selected work takes a step, changes so far included. */
static double selected_ns(const struct editing *editing)
{
    const struct event_graph *graph = editing->graph;
    double                    sum_ns = 0;

    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];

        if (editing->is_selected[i] &&
            graph->lines.items[node->line].host == editing->study->steps.host)
            sum_ns += (double)node->own_ns * editing->changes.factors[editing->skeleton->of[i]];
    }
    return sum_ns / graph->group_count;
}

/* Selected work is gone; where it is not just done elsewhere, so are the calls that launched it. */
static bool remove_selected(struct editing *editing, bool with_calls)
{
    const struct event_graph *graph = editing->graph;
    bool *gone = arena_new_array(editing->scratch, bool, graph->nodes.count + 1);

    if (!gone)
        return false;
    memcpy(gone, editing->is_selected, graph->nodes.count * sizeof *gone);
    if (with_calls && !whatif_select_launches(graph, editing->scratch, gone))
        return false;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        uint32_t of = editing->skeleton->of[i];

        if (!gone[i])
            continue;
        if (graph->lines.items[graph->nodes.items[i].line].is_device) {
            editing->changes.factors[of] = 0;
            editing->changes.flags[of] |= CHANGE_GONE;
        } else if (!editing->is_gone[i]) {
            editing->is_gone[i] = true;
            editing->changes.extra_ns[of] -=
                graph->nodes.items[i].own_ns - (editing->recorder_ns ? editing->recorder_ns[i] : 0);
        }
    }
    return true;
}

static void scale_selected(struct editing *editing, double factor)
{
    for (uint32_t i = 0; i < editing->graph->nodes.count; i++)
        if (editing->is_selected[i])
            editing->changes.factors[editing->skeleton->of[i]] *= (float)factor;
}

static bool apply(struct editing *editing, const struct edit *edit)
{
    double ns, factor = edit->factor;

    if (!select_nodes(editing, &edit->select))
        return false;
    ns = selected_ns(editing);
    if (edit->kind == EDIT_OVERLAP) {
        editing->aside_ns = fmax(editing->aside_ns, ns);
        return remove_selected(editing, false);
    }
    if (edit->kind == EDIT_SUBTRACT)
        factor = edit->ns < ns ? 1 - edit->ns / ns : 0;
    if (factor > 0) {
        scale_selected(editing, factor);
        return true;
    }
    return remove_selected(editing, true);
}

static void take_recorder_off(struct editing *editing)
{
    for (uint32_t i = 0; editing->recorder_ns && i < editing->graph->nodes.count; i++)
        editing->changes.extra_ns[editing->skeleton->of[i]] -= editing->recorder_ns[i];
}

bool graph_replay_run(struct study *study, const struct edit *edits, size_t count,
                      struct graph_replay_result *result)
{
    const struct graph_replay *replay = get(study);
    struct arena               scratch = { .budget_bytes = study->arena->budget_bytes };
    struct editing             editing = { .study = study, .scratch = &scratch };
    struct schedule            schedule;
    bool                       ok = replay && count > 0;

    for (size_t i = 0; ok && i < count; i++)
        ok = is_of_device(replay->whole, &edits[i]);
    if (!ok)
        return false;
    editing.graph = replay->whole;
    editing.skeleton = &replay->skeleton;
    editing.recorder_ns = replay->recorder_ns;
    editing.is_selected = arena_new_array(&scratch, bool, editing.graph->nodes.count + 1);
    editing.is_gone = arena_new_array(&scratch, bool, editing.graph->nodes.count + 1);
    ok = editing.is_selected && editing.is_gone &&
         graph_changes_make(&editing.changes, &replay->skeleton.graph, &scratch);
    if (ok)
        take_recorder_off(&editing);
    for (size_t i = 0; ok && i < count; i++)
        ok = apply(&editing, &edits[i]);
    ok = ok && schedule_make(&schedule, &replay->skeleton.graph, &editing.changes, &scratch);
    if (ok) {
        double step_ns = fmin(replay->step_ns, fmax(schedule.step_ns, editing.aside_ns));

        result->step_ns = step_ns * steps_ns(&study->steps) / replay->step_ns;
        result->saved_ns = steps_ns(&study->steps) - result->step_ns;
    }
    arena_free(&scratch);
    return ok;
}
