#include "analyze/schedule/lateness.h"
#include "base/sort.h"

#include <stdlib.h>

uint32_t lateness_host(const struct event_graph *graph, uint32_t node)
{
    return graph->lines.items[graph->nodes.items[node].line].host;
}

/* Who came first and last to the collective that a rank joins at node `join`; `last` is NO_ID where
 * no rank's arrival is known. */
static struct late_arrival lateness_of(const struct event_graph *graph, uint32_t join)
{
    const struct graph_node *nodes = graph->nodes.items;
    struct late_arrival      late = { .first = NO_ID, .last = NO_ID, .step = NO_ID };

    for (uint32_t e = nodes[join].first_edge; e < event_graph_edges_end(graph, join); e++) {
        uint32_t from = graph->edges.items[e].from;

        if (late.first == NO_ID || nodes[from].start_ns < nodes[late.first].start_ns)
            late.first = from;
        if (late.last == NO_ID || nodes[from].start_ns > nodes[late.last].start_ns)
            late.last = from;
    }
    if (late.last == NO_ID)
        return late;
    late.late_ns = nodes[late.last].start_ns - nodes[late.first].start_ns;
    for (size_t i = 0; i < graph->windows.count; i++) {
        const struct graph_window *window = &graph->windows.items[i];

        if (window->host == lateness_host(graph, late.last) && window->base <= late.last)
            late.step = window->step;
    }
    return late;
}

/* Whether the join is that of the rank that came last, and others have come. */
static bool is_of_last(const struct event_graph *graph, uint32_t join,
                       const struct late_arrival *late)
{
    if (late->last == NO_ID || late->first == late->last || late->step == NO_ID)
        return false;
    for (uint32_t e = graph->nodes.items[join].first_edge; e < event_graph_edges_end(graph, join);
         e++)
        if (graph->edges.items[e].kind == EDGE_ORDER && graph->edges.items[e].from == late->last)
            return true;
    return false;
}

/* When a rank last left a collective before `time_ns`; else the start of its first step. */
static int64_t collective_before_ns(const struct event_graph *graph, uint32_t node, int64_t time_ns)
{
    const struct graph_node *nodes = graph->nodes.items;
    uint32_t                 host = lateness_host(graph, node);
    int64_t                  first_ns = nodes[node].start_ns;

    for (uint32_t i = node; i > 0; i--) {
        if (lateness_host(graph, i - 1) != host || nodes[i - 1].end_ns > time_ns)
            continue;
        if (nodes[i - 1].role == NODE_JOIN)
            return nodes[i - 1].end_ns;
        if (nodes[i - 1].role == NODE_STEP)
            first_ns = nodes[i - 1].end_ns;
    }
    return first_ns;
}

bool lateness_walk(const struct event_graph *graph, const struct late_arrival *late,
                   struct why_walk *walk, struct arena *arena)
{
    struct why_walk usual = {
        .study = graph->study, .graph = graph, .arena = arena, .root = NO_ID, .began = NO_ID
    };
    int64_t first_ns = graph->nodes.items[late->first].start_ns;

    *walk = usual;
    if (!why_walk_back(&usual, late->first, false,
                       collective_before_ns(graph, late->first, first_ns)) ||
        !why_walk_back(walk, late->last, false, collective_before_ns(graph, late->last, first_ns)))
        return false;
    why_walk_sum(&usual);
    why_walk_sum(walk);
    why_walk_compare(walk, &usual);
    return true;
}

static bool find_cause(const struct event_graph *graph, struct late_arrival *late,
                       struct arena *arena)
{
    double          excess_ns[PART_COUNT] = { 0 };
    enum part       worst = PART_HOST;
    struct why_walk walk;

    if (!lateness_walk(graph, late, &walk, arena))
        return false;
    for (size_t i = 0; i < walk.causes.count; i++)
        excess_ns[walk.causes.items[i].class] +=
            walk.causes.items[i].ns - walk.causes.items[i].usual_ns;
    for (int part = 0; part < PART_COUNT; part++)
        if (excess_ns[part] > excess_ns[worst])
            worst = (enum part)part;
    late->class_ns = excess_ns[worst] > 0 ? excess_ns[worst] : 0;
    for (size_t i = walk.causes.count; i-- > 0;)
        if (walk.causes.items[i].class == worst)
            late->cause = walk.causes.items[i]; /* by excess: the first one stays */
    return true;
}

static int compare_late(const void *left, const void *right)
{
    const struct late_arrival *a = left, *b = right;

    return IN_ORDER(COMPARE(b->late_ns, a->late_ns), COMPARE(a->last, b->last));
}

bool lateness_make(const struct event_graph *graph, size_t most, struct arena *arena,
                   struct late_list *list)
{
    *list = (struct late_list) { 0 };
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        struct late_arrival late;

        if (graph->nodes.items[i].role != NODE_JOIN)
            continue;
        late = lateness_of(graph, i);
        if (is_of_last(graph, i, &late) && !vec_push(&list->items, arena, late))
            return false;
    }
    if (list->items.count)
        qsort(list->items.items, list->items.count, sizeof *list->items.items, compare_late);
    list->items.count = list->items.count < most ? list->items.count : most;
    for (size_t i = 0; i < list->items.count; i++)
        if (!find_cause(graph, &list->items.items[i], arena))
            return false;
    return true;
}
