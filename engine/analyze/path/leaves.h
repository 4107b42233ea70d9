/*
 * leaves: timelines flattened inside windows: at each moment the innermost open event, with its
 * ancestors as frames. Times outside the windows are dropped, so the result grows with the windows
 * and not with the trace.
 */
#ifndef TFPROF_ANALYZE_LEAVES_H
#define TFPROF_ANALYZE_LEAVES_H

#include "analyze/path/path.h"
#include "model/interval.h"
#include "model/profile.h"

/* windows: sorted, disjoint. Frames are added to path->frames, in `arena`, leaves to line->leaves, in
 * `leaf_arena`. O(events of the timeline). false: an arena is exhausted. */
bool leaves_build(const struct profile *profile, const struct interval *windows,
                  size_t window_count, struct arena *arena, struct arena *leaf_arena,
                  struct path *path, struct path_line *line);

#endif
