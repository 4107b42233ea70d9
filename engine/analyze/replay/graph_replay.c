#include "analyze/replay/graph_replay.h"

#include "analyze/schedule/skeleton.h"
#include "analyze/schedule/whatif_select.h"
#include "base/pattern.h"

#include <math.h>

static const double MOST_ERROR = 0.05;  /* a graph that is further off the recording proves less */
static const double MOST_UNKNOWN = 0.5; /* of the critical path: delays that no edit would move */
#define DEVICE_PARTS                                                                               \
    (UINT32_C(1) << PART_COMPUTE | UINT32_C(1) << PART_COMMUNICATION | UINT32_C(1) << PART_COPY)

struct graph_replay {
    const struct event_graph *whole;
    const int32_t         *recorder_ns; /* by node of the whole graph: not the program's; or NULL */
    const struct skeleton *skeleton;    /* without that */
    uint32_t              *device_nodes, device_count; /* of the whole graph */
    double                 step_ns;                    /* scheduled without edits */
    bool                   is_usable;
    struct intern          asked; /* as of struct segment_groups */
    VEC(struct graph_replay_result) answers;
};

struct editing {
    const struct study        *study;
    const struct event_graph  *graph;
    const struct skeleton     *skeleton;
    const struct graph_replay *replay;
    const int32_t             *recorder_ns;
    struct arena              *scratch;
    struct graph_changes       changes;  /* by node of the skeleton */
    uint32_t                  *selected; /* nodes, for one edit, in their order */
    uint32_t                   selected_count;
    bool                      *is_gone;  /* by node: a call that is taken away */
    double                     aside_ns; /* longest of what then runs beside the step */
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

static const struct skeleton *get_skeleton(const struct steps_schedule *schedule,
                                           struct arena                *arena)
{
    struct skeleton *fresh = schedule->skeleton ? NULL : arena_new(arena, struct skeleton);

