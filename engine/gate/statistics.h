/*
 * statistics: whether two samples differ, and by how much. Everything is deterministic: resampling
 * uses a generator with a fixed seed.
 */
#ifndef TFPROF_GATE_STATISTICS_H
#define TFPROF_GATE_STATISTICS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct random { /* splitmix64 */
    uint64_t state;
};
uint64_t random_next(struct random *random);
uint32_t random_below(struct random *random, uint32_t bound); /* bound > 0 */

/* Mann-Whitney U test, two-sided p; *u (may be NULL) is the U of x. Exact where no values tie and
 * both samples are small, else by the normal approximation with corrections for ties and
 * continuity. 1 when either is empty or scratch is exhausted. */
double mann_whitney(const double *x, size_t x_count, const double *y, size_t y_count,
                    struct arena *scratch, double *u);

/* Two-sided p of Student's t with `df` degrees of freedom. */
double student_p(double t, double df);
/* Two-sided p of the t-test with pooled variance from means and deviations; identical samples
 * without any variance give 1, different ones 0. */
struct moments {
    double mean, deviation;
    size_t count;
};
double t_test(const struct moments *left, const struct moments *right);

/* A trend through a series, by Mann-Kendall: one-sided p that it rises (of the negated series: that
 * it falls), and Theil and Sen's slope, by which a stretch of the same length that follows would
 * differ. Long series are thinned. */
struct trend {
    double next_rise, p_rising, p_falling;
};
struct trend trend_find(const double *values, size_t count, struct arena *scratch);

/* One side of a comparison: one array of observations a run. */
struct observations {
    double *const *runs;
    const size_t  *counts;
    size_t         run_count;
};
/* Median over runs of each run's median. */
double observations_median(const struct observations *side, struct arena *scratch);

struct interval_share { /* a relative change with its interval */
    double change, low, high;
};
/* Relative change of the median from `before` to `after`; its interval by resampling blocks of
 * consecutive observations within each run, so that slow drifts widen it, and where a side has four
 * runs or more by resampling these, so that what differs from run to run does. false: scratch is
 * exhausted. Both sides have at least one observation and `before` a median above 0. */
bool bootstrap_change(const struct observations *before, const struct observations *after,
                      double confidence, struct arena *scratch, struct interval_share *result);

#endif
