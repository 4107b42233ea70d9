/* op_graph: neighbours, order and cycles of graphs drawn by hand. */
#include "model/op_graph.h"

#include "base/macros.h"
#include "testing.h"

#include <string.h>

/*
 *   0 -> 1 -> 3     4 -> 5 (control only)
 *   0 -> 2 -> 3     0 -> 3 as control, and again with data
 */
static const struct op_edge edges[] = {
    { 2, 3, false, 0 }, { 0, 3, true, 0 },  { 1, 3, false, 1 }, { 0, 2, false, 0 },
    { 0, 1, false, 0 }, { 0, 3, false, 0 }, { 4, 5, true, 0 },
};

static struct op_graph *make(struct arena *arena)
{
    struct err       err = { 0 };
    struct op_graph *graph = op_graph_new(arena, 6, edges, ARRAY_COUNT(edges), &err);

    assert_non_null(graph);
    return graph;
}

TEST(neighbours_are_sorted_and_unique)
{
    struct arena     arena = { 0 };
    struct op_graph *graph = make(&arena);
    struct op_ids    producers = op_graph_producers(graph, 3);
    struct op_ids    consumers = op_graph_consumers(graph, 0);

    assert_int_equal(graph->edge_count, 6);
    assert_int_equal(producers.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(producers.ids[i], i);
        assert_int_equal(consumers.ids[i], i + 1);
        assert_false(graph->producer_is_control[graph->first_producer[3] + i]);
    }
    assert_int_equal(consumers.count, 3);
    assert_true(graph->producer_is_control[graph->first_producer[5]]);
    assert_int_equal(op_graph_operand(graph, 3, 1), 1);
    assert_int_equal(op_graph_operand(graph, 3, 2), UINT32_MAX);
    assert_int_equal(op_graph_producers(graph, 0).count, 0);
    assert_int_equal(op_graph_consumers(graph, 5).count, 0);
    arena_free(&arena);
}

TEST(order_has_producers_first)
{
    struct arena     arena = { 0 };
    struct op_graph *graph = make(&arena);
    struct op_ids    order;
    struct err       err = { 0 };
    bool             is_acyclic = false;
    size_t           place[6] = { 0 };

    assert_true(op_graph_sort(graph, &arena, &order, &is_acyclic, &err));
    assert_true(is_acyclic);
    assert_int_equal(order.count, 6);
    for (size_t i = 0; i < order.count; i++)
        place[order.ids[i]] = i;
    for (size_t i = 0; i < ARRAY_COUNT(edges); i++)
        assert_true(place[edges[i].from] < place[edges[i].to]);
    arena_free(&arena);
}

TEST(cycles_are_told)
{
    /* 0 -> 1 -> 2 -> 1, 2 -> 3: only 0 comes before the cycle */
    static const struct op_edge cyclic[] = {
        { 0, 1, false, 0 }, { 1, 2, false, 0 }, { 2, 1, false, 0 }, { 2, 3, false, 0 }
    };
    struct arena     arena = { 0 };
    struct err       err = { 0 };
    struct op_graph *graph = op_graph_new(&arena, 4, cyclic, ARRAY_COUNT(cyclic), &err);
    struct op_ids    order;
    bool             is_acyclic = true;
    uint32_t        *component, count;

    assert_non_null(graph);
    assert_true(op_graph_sort(graph, &arena, &order, &is_acyclic, &err));
    assert_false(is_acyclic);
    assert_int_equal(order.count, 1);
    assert_int_equal(order.ids[0], 0);
    assert_true(op_graph_cycles(graph, &arena, &component, &count, &err));
    assert_int_equal(count, 3); /* {0} {1, 2} {3} */
    assert_int_equal(component[1], component[2]);
    assert_int_not_equal(component[0], component[1]);
    arena_free(&arena);
}

/* Two ops share a component exactly if each can be reached from the other, in random graphs. */
TEST(components_are_what_reaches_each_other)
{
    enum { OPS = 9, GRAPHS = 300 };
    uint32_t random = 1;

    for (int turn = 0; turn < GRAPHS; turn++) {
        bool           reaches[OPS][OPS] = { 0 };
        struct op_edge wild[2 * OPS];
        size_t         edge_count = (size_t)turn % ARRAY_COUNT(wild);
        struct arena   arena = { 0 };
        struct err     err = { 0 };
        uint32_t      *component, count, numbers = 0;

        for (size_t i = 0; i < edge_count; i++) {
            random = random * 1664525 + 1013904223;
            wild[i] = (struct op_edge) { (random >> 20) % OPS, (random >> 8) % OPS, false, 0 };
            reaches[wild[i].from][wild[i].to] = true;
        }
        for (int by = 0; by < OPS; by++)
            for (int from = 0; from < OPS; from++)
                for (int to = 0; to < OPS; to++)
                    reaches[from][to] |= reaches[from][by] && reaches[by][to];
        assert_true(op_graph_cycles(op_graph_new(&arena, OPS, wild, edge_count, &err), &arena,
                                    &component, &count, &err));
        for (int i = 0; i < OPS; i++) {
            assert_true(component[i] < count);
            numbers |= 1u << component[i];
            for (int j = 0; j < i; j++)
                assert_int_equal(component[i] == component[j], reaches[i][j] && reaches[j][i]);
        }
        assert_int_equal(numbers, (1u << count) - 1);
        arena_free(&arena);
    }
}

TEST(odd_graphs)
{
    static const struct op_edge wild = { 0, 7, false, 0 };
    struct arena                arena = { 0 };
    struct err                  err = { 0 };
    struct op_graph            *empty = op_graph_new(&arena, 0, NULL, 0, &err);
    struct op_ids               order;
    bool                        is_acyclic = false;

    assert_non_null(empty);
    assert_true(op_graph_sort(empty, &arena, &order, &is_acyclic, &err));
    assert_true(is_acyclic);
    assert_int_equal(order.count, 0);
    assert_null(op_graph_new(&arena, 7, &wild, 1, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    arena_free(&arena);
}
