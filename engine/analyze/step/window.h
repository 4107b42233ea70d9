/*
 * window: the time that per-step numbers are taken over: the used steps of the reference host, as
 * sorted ranges that do not overlap. Without any, the whole capture counts as one step.
 */
#ifndef TFPROF_ANALYZE_WINDOW_H
#define TFPROF_ANALYZE_WINDOW_H

#include "analyze/study.h"
#include "model/interval.h"

struct windows {
    struct interval *items;
    size_t           count;    /* at least 1 */
    int64_t          total_ns; /* their sum; at least 1 */
    double           step_ns;  /* what a step takes (steps_ns), or the mean of the windows */
    uint32_t         host;     /* the reference host */
};

/* false: scratch is exhausted. */
bool windows_make(const struct study *study, struct arena *scratch, struct windows *windows);
/* The same windows where calls of the host are looked for: a host that runs ahead of its
 * accelerators makes those of a step before the step's work begins. Sums are those of the steps;
 * in number and order the windows are those that windows_make gives. */
bool windows_make_called(const struct study *study, struct arena *scratch, struct windows *windows);
/* The window that holds `time_ns`, or SIZE_MAX. O(log count). */
size_t windows_find(const struct windows *windows, int64_t time_ns);
/* Nanoseconds of [start, end) inside windows. */
int64_t windows_overlap_ns(const struct windows *windows, int64_t start_ns, int64_t end_ns);
/* Which rows of profile->recorded_steps are used, for formats whose times come by step; *count
 * becomes how many steps they make, of which each may be several rows (at least 1). NULL: scratch
 * is exhausted. */
bool *windows_recorded(const struct study *study, struct arena *scratch, size_t *count);

#endif
