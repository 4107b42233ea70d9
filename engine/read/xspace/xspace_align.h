/*
 * xspace_align: which instructions of a program the kernels of a replayed graph are. A kernel that
 * the compiler made is called after the first instruction that runs it; what a library runs has the
 * library's names. Both come in the order of the program's schedule.
 */
#ifndef TFPROF_READ_XSPACE_ALIGN_H
#define TFPROF_READ_XSPACE_ALIGN_H

#include "read/hlo/hlo.h"

enum align_sort { ALIGN_OWN, ALIGN_COPY, ALIGN_LIBRARY }; /* whose kernel it is */
struct align_kernel {
    enum align_sort sort;
    uint32_t        op;    /* ALIGN_OWN: the instruction that it is called after */
    uint64_t        print; /* of that */
    uint32_t        kinds; /* ALIGN_LIBRARY: bits of what its name says that it does */
    bool            is_rest;
};
enum align_use { ALIGN_NO_KERNEL, ALIGN_COPIES, ALIGN_CALLS, ALIGN_HOLDS, ALIGN_HOLDS_COPY };
struct align_step {
    uint32_t       op;
    uint64_t       print; /* what is alike of instructions that can share a kernel */
    enum align_use use;
    uint32_t       kinds;    /* of a custom-call: bits of what its target says that it does */
    bool           is_named; /* a kernel is called after it */
};

struct align_step align_step_of(const struct profile *profile, const struct hlo_step *step);
/* `op`: of the instruction that it is called after, or NO_ID. */
struct align_kernel align_kernel_of(const struct profile *profile, const struct activity *activity,
                                    uint32_t op);
/* By kernel the row of ops that it runs for, or NO_ID. Steps without a kernel, and kernels without
 * a step, are passed over where that makes the others fit. O(steps * kernels); nothing is said
 * where these are too many. false: the budget. */
bool align_kernels(const struct align_step *steps, size_t step_count,
                   const struct align_kernel *kernels, size_t count, uint32_t *ops,
                   struct arena *scratch);

#endif
