/* step_find: where steps begin and end, by the best source that a recording has. */
#ifndef TFPROF_ANALYZE_STEP_FIND_H
#define TFPROF_ANALYZE_STEP_FIND_H

#include "analyze/study.h"

/* Fills list, source, marker_name, meaning and pause_ns of study->steps: by markers, runs of a
 * session, batches, updates, programs or ops that come again, else the whole recording as one.
 * false: an arena is exhausted. O(events log events). */
bool steps_find(struct study *study, struct arena *scratch);

#endif
