/* rest: what a recording holds beside events on timelines: memory in use and counters over time, and, of
 * formats without timelines, the runs of ops. */
#ifndef TFPROF_REPORT_TRACE_REST_H
#define TFPROF_REPORT_TRACE_REST_H

#include "model/profile.h"
#include "report/trace/trace.h"
#include "report/trace/writer.h"

struct trace_rest {
    struct trace_writer        *writer;
    const struct profile       *profile;
    const struct trace_options *options;
    struct arena               *arena;
    int64_t                     base_ns; /* becomes 0 */
    uint64_t                   *next_id;
    uint64_t                    left_out;
};

/* Both false: no memory. */
bool rest_counters(struct trace_rest *rest);
bool rest_runs(struct trace_rest *rest);

#endif
