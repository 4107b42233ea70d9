/*
 * engine_phases: steps of a serving engine by what they do, prefill, decode or mixed, and what a
 * step of each takes on the host and on the device.
 */
#ifndef TFPROF_ANALYZE_ENGINE_PHASES_H
#define TFPROF_ANALYZE_ENGINE_PHASES_H

#include "analyze/step/engine_mark.h"
#include "analyze/study.h"
#include "base/vec.h"

struct engine_step {
    int64_t            start_ns, end_ns, first_ns, last_ns; /* on the host; on the device */
    uint32_t           name, timeline;
    struct engine_mark mark;
    double             kernel_ns, kernels, graph_kernels; /* NaN: not known */
    double             cached_tokens; /* by the launch of the kernel that does so; 0: not told */
    double             product_rows,
        product_ns;  /* of most of its products' time; by how much more than others */
    double other_ns; /* since the step before, of work that is no step */
};
struct engine_steps {
    VEC(struct engine_step) list; /* by start; each with work of its own */
    bool are_programs; /* runs of compiled programs: what the host does for them is not told */
};
enum phase_column {
    PHASE_NAME,
    PHASE_STEPS,
    PHASE_REQUESTS,
    PHASE_TOKENS,
    PHASE_KV_TOKENS,
    PHASE_STEP_NS,
    PHASE_KERNEL_NS,
    PHASE_KERNELS,
    PHASE_LAUNCHES,
    PHASE_GRAPH_SHARE,
    PHASE_GAP_NS,
    PHASE_HOST_NS,
    PHASE_BETWEEN_NS,
    PHASE_SAMPLING_NS,
    PHASE_WAIT_NS,
    PHASE_READ_BACKS,
    PHASE_READ_BACK_BYTES,
    PHASE_TOKENS_PER_S,
    PHASE_BANDWIDTH_SHARE,
    PHASE_COLUMN_COUNT
};

/* What streams of the host's devices do between one step's work and the next one's is other work.
 * Steps by start. O(events log steps). */
void engine_steps_add_others(const struct profile *profile, uint32_t host,
                             struct engine_steps *steps);
/* Without work on the device from the step before to this one. */
double engine_gap_ns(const struct engine_steps *steps, size_t step);
/* memory_bytes_per_s: what the device moves at most; 0: not known. false: memory is exhausted. */
bool engine_phases_fill(struct study *study, const struct engine_steps *steps,
                        double memory_bytes_per_s, struct table *table);

#endif
