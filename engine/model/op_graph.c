/*
 * The graph of ops. Both directions are built by counting sort, which is linear and gives the same
 * arrays for the same set of edges in any order; igraph answers questions about its structure.
 * igraph's error handling is global, so one mutex covers all calls of it.
 */
#include "model/op_graph.h"

#include <igraph/igraph.h>
#include <pthread.h>

static pthread_mutex_t igraph_mutex = PTHREAD_MUTEX_INITIALIZER;

static bool is_full(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the graph of ops does not fit into the memory budget");
}

/* Stable counting sort by `from` or by `to`. first has vertex_count + 1 entries, zeroed. */
static void sort_edges(const struct op_edge *edges, size_t count, bool is_by_to, uint32_t *first,
                       uint32_t vertex_count, struct op_edge *sorted)
{
    for (size_t i = 0; i < count; i++)
        first[is_by_to ? edges[i].to : edges[i].from]++;
    for (uint32_t v = 0, sum = 0; v <= vertex_count; v++) {
        uint32_t here = first[v];

        first[v] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        sorted[first[is_by_to ? edges[i].to : edges[i].from]++] = edges[i];
}

/* Drops repeats of neighbours in an array sorted by (to, from); handing over data wins over order.
 */
static size_t drop_repeats(struct op_edge *edges, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct op_edge *last = kept ? &edges[kept - 1] : NULL;

        if (last && last->from == edges[i].from && last->to == edges[i].to)
            last->is_control = last->is_control && edges[i].is_control;
        else
            edges[kept++] = edges[i];
    }
    return kept;
}

static bool fill_producers(struct op_graph *graph, struct arena *arena, const struct op_edge *edges)
{
    graph->first_producer = arena_new_array(arena, uint32_t, (size_t)graph->vertex_count + 1);
    graph->producers = arena_new_array(arena, uint32_t, graph->edge_count);
    graph->producer_is_control = arena_new_array(arena, bool, graph->edge_count);
    if (!graph->first_producer || !graph->producers || !graph->producer_is_control)
        return false;
    for (size_t i = 0; i < graph->edge_count; i++) {
        graph->first_producer[edges[i].to + 1]++;
        graph->producers[i] = edges[i].from;
        graph->producer_is_control[i] = edges[i].is_control;
    }
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        graph->first_producer[v + 1] += graph->first_producer[v];
    return true;
}

static bool fill_consumers(struct op_graph *graph, struct arena *arena, const struct op_edge *edges,
                           struct op_edge *sorted, uint32_t *first)
{
    graph->first_consumer = arena_new_array(arena, uint32_t, (size_t)graph->vertex_count + 1);
    graph->consumers = arena_new_array(arena, uint32_t, graph->edge_count);
    if (!graph->first_consumer || !graph->consumers)
        return false;
    sort_edges(edges, graph->edge_count, false, first, graph->vertex_count, sorted);
    for (size_t i = 0; i < graph->edge_count; i++) {
        graph->first_consumer[sorted[i].from + 1]++;
        graph->consumers[i] = sorted[i].to;
    }
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        graph->first_consumer[v + 1] += graph->first_consumer[v];
    return true;
}

static bool build(struct op_graph *graph, struct arena *arena, const struct op_edge *edges,
                  size_t count)
{
    struct arena    scratch = { .budget_bytes = arena->budget_bytes };
    size_t          vertices = (size_t)graph->vertex_count + 1;
    struct op_edge *by_from = arena_new_array(&scratch, struct op_edge, count);
    struct op_edge *by_to = arena_new_array(&scratch, struct op_edge, count);
    uint32_t       *first = arena_new_array(&scratch, uint32_t, vertices);
    uint32_t       *second = arena_new_array(&scratch, uint32_t, vertices);
    uint32_t       *third = arena_new_array(&scratch, uint32_t, vertices);
    bool            is_built = by_from && by_to && first && second && third;

    if (is_built) {
        sort_edges(edges, count, false, first, graph->vertex_count, by_from);
        sort_edges(by_from, count, true, second, graph->vertex_count, by_to);
        graph->edge_count = drop_repeats(by_to, count);
        is_built = fill_producers(graph, arena, by_to) &&
                   fill_consumers(graph, arena, by_to, by_from, third);
    }
    arena_free(&scratch);
    return is_built;
}

struct op_graph *op_graph_new(struct arena *arena, uint32_t vertex_count,
                              const struct op_edge *edges, size_t edge_count, struct err *err)
{
    struct op_graph *graph;

    for (size_t i = 0; i < edge_count; i++)
        if (edges[i].from >= vertex_count || edges[i].to >= vertex_count) {
            err_set(err, ERR_FORMAT, "edge %zu joins ops %u and %u of %u", i, edges[i].from,
                    edges[i].to, vertex_count);
            return NULL;
        }
    graph = edge_count < UINT32_MAX ? arena_new(arena, struct op_graph) : NULL;
    if (graph) {
        graph->vertex_count = vertex_count;
        if (build(graph, arena, edges, edge_count))
            return graph;
    }
    is_full(err);
    return NULL;
}

