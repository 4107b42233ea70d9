/*
 * xspace_meta: what an event's metadata tell of an instruction that a device line names: its
 * program, category, origin in the user's program, and its text, from which shapes and types come.
 */
#ifndef TFPROF_READ_XSPACE_META_H
#define TFPROF_READ_XSPACE_META_H

#include "model/profile.h"
#include "read/xspace/xplane.h"

struct xspace_meta {
    struct str category, origin, source, text; /* empty: not told */
    uint64_t   program;
    bool       has_program;
    int64_t    flops, bytes;  /* -1 not told */
    int64_t    on_chip_bytes; /* of bytes, those of memories inside of the chip */
};

struct xspace_meta xspace_meta_read(const struct xplane *plane, const struct xevent_type *type);
/* Fills what the op lacks; what the compiler counted goes before what shapes give. false: the
 * budget. */
bool xspace_meta_fill(const struct xspace_meta *meta, struct profile *profile, uint32_t op);
/* "jit_f(12)": the program's name and number; false: it is none. */
bool xspace_program(struct str name, struct str *module, uint64_t *number);

#endif
