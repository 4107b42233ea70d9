/*
 * step_ahead: markers of a host that runs ahead of its program, so that they tell how long
 * enqueuing took. What the program's runs took are the steps then.
 */
#ifndef TFPROF_ANALYZE_STEP_AHEAD_H
#define TFPROF_ANALYZE_STEP_AHEAD_H

#include "analyze/step/step_markers.h"

/* Whether markers mostly follow each other faster than the program runs, and leave its work behind
 * when they end; the host may stop now and then until there is room for more. Markers that end with
 * their work are none of these, though some of them wait long for something else. O(runs log runs).
 */
bool markers_only_enqueue(const struct markers *markers, const struct markers *program,
                          struct arena *scratch);
/* Gives runs the numbers of the markers that enqueued them, where each has one of its host. What a
 * marker holds behind its run, as a checkpoint that is waited for, is part of the step, and so is
 * what the next one, begun before the run is done, holds before its own, as compiling again. */
void markers_name_runs(const struct markers *markers, struct markers *program);
/* Runs of a host that ran ahead wait for what is still copied to them when the run before them
 * ends: that is part of the step, however long it takes. */
void markers_await_transfers(const struct profile *profile, struct markers *markers);

#endif
