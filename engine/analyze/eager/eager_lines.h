/*
 * eager_lines: at which lines of the user's program the time lies that facts about an eager program
 * sum up.
 */
#ifndef TFPROF_ANALYZE_EAGER_LINES_H
#define TFPROF_ANALYZE_EAGER_LINES_H

#include "analyze/eager/eager_calls.h"

struct eager_line { /* of one fact */
    uint32_t fact;  /* row of an analysis' produces[] */
    uint32_t source;
    double   ns; /* all windows */
};
struct eager_lines {
    struct arena *arena;
    struct id_map rows; /* of the list, by fact and source */
    VEC(struct eager_line) list;
    bool is_short; /* of memory */
};

#define EAGER_LINE_COLUMNS 4
extern const struct column_spec eager_line_columns[EAGER_LINE_COLUMNS];

void eager_lines_init(struct eager_lines *lines, struct arena *arena);
/* Time that a fact counts, at a row of profile->sources; NO_ID: nothing is known of it. */
void eager_lines_add(struct eager_lines *lines, uint32_t fact, uint32_t source, double ns);
/* The lines with most time of each fact, those of a fact together, the longest first; times are a
 * step's, of the median one as those of facts are. No table where no line is known. false: out of
 * memory, here or in eager_lines_add. O(lines log lines). */
bool eager_lines_emit(struct study *study, struct eager_lines *lines,
                      const struct eager_calls *calls, const struct fact_spec *facts,
                      const struct table_spec *table);

#endif
