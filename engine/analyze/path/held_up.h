/*
 * held_up: calls of the leading thread that get work under way, and took many times as long as such
 * a call usually does while a program ran that was started before: they waited for it, as a full
 * queue makes them, which has nothing to do with how many calls there are.
 */
#ifndef TFPROF_ANALYZE_HELD_UP_H
#define TFPROF_ANALYZE_HELD_UP_H

#include "analyze/step/runs.h"
#include "analyze/study.h"

/* Of a step as long as steps_ns says, the path's part in such calls themselves, ns, beyond what
 * each usually takes. False: out of memory. `runs` are those of the looked-at steps. O(n log n) of
 * the calls and the runs, and the path's segments. */
bool held_up_find(const struct study *study, const struct runs *runs, struct arena *scratch,
                  double *ns);

#endif
