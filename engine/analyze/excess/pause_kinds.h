/*
 * pause_kinds: which long pauses come again. On a machine that others use too the thread is put
 * aside now and then, for milliseconds, between any two ops. What the program does itself comes
 * again between the same two ops, at the same place where there are many such.
 */
#ifndef TFPROF_ANALYZE_PAUSE_KINDS_H
#define TFPROF_ANALYZE_PAUSE_KINDS_H

#include "analyze/excess/ledger.h"

enum pause_kind {
    PAUSE_CHANCE,  /* longer than others of its kind, and no other is as long */
    PAUSE_UNKNOWN, /* the same in a single step: neither frames of Python nor values tell */
    PAUSE_AGAIN,   /* one as long comes again between ops of the same two types */
    PAUSE_LOOP /* many a step where values go between Python and tensors, most not much shorter */
};
/* The kind of each unit that is a pause between two ops. NULL: out of memory. */
uint8_t *pause_kinds_find(struct ledger *ledger, double long_ns);

/* Between Python and tensors: the op before it reads numbers, or the one behind it makes a tensor of
 * them. */
bool pause_carries_values(const struct ledger *ledger, uint32_t unit);

#endif
