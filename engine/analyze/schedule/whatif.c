/* whatif: the effect of the user's edits on nodes of the event graph. */
#include "analyze/schedule/efficiency.h"
#include "analyze/schedule/other_hardware.h"
#include "analyze/schedule/whatif_select.h"
#include "base/sample.h"

#include <math.h>
#include <string.h>

enum { GRAPH_LAUNCH_NS = 10000 }; /* of a graph, on the host */

static bool is_on_device(const struct editor *editor, uint32_t node)
{
    return editor->graph->lines.items[editor->graph->nodes.items[node].line].is_device;
}

/* What is selected costs `factor`; what is gone frees its launch, too. */
static bool apply_drop(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    bool *gone = arena_new_array(&editor->scratch, bool, editor->graph->nodes.count);

    if (!gone)
        return err_set(err, ERR_LIMIT, "the edit does not fit the memory budget");
    memcpy(gone, editor->is_selected, editor->graph->nodes.count * sizeof *gone);
    if (edit->target != TARGET_SYNC && edit->target != TARGET_INPUT &&
        !whatif_select_launches(editor->graph, &editor->scratch, gone))
        return err_set(err, ERR_LIMIT, "the edit does not fit the memory budget");
    for (uint32_t i = 0; i < editor->graph->nodes.count; i++) {
        if (!gone[i])
            continue;
        editor->changes.factors[i] = 0;
        editor->changes.flags[i] |=
            is_on_device(editor, i) || editor->graph->nodes.items[i].role == NODE_JOIN
                ? CHANGE_GONE
                : CHANGE_NO_WAIT;
    }
    return true;
}

static bool apply_factor(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    (void)err;
    editor_scale_selected(editor, edit->factor);
    return true;
}

static bool apply_speed(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    (void)err;
    editor_scale_selected(editor, 1 / edit->factor);
    return true;
}

/* Factors of kernels by activity, for one device: names repeat. */
struct kernel_factors {
    const struct profile  *profile;
    const struct hardware *there;
    struct hardware        made;
    const struct hardware *here;
    uint32_t               device;
    double                *by_activity; /* 0: not asked for yet */
};

static void begin_device(struct kernel_factors *factors, uint32_t device)
{
    if (device == factors->device)
        return;
    factors->device = device;
    factors->here =
        hardware_of(factors->profile, &factors->profile->devices.items[device], &factors->made);
    for (size_t i = 0; i < factors->profile->activities.count; i++)
        factors->by_activity[i] = 0;
}

/* NaN: what it ran on, or what it was, is not known. */
static double kernel_factor(struct kernel_factors *factors, const struct event_graph *graph,
                            const struct graph_node *node)
{
    const struct profile *profile = factors->profile;
    uint32_t              timeline = graph->lines.items[node->line].timeline, activity;

    if (timeline >= profile->timelines.count || node->frame == NO_ID ||
        profile->timelines.items[timeline].device >= profile->devices.count)
        return NAN;
    begin_device(factors, profile->timelines.items[timeline].device);
    if (!factors->here)
        return NAN;
    activity = event_activity_id(profile, graph->path.frames.items[node->frame].event);
    if (factors->by_activity[activity] == 0)
        factors->by_activity[activity] =
            other_hardware_factor(profile_str(profile, profile->activities.items[activity].name),
                                  factors->here, factors->there);
    return factors->by_activity[activity];
}

static bool apply_hardware(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    const struct event_graph *graph = editor->graph;
    struct kernel_factors     factors = {
            .profile = editor->study->profile,
            .there = edit->hardware,
            .device = NO_ID,
            .by_activity =
                arena_new_array(&editor->scratch, double, editor->study->profile->activities.count + 1),
    };

    if (!factors.by_activity)
        return err_set(err, ERR_LIMIT, "the edit does not fit the memory budget");
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        double factor = 1;

        if (editor->is_selected[i])
            factor = kernel_factor(&factors, graph, &graph->nodes.items[i]);
        if (!isfinite(factor))
            return err_set(err, ERR_INCONCLUSIVE,
                           "%s: the figures of the recorded device are not known", edit->text);
        editor->changes.factors[i] *= (float)factor;
    }
    return true;
}

