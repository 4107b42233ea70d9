#include "view/statistics.h"

#include "base/macros.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[STATISTIC_COUNT] = { "mean", "median", "sd",   "cv",
                                                    "min",  "max",    "steps" };

const char *statistic_name(enum statistic statistic)
{
    return names[statistic];
}

unsigned statistics_of(const struct option_list *list)
{
    unsigned bits = 0;

    for (size_t i = 0; i < list->values.count; i++)
        for (unsigned n = 0; n < STATISTIC_COUNT; n++)
            if (strcmp(list->values.items[i], names[n]) == 0)
                bits |= 1u << n;
    return bits;
}

static int compare_numbers(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return COMPARE(*a, *b);
}

void statistics_describe(double *numbers, size_t count, double described[STATISTIC_COUNT])
{
    double sum = 0, squares = 0, mean;

    for (size_t i = 0; i < STATISTIC_COUNT; i++)
        described[i] = NAN;
    described[STATISTIC_STEPS] = (double)count;
    if (count == 0)
        return;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < count; i++)
        sum += numbers[i];
    mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (numbers[i] - mean) * (numbers[i] - mean);
    described[STATISTIC_MEAN] = mean;
    described[STATISTIC_MEDIAN] = (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
    described[STATISTIC_DEVIATION] = sqrt(squares / (double)count);
    if (mean > 0)
        described[STATISTIC_VARIATION] = described[STATISTIC_DEVIATION] / mean;
    described[STATISTIC_LEAST] = numbers[0];
    described[STATISTIC_MOST] = numbers[count - 1];
}
