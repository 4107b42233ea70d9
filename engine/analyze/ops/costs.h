/* costs: time, operations and memory traffic of each op of known cost, and the device's peaks. */
#ifndef TFPROF_ANALYZE_COSTS_H
#define TFPROF_ANALYZE_COSTS_H

#include "analyze/kernel/kernel_times.h"
#include "analyze/ops/op_times.h"
#include "model/hardware.h"

/* What the kernels of one op tell. */
struct launched {
    double     ns, streaming_ns; /* of kernels that do few operations a byte */
    double     calls;            /* of the kernel that ran most often */
    enum dtype dtype;            /* of the kernel with most time, where its name tells */
    double     dtype_ns;
};
struct cost_row {
    const struct op_time *time;
    double                flops, bytes; /* over all used steps; < 0 unknown */
    double                on_chip;      /* the same of traffic inside of the chip */
    double                ns, calls;
};
struct costs {
    struct study          *study;
    struct op_times        ops;
    struct kernel_times    kernels;
    struct cost_row       *rows;
    size_t                 count;
    uint32_t              *row_of_op; /* row + 1 */
    struct launched       *launched;  /* by op */
    double                 compute_ns, known_ns, product_ns, flops, bytes;
    double                 best[DTYPE_COUNT];
    double                 peak_flops_per_s, memory_bytes_per_s, device_count;
    double                 on_chip_bytes_per_s; /* 0 unknown */
    const struct hardware *hardware;            /* of the first device that is known */
    struct hardware        made;
};

/* Fills rows and sums over the used steps; study is set, all else zero. false: scratch is
 * exhausted. O(events). */
bool costs_collect(struct costs *costs, struct arena *scratch);
/* Peaks as the recording has them, else by the hardware table. */
void costs_find_peak(struct costs *costs);
/* Type that the op's kernels compute in. */
enum dtype cost_computes_in(const struct costs *costs, const struct cost_row *cost);

#endif
