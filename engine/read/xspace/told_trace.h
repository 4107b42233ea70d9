/*
 * told_trace: what the profiler of TensorFlow and JAX shows of an XSpace, put back into one: Chrome
 * traces (*.trace.json.gz, perfetto_trace.json.gz) and, of TensorFlow 2.0 and 2.1, messages "Trace"
 * (local.trace). Processes are planes, threads lines, arguments stats. Programs, device models and
 * what the profiler keeps to itself are not in them.
 */
#ifndef TFPROF_READ_TOLD_TRACE_H
#define TFPROF_READ_TOLD_TRACE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

enum told_kind { TOLD_NONE, TOLD_JSON, TOLD_MESSAGE };
enum told_kind told_trace_kind(struct str bytes); /* looks at little of it */
/* The bytes of an XSpace, in the arena. *is_cut: the trace ends early, what stands before is in it.
 * false: past the budget, or no event in it. O(events log events). */
bool told_trace_read(struct str bytes, struct arena *arena, struct str *xspace, bool *is_cut,
                     struct err *err);

#endif
