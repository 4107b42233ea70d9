/* step_roofline: what each step does by ops of known cost, against the device's peaks. */
#ifndef TFPROF_ANALYZE_STEP_ROOFLINE_H
#define TFPROF_ANALYZE_STEP_ROOFLINE_H

#include "analyze/study.h"

struct op_work { /* of all calls of an op in the used steps; < 0 unknown */
    double flops, bytes;
    bool   is_known, is_on_device; /* where its calls are recorded */
};
struct step_roofline {
    struct study            *study;
    const struct table_spec *table;                        /* of those columns */
    const struct op_work    *work;                         /* by op */
    double                   flops_per_s, memory_per_s; /* peaks of the device; 0 unknown */
};
enum { STEP_ROOFLINE_COLUMNS = 9 };
extern const struct column_spec step_roofline_columns[STEP_ROOFLINE_COLUMNS];

/* Fills the table, where events tell in which step an op was called. False: memory is exhausted.
 * O(events log steps). */
bool step_roofline_fill(const struct step_roofline *input, struct arena *scratch);

#endif
