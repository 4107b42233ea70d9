/*
 * unseen_waits: waits for an accelerator that no event shows. Without the tracer of Python nothing
 * is recorded of a function that blocks until a result is there: the leading thread then does
 * nothing for a while and goes on as soon as the device has done its work.
 */
#ifndef TFPROF_ANALYZE_UNSEEN_WAITS_H
#define TFPROF_ANALYZE_UNSEEN_WAITS_H

#include "analyze/study.h"

/* `line`: of the leading thread. None without an accelerator. O(leaves log gaps). */
struct unseen_waits unseen_waits_find(const struct study *study, const struct path_line *line);

#endif
