#include "base/sample.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum { SLOPE_VALUES = 512 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return COMPARE(x, y);
}

double sample_median(double *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double sample_kth(double *values, size_t count, size_t k)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, at = (ptrdiff_t)k;

    while (low < high) {
        double    pivot = values[low + (high - low) / 2];
        ptrdiff_t i = low, j = high;

        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                double kept = values[i];
                values[i++] = values[j];
                values[j--] = kept;
            }
        }
        if (at <= j)
            high = j;
        else if (at >= i)
            low = i;
        else
            break;
    }
    return values[k];
}

double sample_middle(double *values, size_t count)
{
    double upper;

    if (count == 0)
        return 0;
    upper = sample_kth(values, count, count / 2);
    return count % 2 ? upper : (sample_kth(values, count, count / 2 - 1) + upper) / 2;
}

double sample_quantile(double *values, size_t count, double share)
{
    if (count == 0)
        return 0;
    size_t rank = (size_t)ceil(share * (double)count);

    return sample_kth(values, count, rank > 0 ? (rank <= count ? rank - 1 : count - 1) : 0);
}

double sample_mean(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : 0;
}

double sample_deviation(const double *values, size_t count)
{
    double mean = sample_mean(values, count), sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return count ? sqrt(sum / (double)count) : 0;
}

double sample_mad(double *values, size_t count)
{
    double median = sample_median(values, count);

    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - median);
    return sample_median(values, count);
}

double sample_slope(const double *values, size_t count)
{
    size_t  used = count < SLOPE_VALUES ? count : SLOPE_VALUES, pairs = 0;
    double *slopes, slope;

    if (used < 2)
        return 0;
    slopes = malloc(used * (used - 1) / 2 * sizeof *slopes);
    if (!slopes)
        return 0;
    for (size_t i = 0; i < used; i++)
        for (size_t j = i + 1; j < used; j++) {
            size_t a = i * (count - 1) / (used - 1), b = j * (count - 1) / (used - 1);

            slopes[pairs++] = (values[b] - values[a]) / (double)(b - a);
        }
    slope = sample_median(slopes, pairs);
    free(slopes);
    return slope;
}
