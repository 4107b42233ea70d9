/* details: what is known of an event beside its name and times, as arguments of its slice. */
#ifndef TFPROF_REPORT_TRACE_DETAILS_H
#define TFPROF_REPORT_TRACE_DETAILS_H

#include "model/profile.h"
#include "report/trace/writer.h"

struct details {
    const struct profile *profile;
    struct arena         *arena;
    struct str           *names;   /* by activity, as slices show them; made when first asked for */
    struct str           *shapes;  /* by op */
    struct str           *sources; /* by row of sources */
    size_t                stat_at[STAT_KEY_COUNT]; /* rows of stats that are behind us */
    bool                  no_ids; /* those that only join events are left out */
};

/* False: no memory. */
bool       details_begin(struct details *details, const struct profile *profile, struct arena *arena);
struct str details_name(struct details *details, uint32_t activity);
/* Events come in the order of their rows. */
void       details_add(struct details *details, uint32_t event, struct trace_slice *slice);

#endif
