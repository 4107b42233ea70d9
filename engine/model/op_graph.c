/*
 * The graph of ops. Both directions are built by counting sort, which gives the same arrays for the
 * same set of edges in any order; igraph finds its cycles.
 * igraph's error handling is global, so one mutex covers all calls of it.
 */
#include "model/op_graph.h"

#ifdef TFPROF_BUNDLED
#define LIBRARY_IS_LINKED
#endif
#include "base/library.h"
#include "base/sort.h"

#include <igraph/igraph.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t igraph_mutex = PTHREAD_MUTEX_INITIALIZER;

/* igraph brings a dozen numerical libraries along: most graphs have no cycles to look into. */
#define IGRAPH(FUNCTION, table)                                                                    \
    FUNCTION(igraph_set_error_handler, table)                                                      \
    FUNCTION(igraph_error_handler_ignore, table)                                                   \
    FUNCTION(igraph_strerror, table)                                                               \
    FUNCTION(igraph_vector_int_init, table)                                                        \
    FUNCTION(igraph_vector_int_destroy, table)                                                     \
    FUNCTION(igraph_vector_int_size, table)                                                        \
    FUNCTION(igraph_create, table)                                                                 \
    FUNCTION(igraph_destroy, table)                                                                \
    FUNCTION(igraph_connected_components, table)
LIBRARY(igraph, TFPROF_IGRAPH, "to find the cycles of a graph of ops", IGRAPH);

static bool is_full(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the graph of ops does not fit into the memory budget");
}

/* Turns counts in first[1..] into where the runs of each vertex begin. */
static void counts_to_starts(uint32_t *first, uint32_t vertex_count)
{
    for (uint32_t v = 0; v < vertex_count; v++)
        first[v + 1] += first[v];
}

static int compare_keys(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return COMPARE(*a, *b);
}

