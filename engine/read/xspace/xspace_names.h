/*
 * xspace_names: what an XSpace event is, from its name, its line and the stats it carries; and in
 * which column a stat is kept.
 */
#ifndef TFPROF_READ_XSPACE_NAMES_H
#define TFPROF_READ_XSPACE_NAMES_H

#include "model/profile.h"

/* Stats that decide what an event is. */
enum {
    SEEN_HLO_OP = 1,
    SEEN_STEP_NUMBER = 2,
    SEEN_ROOT = 4,
    SEEN_CORRELATION = 8,
    SEEN_KERNEL = 16,
    SEEN_MEMCPY = 32,
    SEEN_MEMALLOC = 64,
    SEEN_STAGE = 128,
    SEEN_FUNCTION_CALL = 256,
};

/* Lines whose events have one meaning. */
enum xline_class {
    XLINE_CLASS_HOST,
    XLINE_CLASS_DEVICE,
    XLINE_CLASS_MODULES,
    XLINE_CLASS_STEPS,
    XLINE_CLASS_OTHER,
    XLINE_CLASS_COUNT
};

struct xname {
    enum activity_kind  kind;
    enum copy_direction copy;
    struct str          op_name, op_type; /* of framework ops; empty otherwise */
    struct str          file, function;   /* of Python frames "$file.py:12 function" */
    uint32_t            line;
};
struct xname xspace_name(struct str name, unsigned seen, enum xline_class line_class);

/* Of a copy, or of a call that copies: "MemcpyH2D", "hipMemcpyDtoHAsync"; COPY_NONE: not told. */
enum copy_direction xspace_copy_direction(struct str name);

/* Stats that are resolved while merging and have no column of their own. */
enum {
    EXTRA_HLO_OP = STAT_KEY_COUNT,
    EXTRA_TF_OP,
    EXTRA_SHAPE,
    EXTRA_DETAILS,
    EXTRA_ID,
    EXTRA_NAME,
    EXTRA_KERNEL,
    EXTRA_ALLOCATOR,
    EXTRA_ORDINAL,
    EXTRA_ALLOCATED,
    EXTRA_RESERVED,
    EXTRA_AVAILABLE,
    EXTRA_PEAK,
    EXTRA_FRAGMENTATION,
    EXTRA_ALLOCATION_BYTES,
    EXTRA_ADDRESS,
    EXTRA_REQUESTED,
    EXTRA_DATA_TYPE,
    EXTRA_REGION,
    EXTRA_COUNT,
    EXTRA_NONE = EXTRA_COUNT
};
/* What to do with the stat of this name: a column (enum stat_key), an EXTRA_…, or EXTRA_NONE.
 * *seen gets the bits it sets; *is_known tells a stat passed over on purpose from a new one. */
unsigned xspace_stat(struct str name, unsigned *seen, bool *is_known);
/* Known to mean nothing that an analysis could use; those that the table of stats has not. */
bool     xspace_stat_is_name(unsigned key); /* its column holds interned names */

#endif
