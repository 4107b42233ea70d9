#include "analyze/schedule/event_schedule.h"

#include "analyze/schedule/chain.h"
#include "analyze/schedule/recorder.h"
#include "base/trace.h"

#include <math.h>
#include <string.h>

struct run {
    struct schedule            *schedule;
    const struct event_graph   *graph;
    const struct graph_changes *changes;
    int64_t *through_ns; /* by node: when its stream is free again; without changes its end */
    int64_t *tail_ns;    /* by line: when the run before left it; INT64_MIN: there was none */
    bool    *is_begun;   /* by line, in this run */
    bool    *counts;     /* by line: its nodes make the step of the reference host */
};

bool graph_changes_make(struct graph_changes *changes, const struct event_graph *graph,
                        struct arena *arena)
{
    changes->recorder_ns = NULL;
    changes->factors = arena_new_array(arena, float, graph->nodes.count);
    changes->extra_ns = arena_new_array(arena, int64_t, graph->nodes.count);
    changes->flags = arena_new_array(arena, uint8_t, graph->nodes.count);
    for (size_t i = 0; changes->factors && i < graph->nodes.count; i++)
        changes->factors[i] = 1;
    return changes->factors && changes->extra_ns && changes->flags;
}

/* Times that a damaged file claims stay in range, whatever is added up. */
static int64_t later(int64_t time_ns, int64_t by_ns)
{
    const int64_t limit_ns = (int64_t)1 << 61;
    int64_t       sum_ns;

    if (__builtin_add_overflow(time_ns, by_ns, &sum_ns))
        sum_ns = by_ns > 0 ? limit_ns : -limit_ns;
    return sum_ns > limit_ns ? limit_ns : sum_ns < -limit_ns ? -limit_ns : sum_ns;
}

/* Whether a change takes the edge away. */
static bool is_cut(const struct run *run, const struct graph_edge *edge, unsigned flags)
{
    if (flags & (CHANGE_NO_WAIT | CHANGE_GONE) &&
        (edge->kind == EDGE_SYNC || edge->kind == EDGE_COLLECTIVE ||
         (edge->kind == EDGE_HANDOVER && (flags & CHANGE_NO_WAIT))))
        return true;
    return edge->kind == EDGE_LAUNCH && (flags & (CHANGE_NO_LAUNCH | CHANGE_GONE)) &&
           run->graph->nodes.items[edge->from].role != NODE_STEP;
}

static int64_t edge_ns(const struct run *run, const struct graph_edge *edge, unsigned flags)
{
    const struct schedule *schedule = run->schedule;
    int64_t                lag_ns = edge->lag_ns;

    if (edge->kind == EDGE_STREAM && lag_ns > 0 && (flags & (CHANGE_GONE | CHANGE_NO_GAP)))
        lag_ns = 0;
    if (edge->from_start)
        return later(schedule->start_ns[edge->from], lag_ns);
    if (edge->kind == EDGE_STREAM)
        return later(run->through_ns[edge->from], lag_ns);
    return later(schedule->end_ns[edge->from], lag_ns);
}

static int64_t own_ns(const struct graph_changes *changes, const struct graph_node *of,
                      uint32_t node)
{
    int64_t work_ns = of->own_ns;

    if (!changes)
        return work_ns;
    if (changes->flags[node] & CHANGE_GONE)
        return changes->extra_ns[node];
    if (changes->recorder_ns)
        work_ns -= changes->recorder_ns[node];
    if (!(changes->factors[node] < 1 || changes->factors[node] > 1)) /* of most nodes */
        return work_ns + changes->extra_ns[node];
    return (int64_t)llround((double)work_ns * changes->factors[node]) + changes->extra_ns[node];
}

/* Begins a line in this run: where the run before left it. */
static int64_t begin_line(struct run *run, const struct graph_node *node)
{
    int64_t tail_ns = run->tail_ns[node->line];

    run->is_begun[node->line] = true;
    if (tail_ns == INT64_MIN)
        return node->role == NODE_STEP ? node->start_ns : INT64_MIN;
    return tail_ns;
}