    return fresh && skeleton_make(fresh, &schedule->graph, arena) ? fresh : schedule->skeleton;
}

static bool list_device_nodes(struct graph_replay *replay, struct arena *arena)
{
    const struct event_graph *graph = replay->whole;

    replay->device_nodes = arena_new_array(arena, uint32_t, graph->nodes.count + 1);
    for (uint32_t i = 0; replay->device_nodes && i < graph->nodes.count; i++)
        if (graph->lines.items[graph->nodes.items[i].line].is_device)
            replay->device_nodes[replay->device_count++] = i;
    return replay->device_nodes != NULL;
}

static void make(struct study *study, struct graph_replay *replay)
{
    const struct steps_schedule *schedule = study->path.has_device ? get_schedule(study) : NULL;

    if (!schedule || !schedule->graph.windows.count || !schedule->graph.has_device)
        return;
    replay->whole = &schedule->graph;
    replay->recorder_ns = schedule->recorder_ns;
    replay->step_ns = schedule->bare_ns;
    replay->is_usable = replay->step_ns > 0 && schedule->error <= MOST_ERROR &&
                        schedule->chain_ns[PART_UNKNOWN] <= MOST_UNKNOWN * schedule->step_ns;
    if (!replay->is_usable)
        return;
    replay->skeleton = get_skeleton(schedule, study->arena);
    replay->is_usable = replay->skeleton && list_device_nodes(replay, study->arena) &&
                        intern_init(&replay->asked, study->arena);
}

static struct graph_replay *get(struct study *study)
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

/* About calls that are not made or do not wait, which have names. */
static bool is_of_calls(const struct edit *edit)
{
    const struct edit_select *select = &edit->select;

    return (edit->kind == EDIT_OMIT || edit->kind == EDIT_UNBLOCK) &&
           (select->name || select->op_type) && !select->part_mask && !select->stage &&
           !select->cell;
}

/* About a thread's own work, which the graph shows as far as it is not the path that is edited. */
static bool is_of_host(const struct edit *edit)
{
    return (edit->kind == EDIT_SCALE || edit->kind == EDIT_SUBTRACT) &&
           edit->select.part_mask == UINT32_C(1) << PART_HOST && !edit->select.stage &&
           !edit->select.cell;
}

/* Changed calls, and what else of the host then changes; or an accelerator's work. */
static bool can_edit(const struct event_graph *graph, const struct edit *edits, size_t count)
{
    bool with_host = edits_change_calls(edits, count);

    for (size_t i = 0; i < count; i++)
        if (!is_of_device(graph, &edits[i]) && !is_of_calls(&edits[i]) &&
            !(with_host && is_of_host(&edits[i])))
            return false;
    return count > 0;
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

/* By frame: something of the kinds happens in it. Frames stand behind those that they are in. */
static const bool *frames_with(const struct editing *editing, uint32_t kinds)
{
    const struct path *path = &editing->graph->path;
    bool              *has = arena_new_array(editing->scratch, bool, path->frames.count + 1);

    for (uint32_t f = (uint32_t)path->frames.count; has && f-- > 0;) {
        const struct frame *frame = &path->frames.items[f];

        has[f] =
            has[f] || kinds & KIND_BIT(event_activity(editing->study->profile, frame->event)->kind);
        if (has[f] && frame->parent != NO_ID)
            has[frame->parent] = true;
    }
    return has;
}

/* Marks frames that bear a name or an op of the type, or that are inside such; of calls that are
 * not made only those with something of the kinds in them. */
static bool match_frames(const struct editing *editing, const char *name, bool is_type,
                         uint32_t kinds, bool *is_match)
{
    enum { UNSEEN, NO, YES };
    const struct profile *profile = editing->study->profile;
    const struct path    *path = &editing->graph->path;
    struct err            err = { 0 };
    struct pattern       *pattern = pattern_new(str_from(name), PATTERN_WHOLE, true, &err);
    uint8_t    *seen = arena_new_array(editing->scratch, uint8_t, profile->activities.count + 1);
    const bool *has = kinds ? frames_with(editing, kinds) : NULL;
    bool        is_settled, ok = seen && (has || !kinds);

    for (uint32_t f = 0; pattern && ok && f < path->frames.count; f++) {
        const struct frame    *frame = &path->frames.items[f];
        uint32_t               row = event_activity_id(profile, frame->event);
        const struct activity *activity = &profile->activities.items[row];

        if (seen[row] == UNSEEN)
            seen[row] = is_named(profile, pattern, activity, is_type) ? YES : NO;
        is_match[f] = (seen[row] == YES && (!has || has[f])) ||
                      (frame->parent != NO_ID && is_match[frame->parent]);
    }
    is_settled = pattern && pattern_settled(pattern, &err);
    pattern_free(pattern);
    return is_settled && ok;
}

static bool has_kind(const struct event_graph *graph, const struct graph_node *node, uint32_t kinds)
{
    return !kinds ||
           (node->frame != NO_ID && graph->path.frames.items[node->frame].kinds & kinds) ||
           (node->launcher != NO_ID && graph->path.frames.items[node->launcher].kinds & kinds);
}

/* By frame: it bears the name; NULL where none is asked for. false: nothing can be told. */
static bool match(const struct editing *editing, const char *name, bool is_type, uint32_t kinds,
                  const bool **matches)
{
    bool *is_match = NULL;

    if (name) {
        is_match = arena_new_array(editing->scratch, bool, editing->graph->path.frames.count + 1);
        if (!is_match || !match_frames(editing, name, is_type, kinds, is_match))
            return false;
    }
    *matches = is_match;
    return true;
}

/* Its frame, or that of its launch. */
static bool is_among(const bool *is_match, const struct graph_node *node)
{
    return !is_match || (node->frame != NO_ID && is_match[node->frame]) ||
           (node->launcher != NO_ID && is_match[node->launcher]);
}

/* Work of devices or of threads, as the parts say; of calls that are not made both. */
static bool select_nodes(struct editing *editing, const struct edit *edit)
{
    const struct event_graph *graph = editing->graph;
    const struct edit_select *select = &edit->select;
    bool                      is_calls = is_of_calls(edit), is_host = is_of_host(edit);
    const uint32_t           *among = is_calls || is_host ? NULL : editing->replay->device_nodes;
    uint32_t    count = among ? editing->replay->device_count : (uint32_t)graph->nodes.count;
    uint32_t    kinds = is_calls ? select->kind_mask : 0;
    const bool *is_named, *is_typed;

    if (!match(editing, select->name, false, kinds, &is_named) ||
        !match(editing, select->op_type, true, kinds, &is_typed))
        return false;
    editing->selected_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t                 row = among ? among[i] : i;
        const struct graph_node *node = &graph->nodes.items[row];
        const struct graph_line *line = &graph->lines.items[node->line];

        if ((node->frame != NO_ID || (is_host && node->role != NODE_STEP)) &&
            is_among(is_named, node) && is_among(is_typed, node) &&
            (is_calls || (line->is_device != is_host && select->part_mask >> node->class & 1 &&
                          has_kind(graph, node, select->kind_mask))) &&
            (select->host == NO_ID || select->host == line->host))
            editing->selected[editing->selected_count++] = row;
    }
    return true;
}

/* What a thread's node takes, without what recording took of it. */
static double host_node_ns(const struct editing *editing, uint32_t row)
{
    return (double)(editing->graph->nodes.items[row].own_ns -
                    (editing->recorder_ns ? editing->recorder_ns[row] : 0));
}

/* What the reference host's selected work takes a step, changes so far included; of a thread's that
 * of calls which are made. */
static double selected_ns(const struct editing *editing)
{
    const struct event_graph *graph = editing->graph;
    double                    sum_ns = 0;

    for (uint32_t i = 0; i < editing->selected_count; i++) {
        uint32_t                 row = editing->selected[i];
        const struct graph_node *node = &graph->nodes.items[row];

        if (graph->lines.items[node->line].host != editing->study->steps.host)
            continue;
        if (graph->lines.items[node->line].is_device)
            sum_ns += (double)node->own_ns * editing->changes.factors[editing->skeleton->of[row]];
        else if (!editing->is_gone[row])
            sum_ns += host_node_ns(editing, row);
    }
    return sum_ns / graph->group_count;
}

/* The end of a call. A node of the skeleton that waits begins with it. */
static void stop_waiting(struct editing *editing, uint32_t row)
{
    const struct graph_node *node = &editing->graph->nodes.items[row];

    if (node->role == NODE_RESUME &&
        event_graph_edges_end(editing->graph, row) - node->first_edge > 1)
        editing->changes.flags[editing->skeleton->of[row]] |= CHANGE_NO_WAIT;
}

/* A thread's node takes no time, and waits for nothing. */
static void remove_host_node(struct editing *editing, uint32_t row)
{
    if (editing->is_gone[row])
        return;
    editing->is_gone[row] = true;
    editing->changes.extra_ns[editing->skeleton->of[row]] -= (int64_t)host_node_ns(editing, row);
    stop_waiting(editing, row);
}

static void remove_node(struct editing *editing, uint32_t row)
{
    uint32_t of = editing->skeleton->of[row];

    if (editing->graph->lines.items[editing->graph->nodes.items[row].line].is_device) {
        editing->changes.factors[of] = 0;
        editing->changes.flags[of] |= CHANGE_GONE;
    } else {
        remove_host_node(editing, row);
    }
}

/* Calls are made and wait for nothing. */
static void unblock_selected(struct editing *editing, double most_ns)
{
    const struct event_graph *graph = editing->graph;

    for (uint32_t i = 0; i < editing->selected_count; i++) {
        uint32_t row = editing->selected[i];
        double   ns = host_node_ns(editing, row);

        if (editing->is_gone[row] || graph->lines.items[graph->nodes.items[row].line].is_device)
            continue;
        stop_waiting(editing, row);
        if (ns > most_ns)
            editing->changes.extra_ns[editing->skeleton->of[row]] -= (int64_t)(ns - most_ns);
    }
}

/* Selected work is gone; where it is not just done elsewhere, so are the calls that launched it. */
static bool remove_selected(struct editing *editing, bool with_calls)
{
    const struct event_graph *graph = editing->graph;
    bool                     *gone;

    if (!with_calls) {
        for (uint32_t i = 0; i < editing->selected_count; i++)
            remove_node(editing, editing->selected[i]);
        return true;
    }
    gone = arena_new_array(editing->scratch, bool, graph->nodes.count + 1);
    if (!gone)
        return false;
    for (uint32_t i = 0; i < editing->selected_count; i++)
        gone[editing->selected[i]] = true;
    if (!whatif_select_launches(graph, editing->scratch, gone))
        return false;
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (gone[i])
            remove_node(editing, i);
    return true;
}

static void scale_selected(struct editing *editing, double factor)
{
    const struct event_graph *graph = editing->graph;

    for (uint32_t i = 0; i < editing->selected_count; i++) {
        uint32_t row = editing->selected[i], of = editing->skeleton->of[row];

        if (graph->lines.items[graph->nodes.items[row].line].is_device)
            editing->changes.factors[of] *= (float)factor;
        else if (!editing->is_gone[row])
            editing->changes.extra_ns[of] -= (int64_t)((1 - factor) * host_node_ns(editing, row));
    }
}

static bool apply(struct editing *editing, const struct edit *edit)
{
    double ns, factor = edit->factor;

    if (!select_nodes(editing, edit))
        return false;
    if (edit->kind == EDIT_OMIT)
        return remove_selected(editing, false);
    if (edit->kind == EDIT_UNBLOCK) {
        unblock_selected(editing, edit->ns);
        return true;
    }
    ns = selected_ns(editing);
    if (edit->kind == EDIT_OVERLAP) {
        editing->aside_ns = fmax(editing->aside_ns, ns);
        return remove_selected(editing, false);
    }
    if (edit->kind == EDIT_SUBTRACT)
        factor = edit->ns < ns ? 1 - edit->ns / ns : 0;
    if (factor > 0 || is_of_host(edit)) {
        scale_selected(editing, factor);
        return true;
    }
    return remove_selected(editing, true);
}

static bool run(const struct graph_replay *replay, struct study *study, const struct edit *edits,
                size_t count, struct arena *scratch, struct graph_replay_result *result)
{
    struct editing  editing = { .study = study,
                                .replay = replay,
                                .graph = replay->whole,
                                .skeleton = replay->skeleton,
                                .recorder_ns = replay->recorder_ns,
                                .scratch = scratch };
    struct schedule schedule;
    bool            ok;

    editing.selected = arena_new_array(scratch, uint32_t, editing.graph->nodes.count + 1);
    editing.is_gone = arena_new_array(scratch, bool, editing.graph->nodes.count + 1);
    ok = editing.selected && editing.is_gone &&
         graph_changes_make(&editing.changes, &replay->skeleton->graph, scratch);
    for (size_t i = 0; ok && i < count; i++)
        ok = apply(&editing, &edits[i]);
    ok = ok && schedule_make(&schedule, &replay->skeleton->graph, &editing.changes, scratch);
    if (ok) {
        double step_ns = fmin(replay->step_ns, fmax(schedule.step_ns, editing.aside_ns));

        result->step_ns = step_ns * steps_ns(&study->steps) / replay->step_ns;
        result->saved_ns = steps_ns(&study->steps) - result->step_ns;
    }
    return ok;
}

bool graph_replay_run(struct study *study, const struct edit *edits, size_t count,
                      struct graph_replay_result *result)
{
    struct graph_replay *replay = get(study);
    struct arena         scratch = { .budget_bytes = study->arena->budget_bytes };
    struct text          key = { .arena = &scratch };
    uint32_t             known;
    bool                 ok = true;

    if (!replay || !can_edit(replay->whole, edits, count))
        return false;
    edits_key(edits, count, &key);
    known = text_is_whole(&key) ? intern_find(&replay->asked, text_str(&key)) : NO_ID;
    if (known != NO_ID)
        *result = replay->answers.items[known - 1];
    else
        ok = run(replay, study, edits, count, &scratch, result);
    if (ok && known == NO_ID && vec_push(&replay->answers, study->arena, *result) &&
        intern_add(&replay->asked, text_str(&key)) == NO_ID)
        replay->answers.count--;
    arena_free(&scratch);
    return ok;
}
