/*
 * op_graph: which op's results another op needs. CSR arrays for walking and order, igraph
 * for cycles; op_graph.c is the only user of igraph.
 */
#ifndef TFPROF_MODEL_OP_GRAPH_H
#define TFPROF_MODEL_OP_GRAPH_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op_edge {
    uint32_t from, to;   /* vertices: rows of profile->ops */
    bool     is_control; /* orders without handing over data */
    uint16_t place; /* which operand of `to` it is, from 0; the last place: that or a later one */
};
struct op_ids {
    const uint32_t *ids;
    size_t          count;
};
struct op_graph {
    uint32_t  vertex_count;
    size_t    edge_count;
    uint32_t *first_producer, *producers; /* CSR: producers[first_producer[v] .. [v + 1]) */
    uint32_t *first_consumer, *consumers;
    bool     *producer_is_control; /* beside producers */
    uint16_t *producer_place;      /* the same; of an op that is several operands the first */
};

/* Edges may come in any order and repeat (repeats are dropped); kept in vertex order.
 * NULL: ERR_LIMIT, or ERR_FORMAT when an edge names no vertex. O(vertices + edges). */
struct op_graph *op_graph_new(struct arena *arena, uint32_t vertex_count,
                              const struct op_edge *edges, size_t edge_count, struct err *err);
struct op_ids    op_graph_producers(const struct op_graph *graph, uint32_t vertex);
struct op_ids    op_graph_consumers(const struct op_graph *graph, uint32_t vertex);
/* The vertex whose result is an operand; UINT32_MAX: none is known to be. */
uint32_t op_graph_operand(const struct op_graph *graph, uint32_t vertex, uint32_t place);
/* Producers before consumers, smaller id first among the free ones is not promised but equal graphs
 * give equal orders. Vertices on or behind a cycle are missing from it; is_acyclic tells. */
bool op_graph_sort(const struct op_graph *graph, struct arena *scratch, struct op_ids *order,
                   bool *is_acyclic, struct err *err);
/* Strongly connected component of each vertex, *component_count of them: two vertices share one
 * exactly if a cycle goes through both. ERR_INPUT: igraph is not installed. O(vertices + edges). */
bool op_graph_cycles(const struct op_graph *graph, struct arena *scratch, uint32_t **component,
                     uint32_t *component_count, struct err *err);

#endif
