/*
 * step_pace: steps in which whatever a host calls takes longer, since something else keeps the
 * machine busy: another program, or the profiler writing what it has. They tell nothing of the
 * program; what it does itself in some steps leaves its other calls as fast as ever.
 */
#ifndef TFPROF_ANALYZE_STEP_PACE_H
#define TFPROF_ANALYZE_STEP_PACE_H

#include "base/arena.h"

#include <stdbool.h>

struct study;

/* Leaves out such steps of the reference host, where they are few: their launches are as many as
 * usual, and half of them take nearly half as long again as half of the usual step's. Does nothing
 * without launches for an accelerator. false: scratch is exhausted. O(events log events). */
bool step_pace_leave_out(struct study *study, struct arena *scratch);

#endif
