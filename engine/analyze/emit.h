/* emit: short forms for analyses that fill tables and set facts. */
#ifndef TFPROF_ANALYZE_EMIT_H
#define TFPROF_ANALYZE_EMIT_H

#include "analyze/study.h"
#include "base/err.h"

/* Sets a cell; NO_ID and id 0 of names leave it unknown. */
void emit_name(struct table *table, int column, size_t row, uint32_t name);
void emit_number(struct table *table, int column, size_t row, double value);
/* File and line of a row of profile->sources, in `column` and the one behind it; nothing where it is
 * no row. */
void emit_source(const struct profile *profile, struct table *table, int column, size_t row,
                 uint32_t source);
/* Interned names of "a/b/c": "a/b", or 0 without a slash. */
uint32_t emit_scope(struct study *study, uint32_t name);
/* "[32,128]x[128,64]->[32,64]", interned; 0 when no shape is known, NO_ID past the budget. */
uint32_t emit_shapes(struct study *study, const struct op *op);
/* Fills err for an analysis that ran out of memory; returns false. */
bool emit_limit(const char *what, struct err *err);

/* What would show the other ranks of the job: "the other ranks' files". NULL: it has one rank, by its
 * own words or because it calls no collective. */
const char *emit_other_ranks(const struct study *study);

/* "4 devices". */
uint32_t emit_devices(struct study *study, uint32_t count);

#endif