static bool apply_move(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    (void)edit, (void)err;
    for (uint32_t i = 0; i < editor->graph->nodes.count; i++)
        if (editor->is_selected[i] && is_on_device(editor, i))
            editor->changes.flags[i] |= CHANGE_ASIDE;
    return true;
}

/* The node before on the same stream, or NO_ID. */
static uint32_t stream_before(const struct event_graph *graph, uint32_t node)
{
    uint32_t end = event_graph_edges_end(graph, node);

    for (uint32_t e = graph->nodes.items[node].first_edge; e < end; e++)
        if (graph->edges.items[e].kind == EDGE_STREAM)
            return graph->edges.items[e].from;
    return NO_ID;
}

/* Of selected work that follows selected work on a stream only the first is launched. */
static bool apply_merge(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    const struct event_graph *graph = editor->graph;
    bool                     *merged = arena_new_array(&editor->scratch, bool, graph->nodes.count);

    (void)edit;
    if (!merged)
        return err_set(err, ERR_LIMIT, "the edit does not fit the memory budget");
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        uint32_t before = editor->is_selected[i] ? stream_before(graph, i) : NO_ID;

        merged[i] = before != NO_ID && editor->is_selected[before];
        if (merged[i])
            editor->changes.flags[i] |= CHANGE_NO_LAUNCH | CHANGE_NO_GAP;
    }
    if (!whatif_select_launches(graph, &editor->scratch, merged))
        return err_set(err, ERR_LIMIT, "the edit does not fit the memory budget");
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (merged[i] && !is_on_device(editor, i))
            editor->changes.factors[i] = 0;
    return true;
}

static double *new_rank_work(struct editor *editor)
{
    return arena_new_array(&editor->scratch, double, editor->study->profile->hosts.count + 1);
}

static bool apply_rank(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    const struct event_graph *graph = editor->graph;
    double                   *work_ns = new_rank_work(editor), own_ns = 0, median_ns = 0;
    uint32_t                  own = NO_ID;
    size_t                    count = 0;

    if (!work_ns)
        return err_set(err, ERR_LIMIT, "the edit does not fit the memory budget");
    if (!editor_rank_work(editor, work_ns, &median_ns, err))
        return false;
    for (uint32_t host = 0; host < editor->study->profile->hosts.count; host++) {
        if (work_ns[host] <= 0)
            continue;
        if (event_graph_rank(graph, host) == edit->rank) {
            own_ns = work_ns[host];
            own = host;
        } else {
            work_ns[count++] = work_ns[host];
        }
    }
    if (own == NO_ID) {
        (void)err_set(err, ERR_USAGE, "%s: no steps of rank %d in the profile", edit->text,
                      edit->rank);
        return err_advise(err, "tfprof info lists the ranks");
    }
    if (!count)
        return err_set(err, ERR_USAGE, "%s: the profile holds one rank alone", edit->text);
    editor_scale_host(editor, own, sample_median(work_ns, count) / own_ns);
    return true;
}

static bool apply_level(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    double *work_ns = new_rank_work(editor), median_ns = 0;

    (void)edit;
    if (!work_ns)
        return err_set(err, ERR_LIMIT, "the edit does not fit the memory budget");
    memset(editor->is_selected, 0, editor->graph->nodes.count * sizeof *editor->is_selected);
    if (editor->study->profile->hosts.count < 2)
        return true;
    if (!editor_rank_work(editor, work_ns, &median_ns, err))
        return false;
    for (uint32_t host = 0; host < editor->study->profile->hosts.count; host++)
        if (work_ns[host] > 0)
            editor_scale_host(editor, host, fmin(1, median_ns / work_ns[host]));
    return true;
}

static bool apply_delays(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    (void)edit, (void)err;
    for (uint32_t i = 0; i < editor->graph->nodes.count; i++) {
        editor->is_selected[i] = editor->graph->nodes.items[i].delay_ns > 0;
        if (editor->is_selected[i])
            editor->changes.flags[i] |= CHANGE_NO_DELAY;
    }
    return true;
}

static bool apply_host(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    (void)edit, (void)err;
    for (uint32_t i = 0; i < editor->graph->nodes.count; i++) {
        const struct graph_node *node = &editor->graph->nodes.items[i];
        enum part                part = (enum part)node->class;

        editor->is_selected[i] = !is_on_device(editor, i) && node->role != NODE_STEP &&
                                 (part == PART_HOST || part == PART_COMPILE ||
                                  part == PART_OUTPUT || part == PART_IDLE_SYNC);
    }
    editor_scale_selected(editor, 0);
    return true;
}

