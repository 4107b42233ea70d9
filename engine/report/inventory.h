/*
 * inventory: counts of what a profile holds and of what each analysis made of it; the common ground
 * of `tfprof info` in all formats.
 */
#ifndef TFPROF_REPORT_INVENTORY_H
#define TFPROF_REPORT_INVENTORY_H

#include "analyze/analysis.h"
#include "model/profile.h"

struct inventory_row {
    const char *key;   /* JSON's name */
    const char *title; /* for people, plural */
    uint64_t    count;
};
enum { INVENTORY_ROWS = 16 };
/* Fills at most INVENTORY_ROWS rows, empty ones left out; returns how many. */
size_t inventory_counts(const struct profile *profile, struct inventory_row *rows);
/* Events of each activity kind. */
void inventory_kinds(const struct profile *profile, uint64_t counts[ACTIVITY_KIND_COUNT]);

/* Rows of profile->unknowns, most first; NULL past the budget. */
const struct unknown **inventory_unknowns(const struct profile *profile, struct arena *arena);

/* How many of an analysis' facts and tables this profile has. */
struct yield {
    uint32_t found, of;
};
struct yield inventory_yield(const struct study *study, const struct analysis *analysis);

struct missing { /* facts or tables of an analysis that one absence explains */
    const char *name, *reason;
    const char *capture; /* or NULL */
};
/* Iterates over what an analysis could not find, each absence once; *cursor starts at 0. */
bool inventory_missing(const struct study *study, const struct analysis *analysis, size_t *cursor,
                       struct missing *missing);

#endif
