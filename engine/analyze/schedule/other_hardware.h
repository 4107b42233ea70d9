/* other_hardware: how much longer kernels would take on other hardware, by what makers say of both. */
#ifndef TFPROF_ANALYZE_OTHER_HARDWARE_H
#define TFPROF_ANALYZE_OTHER_HARDWARE_H

#include "base/str.h"
#include "model/hardware.h"

/* Time on `there` over time on `here` of the kernel with a name: of passes over memory what the bandwidths tell, of
 * products, convolutions and attention the larger of that and what the peaks of their type tell, since which of the
 * two holds them is not always known. NaN: the figures of one of them are not told. O(length of the name). */
double other_hardware_factor(struct str kernel, const struct hardware *here,
                             const struct hardware *there);

#endif
