/* event_graph_lines: windows and lines of an event graph, and the means that it goes by. */

#include "testing.h"

#include "one_step.h"

TEST(lines_of_a_step)
{
    struct one_step step;

    one_step_make(&step);
    assert_int_equal(step.graph.group_count, 1);
    assert_int_equal(step.graph.lines.count, 2);
    assert_int_equal(step.graph.lines.items[0].timeline, step.thread);
    assert_true(step.graph.lines.items[0].is_leader);
    assert_false(step.graph.lines.items[0].is_device);
    assert_false(step.graph.lines.items[1].is_leader);
    assert_true(step.graph.lines.items[1].is_device);
    assert_true(step.graph.has_device);
    /* Both kernels start 10 us behind their launch: the mean is 10. */
    assert_int_equal(step.graph.launch_ns, 10 * US);
    one_step_free(&step);
}

/* Three kernels in the queue, launched at 5, 10 and 15: the gaps between them are 2 and 6 us, 4 on
 * average. The first one starts 45 behind its launch. */
TEST(gaps_in_a_queue)
{
    struct one_step step;
    uint32_t        a, b, c;

    one_step_begin(&step);
    a = one_launch(&step, 5);
    b = one_launch(&step, 10);
    c = one_launch(&step, 15);
    one_kernel(&step, a, "A", 50, 100);
    one_kernel(&step, b, "B", 102, 180);
    one_kernel(&step, c, "C", 186, 200);
    one_step_end(&step);
    assert_int_equal(step.graph.gap_ns, 4 * US);
    assert_int_equal(step.graph.launch_ns, 45 * US);
    one_step_free(&step);
}
