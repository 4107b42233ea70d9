#include "gate/sides.h"

#include "base/sample.h"

#include <math.h>
#include <string.h>

static const double OUTLIER_Z = 3.5,
                    LEAST_MAD = 0.02; /* of the median: steps of a few that happen to agree */

/* Steps far above the median are pauses of the machine or of the program, not its pace. */
static size_t drop_outliers(double *values, size_t count, struct arena *scratch)
{
    double *copy = arena_new_array(scratch, double, count + 1), median, mad;
    size_t  kept = 0;

    if (!copy || count < FEWEST_STEPS)
        return count;
    memcpy(copy, values, count * sizeof *copy);
    median = sample_middle(copy, count);
    for (size_t i = 0; i < count; i++)
        copy[i] = fabs(values[i] - median);
    mad = fmax(sample_middle(copy, count), median * LEAST_MAD);
    for (size_t i = 0; i < count; i++)
        kept += 0.6745 * (values[i] - median) / mad <= OUTLIER_Z;
    if (count - kept > count / 5)
        return count; /* too many to be outliers */
    kept = 0;
    for (size_t i = 0; i < count; i++)
        if (0.6745 * (values[i] - median) / mad <= OUTLIER_Z)
            values[kept++] = values[i];
    return kept;
}

bool side_start(struct side *side, const struct summary *summary, struct arena *scratch)
{
    size_t   runs = summary->runs.count;
    double **values = arena_new_array(scratch, double *, runs + 1);
    size_t  *counts = arena_new_array(scratch, size_t, runs + 1);

    if (!values || !counts)
        return false;
    for (size_t i = 0; i < runs; i++) {
        const struct run *run = &summary->runs.items[i];

        values[i] = arena_new_array(scratch, double, run->step_count + 1);
        if (!values[i])
            return false;
        if (run->step_count > 0)
            memcpy(values[i], run->step_ns, run->step_count * sizeof(double));
        counts[i] = run->step_count;
    }
    side->observed = (struct observations) { values, counts, runs };
    side->step_ns = observations_median(&side->observed, scratch);
    for (size_t i = 0; i < runs; i++) {
        const struct run *run = &summary->runs.items[i];

        counts[i] = drop_outliers(values[i], run->step_count, scratch);
        side->step_count += counts[i];
    }
    return true;
}

size_t side_run_medians(const struct side *side, double *medians, struct arena *scratch)
{
    size_t kept = 0;

    for (size_t i = 0; i < side->observed.run_count; i++) {
        struct observations one = { &side->observed.runs[i], &side->observed.counts[i], 1 };

        if (side->observed.counts[i] > 0)
            medians[kept++] = observations_median(&one, scratch);
    }
    return kept;
}

double *side_pooled(const struct side *side, struct arena *scratch, size_t *count)
{
    double *pooled = arena_new_array(scratch, double, side->step_count + 1);
    size_t  all = 0;

    if (!pooled)
        return NULL;
    for (size_t run = 0; run < side->observed.run_count; run++)
        for (size_t step = 0; step < side->observed.counts[run]; step++)
            pooled[all++] = side->observed.runs[run][step];
    *count = all < MOST_STEPS ? all : MOST_STEPS;
    for (size_t i = 0; i < *count; i++)
        pooled[i] = pooled[i * all / *count];
    return pooled;
}
