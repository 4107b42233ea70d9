/*
 * xspace_names: what an XSpace event is, from its name and the stats it carries; which stats are kept.
 */
#ifndef TFPROF_READ_XSPACE_NAMES_H
#define TFPROF_READ_XSPACE_NAMES_H

#include "model/profile.h"

/* Stats that decide what an event is; bits of struct xevent_type's seen. */
enum {
    SEEN_HLO_OP = 1, SEEN_STEP_NUMBER = 2, SEEN_ROOT = 4, SEEN_CORRELATION = 8,
    SEEN_KERNEL = 16, SEEN_MEMCPY = 32, SEEN_MEMALLOC = 64,
};

struct xname {
    enum activity_kind  kind;
    enum copy_direction copy;
    struct str          op_name, op_type; /* of framework ops; empty otherwise */
    struct str          file, function;   /* of Python frames "$file.py:12 function" */
    uint32_t            line;
};
/* on_device: an event of an accelerator's plane. */
struct xname xspace_name(struct str name, unsigned seen, bool on_device);

/* The column that a stat of this name is kept in; STAT_KEY_COUNT: not kept. *seen gets bits. */
enum stat_key xspace_stat(struct str name, unsigned *seen);

#endif
