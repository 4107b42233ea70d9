/* event_graph_causes: what the nodes of a hand-made step waited for. */

#include "testing.h"

#include "analyze/schedule/event_schedule.h"
#include "base/macros.h"
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
TEST(causes_of_a_step)
{
    struct one_step          step;
    const struct graph_edge *edge;
    uint32_t                 a, b, resumed = NO_ID;

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

/*
 * A step of 400 us whose thread asks for input 20..300 and then runs an op until 400. In another
 * process a worker loads 10..200 and 200..290, by ops. The request ends 10 behind the worker's last
 * work, so that it waits for that: back from the end of the step there are 100 of the op, 10 to get
 * out of the request, 280 of input, and 10 of the thread, which gave the worker its work.
 */
TEST(workers_of_a_loader)
{
    struct one_step          step;
    const struct graph_edge *edge = NULL;
    struct schedule          schedule;
    uint32_t                 worker;

    one_step_begin(&step);
    step.b.profile.timelines.items[step.thread].process = 7;
    worker = builder_timeline(&step.b, 0, NO_ID, "worker");
    step.b.profile.timelines.items[worker].process = 8;
    builder_slice(&step.b, step.thread, "enumerate(DataLoader)#next", ACTIVITY_INPUT_WAIT, 20 * US,
                  280 * US);
    builder_slice(&step.b, step.thread, "aten::mm", ACTIVITY_OP, 300 * US, 100 * US);
    builder_slice(&step.b, worker, "aten::randn", ACTIVITY_OP, 10 * US, 190 * US);
    builder_slice(&step.b, worker, "aten::stack", ACTIVITY_OP, 200 * US, 90 * US);
    one_step_end(&step);
    for (size_t i = 0; i < step.graph.lines.count; i++)
        assert_int_equal(step.graph.lines.items[i].is_worker,
                         step.graph.lines.items[i].timeline == worker);
    for (uint32_t i = 0; i < step.graph.nodes.count && !edge; i++)
        if (step.graph.nodes.items[i].role == NODE_RESUME &&
            step.graph.nodes.items[i].end_ns == 300 * US)
            edge = edge_of(&step.graph, i, EDGE_HANDOVER);
    assert_non_null(edge);
    assert_int_equal(step.graph.nodes.items[edge->from].end_ns, 290 * US);
    assert_int_equal(step.graph.nodes.items[edge->from].class, PART_INPUT);
    assert_true(schedule_make(&schedule, &step.graph, NULL, &step.scratch));
    assert_int_equal((int64_t)(schedule.step_ns + 0.5), 400 * US);
    assert_int_equal((int64_t)(schedule.chain_ns[PART_COMPUTE] + 0.5), 100 * US);
    assert_int_equal((int64_t)(schedule.chain_ns[PART_INPUT] + 0.5), 290 * US);
    assert_int_equal((int64_t)(schedule.chain_ns[PART_HOST] + 0.5), 10 * US);
    one_step_free(&step);
}

/*
 * A thread beside the leading one works 50..100, pauses 20 and works 120..200, while the leader is
 * inside one op 0..400: nobody gave it the second piece, it goes on by itself. With its first piece
 * 30 shorter the second one begins 30 earlier.
 */
TEST(pauses_without_a_giver)
{
    struct one_step          step;
    const struct graph_edge *edge;
    struct graph_changes     changes;
    struct schedule          schedule;
    uint32_t                 other, first, second;

    one_step_begin(&step);
    other = builder_timeline(&step.b, 0, NO_ID, "autograd");
    builder_slice(&step.b, step.thread, "backward", ACTIVITY_OP, 0, 400 * US);
    builder_slice(&step.b, other, "MmBackward0", ACTIVITY_OP, 50 * US, 50 * US);
    builder_slice(&step.b, other, "AddBackward0", ACTIVITY_OP, 120 * US, 80 * US);
    one_step_end(&step);
    first = one_node(&step, "MmBackward0", 50);
    second = one_node(&step, "AddBackward0", 120);
    edge = edge_of(&step.graph, second, EDGE_ORDER);
    assert_non_null(edge);
    assert_int_equal(edge->from, first);
    assert_int_equal(edge->lag_ns, 20 * US);
    assert_null(edge_of(&step.graph, second, EDGE_HANDOVER));
    assert_true(graph_changes_make(&changes, &step.graph, &step.scratch));
    changes.factors[first] = 0.4f;
    assert_true(schedule_make(&schedule, &step.graph, &changes, &step.scratch));
    assert_in_range(schedule.start_ns[second] - schedule.start_ns[first], 39999, 40001);
    one_step_free(&step);
}

/*
 * Two calls that last: of the first, 10..110, A begins at 115, once the call is done (it loaded the
 * code); of the second, 200..350, B begins at 340, inside it (it staged the memory first). Neither
 * start is a delay without a cause.
 */
TEST(calls_that_last)
{
    struct one_step          step;
    const struct graph_edge *edge = NULL;
    uint32_t                 first, second, a, b;

    one_step_begin(&step);
    first =
        builder_slice(&step.b, step.thread, "hipLaunchKernel", ACTIVITY_LAUNCH, 10 * US, 100 * US);
    second =
        builder_slice(&step.b, step.thread, "cudaMemcpyAsync", ACTIVITY_LAUNCH, 200 * US, 150 * US);
    one_kernel(&step, first, "A", 115, 150);
    one_kernel(&step, second, "B", 340, 360);
    one_step_end(&step);
    a = one_node(&step, "A", 115);
    b = one_node(&step, "B", 340);
    assert_int_equal(step.graph.nodes.items[a].delay_ns, 0);
    assert_int_equal(step.graph.nodes.items[b].delay_ns, 0);
    for (uint32_t e = step.graph.nodes.items[a].first_edge;
         e < event_graph_edges_end(&step.graph, a); e++)
        if (step.graph.edges.items[e].kind == EDGE_LAUNCH && !step.graph.edges.items[e].from_start)
            edge = &step.graph.edges.items[e];
    assert_non_null(edge);
    assert_int_equal(step.graph.nodes.items[edge->from].end_ns, 110 * US);
    assert_int_equal(edge->lag_ns, 5 * US);
    edge = edge_of(&step.graph, b, EDGE_LAUNCH);
    assert_non_null(edge);
    assert_true(edge->from_start);
    assert_int_equal(step.graph.nodes.items[edge->from].start_ns + edge->lag_ns, 340 * US);
    one_step_free(&step);
}

/*
 * The host has launched A, 20..400, by 15 and nothing more is recorded of it: the step ends with A,
 * which is what the host waits for. With A half as long the step takes 10 + 10 + 190 us.
 */
TEST(a_step_that_ends_with_its_device)
{
    struct one_step      step;
    struct graph_changes changes;
    struct schedule      schedule;
    uint32_t             a;

    one_step_begin(&step);
    one_kernel(&step, one_launch(&step, 10), "A", 20, 400);
    one_step_end(&step);
    a = one_node(&step, "A", 20);
    assert_true(graph_changes_make(&changes, &step.graph, &step.scratch));
    assert_true(schedule_make(&schedule, &step.graph, &changes, &step.scratch));
    assert_in_range((int64_t)schedule.step_ns, 399999, 400001);
    changes.factors[a] = 0.5f;
    assert_true(schedule_make(&schedule, &step.graph, &changes, &step.scratch));
    assert_in_range((int64_t)schedule.step_ns, 209999, 210001);
    one_step_free(&step);
}

/*
 * A CPU's thread waits 20..300, while a thread of the pool is inside an op 10..310: no end lets the
 * wait end. The composition charges the 280 to computing, and so does the longest chain; 20 before
 * and 100 behind are the host's.
 */
TEST(a_wait_without_an_end_is_what_the_composition_says)
{
    static const struct segment segments[] = {
        { .start_ns = 0, .end_ns = 20 * US, .part = PART_HOST },
        { .start_ns = 20 * US, .end_ns = 300 * US, .part = PART_COMPUTE },
        { .start_ns = 300 * US, .end_ns = 400 * US, .part = PART_HOST },
    };
    struct one_step step;
    struct schedule schedule;
    uint32_t        pool;

    one_step_begin(&step);
    pool = builder_timeline(&step.b, 0, NO_ID, "pool");
    builder_slice(&step.b, step.thread, "wait for completion", ACTIVITY_SYNC, 20 * US, 280 * US);
    builder_slice(&step.b, pool, "dot", ACTIVITY_OP, 10 * US, 300 * US);
    for (size_t i = 0; i < ARRAY_COUNT(segments); i++)
        assert_true(vec_push(&step.b.study.path.segments, &step.b.arena, segments[i]));
    one_step_end(&step);
    assert_true(schedule_make(&schedule, &step.graph, NULL, &step.scratch));
    assert_in_range((int64_t)schedule.chain_ns[PART_COMPUTE], 279999, 280001);
    assert_in_range((int64_t)schedule.chain_ns[PART_HOST], 119999, 120001);
    one_step_free(&step);
}

/*
 * A producer makes an item 5..25, for which the thread waits 2..26 before it launches A at 26, and
 * then waits 50..1000 for room in its queue: longer than the step, which ends with A, 30..400, so
 * that nothing of the step waits for that. With A half as long a step takes 30 + 185 us.
 */
TEST(a_wait_that_outlasts_the_step)
{
    struct one_step      step;
    struct graph_changes changes;
    struct schedule      schedule;
    uint32_t             a;

    one_step_begin_beside(&step, "producer");
    builder_slice(&step.b, step.thread, "get", ACTIVITY_INPUT_WAIT, 2 * US, 24 * US);
    builder_slice(&step.b, step.other, "make", ACTIVITY_OP, 5 * US, 20 * US);
    builder_slice(&step.b, step.other, "put", ACTIVITY_WAIT, 50 * US, 950 * US);
    one_kernel(&step, one_launch(&step, 26), "A", 30, 400);
    one_step_end(&step);
    a = one_node(&step, "A", 30);
    assert_true(graph_changes_make(&changes, &step.graph, &step.scratch));
    assert_true(schedule_make(&schedule, &step.graph, &changes, &step.scratch));
    assert_in_range((int64_t)schedule.step_ns, 399999, 400001);
    changes.factors[a] = 0.5f;
    assert_true(schedule_make(&schedule, &step.graph, &changes, &step.scratch));
    assert_in_range((int64_t)schedule.step_ns, 214999, 215001);
    one_step_free(&step);
}

/* A kernel runs from the step's begin on that was enqueued 1000 us before: the step after it has it
 * as soon as its stream is free, and takes 400 us as this one, however long ago that was. */
TEST(work_that_was_enqueued_before_the_step)
{
    struct one_step step;
    struct schedule schedule;
    uint32_t        early, late;

    one_step_begin(&step);
    early = one_launch(&step, -1000);
    late = one_launch(&step, 280);
    one_kernel(&step, early, "A", 0, 120);
    one_kernel(&step, late, "B", 290, 390);
    one_step_end(&step);
    assert_true(schedule_make(&schedule, &step.graph, NULL, &step.scratch));
    assert_int_equal((int64_t)(schedule.step_ns + 0.5), 400 * US);
    one_step_free(&step);
}
