/*
 * gzip: inflates gzip data piece by piece, several members in a row. isa-l where built in
 * (TFPROF_ISAL), zlib otherwise. What was inflated before a damaged byte is kept.
 */
#ifndef TFPROF_BASE_GZIP_H
#define TFPROF_BASE_GZIP_H

#include "base/macros.h"
#include "base/str.h"
#include "base/text.h"

#include <stdbool.h>

struct gzip; /* owned by the caller, freed by gzip_free */

bool         gzip_is_magic(struct str bytes); /* do they start like gzip data? */
struct gzip *gzip_new(void) MUST_USE;         /* NULL: no memory */
void         gzip_free(struct gzip *gzip);    /* accepts NULL */
/* Inflates from *input (cutting off what was used) into `out`; returns the bytes written. Fewer
 * than `room` means that all input is used up or the data are damaged. */
size_t gzip_inflate(struct gzip *gzip, struct str *input, char *out, size_t room);
/* What is wrong with the data so far, or NULL. `is_end`: no more input will come. */
const char *gzip_damage(struct gzip *gzip, bool is_end);
/* Adds the bytes as gzip data, not compressed. */
void gzip_store(struct str bytes, struct text *packed);
/* Adds the bytes as raw deflate data, without gzip's head and sums. False: no memory, or 4 GB and
 * more. */
bool gzip_deflate(struct str bytes, struct text *packed);
/* The same as whole gzip data. */
bool gzip_pack(struct str bytes, struct text *packed);

#endif
