/* chain: from a moment of a schedule back along what let each node start. */
#ifndef TFPROF_ANALYZE_CHAIN_H
#define TFPROF_ANALYZE_CHAIN_H

#include "analyze/schedule/event_schedule.h"

struct chain {
    const struct schedule *schedule;
    int64_t                at_ns; /* how far back it has come */
    uint32_t               row;   /* node */
    uint8_t                stage;
    /* The stretch that ends where the one before began: how long, what it is, and when that was
     * recorded. */
    int64_t   ns, recorded_from_ns, recorded_to_ns;
    enum part part;
    bool      is_work; /* what a node did, no waiting before it */
    uint32_t  line;    /* of the node it is, or leads to */
};

struct chain chain_from(const struct schedule *schedule, uint32_t row, int64_t at_ns);
/* The next stretch, cut at `until_ns`; of no length, where a node or its way takes no time. false:
 * nothing is known before. */
bool chain_step(struct chain *chain, int64_t until_ns);

#endif
