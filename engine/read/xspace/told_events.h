/* told_events: events of a trace on their way into an XSpace (told_trace.c reads them, told_write.c
 * writes them). Names are interned; texts may lie in the trace. */
#ifndef TFPROF_READ_TOLD_EVENTS_H
#define TFPROF_READ_TOLD_EVENTS_H

#include "base/intern.h"
#include "base/text.h"
#include "base/vec.h"

struct told_stat {
    uint32_t   key;   /* name */
    struct str value; /* as written: a number where it is one */
};
struct told_event {
    int64_t  process, thread, start_ps, ps;
    uint32_t name, long_name; /* long_name: NO_ID where it is the same */
    uint32_t first_stat, stat_count;
};
struct told_name { /* of a process, or of a thread of it */
    int64_t    process, thread;
    bool       is_process;
    struct str name;
    size_t     row; /* in the trace: of several names the first counts; told_write sets it */
};
struct told {
    struct arena *arena;
    struct intern names;
    VEC(struct told_event) events;
    VEC(struct told_stat) stats;
    VEC(struct told_name) labels;
    bool is_full, is_cut;
};

/* Sorts the events and adds the message to `out`; what does not fit sets is_full. */
void told_write(struct told *told, struct text *out);

#endif
