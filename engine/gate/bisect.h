/*
 * bisect: which of many revisions in a row is the first that measures like the last one? Each run of a revision makes
 * some of them likelier (probabilistic bisection: Burnashev and Zigangirov, 1974): a run is as likely as Student's t of
 * the runs at the end that the revision would then belong to.
 */
#ifndef TFPROF_GATE_BISECT_H
#define TFPROF_GATE_BISECT_H

#include "gate/gate.h"

struct bisect_run {
    size_t revision;
    double value;
};
struct bisect {
    size_t last; /* revisions are 0, which is good, to this one, which is bad; at least 1 */
    VEC(struct bisect_run) runs;
    bool   *is_skipped; /* by revision: cannot be measured */
    double *chance;     /* by revision, that it is the first bad one; sums to 1; of 0 it is 0 */
    double  good, bad;  /* means of the runs at both ends */
    double  spread;     /* standard deviation of a run, from both ends, at least 1 % of the good mean */
};

/* false: memory. */
bool bisect_start(struct bisect *bisect, size_t last, struct arena *arena);
bool bisect_add(struct bisect *bisect, size_t revision, double value, struct arena *arena);
/* How many runs a revision has. */
size_t bisect_runs(const struct bisect *bisect, size_t revision);
double bisect_mean(const struct bisect *bisect, size_t revision); /* of its runs; 0 without one */
/* The ends lie four spreads apart, or as far as several runs of each make sure of. */
bool bisect_can_tell(const struct bisect *bisect);
/* Takes what was measured into account; call before the next three. */
void bisect_settle(struct bisect *bisect);
/* The revision whose run halves what is likely best; 0: no run between the ends tells more. */
size_t bisect_next(const struct bisect *bisect);
/* The likeliest; *first and *last are the shortest row around it that has `confidence` together. */
size_t bisect_found(const struct bisect *bisect, double confidence, size_t *first, size_t *last);

struct revision {
    const char *id, *title;
};
struct bisection { /* what came of it, for reports */
    struct bisect          bisect;
    const struct revision *revisions;
    const char            *metric;
    enum unit              unit;
    size_t                 found, first, last; /* see bisect_found */
    double                 confidence;         /* that was asked for */
    bool                   is_found;           /* one revision has it */
    const char            *why;                /* it is not; "" otherwise */
    size_t                 before, after;      /* nearest to it that were measured: they are compared */
    struct gate_result    *compared;           /* NULL: not comparable */
};

#endif
