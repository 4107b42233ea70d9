/*
 * coder: values to bytes and back by the same functions, so that both sides agree. What is read is
 * checked against the bytes that are there, against the bounds its reader names, and for what C
 * relies on: texts without zeros, enumerations in range. After a fault nothing more is read.
 */
#ifndef TFPROF_RULES_CODER_H
#define TFPROF_RULES_CODER_H

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct coder {
    bool          is_reading;
    struct text   out;   /* writing */
    struct str    in;    /* reading: what is left */
    struct arena *arena; /* of what is read */
    bool          is_bad;
};

enum coder_number { CODER_ANY, CODER_FINITE, CODER_FINITE_OR_NAN };

void code_int64(struct coder *coder, int64_t *value, int64_t min, int64_t max);
void code_uint32(struct coder *coder, uint32_t *value);
void code_number(struct coder *coder, double *value, enum coder_number kind);
void code_text(struct coder *coder, const char **text, bool is_needed); /* NULL too, unless needed */
/* 0 to max; enumerations are their numbers. */
unsigned code_choice(struct coder *coder, unsigned value, unsigned max);
size_t   code_count(struct coder *coder, size_t count, size_t max);
bool     coder_is_done(const struct coder *coder); /* all of it was read, without a fault */

#endif
