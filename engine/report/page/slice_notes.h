/* slice_notes: what was recorded with slices of the page beside their names, and which of them set
 * off which. */
#ifndef TFPROF_REPORT_PAGE_SLICE_NOTES_H
#define TFPROF_REPORT_PAGE_SLICE_NOTES_H

#include "base/intern.h"
#include "base/text.h"
#include "base/vec.h"
#include "model/profile.h"

struct slice_link {
    uint32_t from, to; /* slices */
};
struct slice_notes {
    struct intern texts;
    uint32_t      text_count; /* without the empty one */
    uint32_t     *text_of;    /* by slice: id of texts, 0 for none */
    size_t        slice_count;
    VEC(struct slice_link) links; /* by from, then to */
};

/* events: by slice, NO_ID for one of several events. Texts of more than 400 kB in all are not kept,
 * those of the first events are. False: memory ran out. O(slices log slices + flows log slices). */
bool slice_notes_make(struct slice_notes *notes, const struct profile *profile,
                      const uint32_t *events, size_t count, struct arena *arena);
/* Columns of the page's block (docs/report.md). */
void slice_notes_pack(const struct slice_notes *notes, struct text *bytes);

#endif
