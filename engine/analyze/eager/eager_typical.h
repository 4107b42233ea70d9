/*
 * eager_typical: what the calls of an eager program take when nothing holds them up. A busy machine
 * interrupts a few of them for thousands of times their own duration, which decides every mean, so
 * a call counts as the median of all calls of its op on the same shapes. What a call costs that
 * does no work says how fast the machine dispatches.
 */
#ifndef TFPROF_ANALYZE_EAGER_TYPICAL_H
#define TFPROF_ANALYZE_EAGER_TYPICAL_H

#include "analyze/eager/eager_calls.h"

struct eager_typical {
    double *call_ns; /* by row of the calls */
    double  view_ns; /* a quick call that only makes a view; 0: hardly any are recorded */
};

/* The array lives in scratch. false: it is exhausted. O(calls log calls). */
bool eager_typical_make(const struct study *study, const struct eager_calls *calls,
                        struct arena *scratch, struct eager_typical *typical);

#endif
