/*
 * pause_kinds: which long pauses come again. On a machine that others use too the thread is put
 * aside now and then, for milliseconds, between any two ops. What the program does itself comes
 * again between the same two ops.
 */
#ifndef TFPROF_ANALYZE_PAUSE_KINDS_H
#define TFPROF_ANALYZE_PAUSE_KINDS_H

#include "analyze/excess/ledger.h"

/* For each unit that is a pause between two ops: does one as long come again between ops of the
 * same two types? NULL: out of memory. */
bool *pause_kinds_recur(struct ledger *ledger, double long_ns);

#endif
