#include "base/sample.h"
#include "gate/statistics.h"
#include "testing.h"

#include <math.h>
#include <string.h>

/* Two samples without ties whose Mann-Whitney U is `u`: y holds multiples of ten, and each x stands
 * above as many of them as its share of u. */
static void make_samples(size_t n, size_t m, size_t u, double *x, double *y)
{
    for (size_t j = 0; j < m; j++)
        y[j] = 10.0 * (double)(j + 1);
    for (size_t i = 0; i < n; i++) {
        size_t above = u < m ? u : m;

        u -= above;
        x[i] = 10.0 * (double)above + 1 + 0.01 * (double)i;
    }
}

static double p_of(size_t n, size_t m, size_t u)
{
    struct arena scratch = { 0 };
    double       x[64], y[64], counted, p;

    make_samples(n, m, u, x, y);
    p = mann_whitney(x, n, y, m, &scratch, &counted);
    assert_true(counted == (double)u);
    arena_free(&scratch);
    return p;
}

/* Largest U significant at 0.05, two-sided, from the published table (Mann and Whitney 1947; any
 * textbook). */
TEST(critical_values_are_those_of_the_table)
{
    static const size_t rows[][3] = {
        { 4, 4, 0 },    { 5, 5, 2 },  { 6, 6, 5 },    { 8, 8, 13 },
        { 10, 10, 23 }, { 5, 10, 8 }, { 15, 15, 64 }, { 20, 20, 127 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(p_of(rows[i][0], rows[i][1], rows[i][2]) <= 0.05);
        assert_true(p_of(rows[i][0], rows[i][1], rows[i][2] + 1) > 0.05);
    }
}

/* Of the C(8,4) = 70 arrangements one has U = 0: 2/70. Of C(10,5) = 252, U <= 2 has 1 + 1 + 2. */
TEST(small_samples_are_exact)
{
    assert_true(fabs(p_of(4, 4, 0) - (2.0 / 70)) <= 1e-12);
    assert_true(fabs(p_of(5, 5, 2) - (8.0 / 252)) <= 1e-12);
    assert_true(fabs(p_of(5, 5, 25) - (2.0 / 252)) <= 1e-12);
    assert_true(fabs(p_of(3, 3, 4) - (1)) <= 1e-12);
}

/* x = 1 2 2 3, y = 2 3 4 4: U = 0 + 0.5 + 0.5 + 1.5 = 2.5; ties 3, 2, 2 give 24 + 6 + 6 = 36;
 * variance 16/12 (9 - 36/56) = 11.142857; z = (8 - 2.5 - 0.5) / 3.338092 = 1.497862, p = 0.134169.
 */
TEST(ties_are_corrected_for)
{
    static const double x[] = { 1, 2, 2, 3 }, y[] = { 2, 3, 4, 4 };
    struct arena        scratch = { 0 };
    double              u;

    assert_true(fabs((mann_whitney(x, 4, y, 4, &scratch, &u)) - (0.134169)) <= 1e-5);
    assert_true(u == 2.5);
    arena_free(&scratch);
}

/* Critical values of Student's t from the published table. */
TEST(student_has_the_published_quantiles)
{
    static const double rows[][3] = {
        { 12.706, 1, 0.05 },  { 2.228, 10, 0.05 }, { 2.042, 30, 0.05 }, { 4.032, 5, 0.01 },
        { 1.960, 1e6, 0.05 }, { 3.169, 10, 0.01 }, { 0, 7, 1 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(fabs(student_p(rows[i][0], rows[i][1]) - (rows[i][2])) <= 2e-4);
    assert_true(student_p(INFINITY, 3) == 0);
}

TEST(medians_are_selected)
{
    double odd[] = { 5, 1, 4, 2, 3 }, even[] = { 4, 1, 3, 2 }, same[] = { 7, 7, 7, 7 };

    assert_true(sample_middle(odd, 5) == 3);
    assert_true(sample_middle(even, 4) == 2.5);
    assert_true(sample_middle(same, 4) == 7);
    for (size_t k = 0; k < 5; k++) {
        double values[] = { 5, 1, 4, 2, 3 };

        assert_true(sample_kth(values, 5, k) == (double)(k + 1));
    }
}

/* Normal noise, as the sum of twelve uniform numbers. */
static double noise(struct random *random)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += (double)(random_next(random) >> 11) / 9007199254740992.0;
    return sum;
}

/* A shift of 5 % with 2 % noise and 30 steps lies in the interval, and the interval is as wide as
 * the error of two medians: 1.2533 * 0.02 * sqrt(2 / 30) = 0.65 %, times 3.92 = 2.5 %, within what
 * thirty steps tell about it. */
TEST(a_shift_is_found_again)
{
    struct random         random = { .state = 5 };
    struct arena          scratch = { 0 };
    double                before[30], after[30], *x = before, *y = after;
    size_t                count = 30;
    struct observations   left = { &x, &count, 1 }, right = { &y, &count, 1 };
    struct interval_share change, again;

    for (size_t i = 0; i < count; i++) {
        before[i] = 100 * (1 + 0.02 * noise(&random));
        after[i] = 105 * (1 + 0.02 * noise(&random));
    }
    assert_true(bootstrap_change(&left, &right, 0.95, &scratch, &change));
    assert_true(change.low < 0.05 && change.high > 0.05);
    assert_in_range((int)((change.high - change.low) * 1000), 12, 45);
    assert_true(bootstrap_change(&left, &right, 0.95, &scratch, &again));
    assert_memory_equal(&change, &again, sizeof change);
    arena_free(&scratch);
}

/* Slopes of 1 2 4 7 are 1, 3/2, 2, 2, 5/2 and 3, their median 2, over four values 8. All six pairs
 * rise: z = (6 - 1) / sqrt(4 * 3 * 13 / 18) = 1.698, of which the normal table has 0.0447 above.
 * The second has nine pairs more up than down of 15: z = 8 / sqrt(6 * 5 * 17 / 18) = 1.503, 0.0664.
 */
TEST(a_trend_is_that_of_mann_and_kendall)
{
    static const double rising[] = { 1, 2, 4, 7 };
    static const double recorded[] = { 80.86, 81.92, 78.31, 84.0, 89.2, 87.58 };
    struct arena        scratch = { 0 };
    struct trend        trend = trend_find(rising, 4, &scratch);

    assert_true(fabs(trend.next_rise - 8) < 1e-9);
    assert_true(fabs(trend.p_rising - 0.0447) < 5e-5);
    assert_true(trend.p_falling > 0.98);
    assert_true(fabs(trend_find(recorded, 6, &scratch).p_rising - 0.0664) < 1e-4);
    assert_true(trend_find(rising, 2, &scratch).p_rising == 1); /* says nothing */
    arena_free(&scratch);
}
