/* taking: what is at hand while a study becomes a summary. */
#ifndef TFPROF_RANKS_TAKING_H
#define TFPROF_RANKS_TAKING_H

#include "analyze/step/window.h"
#include "ranks/rank_summary.h"

struct taking {
    struct rank_summary *summary;
    const struct study  *study;
    struct arena        *arena; /* of the summary */
    struct arena         scratch;
    struct intern        names, detail_names;
    struct windows       windows;
    uint32_t             host;
    bool                 is_full;
};

void    taking_push(struct taking *taking, struct numbers *numbers, int64_t number);
int64_t taking_name(struct taking *taking, struct intern *names, struct str text); /* its row */
/* Facts and excerpts of tables. */
void taking_details(struct taking *taking);

#endif
