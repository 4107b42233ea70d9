/* event_graph_causes: what the nodes of a hand-made step waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "one_step.h"

static const struct graph_edge *edge_of(const struct event_graph *graph, uint32_t node,
                                        enum edge_kind kind)
{
    for (uint32_t e = graph->nodes.items[node].first_edge; e < event_graph_edges_end(graph, node);
         e++)
        if (graph->edges.items[e].kind == kind)
            return &graph->edges.items[e];
    return NULL;
}

/* A and B wait for their launches, 10 us behind the begin of these; B follows A on the stream. The
 * sync ends at 130 because A did at 120: its node there waits for A and has 10 us of its own or on
 * the way. All of the step's nodes are explained: none has a delay. */
static void causes_of_a_step(void **state)
{
    struct one_step          step;
    const struct graph_edge *edge;
    uint32_t                 a, b, resumed = NO_ID;

    (void)state;
    one_step_make(&step);
    a = one_node(&step, "A", 20);
    b = one_node(&step, "B", 290);
    edge = edge_of(&step.graph, a, EDGE_LAUNCH);
    assert_non_null(edge);
    assert_int_equal(edge->from, one_node(&step, "cudaLaunchKernel", 10));
    assert_true(edge->from_start);
    assert_int_equal(edge->lag_ns, 10 * US);
    edge = edge_of(&step.graph, b, EDGE_LAUNCH);
    assert_non_null(edge);
    assert_int_equal(edge->from, one_node(&step, "cudaLaunchKernel", 280));
    edge = edge_of(&step.graph, b, EDGE_STREAM);
    assert_non_null(edge);
    assert_int_equal(edge->from, a);
    for (uint32_t i = 0; i < step.graph.nodes.count; i++) {
        const struct graph_node *node = &step.graph.nodes.items[i];

        assert_int_equal(node->delay_ns, 0);
        if (node->role == NODE_RESUME && edge_of(&step.graph, i, EDGE_SYNC))
            resumed = i;
    }
    assert_int_not_equal(resumed, NO_ID);
    edge = edge_of(&step.graph, resumed, EDGE_SYNC);
    assert_int_equal(edge->from, a);
    assert_int_equal(step.graph.nodes.items[resumed].end_ns, 130 * US);
    one_step_free(&step);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(causes_of_a_step) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