/* One past the last node of a host's step. */
static uint32_t step_end(const struct event_graph *graph, const struct graph_window *window)
{
    for (uint32_t i = window->base + 1; i < graph->nodes.count; i++)
        if (graph->nodes.items[i].role == NODE_STEP &&
            graph->lines.items[graph->nodes.items[i].line].host == window->host)
            return i;
    return (uint32_t)graph->nodes.count;
}

/* The host call that launched device work, as its node in [first, node); NO_ID: none there. */
static uint32_t call_of(const struct event_graph *graph, uint32_t node, uint32_t first)
{
    uint32_t end = event_graph_edges_end(graph, node);

    for (uint32_t e = graph->nodes.items[node].first_edge; e < end; e++) {
        const struct graph_edge *edge = &graph->edges.items[e];

        if (edge->kind == EDGE_LAUNCH && edge->from >= first &&
            graph->nodes.items[edge->from].role != NODE_STEP)
            return edge->from;
    }
    return NO_ID;
}

/* The host gives one launch in the place of what it did between the first and the last one of a
 * step; blocking calls, input and copies stay. */
static void capture_step(struct editor *editor, const struct graph_window *window)
{
    const struct event_graph *graph = editor->graph;
    const struct graph_node  *nodes = graph->nodes.items;
    uint32_t                  end = step_end(graph, window), first_call = NO_ID, last_call = 0;
    bool                      is_launched = false;

    for (uint32_t i = window->base; i < end; i++) {
        uint32_t call;

        if (graph->lines.items[nodes[i].line].host != window->host ||
            nodes[i].role != NODE_DEVICE || nodes[i].class != PART_COMPUTE)
            continue;
        editor->is_selected[i] = true;
        if (is_launched)
            editor->changes.flags[i] |= CHANGE_NO_LAUNCH;
        call = call_of(graph, i, window->base);
        if (call == NO_ID)
            continue;
        is_launched = true;
        first_call = call < first_call ? call : first_call;
        last_call = call > last_call ? call : last_call;
    }
    if (first_call == NO_ID)
        return;
    for (uint32_t i = first_call; i <= last_call; i++)
        if (graph->lines.items[nodes[i].line].host == window->host && !is_on_device(editor, i) &&
            nodes[i].class == PART_HOST)
            editor->changes.factors[i] = 0;
    editor->changes.extra_ns[first_call] = GRAPH_LAUNCH_NS;
}

static bool apply_capture(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    (void)edit, (void)err;
    memset(editor->is_selected, 0, editor->graph->nodes.count * sizeof *editor->is_selected);
    for (size_t w = 0; w < editor->graph->windows.count; w++)
        if (editor->graph->windows.items[w].base != NO_ID)
            capture_step(editor, &editor->graph->windows.items[w]);
    return true;
}

/* Work of those who consume input: the leading thread, and who asks for it elsewhere. */
static bool asks_for_input(const struct event_graph *graph, uint32_t node)
{
    return graph->lines.items[graph->nodes.items[node].line].is_leader ||
           event_graph_has_kind(graph, graph->nodes.items[node].frame,
                                KIND_BIT(ACTIVITY_INPUT_WAIT));
}

static bool apply_input(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    for (uint32_t i = 0; i < editor->graph->nodes.count; i++)
        editor->is_selected[i] = editor->is_selected[i] && asks_for_input(editor->graph, i);
    return apply_drop(editor, edit, err);
}

/* An edit without a target selects by itself. */
static bool apply(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    static bool (*const changes[WHATIF_COUNT])(struct editor *, const struct whatif_edit *,
                                               struct err *) = {
#define WHATIF(id, name, option, argument, scan, apply, help) apply_##apply,
#include "analyze/schedule/whatif.def"
    };

    if (edit->target >= 0 && !whatif_select(editor->graph, edit, editor->rank, &editor->scratch,
                                            editor->is_selected, err))
        return false;
    return changes[edit->kind](editor, edit, err);
}

