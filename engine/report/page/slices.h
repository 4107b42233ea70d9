/*
 * slices: the events of all timelines as columns for the page: tracks with rows of nesting depth,
 * names by falling count, starts as distances, all as varints, deflated, in base64.
 */
#ifndef TFPROF_REPORT_PAGE_SLICES_H
#define TFPROF_REPORT_PAGE_SLICES_H

#include "base/json_writer.h"
#include "model/profile.h"

struct slice_set; /* lives in the arena it was made in */

/* At most `most` slices, the longest ones; neighbours of the others in a row become one.
 * NULL: memory ran out. O(events + most log most). */
struct slice_set *slices_make(const struct profile *profile, size_t most, struct arena *arena);
/* Nothing is on any timeline. */
bool slices_are_empty(const struct slice_set *set);
/* What the script needs to read the block: the value of the key "slices". */
void slices_about(struct json_writer *json, const struct slice_set *set);
/* The block. False: memory ran out. */
bool slices_pack(const struct slice_set *set, struct text *text);

#endif
