/* lanes: the slices of one line of a recording on tracks where they nest: recorders let some end behind the
 * one that they began in, and those stand on a track beside it. */
#ifndef TFPROF_REPORT_TRACE_LANES_H
#define TFPROF_REPORT_TRACE_LANES_H

#include "report/trace/writer.h"

#include "base/vec.h"

struct lane {
    struct trace_track track;
    VEC(int64_t) open; /* ends of slices that have not been closed, the outer one first */
};
enum { MOST_LANES = 64 };
struct lanes {
    struct trace_writer *writer;
    struct arena        *arena;
    struct trace_track   first;   /* how the tracks are to be; others beside it get " (2)" … */
    uint64_t            *next_id;
    struct lane          list[MOST_LANES];
    size_t               count;
    uint64_t             left_out; /* slices without a lane, or for want of memory */
};

/* Slices come by their starts, the longest first. Its track is filled here. */
void lanes_add(struct lanes *lanes, struct trace_slice *slice);
/* Closes what is open. */
void lanes_end(struct lanes *lanes);

#endif
