/*
 * launchers: which call of the host launched each work of an accelerator on the path, so that an op
 * of an eager program stands for what the accelerator does for it as well.
 */
#ifndef TFPROF_ANALYZE_EXCESS_LAUNCHERS_H
#define TFPROF_ANALYZE_EXCESS_LAUNCHERS_H

#include "analyze/study.h"

/* By row of the path's frames: of an accelerator's work the frame of the call that launched it; of a
 * host's event, and where that call is not among the frames, NO_ID. The study's devices must have
 * launch_of. NULL: `arena` is exhausted. */
uint32_t *launchers_find(const struct study *study, struct arena *arena);

#endif
