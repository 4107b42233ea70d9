/* op_profile: the time of ops as trees, by program and by category, with how much of the device's
 * best it used. */
#ifndef TFPROF_ANALYZE_OP_PROFILE_H
#define TFPROF_ANALYZE_OP_PROFILE_H

#include "analyze/kernel/kernel_times.h"
#include "analyze/ops/op_times.h"

/* What an op of known cost uses of its device; not known: NAN. */
struct op_use {
    double compute, memory, on_chip; /* shares of the peaks */
};
struct op_profile {
    struct study              *study;
    const struct table_spec   *table; /* of those columns */
    const struct op_times     *ops;   /* of hosts, where nothing ran on accelerators */
    const struct kernel_times *kernels;
    const struct op_use       *uses; /* by op */
};
enum { OP_PROFILE_COLUMNS = 11 };
extern const struct column_spec op_profile_columns[OP_PROFILE_COLUMNS];

/* Fills the table. False: memory is exhausted. O(rows log rows). */
bool op_profile_fill(const struct op_profile *profile, struct arena *scratch);

#endif
