#include "analyze/schedule/skeleton.h"

struct making {
    const struct event_graph *whole;
    struct skeleton          *skeleton;
    struct arena             *arena;
    bool                     *starts_other; /* by node: its start lets another begin */
    uint32_t                 *followers;    /* by node: how many wait for its end */
};

static bool count_followers(struct making *making, struct arena *scratch)
{
    const struct event_graph *whole = making->whole;

    making->starts_other = arena_new_array(scratch, bool, whole->nodes.count + 1);
    making->followers = arena_new_array(scratch, uint32_t, whole->nodes.count + 1);
    if (!making->starts_other || !making->followers)
        return false;
    for (size_t e = 0; e < whole->edges.count; e++) {
        const struct graph_edge *edge = &whole->edges.items[e];

        if (edge->from_start)
            making->starts_other[edge->from] = true;
        else
            making->followers[edge->from]++;
    }
    return true;
}

static bool is_thread_work(const struct event_graph *whole, const struct graph_node *node)
{
    return !whole->lines.items[node->line].is_device && node->role != NODE_STEP &&
           node->own_ns >= 0 && node->delay_ns >= 0;
}

/* The edge by which a node does nothing but go on with what its thread did before; or NULL. */
static const struct graph_edge *goes_on(const struct making *making, uint32_t row)
{
    const struct event_graph *whole = making->whole;
    const struct graph_node  *node = &whole->nodes.items[row], *before;
    const struct graph_edge  *edge = &whole->edges.items[node->first_edge];

    if (event_graph_edges_end(whole, row) - node->first_edge != 1 || edge->kind != EDGE_ORDER ||
        edge->from_start || edge->lag_ns < 0)
        return NULL;
    before = &whole->nodes.items[edge->from];
    return making->followers[edge->from] == 1 && !making->starts_other[row] &&
                   before->line == node->line && is_thread_work(whole, before) &&
                   is_thread_work(whole, node)
               ? edge
               : NULL;
}

static bool add_node(struct making *making, uint32_t row)
{
    const struct event_graph *whole = making->whole;
    struct event_graph       *graph = &making->skeleton->graph;
    struct graph_node         node = whole->nodes.items[row];
    uint32_t                  end = event_graph_edges_end(whole, row);
    uint32_t                  first = node.first_edge;

    making->skeleton->of[row] = (uint32_t)graph->nodes.count;
    node.first_edge = (uint32_t)graph->edges.count;
    if (!vec_push(&graph->nodes, making->arena, node))
        return false;
    for (uint32_t e = first; e < end; e++) {
        struct graph_edge edge = whole->edges.items[e];

        edge.from = making->skeleton->of[edge.from];
        if (!vec_push(&graph->edges, making->arena, edge))
            return false;
    }
    return true;
}

/* Times so long that their sum is none stay apart. */
static bool join(struct making *making, uint32_t row, const struct graph_edge *edge)
{
    const struct graph_node *node = &making->whole->nodes.items[row];
    uint32_t                 of = making->skeleton->of[edge->from];
    int64_t                  sum_ns = making->skeleton->graph.nodes.items[of].own_ns;
    const int64_t            limit_ns = (int64_t)1 << 60;

    if (edge->lag_ns > limit_ns || node->delay_ns > limit_ns || node->own_ns > limit_ns ||
        sum_ns > limit_ns)
        return add_node(making, row);
    making->skeleton->graph.nodes.items[of].own_ns =
        sum_ns + edge->lag_ns + node->delay_ns + node->own_ns;
    making->skeleton->of[row] = of;
    return true;
}

bool skeleton_make(struct skeleton *skeleton, const struct event_graph *whole, struct arena *arena)
{
    struct arena  scratch = { .budget_bytes = arena->budget_bytes };
    struct making making = { .whole = whole, .skeleton = skeleton, .arena = arena };
    bool          ok = count_followers(&making, &scratch);

    *skeleton =
        (struct skeleton) { .of = arena_new_array(arena, uint32_t, whole->nodes.count + 1) };
    skeleton->graph.study = whole->study;
    skeleton->graph.group_count = whole->group_count;
    skeleton->graph.lines.items = whole->lines.items;
    skeleton->graph.lines.count = whole->lines.count;
    ok = ok && skeleton->of;
    for (uint32_t row = 0; ok && row < whole->nodes.count; row++) {
        const struct graph_edge *edge = goes_on(&making, row);

        ok = edge ? join(&making, row, edge) : add_node(&making, row);
    }
    arena_free(&scratch);
    return ok;
}
