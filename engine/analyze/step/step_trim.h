/*
 * step_trim: ends of marked steps that are not the program's: a last step that the recording ends in the
 * middle of, or at whose end the program leaves its loop; and work of the last step that ends behind its mark.
 */
#ifndef TFPROF_ANALYZE_STEP_TRIM_H
#define TFPROF_ANALYZE_STEP_TRIM_H

#include "analyze/study.h"

/* Of each host:
 *   - a step without any work of its accelerators beside steps with it is left out
 *   - a single step ends with the work launched in it
 *   - the last of several ends behind its last op and kernel as soon as the others do
 * false: scratch is exhausted. O(steps + events log steps). */
bool steps_trim(struct study *study, struct arena *scratch);

#endif
