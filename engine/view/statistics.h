/* statistics: what --stats tells of a number over the steps. */
#ifndef TFPROF_VIEW_STATISTICS_H
#define TFPROF_VIEW_STATISTICS_H

#include "base/option.h"

enum statistic {
    STATISTIC_MEAN,
    STATISTIC_MEDIAN,
    STATISTIC_DEVIATION, /* of the steps themselves, not an estimate for others */
    STATISTIC_VARIATION, /* its share of the mean */
    STATISTIC_LEAST,
    STATISTIC_MOST,
    STATISTIC_STEPS, /* how many there are */
    STATISTIC_COUNT
};

const char *statistic_name(enum statistic statistic);
/* A bit each that the list names. */
unsigned statistics_of(const struct option_list *names);
/* Sorts the numbers. NAN, or 0 steps, where there are none. */
void statistics_describe(double *numbers, size_t count, double described[STATISTIC_COUNT]);

#endif
