/* The row of revisions: what a run makes likelier, and where the next one is made. */
#include <math.h>

#include "testing.h"

#include "gate/bisect.h"

static struct arena arena;

static struct bisect start(size_t last)
{
    struct bisect bisect;

    assert_true(bisect_start(&bisect, last, &arena));
    return bisect;
}

static void add(struct bisect *bisect, size_t revision, double value)
{
    assert_true(bisect_add(bisect, revision, value, &arena));
}

/* Without a run between the ends all are as likely: of four, halves lie at the second. */
TEST(nothing_known_halves_the_row)
{
    struct bisect bisect = start(4);
    size_t        first, last;

    add(&bisect, 0, 100);
    add(&bisect, 4, 200);
    bisect_settle(&bisect);
    assert_true(bisect_can_tell(&bisect));
    for (size_t i = 1; i <= 4; i++)
        assert_true(fabs(bisect.chance[i] - 0.25) < 1e-12);
    assert_int_equal(bisect_next(&bisect), 2);
    bisect_found(&bisect, 0.95, &first, &last);
    assert_int_equal(first, 1);
    assert_int_equal(last, 4);
    arena_free(&arena);
}

/*
 * Ends at 100, 102 and 110, 112: means 101 and 111, spread sqrt((1 + 1 + 1 + 1) / 2) = sqrt 2, two
 * degrees of freedom. A run of 111 at the first of two revisions: z = 10 / (sqrt 2 sqrt 1.5), z^2 =
 * 100 / 3; it is (1 + 50 / 3)^1.5 = 74.26 times as likely that this one is bad: 74.26 / 75.26 =
 * 0.98671.
 */
TEST(a_run_weighs_by_its_distance)
{
    struct bisect bisect = start(2);
    size_t        first, last;

    add(&bisect, 0, 100);
    add(&bisect, 2, 110);
    add(&bisect, 0, 102);
    add(&bisect, 2, 112);
    add(&bisect, 1, 111);
    bisect_settle(&bisect);
    assert_true(fabs(bisect.spread - sqrt(2)) < 1e-12);
    assert_true(fabs(bisect.chance[1] - 0.98671) < 1e-5);
    assert_int_equal(bisect_found(&bisect, 0.95, &first, &last), 1);
    assert_int_equal(last, 1);
    bisect_found(&bisect, 0.99, &first, &last);
    assert_int_equal(last, 2);
    arena_free(&arena);
}

/* Two runs that are alike by chance do not make everything else certain: 1 % of 100 is the least
 * spread. */
TEST(runs_that_are_alike_are_not_without_noise)
{
    struct bisect bisect = start(3);

    for (int i = 0; i < 2; i++) {
        add(&bisect, 0, 100);
        add(&bisect, 3, 102);
    }
    bisect_settle(&bisect);
    assert_true(bisect.spread == 1);
    assert_false(bisect_can_tell(&bisect));
    arena_free(&arena);
}

TEST(what_cannot_be_recorded_is_passed_over)
{
    struct bisect bisect = start(4);

    add(&bisect, 0, 100);
    add(&bisect, 4, 200);
    bisect.is_skipped[2] = true;
    bisect_settle(&bisect);
    assert_int_equal(bisect_next(&bisect), 1); /* a quarter below it, as above the third */
    bisect.is_skipped[1] = bisect.is_skipped[3] = true;
    assert_int_equal(bisect_next(&bisect), 0);
    arena_free(&arena);
}
