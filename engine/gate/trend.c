/* trend: does a series rise or fall as a whole? */
#include "base/sample.h"
#include "gate/statistics.h"

#include <math.h>

enum { MOST_VALUES = 200 };

/* Signs and slopes of all pairs; *signs is Kendall's S. */
static size_t pair_up(const double *values, size_t count, double *slopes, double *signs)
{
    size_t pairs = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double change = values[j] - values[i];

            *signs += (change > 0) - (change < 0);
            slopes[pairs++] = change / (double)(j - i);
        }
    return pairs;
}

static double upper_tail(double z)
{
    return 0.5 * erfc(z / sqrt(2));
}

struct trend trend_find(const double *values, size_t count, struct arena *scratch)
{
    struct trend none = { 0, 1, 1 }, trend;
    size_t       kept = count < MOST_VALUES ? count : MOST_VALUES, pairs;
    double      *thinned = arena_new_array(scratch, double, kept + 1);
    double      *slopes = arena_new_array(scratch, double, kept *kept / 2 + 1);
    double       n = (double)kept, signs = 0, deviation;

    if (!thinned || !slopes || kept < 3)
        return none;
    for (size_t i = 0; i < kept; i++)
        thinned[i] = values[i * count / kept];
    pairs = pair_up(thinned, kept, slopes, &signs);
    deviation = sqrt(n * (n - 1) * (2 * n + 5) / 18);
    trend.next_rise = sample_middle(slopes, pairs) * n;
    trend.p_rising = upper_tail((signs - 1) / deviation);
    trend.p_falling = upper_tail((-signs - 1) / deviation);
    return trend;
}
