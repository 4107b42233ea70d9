/* edit_lines: the lines of the user's program at which the time lies that edits select. */
#ifndef TFPROF_ANALYZE_EDIT_LINES_H
#define TFPROF_ANALYZE_EDIT_LINES_H

#include "analyze/replay/replay.h"
#include "base/vec.h"

struct edit_line {
    uint32_t source; /* row of profile->sources */
    double   ns;     /* of what is selected, all looked-at steps */
};
struct edit_lines {
    VEC(struct edit_line) list; /* the line with most time first; equal ones by row */
    double selected_ns;         /* with what lies at no known line */
};

/* What an op was made by; else the innermost Python of the program's own around an event. Fills
 * `lines` in `arena`; it stays empty where there is no path. ERR_USAGE: a bad pattern. O(groups of
 * segments x edits + lines²). */
bool edit_lines_find(struct study *study, const struct edit *edits, size_t count,
                     struct arena *arena, struct edit_lines *lines, struct err *err);

#endif
