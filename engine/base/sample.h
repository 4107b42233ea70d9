/* sample: robust statistics of a few numbers. Functions that take a non-const array sort it. */
#ifndef TFPROF_BASE_SAMPLE_H
#define TFPROF_BASE_SAMPLE_H

#include <stddef.h>

double sample_median(double *values, size_t count); /* 0 for an empty sample; sorts it */
/* Linear on average: they reorder, smaller ones before what they give and larger ones behind it. */
double sample_kth(double *values, size_t count, size_t k); /* the k-th smallest, from 0 */
double sample_middle(double *values, size_t count);        /* the median; 0 for an empty sample */
double sample_quantile(double *values, size_t count, double share); /* nearest rank */
double sample_mean(const double *values, size_t count);
double sample_deviation(const double *values, size_t count); /* population */
/* Median absolute deviation from the median; sorts. */
double sample_mad(double *values, size_t count);
/* Median slope over all pairs (Theil-Sen) of values at 0, 1, 2, ...; at most 512 values are used,
 * evenly spaced. The result is per index of the whole sample. */
double sample_slope(const double *values, size_t count);

#endif
