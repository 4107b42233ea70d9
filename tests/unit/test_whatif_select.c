/* whatif_select: the nodes of a hand-made step that edits are about. */

#include "testing.h"

#include "analyze/schedule/whatif_select.h"
#include "one_step.h"

#include <string.h>

static bool select_nodes(struct one_step *step, enum whatif_target target, const char *pattern,
                         int32_t rank, bool *is_selected)
{
    struct whatif_edit edit = { .kind = WHATIF_SCALE, .target = (int)target, .pattern = pattern };
    struct err         err = { 0 };

    memset(is_selected, 0, step->graph.nodes.count * sizeof *is_selected);
    return whatif_select(&step->graph, &edit, rank, &step->scratch, is_selected, &err);
}

/* Their time as recorded. */
static int64_t selected_us(const struct one_step *step, const bool *is_selected)
{
    int64_t sum_ns = 0;

    for (uint32_t i = 0; i < step->graph.nodes.count; i++)
        if (is_selected[i])
            sum_ns += step->graph.nodes.items[i].end_ns - step->graph.nodes.items[i].start_ns;
    return sum_ns / US;
}

/* Kernels are A and B with 100 us each; launches two of 5; of copies there are none. */
TEST(targets_and_names)
{
    struct one_step step;
    bool           *is_selected;

    one_step_make(&step);
    is_selected = arena_new_array(&step.scratch, bool, step.graph.nodes.count);
    assert_non_null(is_selected);
    assert_true(select_nodes(&step, TARGET_KERNEL, NULL, -1, is_selected));
    assert_int_equal(selected_us(&step, is_selected), 200);
    assert_true(select_nodes(&step, TARGET_KERNEL, "^A$", -1, is_selected));
    assert_int_equal(selected_us(&step, is_selected), 100);
    assert_true(is_selected[one_node(&step, "A", 20)]);
    assert_true(select_nodes(&step, TARGET_LAUNCH, NULL, -1, is_selected));
    assert_int_equal(selected_us(&step, is_selected), 10);
    assert_false(select_nodes(&step, TARGET_KERNEL, "^C$", -1, is_selected));
    assert_false(select_nodes(&step, TARGET_KERNEL, "(", -1, is_selected));
    one_step_free(&step);
}

/* Of the launches only A's has all its work selected. */
TEST(launches_of_what_is_selected)
{
    struct one_step step;
    bool           *is_selected;

    one_step_make(&step);
    is_selected = arena_new_array(&step.scratch, bool, step.graph.nodes.count);
    assert_non_null(is_selected);
    assert_true(select_nodes(&step, TARGET_KERNEL, "^A$", -1, is_selected));
    assert_true(whatif_select_launches(&step.graph, &step.scratch, is_selected));
    assert_true(is_selected[one_node(&step, "cudaLaunchKernel", 10)]);
    assert_false(is_selected[one_node(&step, "cudaLaunchKernel", 280)]);
    assert_int_equal(selected_us(&step, is_selected), 105);
    one_step_free(&step);
}
