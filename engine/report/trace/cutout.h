/* cutout: which part of a recording shows something, and where in it that is. */
#ifndef TFPROF_REPORT_TRACE_CUTOUT_H
#define TFPROF_REPORT_TRACE_CUTOUT_H

#include "base/err.h"
#include "report/trace/trace.h"

struct finding;
struct why;

/* From the first used step of the reference host to the last. All where none is used. */
void cutout_steps(const struct study *study, struct trace_options *options);
/* The step that an explanation is about, and in it what is explained. */
bool cutout_why(const struct study *study, const struct why *why, struct trace_options *options,
                struct arena *arena, struct err *err);
/* The step that a finding is about, else the used step nearest to the usual one, with its
 * neighbours; and in them all events of the op, the kernel or the lines that the finding names. */
bool cutout_finding(const struct study *study, const struct finding *finding,
                    struct trace_options *options, struct arena *arena, struct err *err);

enum { CUTOUT_LONGEST = 100 };
struct cutout_event {
    int64_t start_ns, duration_ns;
};
struct cutout_events {
    int64_t start_ns, end_ns;        /* of those steps */
    size_t  count;                   /* of events that begin in them and that the finding names */
    VEC(struct cutout_event) events; /* the longest of them, at most CUTOUT_LONGEST */
};
/* The same as numbers. count 0: the finding names nothing that is there. False: no memory.
 * O(activities + events of the steps). */
bool cutout_events(const struct study *study, const struct finding *finding,
                   struct cutout_events *seen, struct arena *arena);

#endif