static void count_selected(const struct editor *editor, struct whatif_result *result)
{
    for (uint32_t i = 0; i < editor->graph->nodes.count; i++) {
        const struct graph_node *node = &editor->graph->nodes.items[i];

        if (!editor->is_selected[i] || node->role == NODE_BLOCK)
            continue;
        result->selected_count += 1.0 / editor->graph->group_count;
        result->selected_ns += (double)(node->end_ns - node->start_ns) / editor->graph->group_count;
    }
}

static bool has_selected(const struct editor *editor)
{
    for (uint32_t i = 0; i < editor->graph->nodes.count; i++)
        if (editor->is_selected[i])
            return true;
    return false;
}

/* An edit of nothing leaves the steps as the edits before it made them. */
static void take_before(struct whatif *whatif, size_t edit)
{
    whatif->each[edit] = edit ? whatif->each[edit - 1] : whatif->now;
    whatif->each[edit].selected_count = whatif->each[edit].selected_ns = 0;
}

/* Of the graph that was scheduled as recorded; others were made for a part of the steps. */
static void find_recorder(struct editor *editor)
{
    const struct steps_schedule *made = steps_schedule_of(editor->study);

    if (!made || editor->graph != &made->graph || !made->recorder_ns || made->step_ns <= 0)
        return;
    editor->recorder_ns = made->recorder_ns;
    editor->recording_ns =
        steps_ns(&editor->study->steps) * (1 - made->without_recorder_ns / made->step_ns);
}

static bool run_edits(struct editor *editor, struct whatif *whatif, struct err *err)
{
    if (!whatif->is_bare && !editor_begin(editor, whatif, err))
        return false;
    if (whatif->is_bare && whatif->now.step_ns > 0) {
        editor->scale = steps_ns(&editor->study->steps) / whatif->now.step_ns;
        whatif->now.step_ns = steps_ns(&editor->study->steps);
    }
    for (size_t i = 0; i < whatif->edits.count; i++) {
        if (!whatif->is_efficiency)
            editor_reset(editor);
        if (!apply(editor, &whatif->edits.items[i], err))
            return false;
        if (whatif->is_efficiency && !has_selected(editor))
            take_before(whatif, i);
        else if (!editor_schedule(editor, whatif, &whatif->each[i], err))
            return false;
        count_selected(editor, &whatif->each[i]);
    }
    if (whatif->is_efficiency) {
        whatif->together = whatif->each[whatif->edits.count - 1];
        return true;
    }
    editor_reset(editor);
    for (size_t i = 0; i < whatif->edits.count; i++)
        if (!apply(editor, &whatif->edits.items[i], err))
            return false;
    return editor_schedule(editor, whatif, &whatif->together, err);
}

bool whatif_run_on(struct whatif *whatif, const struct event_graph *graph, struct arena *arena,
                   struct err *err)
{
    struct editor editor = { .study = graph->study,
                             .graph = graph,
                             .scratch = { .budget_bytes = arena->budget_bytes },
                             .rank = whatif->on_rank,
                             .scale = 1 };
    bool          ok = true;

    whatif->step_count = graph->group_count;
    whatif->each = arena_new_array(arena, struct whatif_result, whatif->edits.count + 1);
    editor.is_selected = arena_new_array(&editor.scratch, bool, graph->nodes.count);
    if (!whatif->each || !editor.is_selected ||
        !graph_changes_make(&editor.changes, graph, &editor.scratch))
        ok = err_set(err, ERR_LIMIT, "the edits do not fit the memory budget");
    find_recorder(&editor);
    if (ok)
        editor_reset(&editor);
    ok = ok && run_edits(&editor, whatif, err) &&
         (!whatif->is_efficiency || efficiency_ranks(&editor, whatif, arena, err));
    arena_free(&editor.scratch);
    return ok;
}

bool whatif_run(struct whatif *whatif, const struct study *study, struct arena *arena,
                struct err *err)
{
    struct arena                 scratch = { .budget_bytes = arena->budget_bytes };
    struct event_graph           fresh;
    const struct steps_schedule *made = steps_schedule_of(study);
    const struct event_graph    *graph = made ? &made->graph : &fresh;
    bool                         ok = made || event_graph_make(&fresh, study, NO_ID, &scratch, err);

    if (ok && !graph->windows.count)
        ok = err_set(err, ERR_INCONCLUSIVE, "no step with a timeline to replay");
    ok = ok && whatif_run_on(whatif, graph, arena, err);
    arena_free(&scratch);
    return ok;
}
