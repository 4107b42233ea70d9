/*
 * step_whole: where nothing tells steps, the whole recording counts as one: with accelerators from the
 * launch of their first work to the end of their last, less what a step does not pay.
 */
#ifndef TFPROF_ANALYZE_STEP_WHOLE_H
#define TFPROF_ANALYZE_STEP_WHOLE_H

#include "analyze/study.h"

/* A step a host. What the host did before the accelerator's first work is left out, but for the op that
 * launched it; so is a wait for work from before the recording. Calls of start-up are kept in
 * study->start_up. false: an arena is exhausted. O(events log events). */
bool steps_whole_trace(struct study *study, struct arena *scratch);
/* One or two marked steps, or runs of a session, have nothing to be compared with: calls of start-up that take a good part of them are kept in
 * study->start_up as well. false: an arena is exhausted. */
bool steps_few_marked(struct study *study, struct arena *scratch);

#endif
