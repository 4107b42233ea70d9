#include "analyze/schedule/recorder.h"

#include "analyze/schedule/skeleton.h"

#include <math.h>

/* Of programs on one machine with an H100, timed without Kineto and recorded with it
 * (docs/measuring.md): of each stretch between two events of a thread so much, and no more than
 * MOST_NS, was the recorder's, or what it slowed down. */
static const double SHARE = 0.5, MOST_NS = 20e3;

double recorder_of_ns(double ns)
{
    return ns > 0 ? fmin(SHARE * ns, MOST_NS) : 0;
}

/* Of some twenty programs of JAX on two cores without an accelerator, likewise: the tracer takes
 * some half a microsecond a call, before, behind and inside of it. */
static const double PYTHON_SHARE = 0.6, MOST_PYTHON_NS = 500;

double recorder_of_python_ns(double ns)
{
    return ns > 0 ? fmin(PYTHON_SHARE * ns, MOST_PYTHON_NS) : 0;
}

/* Where calls of CUDA and HIP are watched, and each op is written down, hosts are slower; what was
 * seen of other recorders and devices does not tell. */
static bool is_known(const struct steps_schedule *steps)
{
    const struct event_graph *graph = &steps->graph;
    const struct profile     *profile = graph->study->profile;

    if (!graph->windows.count || !graph->has_device || steps->step_ns <= 0)
        return false;
    for (size_t i = 0; i < profile->devices.count; i++)
        if (profile->devices.items[i].kind == DEVICE_GPU)
            return profile->format == FORMAT_KINETO || profile->format == FORMAT_XSPACE;
    return false;
}

/* The stretch of its thread between a node and what that did before, of which nothing was recorded.
 */
static double before_ns(const struct event_graph *graph, uint32_t row)
{
    uint32_t end = event_graph_edges_end(graph, row);

    for (uint32_t e = graph->nodes.items[row].first_edge; e < end; e++)
        if (graph->edges.items[e].kind == EDGE_ORDER && !graph->edges.items[e].from_start)
            return (double)graph->edges.items[e].lag_ns;
    return 0;
}

static bool find(struct steps_schedule *steps, struct arena *arena)
{
    const struct event_graph *graph = &steps->graph;

    steps->recorder_ns = arena_new_array(arena, int32_t, graph->nodes.count + 1);
    for (uint32_t i = 0; steps->recorder_ns && i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];

        if (node->role == NODE_HOST && !graph->lines.items[node->line].is_device)
            steps->recorder_ns[i] = (int32_t)(recorder_of_ns((double)node->own_ns) +
                                              recorder_of_ns(before_ns(graph, i)));
    }
    return steps->recorder_ns != NULL;
}

/* What it takes is no more than half of what a thread's node and the stretch before it do: nodes of
 * the skeleton end with the last piece of them then, too. */
static bool take_off_skeleton(struct steps_schedule *steps, struct arena *arena)
{
    struct skeleton *skeleton = arena_new(arena, struct skeleton);

    if (!skeleton || !skeleton_make(skeleton, &steps->graph, arena))
        return false;
    for (uint32_t i = 0; i < steps->graph.nodes.count; i++)
        skeleton->graph.nodes.items[skeleton->of[i]].own_ns -= steps->recorder_ns[i];
    steps->skeleton = skeleton;
    return true;
}

/* Of the path, what waits for the host and its calls. A host that is faster also runs further ahead
 * of its accelerator; that part of the gain is not said, since no recording shows it. */
static double waiting_share(const struct path *path)
{
    double all_ns = 0, waiting_ns = 0;

    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        double                ns = (double)(segment->end_ns - segment->start_ns);

        all_ns += ns;
        if (part_is_of_host((enum part)segment->part))
            waiting_ns += ns;
    }
    return all_ns > 0 ? waiting_ns / all_ns : 1;
}

bool recorder_take_off(struct steps_schedule *steps, struct arena *arena)
{
    struct arena         scratch = { .budget_bytes = arena->budget_bytes };
    struct graph_changes changes;
    struct schedule      schedule;
    bool                 ok;

    steps->bare_ns = steps->without_recorder_ns = steps->step_ns;
    if (!is_known(steps))
        return true;
    ok = find(steps, arena) && take_off_skeleton(steps, arena) &&
         graph_changes_make(&changes, &steps->skeleton->graph, &scratch) &&
         schedule_make(&schedule, &steps->skeleton->graph, &changes, &scratch);
    if (ok) {
        steps->bare_ns = fmin(schedule.step_ns, steps->step_ns);
        steps->without_recorder_ns =
            fmax(steps->bare_ns, steps->step_ns * (1 - waiting_share(&steps->graph.study->path)));
    }
    arena_free(&scratch);
    return ok;
}