/* Graphs are run again and again, mostly without a change to most nodes. */
static ALWAYS_INLINE void run_node(struct run *run, const struct graph_changes *changes,
                                   uint32_t row, uint32_t edges_end)
{
    const struct event_graph *graph = run->graph;
    const struct graph_node  *node = &graph->nodes.items[row];
    struct schedule          *schedule = run->schedule;
    unsigned                  flags = changes ? changes->flags[row] : 0;
    int64_t  start_ns = run->is_begun[node->line] ? INT64_MIN : begin_line(run, node);
    int64_t  stream_ns = start_ns;
    uint32_t cause = NO_ID;

    for (uint32_t e = node->first_edge; e < edges_end; e++) {
        const struct graph_edge *edge = &graph->edges.items[e];
        int64_t                  time_ns;

        if (flags && is_cut(run, edge, flags))
            continue;
        time_ns = edge_ns(run, edge, flags);
        if (edge->kind == EDGE_STREAM && time_ns > stream_ns)
            stream_ns = time_ns;
        if (time_ns > start_ns) {
            start_ns = time_ns;
            cause = e;
        }
    }
    if (start_ns == INT64_MIN) /* nothing is known to let it start */
        start_ns = node->start_ns;
    if (!(flags & (CHANGE_GONE | CHANGE_NO_DELAY)))
        start_ns = later(start_ns, node->delay_ns);
    schedule->cause[row] = cause;
    schedule->start_ns[row] = start_ns;
    schedule->end_ns[row] = later(start_ns, own_ns(changes, node, row));
    if (changes)
        run->through_ns[row] = !(flags & CHANGE_ASIDE)  ? schedule->end_ns[row]
                               : stream_ns == INT64_MIN ? start_ns
                                                        : stream_ns;
}

static ALWAYS_INLINE int64_t run_nodes(struct run *run, const struct graph_changes *changes)
{
    const struct event_graph *graph = run->graph;
    struct schedule          *schedule = run->schedule;
    uint32_t                  count = (uint32_t)graph->nodes.count;
    int64_t                   latest_ns = INT64_MIN;

    for (uint32_t row = 0; row < count; row++) {
        run_node(run, changes, row,
                 row + 1 < count ? graph->nodes.items[row + 1].first_edge
                                 : (uint32_t)graph->edges.count);
        if (schedule->end_ns[row] > latest_ns && run->counts[graph->nodes.items[row].line]) {
            latest_ns = schedule->end_ns[row];
            schedule->last_node = row;
        }
    }
    return latest_ns;
}

/* When everything that makes a step of the reference host is done. */
static int64_t run_all(struct run *run)
{
    memset(run->is_begun, 0, run->graph->lines.count * sizeof *run->is_begun);
    return run->changes ? run_nodes(run, run->changes) : run_nodes(run, NULL);
}

static void count_lines(struct run *run)
{
    const struct event_graph *graph = run->graph;

    for (size_t i = 0; i < graph->lines.count; i++) {
        const struct graph_line *line = &graph->lines.items[i];

        run->counts[i] =
            line->host == graph->study->steps.host && (line->is_leader || line->is_device);
        run->tail_ns[i] = INT64_MIN;
    }
}

static void leave_lines(struct run *run)
{
    for (uint32_t row = 0; row < run->graph->nodes.count; row++) {
        int64_t *tail_ns = &run->tail_ns[run->graph->nodes.items[row].line];

        if (run->through_ns[row] > *tail_ns)
            *tail_ns = run->through_ns[row];
    }
}

/* How far the ends of a step, on its leading line and on devices, are from the recorded ones, over
 * its length. Its nodes are [base, end). */
static double window_error(struct run *run, const struct graph_window *window, uint32_t end)
{
    const struct event_graph *graph = run->graph;
    const struct step        *step = &graph->study->steps.list.items[window->step];
    const struct graph_node  *base = &graph->nodes.items[window->base];
    double                    worst_ns = 0;

    for (size_t i = 0; i < graph->lines.count; i++)
        run->is_begun[i] = false;
    for (uint32_t row = end; row > window->base; row--) {
        const struct graph_node *node = &graph->nodes.items[row - 1];

        if (!run->counts[node->line] || run->is_begun[node->line])
            continue;
        run->is_begun[node->line] = true;
        if (trace_is_on("replay", 2))
            trace_print(
                "replay", "step %lld line %u ends %.3f us off", (long long)step->number, node->line,
                (double)(run->schedule->end_ns[row - 1] - run->schedule->start_ns[window->base] -
                         node->end_ns + base->start_ns) /
                    1000);
        worst_ns = fmax(worst_ns, fabs((double)(run->schedule->end_ns[row - 1] -
                                                run->schedule->start_ns[window->base]) -
                                       (double)(node->end_ns - base->start_ns)));
    }
    return worst_ns / (double)(step->end_ns - step->start_ns);
}

