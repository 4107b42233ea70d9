/*
 * trace: a recording as a timeline for viewers of traces: Perfetto's protobuf, or the JSON that
 * chrome://tracing and Perfetto read. A host and each device are a process; a thread, a stream or a line of
 * a device is a track, or several beside each other where slices do not nest. Steps, what the looked-at
 * steps spend their time on, and marks of the caller stand in a process of their own. Times count from the
 * recording's begin.
 */
#ifndef TFPROF_REPORT_TRACE_TRACE_H
#define TFPROF_REPORT_TRACE_TRACE_H

#include "analyze/study.h"
#include "base/text.h"
#include "base/vec.h"

struct trace_mark { /* a slice of the caller's own; those of a track follow each other, by start */
    const char *track;
    const char *name;
    int64_t     start_ns, end_ns;
};
struct trace_options {
    int64_t start_ns, end_ns; /* events that reach into it; INT64_MIN and INT64_MAX: all */
    VEC(struct trace_mark) marks;
};

struct trace_format;
extern const struct trace_format trace_perfetto, trace_chrome, trace_csv;

/* Adds the whole file. Flows are written where both ends are. Returns how many slices were left out because
 * more than 64 overlap without nesting. O(events log flows). A text that is cut: memory ran out. */
uint64_t trace_write(const struct trace_format *format, const struct study *study,
                     const struct trace_options *options, struct text *text);

#endif
