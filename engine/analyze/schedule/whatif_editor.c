#include "analyze/schedule/whatif_editor.h"

#include "analyze/schedule/charge.h"
#include "base/sample.h"

#include <math.h>
#include <string.h>

void editor_scale_selected(struct editor *editor, double factor)
{
    for (uint32_t i = 0; i < editor->graph->nodes.count; i++)
        if (editor->is_selected[i])
            editor->changes.factors[i] *= (float)factor;
}

/* The changes so far, and collectives left out. */
static bool leave_out_collectives(struct editor *editor, struct graph_changes *alone)
{
    const struct event_graph *graph = editor->graph;
    size_t                    count = graph->nodes.count;

    if (!graph_changes_make(alone, graph, &editor->scratch))
        return false;
    alone->recorder_ns = editor->changes.recorder_ns;
    memcpy(alone->factors, editor->changes.factors, count * sizeof *alone->factors);
    memcpy(alone->extra_ns, editor->changes.extra_ns, count * sizeof *alone->extra_ns);
    memcpy(alone->flags, editor->changes.flags, count * sizeof *alone->flags);
    for (uint32_t i = 0; i < count; i++)
        if (graph->nodes.items[i].role == NODE_JOIN)
            alone->flags[i] |= CHANGE_GONE;
    return true;
}

bool editor_rank_work(struct editor *editor, double *work_ns, double *median_ns, struct err *err)
{
    const struct event_graph *graph = editor->graph;
    uint32_t                  hosts = (uint32_t)editor->study->profile->hosts.count;
    double                   *sorted = arena_new_array(&editor->scratch, double, hosts + 1);
    size_t                    count = 0;
    struct graph_changes      alone;
    struct schedule           schedule;

    if (!sorted || !leave_out_collectives(editor, &alone) ||
        !schedule_make(&schedule, graph, &alone, &editor->scratch))
        return err_set(err, ERR_LIMIT, "the edit does not fit the memory budget");
    for (size_t i = 0; i < graph->windows.count; i++) {
        const struct graph_window *window = &graph->windows.items[i];

        if (window->base != NO_ID)
            work_ns[window->host] +=
                (double)(schedule.end_ns[window->last_node] - schedule.start_ns[window->base]);
    }
    for (uint32_t host = 0; host < hosts; host++)
        if (work_ns[host] > 0)
            sorted[count++] = work_ns[host];
    /* Of two ranks one holds the other up: what the faster one takes is the pace. */
    *median_ns = count ? sample_kth(sorted, count, (count - 1) / 2) : 0;
    return true;
}

void editor_scale_host(struct editor *editor, uint32_t host, double factor)
{
    const struct event_graph *graph = editor->graph;

    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];

        editor->is_selected[i] = graph->lines.items[node->line].host == host &&
                                 node->class != PART_COMMUNICATION && node->role != NODE_STEP;
    }
    editor_scale_selected(editor, factor);
}

void editor_reset(struct editor *editor)
{
    editor->changes.recorder_ns = editor->recorder_ns;
    for (size_t i = 0; i < editor->graph->nodes.count; i++) {
        editor->changes.factors[i] = 1;
        editor->changes.extra_ns[i] = 0;
        editor->changes.flags[i] = 0;
    }
}

/* The composition, and with edits that with what they change of the charge. Sums to the step. */
static void set_parts(const struct editor *editor, const double charged_ns[PART_COUNT],
                      struct whatif_result *result)
{
    double sum_ns = 0, recording_ns = editor->recording_ns;

    for (int part = 0; part < PART_COUNT; part++) {
        double ns;

        if (!facts_get(&editor->study->facts, part_ns_fact((enum part)part), &ns))
            return;
        if (part_is_of_host((enum part)part)) {
            double gone_ns = fmin(ns, recording_ns);

            ns -= gone_ns;
            recording_ns -= gone_ns;
        }
        ns += (charged_ns[part] - editor->charged_ns[part]) * editor->scale;
        result->part_ns[part] = fmax(0, ns);
        sum_ns += result->part_ns[part];
    }
    result->bottleneck = (enum part)0;
    for (int part = 0; part < PART_COUNT; part++) {
        result->part_ns[part] *= sum_ns > 0 ? result->step_ns / sum_ns : 0;
        if (result->part_ns[part] > result->part_ns[result->bottleneck])
            result->bottleneck = (enum part)part;
    }
}

/* `is_now`: the step that all others are scaled by, and as long as the recorded ones. */
static bool schedule_with(struct editor *editor, const struct graph_changes *changes, bool is_now,
                          struct whatif *whatif, struct whatif_result *result, struct err *err)
{
    struct schedule schedule;
    struct arena    scratch = { .budget_bytes = editor->scratch.budget_bytes };
    double          charged_ns[PART_COUNT] = { 0 };

    if (!schedule_make(&schedule, editor->graph, changes, &scratch) ||
        (!whatif->is_bare && !charge_schedule(&schedule, &scratch, charged_ns))) {
        arena_free(&scratch);
        return err_set(err, ERR_LIMIT, "the schedule does not fit the memory budget");
    }
    if (is_now) {
        double now_ns = steps_ns(&editor->study->steps) - editor->recording_ns;

        editor->scale = schedule.step_ns > 0 ? now_ns / schedule.step_ns : 1;
        memcpy(editor->charged_ns, charged_ns, sizeof charged_ns);
    }
    result->step_ns = schedule.step_ns * editor->scale;
    if (!whatif->is_bare)
        set_parts(editor, charged_ns, result);
    if (!is_now)
        result->saved_ns = whatif->now.step_ns - result->step_ns;
    else if (!changes)
        whatif->error = schedule.error;
    arena_free(&scratch);
    return true;
}

bool editor_schedule(struct editor *editor, struct whatif *whatif, struct whatif_result *result,
                     struct err *err)
{
    return schedule_with(editor, &editor->changes, false, whatif, result, err);
}

bool editor_begin(struct editor *editor, struct whatif *whatif, struct err *err)
{
    if (!editor->recorder_ns)
        return schedule_with(editor, NULL, true, whatif, &whatif->now, err);
    whatif->error = steps_schedule_of(editor->study)->error;
    whatif->recording_ns = editor->recording_ns;
    editor_reset(editor);
    return schedule_with(editor, &editor->changes, true, whatif, &whatif->now, err);
}
