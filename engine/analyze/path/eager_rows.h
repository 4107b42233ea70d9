/*
 * eager_rows: ops that Python runs one by one, as many in a row as a step has without a call of a
 * graph function between them. A step may call functions often, as one that acts in an environment,
 * and update its variables op by op in one place.
 */
#ifndef TFPROF_ANALYZE_EAGER_ROWS_H
#define TFPROF_ANALYZE_EAGER_ROWS_H

#include "analyze/study.h"

struct eager_row {
    double ops;     /* of the longest row, a step */
    double host_ns; /* of a step as long as steps_ns says, the path's host part from its first op to
                       the end of its last one */
};

/* False: out of memory. O(frames + segments of the path x log steps). */
bool eager_rows_find(const struct study *study, struct arena *scratch, struct eager_row *row);

#endif
