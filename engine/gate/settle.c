/* settle: how much must be recorded for the next comparison to tell, from how much steps and runs
 * are seen to vary. */
#include "base/sample.h"
#include "gate/sides.h"

#include <math.h>

/* Of a test of this two-sided alpha that finds a difference nine times in ten: z(1 - alpha / 2) and
 * z(0.9). */
static const double Z_STEPS = 2.576, Z_RUNS = 2.170, Z_POWER = 1.282;

/* Scale of values about their median, as the deviation of a normal distribution. */
static double robust_deviation(double *values, size_t count)
{
    static const double NORMAL = 1.4826;

    return NORMAL * sample_mad(values, count);
}

/*
 * Observations a side that show a difference as large as this one: for Student's test of two means
 * n = (z(1 - alpha / 2) + z(power))^2 (s^2 + t^2) / difference^2 (Noether, "Sample size
 * determination for some common nonparametric tests", 1987; Cohen, "Statistical power analysis",
 * chapter 2), and 1 / 0.955 of it for Mann and Whitney's, whose efficiency at a normal distribution
 * is 3 / pi.
 */
static double count_needed(double z_alpha, double deviation, double other, double difference)
{
    static const double EFFICIENCY = 0.955, MOST = 1e6;
    double              z = z_alpha + Z_POWER;
    double              variance = deviation * deviation + other * other;

    return ceil(fmin(z * z * variance / (difference * difference) / EFFICIENCY, MOST));
}

static size_t steps_to_settle(const struct judging *judging, const struct side *before,
                              const struct side *after)
{
    size_t  n = 0, m = 0;
    double *x = side_pooled(after, judging->scratch, &n);
    double *y = side_pooled(before, judging->scratch, &m);
    double  needed = x && y ? count_needed(Z_STEPS, robust_deviation(x, n), robust_deviation(y, m),
                                           judging->result->after_ns - judging->result->before_ns)
                            : 0;

    return (size_t)fmax(needed, FEWEST_STEPS);
}

/* Deviation of a population from a sample of at least two. */
static double deviation_between(const double *medians, size_t count)
{
    double n = (double)count;

    return sample_deviation(medians, count) * sqrt(n / (n - 1));
}

/* With one run on a side nobody knows how runs differ: as many as the test needs at least. */
static size_t runs_to_settle(const struct judging *judging, const struct side *before,
                             const struct side *after)
{
    double *x = arena_new_array(judging->scratch, double, after->observed.run_count + 1);
    double *y = arena_new_array(judging->scratch, double, before->observed.run_count + 1);
    size_t  n = x ? side_run_medians(after, x, judging->scratch) : 0;
    size_t  m = y ? side_run_medians(before, y, judging->scratch) : 0;
    double  needed = 0;

    if (n >= 2 && m >= 2)
        needed = count_needed(Z_RUNS, deviation_between(x, n), deviation_between(y, m),
                              judging->result->after_ns - judging->result->before_ns);
    return (size_t)fmax(needed, MANN_WHITNEY_RUNS);
}

/* Steps of one run share the state of the machine: where there are enough of them, and where runs
 * are what is compared, it is runs that are missing. */
const char *what_settles(struct judging *judging, const struct side *before,
                         const struct side *after)
{
    bool is_by_runs = before->observed.run_count >= MANN_WHITNEY_RUNS &&
                      after->observed.run_count >= MANN_WHITNEY_RUNS;
    size_t steps = steps_to_settle(judging, before, after);
    size_t runs = runs_to_settle(judging, before, after);

    if (!is_by_runs && (steps > before->step_count || steps > after->step_count))
        return arena_text(judging->arena,
                          "about %zu steps a side would settle it, or %zu runs a side", steps,
                          runs);
    return arena_text(judging->arena, "about %zu runs a side would settle it", runs);
}
