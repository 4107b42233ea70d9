/*
 * hardware: what makers say of their accelerators, for when the recording does not tell. A device is
 * known by its name, else by its figures (capability, multiprocessors, memory), else its clock and
 * the rates of its architecture give the peaks. Other models and CPUs are unknown: no peak, no claim.
 */
#ifndef TFPROF_MODEL_HARDWARE_H
#define TFPROF_MODEL_HARDWARE_H

#include "base/str.h"
#include "model/profile.h"

struct hardware {
    const char *words; /* of the model's name, lower case */
    const char *title; /* for devices that are known by their figures; NULL: none is */
    uint32_t    major, minor, unit_count; /* capability, multiprocessors; 0 with no title */
    double      memory_gigabytes;
    double      f64_flops_per_s, f32_flops_per_s, tf32_flops_per_s, f16_flops_per_s;
    double      bf16_flops_per_s, f8_flops_per_s, f4_flops_per_s, i8_ops_per_s;
    double      sparse; /* times as many with two of four weights left out */
    double      memory_bytes_per_s;
    double      link_bytes_per_s; /* to devices of its kind, one direction; each 0: none, or not told */
    const char *source; /* where the figures stand */
};
struct multiprocessor { /* what one of NVIDIA's holds */
    uint32_t major, minor;
    uint32_t threads, blocks, shared_bytes, own_bytes; /* own: of the shared ones a block's own use */
};
/* By the name of a model. NULL: not one we know. The row with most words in it wins. */
const struct hardware *hardware_find(struct str model);
/* What is known of a device; *made is filled where it has no row. NULL: nothing. */
const struct hardware *hardware_of(const struct profile *profile, const struct device *device,
                                   struct hardware *made);
/* The type of 16 bits that its matrix units take at their full rate and that needs no scaling of losses, if they take it:
 * NVIDIA's before compute capability 8 have float16 alone. DTYPE_UNKNOWN: nothing is known of the device, or 16 bits are slower
 * on it. */
enum dtype hardware_half_type(const struct profile *profile, const struct device *device);
/* Peak for computing in `dtype`; 0 unknown. */
double hardware_peak_flops_per_s(const struct hardware *hardware, enum dtype dtype);
/* NULL: not one we know. */
const struct multiprocessor *hardware_multiprocessor(const struct device *device);
/* Names devices that are known by their figures, those of which nothing is told by the instruction set in names of kernels, and gives GPUs the bandwidth of their row: what
 * recordings derive from a memory's clock is up to two times off. Once, behind reading. false: the
 * budget. `said`: what devices are of which nothing else tells, by `name`; NULL: not told. */
bool hardware_settle(struct profile *profile, const struct hardware *said, const char *name);

#endif
