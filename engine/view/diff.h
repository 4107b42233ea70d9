/*
 * diff: what became of a step between two profiles, in parts by type, scope or line. The parts sum
 * to the change of the step exactly: what ops do not account for is a part of its own.
 */
#ifndef TFPROF_VIEW_DIFF_H
#define TFPROF_VIEW_DIFF_H

#include "base/text.h"
#include "base/vec.h"
#include "model/classic.h"

enum diff_by { DIFF_BY_TYPE, DIFF_BY_SCOPE, DIFF_BY_LINE, DIFF_BY_COUNT };
struct diff_sums { /* of one side, a step */
    int64_t ns, bytes;
    double  runs;
};
struct diff_part {
    struct str       name;
    bool             is_rest; /* what no op accounts for: waiting, less what ran at once */
    struct diff_sums sides[2];
};
struct diff {
    const struct classic *classics[2];
    struct diff_sums      step[2]; /* wall time of a step; ops' time where no start was recorded */
    VEC(struct diff_part) parts[DIFF_BY_COUNT]; /* most change first */
};

/* depth: how many parts of a name make a scope. False: past the budget. */
bool diff_make(const struct classic *before, const struct classic *after, int64_t depth,
               struct arena *arena, struct diff *diff);
/* rows: parts shown of each kind; the others are one line. */
void diff_print(const struct diff *diff, int64_t rows, struct text *text);
void diff_print_json(const struct diff *diff, struct text *text);

#endif