static void measure_errors(struct run *run)
{
    struct schedule          *schedule = run->schedule;
    const struct event_graph *graph = run->graph;
    double                    sum = 0;

    for (size_t i = 0, next; i < graph->windows.count; i = next) {
        const struct graph_window *window = &graph->windows.items[i];
        uint32_t                   end = (uint32_t)graph->nodes.count;
        double                     error;

        for (next = i + 1; next < graph->windows.count; next++)
            if (graph->windows.items[next].group != window->group)
                break;
        if (next < graph->windows.count)
            end = graph->windows.items[next].base;
        error = window_error(run, window, end);
        sum += error;
        schedule->worst_error = fmax(schedule->worst_error, error);
    }
    schedule->error = sum / graph->group_count;
}

/* Charges the way from the last node of the second pass back to the end of the first one. */
static void charge_chain(struct run *run, int64_t from_ns)
{
    struct schedule *schedule = run->schedule;
    struct chain     chain =
        chain_from(schedule, schedule->last_node, schedule->end_ns[schedule->last_node]);
    double sum_ns = 0;

    while (chain.at_ns > from_ns && chain_step(&chain, from_ns)) {
        schedule->chain_ns[chain.part] += (double)chain.ns;
        sum_ns += (double)chain.ns;
    }
    for (int part = 0; part < PART_COUNT && sum_ns > 0; part++)
        schedule->chain_ns[part] *= schedule->step_ns / sum_ns;
}

bool schedule_make(struct schedule *schedule, const struct event_graph *graph,
                   const struct graph_changes *changes, struct arena *arena)
{
    struct run run = { .schedule = schedule, .graph = graph, .changes = changes };
    int64_t    first_ns, second_ns;

    *schedule = (struct schedule) { .graph = graph, .changes = changes };
    schedule->start_ns = arena_new_array(arena, int64_t, graph->nodes.count);
    schedule->end_ns = arena_new_array(arena, int64_t, graph->nodes.count);
    schedule->cause = arena_new_array(arena, uint32_t, graph->nodes.count);
    run.through_ns =
        changes ? arena_new_array(arena, int64_t, graph->nodes.count) : schedule->end_ns;
    run.tail_ns = arena_new_array(arena, int64_t, graph->lines.count);
    run.is_begun = arena_new_array(arena, bool, graph->lines.count);
    run.counts = arena_new_array(arena, bool, graph->lines.count);
    if (!schedule->start_ns || !schedule->end_ns || !schedule->cause || !run.through_ns ||
        !run.tail_ns || !run.is_begun || !run.counts)
        return false;
    count_lines(&run);
    first_ns = run_all(&run);
    if (!changes)
        measure_errors(&run);
    leave_lines(&run);
    second_ns = run_all(&run);
    schedule->step_ns = (double)(second_ns - first_ns) / graph->group_count;
    schedule->from_ns = first_ns;
    if (!changes)
        charge_chain(&run, first_ns);
    return true;
}

bool steps_schedule_make(struct steps_schedule *steps, const struct study *study,
                         struct arena *arena, struct err *err)
{
    struct arena    scratch = { .budget_bytes = arena->budget_bytes };
    struct schedule schedule = { 0 };
    bool            ok = event_graph_make(&steps->graph, study, NO_ID, arena, err);

    if (ok && steps->graph.windows.count)
        ok = schedule_make(&schedule, &steps->graph, NULL, &scratch) ||
             err_set(err, ERR_LIMIT, "replaying the steps does not fit the memory budget");
    arena_free(&scratch);
    steps->step_ns = schedule.step_ns;
    steps->error = schedule.error;
    steps->worst_error = schedule.worst_error;
    memcpy(steps->chain_ns, schedule.chain_ns, sizeof steps->chain_ns);
    return ok && (recorder_take_off(steps, arena) ||
                  err_set(err, ERR_LIMIT, "replaying the steps does not fit the memory budget"));
}

/* The analysis that made it had a study of its own lane. */
const struct steps_schedule *steps_schedule_of(const struct study *study)
{
    if (study->schedule)
        study->schedule->graph.study = study;
    return study->schedule;
}
