/*
 * diff: what became of a step between two recordings: by part of the composition, and below the
 * parts by type of op, scope and line. Whole nanoseconds: each list sums to the step of either side,
 * and so to its change, exactly; nothing is negative, and nothing is left over.
 */
#ifndef TFPROF_ANALYZE_DIFF_H
#define TFPROF_ANALYZE_DIFF_H

#include "analyze/diff/charges.h"
#include "base/err.h"

struct diff_sums { /* of one side, a step */
    int64_t ns;    /* on the path of the step */
    int64_t bytes; /* asked for by its ops */
    double  runs;  /* of its ops */
};
struct diff_row {
    enum part        part;
    struct str       name;
    struct diff_sums sides[2];
};
struct diff {
    const struct study *studies[2];
    int64_t             step_ns[2]; /* the step that advice is about, or a batch of it */
    double              batches[2]; /* that a step works through; 0: not known */
    bool                is_per_batch; /* one side's step has many more: all is of a batch */
    int64_t             part_ns[PART_COUNT][2];
    /* The path of both was recorded; else rows hold the own time of ops, whatever ran beside them,
     * and sum to nothing. */
    bool has_paths;
    VEC(struct diff_row) rows[CHARGE_BY_COUNT]; /* most change first */
};

/* depth: how many parts of a name make a scope. false: a side has no step, or the arena is
 * exhausted. */
bool diff_make(struct diff *diff, const struct study *before, const struct study *after,
               int64_t depth, struct arena *arena, struct err *err);
/* Whether steps that work through so many batches compare by the batch; 0 is not known. */
bool diff_is_per_batch(double before, double after);
/* Whether some line was recorded. */
bool diff_has_lines(const struct diff *diff);

#endif
