/*
 * excess: each looked-at step explained twice, by what it took and by what its work would need. The
 * difference has a place and a cause, and the two together are a cell. What is needed and all cells
 * sum to the step. This header is the room's door: the tables `work` and `excess` have the rest.
 *
 * A detector (detectors.def, one file each) knows one structure that shows waste and claims time
 * for it; the order of the list is from proof to guess, and each takes from what is left.
 */
#ifndef TFPROF_ANALYZE_EXCESS_H
#define TFPROF_ANALYZE_EXCESS_H

/* Why time is in excess. Few, and they exclude each other. */
enum excess_cause {
#define CAUSE(id, name, text) CAUSE_##id,
#include "analyze/excess/causes.def"
#undef CAUSE
    CAUSE_COUNT
};
/* What a cell's claim rests on. */
enum excess_grade {
    GRADE_STRUCTURE, /* "A": structure or identities prove it */
    GRADE_SIZES,     /* "B": shapes and times say so */
    GRADE_NAMES      /* "C": names alone, or a share of a class: an upper bound */
};
const char *excess_cause_name(enum excess_cause cause); /* "repeat" */
const char *excess_grade_name(enum excess_grade grade); /* "A" */

#endif
