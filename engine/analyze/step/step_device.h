/*
 * step_device: steps whose markers, or what was taken for them (batches, updates), are on a host
 * that runs ahead of its accelerators. They then say how long launching took, and when calls of a
 * step were made; what a step takes is the time of the work launched in it.
 */
#ifndef TFPROF_ANALYZE_STEP_DEVICE_H
#define TFPROF_ANALYZE_STEP_DEVICE_H

#include "analyze/study.h"

/* Where the last step of a host leaves much of its work behind, each of its steps ends with the
 * work launched in it, and the next one begins there. Work that threads of a runtime launch later
 * is told to steps by its order, where all steps do the same. Other steps stay as they are. false:
 * scratch is exhausted. O(flows log steps + kernels log kernels). */
bool steps_follow_device(struct study *study, struct arena *scratch);

#endif
