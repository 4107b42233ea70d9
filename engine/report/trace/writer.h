/* writer: what a format of traces is told, in an order that all of them can write as it comes. */
#ifndef TFPROF_REPORT_TRACE_WRITER_H
#define TFPROF_REPORT_TRACE_WRITER_H

#include "base/intern.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

struct trace_track {
    uint64_t   id, process; /* ids count over processes and tracks together, from 1 */
    struct str name;
    int32_t    rank;     /* of the tracks of a process, the lowest first */
    bool       is_bytes; /* of a counter: what it counts */
};
enum argument_kind { ARGUMENT_INTEGER, ARGUMENT_NUMBER, ARGUMENT_TEXT };
struct trace_argument {
    const char        *name;
    enum argument_kind kind;
    int64_t            integer;
    double             number; /* finite */
    struct str         text;
};
enum { TRACE_ARGUMENTS = 24 };
struct trace_slice {
    const struct trace_track *track;
    int64_t        start_ns, duration_ns; /* from the recording's begin */
    struct str     name;
    const char    *category;
    const uint64_t *flows_from, *flows_to; /* ids of flows that begin and end here */
    size_t          flows_from_count, flows_to_count;
    struct trace_argument arguments[TRACE_ARGUMENTS];
    size_t                argument_count;
};

struct trace_writer {
    const struct trace_format *format;
    struct text               *text;
    struct arena              *scratch;
    struct intern              names, categories, argument_names; /* those written already */
    struct id_map  processes; /* their names, for formats whose rows repeat them */
    uint64_t                   count; /* of what was written */
};

/* Slices of a track come in the order of their begins, the outer one first; each is closed before what does
 * not lie in it begins. */
struct trace_format {
    const char *name;
    void (*begin)(struct trace_writer *writer);
    void (*process)(struct trace_writer *writer, uint64_t id, struct str name, int32_t rank);
    void (*track)(struct trace_writer *writer, const struct trace_track *track);
    void (*counter_track)(struct trace_writer *writer, const struct trace_track *track);
    void (*slice)(struct trace_writer *writer, const struct trace_slice *slice);
    void (*slice_end)(struct trace_writer *writer, const struct trace_track *track, int64_t time_ns);
    void (*counter)(struct trace_writer *writer, const struct trace_track *track, int64_t time_ns,
                    double value);
    void (*end)(struct trace_writer *writer);
};

#endif
