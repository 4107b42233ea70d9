/*
 * slices: the events of all timelines in a span of time, as columns for the page: tracks with rows
 * of nesting depth, names by falling count, starts as distances, all as varints, deflated, in
 * base64.
 */
#ifndef TFPROF_REPORT_PAGE_SLICES_H
#define TFPROF_REPORT_PAGE_SLICES_H

#include "base/json_writer.h"
#include "report/page/slice_index.h"

struct slice_set; /* lives in the arena it was made in */
struct slice_span {
    int64_t from_ns, to_ns; /* what overlaps it is in; to_ns is not */
};
static const struct slice_span WHOLE_SPAN = { INT64_MIN, INT64_MAX };

/* At most `most` slices, the longest ones of the span; neighbours of the others in a row become
 * one. Tracks and rows are those of the whole recording. NULL: memory ran out. O(events + slices
 * log slices). */
struct slice_set *slices_make(const struct slice_index *index, struct slice_span span, size_t most,
                              struct arena *arena);
/* Nothing is on any timeline. */
bool slices_are_empty(const struct slice_set *set);
/* What the script needs to read the block: the value of the key "slices". */
void slices_about(struct json_writer *json, const struct slice_set *set);
/* The block. False: memory ran out. */
bool slices_pack(const struct slice_set *set, struct text *text);

#endif
