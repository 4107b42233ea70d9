/*
 * library_calls: calls of a library around a program that it starts, as flax's nnx.jit and
 * equinox's filter_jit are: they take a model apart before, put it together behind, and may wait
 * for the program. Where Python was recorded; else there are none.
 */
#ifndef TFPROF_ANALYZE_LIBRARY_CALLS_H
#define TFPROF_ANALYZE_LIBRARY_CALLS_H

#include "analyze/step/runs.h"
#include "analyze/study.h"

/* Of the looked-at steps, the share with a call on the leading thread that starts a program and
 * waits for it before it returns, from 0 to 1: who calls it did not ask for that. False: out of
 * memory. O(frames x nesting depth). */
bool library_waits_share(const struct study *study, struct arena *scratch, double *share);

/* A step's path, in ns, that the leading thread works in calls around a long program of few runs a
 * step, beside calling it: that stays where small programs become one. `runs` are those of the
 * looked-at steps, by program. False: out of memory. O(frames x nesting depth). */
bool library_work_around(const struct study *study, const struct runs *runs, struct arena *scratch,
                         double *ns);

#endif
