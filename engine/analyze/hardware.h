/*
 * hardware: dense peaks of known accelerators, for when the recording does not tell. Unknown models
 * and CPUs have no row: no peak, no claim.
 */
#ifndef TFPROF_ANALYZE_HARDWARE_H
#define TFPROF_ANALYZE_HARDWARE_H

#include "base/str.h"
#include "model/profile.h"

struct hardware {
    const char *part; /* found in the model's name, lower case */
    double      f16_flops_per_s, tf32_flops_per_s, f32_flops_per_s, f8_flops_per_s; /* 0: none */
    double      memory_bytes_per_s;
};
/* NULL: not a model we know. The most specific row wins. */
const struct hardware *hardware_find(struct str model);
/* Peak for computing in `dtype`; 0 unknown. */
double hardware_peak_flops_per_s(const struct hardware *hardware, enum dtype dtype);

#endif
