/* skeleton: a thread's work in pieces is one node, and a step takes as long as with all of them. */
#include "analyze/schedule/skeleton.h"
#include "testing.h"

enum { STEP, FIRST, CALL, KERNEL, BEHIND, LAST, WAIT, NODES };

/*
 * A thread works 10, 2 later 20, at whose begin a kernel of 100 is launched (5 until it starts),
 * then 30 and, 1 and a delay of 4 later, 40; then it waits for the kernel.
 *
 *   first 0..10   call 12..32   behind 32..62   last 67..107   kernel 17..117   wait ..117
 *
 * The call and what follows are one node, as nothing else waits for an end between:
 * 20 + 30 + 1 + 4 + 40 = 95; the first stays, since the call's begin lets the kernel start.
 */
static const struct graph_node nodes[NODES] = {
    [STEP] = { .line = 0, .first_edge = 0, .role = NODE_STEP },
    [FIRST] = { .own_ns = 10, .line = 0, .first_edge = 0, .role = NODE_HOST },
    [CALL] = { .own_ns = 20, .line = 0, .first_edge = 1, .role = NODE_HOST },
    [KERNEL] = { .own_ns = 100, .line = 1, .first_edge = 2, .role = NODE_DEVICE },
    [BEHIND] = { .own_ns = 30, .line = 0, .first_edge = 3, .role = NODE_HOST },
    [LAST] = { .own_ns = 40, .delay_ns = 4, .line = 0, .first_edge = 4, .role = NODE_HOST },
    [WAIT] = { .line = 0, .first_edge = 5, .role = NODE_RESUME },
};
static const struct graph_edge edges[] = {
    { .from = STEP, .kind = EDGE_ORDER },
    { .from = FIRST, .kind = EDGE_ORDER, .lag_ns = 2 },
    { .from = CALL, .kind = EDGE_LAUNCH, .lag_ns = 5, .from_start = true },
    { .from = CALL, .kind = EDGE_ORDER },
    { .from = BEHIND, .kind = EDGE_ORDER, .lag_ns = 1 },
    { .from = LAST, .kind = EDGE_ORDER },
    { .from = KERNEL, .kind = EDGE_SYNC },
};
static const struct graph_line lines[] = { { .is_leader = true }, { .is_device = true } };

struct made {
    struct arena       arena;
    struct study       study;
    struct event_graph whole;
    struct skeleton    skeleton;
};

static void make(struct made *made)
{
    *made = (struct made) { 0 };
    made->whole.study = &made->study;
    made->whole.group_count = 1;
    for (size_t i = 0; i < NODES; i++)
        assert_true(vec_push(&made->whole.nodes, &made->arena, nodes[i]));
    for (size_t i = 0; i < ARRAY_COUNT(edges); i++)
        assert_true(vec_push(&made->whole.edges, &made->arena, edges[i]));
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++)
        assert_true(vec_push(&made->whole.lines, &made->arena, lines[i]));
    assert_true(skeleton_make(&made->skeleton, &made->whole, &made->arena));
}

TEST(pieces_are_one)
{
    struct made made;

    make(&made);
    assert_int_equal(made.skeleton.graph.nodes.count, 5);
    assert_int_equal(made.skeleton.of[BEHIND], made.skeleton.of[CALL]);
    assert_int_equal(made.skeleton.of[LAST], made.skeleton.of[CALL]);
    assert_int_equal(made.skeleton.graph.nodes.items[made.skeleton.of[CALL]].own_ns, 95);
    assert_int_not_equal(made.skeleton.of[WAIT], made.skeleton.of[CALL]); /* for the kernel too */
    assert_int_not_equal(made.skeleton.of[CALL], made.skeleton.of[FIRST]);
    arena_free(&made.arena);
}

static double step_ns(struct made *made, const struct event_graph *graph, uint32_t kernel,
                      float factor)
{
    struct graph_changes changes;
    struct schedule      schedule;

    assert_true(graph_changes_make(&changes, graph, &made->arena));
    changes.factors[kernel] = factor;
    assert_true(schedule_make(&schedule, graph, &changes, &made->arena));
    return schedule.step_ns;
}

/* A step begins where the thread left the one before: 117 behind it with the kernel, 107 with half
 * of it. */
TEST(steps_stay_what_they_were)
{
    struct made made;

    make(&made);
    for (int half = 0; half < 2; half++) {
        float  factor = half ? 0.5F : 1;
        double expected = half ? 107 : 117;

        assert_true(step_ns(&made, &made.whole, KERNEL, factor) == expected);
        assert_true(step_ns(&made, &made.skeleton.graph, made.skeleton.of[KERNEL], factor) ==
                    expected);
    }
    arena_free(&made.arena);
}
