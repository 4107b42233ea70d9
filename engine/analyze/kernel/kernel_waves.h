/* kernel_waves: how many blocks of a kernel an NVIDIA device holds at once, by what each needs. */
#ifndef TFPROF_ANALYZE_KERNEL_WAVES_H
#define TFPROF_ANALYZE_KERNEL_WAVES_H

#include "model/profile.h"

/* On all multiprocessors together; 0: not known, as the registers or the device are not. What a
 * recorder estimates as occupancy is rounded and bounded by the grid, so it says less. */
double kernel_resident_blocks(const struct device *device, const struct kernel_config *config);

#endif
