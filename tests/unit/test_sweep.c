/* sweep: the knee of steps calculated by hand. */

#include "testing.h"

#include "analyze/schedule/whatif.h"

#include <math.h>

/* A step that is the longer of two chains: `rest` + `work` * factor, and `other` whatever the
 * factor. */
static struct sweep_shape shape_of(double rest, double work, double other)
{
    static struct whatif_result each[SWEEP_INTERVALS + 1];
    struct whatif               whatif = { .each = each };
    double                      now = fmax(rest + work, other);

    whatif.now.step_ns = now;
    for (size_t i = 0; i <= SWEEP_INTERVALS; i++)
        each[i] =
            (struct whatif_result) { .selected_ns = work,
                                     .saved_ns = now - fmax(rest + work * sweep_factor(i), other) };
    return sweep_shape(&whatif);
}

TEST(lines_meet_where_the_other_chain_takes_over)
{
    struct sweep_shape shape = shape_of(600, 400, 800); /* 600 + 400 f = 800 at f = 0.5 */

    assert_float_equal(shape.knee, 0.5, 1e-9);
    assert_float_equal(shape.critical_share, 1, 1e-9);
    assert_float_equal(shape_of(600, 400, 710).knee, 0.275, 1e-9);  /* between two points */
    assert_float_equal(shape_of(600, 400, 615).knee, 0.0375, 1e-9); /* in the last interval */
}

TEST(one_line_has_no_knee)
{
    assert_true(isnan(shape_of(600, 400, 0).knee));
}

TEST(work_beside_the_step_is_not_critical)
{
    struct sweep_shape shape = shape_of(100, 400, 1000);

    assert_float_equal(shape.critical_share, 0, 1e-9);
    assert_true(isnan(shape.knee));
}