struct op_ids op_graph_producers(const struct op_graph *graph, uint32_t vertex)
{
    uint32_t from = graph->first_producer[vertex], to = graph->first_producer[vertex + 1];

    return (struct op_ids) { .ids = graph->producers + from, .count = to - from };
}

struct op_ids op_graph_consumers(const struct op_graph *graph, uint32_t vertex)
{
    uint32_t from = graph->first_consumer[vertex], to = graph->first_consumer[vertex + 1];

    return (struct op_ids) { .ids = graph->consumers + from, .count = to - from };
}

/* With igraph_mutex held. */
static igraph_error_t make_igraph(const struct op_graph *graph, igraph_t *made)
{
    igraph_vector_int_t ends;
    igraph_error_t      status;
    igraph_integer_t    next = 0;

    igraph_set_error_handler(igraph_error_handler_ignore);
    status = igraph_vector_int_init(&ends, (igraph_integer_t)graph->edge_count * 2);
    if (status != IGRAPH_SUCCESS)
        return status;
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        for (uint32_t i = graph->first_producer[v]; i < graph->first_producer[v + 1]; i++) {
            VECTOR(ends)[next++] = graph->producers[i];
            VECTOR(ends)[next++] = v;
        }
    status = igraph_create(made, &ends, graph->vertex_count, IGRAPH_DIRECTED);
    igraph_vector_int_destroy(&ends);
    return status;
}

static bool igraph_failed(igraph_error_t status, struct err *err)
{
    return err_set(err, ERR_LIMIT, "the graph of ops could not be examined: %s",
                   igraph_strerror(status));
}

/* igraph's vector as ids in scratch; NULL: exhausted. */
static uint32_t *copy_ids(const igraph_vector_int_t *vector, struct arena *scratch, size_t *count)
{
    uint32_t *ids;

    *count = (size_t)igraph_vector_int_size(vector);
    ids = arena_new_array(scratch, uint32_t, *count);
    for (size_t i = 0; ids && i < *count; i++)
        ids[i] = (uint32_t)VECTOR(*vector)[i];
    return ids;
}

bool op_graph_sort(const struct op_graph *graph, struct arena *scratch, struct op_ids *order,
                   bool *is_acyclic, struct err *err)
{
    igraph_t            made;
    igraph_vector_int_t sorted;
    igraph_error_t      status;
    bool                is_copied = false;

    pthread_mutex_lock(&igraph_mutex);
    status = make_igraph(graph, &made);
    if (status == IGRAPH_SUCCESS) {
        status = igraph_vector_int_init(&sorted, 0);
        if (status == IGRAPH_SUCCESS) {
            status = igraph_topological_sorting(&made, &sorted, IGRAPH_OUT);
            *is_acyclic = status == IGRAPH_SUCCESS;
            /* IGRAPH_EINVAL: there is a cycle, and the vector holds what comes before it. */
            if (status == IGRAPH_EINVAL)
                status = IGRAPH_SUCCESS;
            order->ids = copy_ids(&sorted, scratch, &order->count);
            is_copied = order->ids != NULL;
            igraph_vector_int_destroy(&sorted);
        }
        igraph_destroy(&made);
    }
    pthread_mutex_unlock(&igraph_mutex);
    if (status != IGRAPH_SUCCESS)
        return igraph_failed(status, err);
    return is_copied || is_full(err);
}

bool op_graph_components(const struct op_graph *graph, bool is_strong, struct arena *scratch,
                         uint32_t **component, uint32_t *component_count, struct err *err)
{
    igraph_t            made;
    igraph_vector_int_t membership;
    igraph_integer_t    found = 0;
    igraph_error_t      status;
    size_t              count;

    *component = NULL;
    pthread_mutex_lock(&igraph_mutex);
    status = make_igraph(graph, &made);
    if (status == IGRAPH_SUCCESS) {
        status = igraph_vector_int_init(&membership, 0);
        if (status == IGRAPH_SUCCESS) {
            status = igraph_connected_components(&made, &membership, NULL, &found,
                                                 is_strong ? IGRAPH_STRONG : IGRAPH_WEAK);
            if (status == IGRAPH_SUCCESS)
                *component = copy_ids(&membership, scratch, &count);
            igraph_vector_int_destroy(&membership);
        }
        igraph_destroy(&made);
    }
    pthread_mutex_unlock(&igraph_mutex);
    *component_count = (uint32_t)found;
    if (status != IGRAPH_SUCCESS)
        return igraph_failed(status, err);
    return *component || is_full(err);
}
