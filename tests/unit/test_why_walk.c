/* why_walk: back along what a hand-made step waited for. */

#include "testing.h"

#include "analyze/schedule/why_walk.h"
#include "one_step.h"

static void assert_cause(const struct why_walk *walk, size_t row, enum part class, const char *name,
                         int64_t us)
{
    const struct why_cause *cause = &walk->causes.items[row];

    assert_true(row < walk->causes.count);
    assert_int_equal(cause->class, class);
    assert_int_equal((int64_t)cause->ns, us * US);
    if (name)
        assert_string_equal(cause->name, name);
    else
        assert_null(cause->name);
}

/* Before B starts at 290: 10 from its launch, 150 in which nothing is recorded, 10 to leave the
 * sync; at 120, where the walk ends, A had just ended. */
TEST(back_from_a_kernel)
{
    struct one_step step;
    struct why_walk walk = { .root = NO_ID };

    one_step_make(&step);
    walk.study = &step.b.study;
    walk.graph = &step.graph;
    walk.arena = &step.scratch;
    assert_true(why_walk_back(&walk, one_node(&step, "B", 290), false, 120 * US));
    assert_int_equal(walk.causes.count, 3);
    assert_cause(&walk, 0, PART_IDLE_LAUNCH, "cudaLaunchKernel", 10);
    assert_cause(&walk, 1, PART_HOST, NULL, 150);
    assert_int_equal(walk.causes.items[2].class, PART_IDLE_SYNC);
    assert_int_equal((int64_t)walk.causes.items[2].ns, 10 * US);
    assert_int_equal(walk.began, one_node(&step, "A", 20));
    one_step_free(&step);
}

/* From the end of B to the begin of the step: B 100, then as above, A 100, 10 from its launch and
 * 10 in which nothing is recorded. Summed, the two stretches of nothing are one of 160 in two
 * pieces, and so are the ways from the two launches: 20. */
TEST(sums_of_causes_alike)
{
    struct one_step step;
    struct why_walk walk = { .root = NO_ID };
    double          nothing_ns = 0, launch_ns = 0, all_ns = 0;

    one_step_make(&step);
    walk.study = &step.b.study;
    walk.graph = &step.graph;
    walk.arena = &step.scratch;
    assert_true(why_walk_back(&walk, one_node(&step, "B", 290), true, 0));
    why_walk_sum(&walk);
    for (size_t i = 0; i < walk.causes.count; i++) {
        const struct why_cause *cause = &walk.causes.items[i];

        all_ns += cause->ns;
        if (cause->class == PART_HOST && !cause->name) {
            nothing_ns += cause->ns;
            assert_int_equal(cause->count, 2);
        }
        if (cause->class == PART_IDLE_LAUNCH)
            launch_ns += cause->ns;
    }
    assert_int_equal((int64_t)all_ns, 390 * US);
    assert_int_equal((int64_t)nothing_ns, 160 * US);
    assert_int_equal((int64_t)launch_ns, 20 * US);
    one_step_free(&step);
}

/* Of three causes the one beside nothing takes 30 more, the one beside 90 takes 10 more, and the
 * one beside 60 takes 20 less. */
TEST(causes_by_excess)
{
    struct why_cause causes[] = {
        { .class = PART_HOST, .name = "a", .ns = 40 },
        { .class = PART_COMPUTE, .name = "b", .ns = 100 },
        { .class = PART_COPY, .name = "c", .ns = 30 },
    };
    struct why_cause usual[] = {
        { .class = PART_COMPUTE, .name = causes[1].name, .ns = 90 },
        { .class = PART_HOST, .name = causes[0].name, .ns = 60 },
        { .class = PART_COPY, .name = causes[0].name, .ns = 5 },
    };
    struct why_walk walk = { .causes = { causes, 3, 3 } }, other = { .causes = { usual, 3, 3 } };

    why_walk_compare(&walk, &other);
    assert_string_equal(causes[0].name, "c");
    assert_int_equal((int64_t)causes[0].usual_ns, 0);
    assert_string_equal(causes[1].name, "b");
    assert_int_equal((int64_t)causes[1].usual_ns, 90);
    assert_string_equal(causes[2].name, "a");
    assert_int_equal((int64_t)causes[2].usual_ns, 60);
}
