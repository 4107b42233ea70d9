/*
 * eager_grown: results of batches that are put together anew with each batch: concatenations each
 * of which takes what the one before made, and one part more.
 */
#ifndef TFPROF_ANALYZE_EAGER_GROWN_H
#define TFPROF_ANALYZE_EAGER_GROWN_H

#include "analyze/eager/eager_calls.h"

struct eager_grown { /* over all windows */
    double count, ns;
    double last_ns; /* of the last of each row, after which all parts are together */
    uint32_t source; /* of the last row: row of profile->sources, or NO_ID */
};

/* false: scratch is exhausted. O(calls * rows at a time). */
bool eager_grown_find(const struct study *study, const struct eager_calls *calls,
                      struct arena *scratch, struct eager_grown *grown);

#endif