/* Most ops have two or three producers; the ones with thousands are not sorted in squares. */
static void sort_keys(uint64_t *keys, uint32_t count)
{
    if (count > 32) {
        qsort(keys, count, sizeof *keys, compare_keys);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        uint32_t at = i;

        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

enum { PLACE_BITS = 16 };

/* By consumer in runs that first_producer tells. */
static uint64_t edge_key(const struct op_edge *edge)
{
    return ((uint64_t)edge->from << 1 | edge->is_control) << PLACE_BITS | edge->place;
}

/* Sorts each run of keys and drops repeats, for which handing over data wins over order. */
static void settle_producers(struct op_graph *graph, uint64_t *keys)
{
    uint32_t kept = 0;

    for (uint32_t v = 0, from = 0; v < graph->vertex_count; v++) {
        uint32_t to = graph->first_producer[v + 1], run = kept;

        sort_keys(keys + from, to - from);
        for (; from < to; from++) {
            uint32_t producer = (uint32_t)(keys[from] >> (PLACE_BITS + 1));

            if (kept > run && graph->producers[kept - 1] == producer)
                continue;
            graph->producers[kept] = producer;
            graph->producer_place[kept] = (uint16_t)keys[from];
            graph->producer_is_control[kept++] = keys[from] >> PLACE_BITS & 1;
        }
        graph->first_producer[v + 1] = kept;
    }
    graph->edge_count = kept;
}

/* Walking consumers in order leaves the list of each producer sorted. */
static bool fill_consumers(struct op_graph *graph, struct arena *arena, uint32_t *next)
{
    graph->first_consumer = arena_new_array(arena, uint32_t, (size_t)graph->vertex_count + 1);
    graph->consumers = arena_new_array(arena, uint32_t, graph->edge_count);
    if (!graph->first_consumer || !graph->consumers)
        return false;
    for (size_t i = 0; i < graph->edge_count; i++)
        graph->first_consumer[graph->producers[i] + 1]++;
    counts_to_starts(graph->first_consumer, graph->vertex_count);
    memcpy(next, graph->first_consumer, graph->vertex_count * sizeof *next);
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        for (uint32_t i = graph->first_producer[v]; i < graph->first_producer[v + 1]; i++)
            graph->consumers[next[graph->producers[i]]++] = v;
    return true;
}

static bool build(struct op_graph *graph, struct arena *arena, const struct op_edge *edges,
                  size_t count)
{
    struct arena scratch = { .budget_bytes = arena->budget_bytes };
    size_t       vertices = (size_t)graph->vertex_count + 1;
    uint64_t    *keys = arena_new_array(&scratch, uint64_t, count);
    uint32_t    *next = arena_new_array(&scratch, uint32_t, vertices);
    bool         is_built;

    graph->first_producer = arena_new_array(arena, uint32_t, vertices);
    graph->producers = arena_new_array(arena, uint32_t, count);
    graph->producer_is_control = arena_new_array(arena, bool, count);
    graph->producer_place = arena_new_array(arena, uint16_t, count);
    is_built = keys && next && graph->first_producer && graph->producers &&
               graph->producer_is_control && graph->producer_place && count < UINT32_MAX;
    if (is_built) {
        for (size_t i = 0; i < count; i++)
            graph->first_producer[edges[i].to + 1]++;
        counts_to_starts(graph->first_producer, graph->vertex_count);
        memcpy(next, graph->first_producer, graph->vertex_count * sizeof *next);
        for (size_t i = 0; i < count; i++)
            keys[next[edges[i].to]++] = edge_key(&edges[i]);
        settle_producers(graph, keys);
        is_built = fill_consumers(graph, arena, next);
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

uint32_t op_graph_operand(const struct op_graph *graph, uint32_t vertex, uint32_t place)
{
    for (uint32_t i = graph->first_producer[vertex]; i < graph->first_producer[vertex + 1]; i++)
        if (graph->producer_place[i] == place && !graph->producer_is_control[i])
            return graph->producers[i];
    return UINT32_MAX;
}

/* With igraph_mutex held. */
static igraph_error_t make_igraph(const struct op_graph *graph, igraph_t *made)
{
    igraph_vector_int_t ends;
    igraph_error_t      status;
    igraph_integer_t    next = 0;

    igraph.igraph_set_error_handler(igraph.igraph_error_handler_ignore);
    status = igraph.igraph_vector_int_init(&ends, (igraph_integer_t)graph->edge_count * 2);
    if (status != IGRAPH_SUCCESS)
        return status;
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        for (uint32_t i = graph->first_producer[v]; i < graph->first_producer[v + 1]; i++) {
            VECTOR(ends)[next++] = graph->producers[i];
            VECTOR(ends)[next++] = v;
        }
    status = igraph.igraph_create(made, &ends, graph->vertex_count, IGRAPH_DIRECTED);
    igraph.igraph_vector_int_destroy(&ends);
    return status;
}

static bool igraph_failed(igraph_error_t status, struct err *err)
{
    return err_set(err, ERR_LIMIT, "the graph of ops could not be examined: %s",
                   igraph.igraph_strerror(status));
}

/* igraph's vector as ids in scratch; NULL: exhausted. */
static uint32_t *copy_ids(const igraph_vector_int_t *vector, struct arena *scratch, size_t *count)
{
    uint32_t *ids;

    *count = (size_t)igraph.igraph_vector_int_size(vector);
    ids = arena_new_array(scratch, uint32_t, *count);
    for (size_t i = 0; ids && i < *count; i++)
        ids[i] = (uint32_t)VECTOR(*vector)[i];
    return ids;
}

/* Kahn's algorithm on the arrays that are there: making igraph's own graph first takes several
 * times as long as the order itself. */
bool op_graph_sort(const struct op_graph *graph, struct arena *scratch, struct op_ids *order,
                   bool *is_acyclic, struct err *err)
{
    uint32_t *ids = arena_new_array(scratch, uint32_t, graph->vertex_count);
    uint32_t *waits_for = arena_new_array(scratch, uint32_t, graph->vertex_count);
    size_t    count = 0;

    if (!ids || !waits_for)
        return is_full(err);
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        waits_for[v] = graph->first_producer[v + 1] - graph->first_producer[v];
        if (!waits_for[v])
            ids[count++] = v;
    }
    for (size_t done = 0; done < count; done++) {
        struct op_ids consumers = op_graph_consumers(graph, ids[done]);

        for (size_t i = 0; i < consumers.count; i++)
            if (--waits_for[consumers.ids[i]] == 0)
                ids[count++] = consumers.ids[i];
    }
    *order = (struct op_ids) { .ids = ids, .count = count };
    *is_acyclic = count == graph->vertex_count;
    return true;
}

bool op_graph_cycles(const struct op_graph *graph, struct arena *scratch, uint32_t **component,
                     uint32_t *component_count, struct err *err)
{
    igraph_t            made;
    igraph_vector_int_t membership;
    igraph_integer_t    found = 0;
    igraph_error_t      status;
    size_t              count;

    *component = NULL;
    if (!library_need(&igraph_library, err))
        return false;
    pthread_mutex_lock(&igraph_mutex);
    status = make_igraph(graph, &made);
    if (status == IGRAPH_SUCCESS) {
        status = igraph.igraph_vector_int_init(&membership, 0);
        if (status == IGRAPH_SUCCESS) {
            status =
                igraph.igraph_connected_components(&made, &membership, NULL, &found, IGRAPH_STRONG);
            if (status == IGRAPH_SUCCESS)
                *component = copy_ids(&membership, scratch, &count);
            igraph.igraph_vector_int_destroy(&membership);
        }
        igraph.igraph_destroy(&made);
    }
    pthread_mutex_unlock(&igraph_mutex);
    *component_count = (uint32_t)found;
    if (status != IGRAPH_SUCCESS)
        return igraph_failed(status, err);
    return *component || is_full(err);
}
