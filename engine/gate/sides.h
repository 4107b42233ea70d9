/* sides: the step times of the two things compared, as tests of time want them. */
#ifndef TFPROF_GATE_SIDES_H
#define TFPROF_GATE_SIDES_H

#include "gate/judge.h"
#include "gate/statistics.h"

enum {
    FEWEST_STEPS = 5,      /* that times alone can tell something from */
    MANN_WHITNEY_RUNS = 4, /* that tell how runs differ */
    MOST_STEPS = 1000      /* of a test that looks at all pairs */
};
static const double ALPHA = 0.03,  /* of runs; two-sided: half of it is the chance that equal
                                    * programs look slower, and four runs a side that overlap
                                    * nowhere are still below it */
    STEP_ALPHA = 0.01;             /* of steps */

struct side {
    struct observations observed; /* without outliers */
    double              step_ns;  /* the median of all steps */
    size_t              step_count;
};

/* False: scratch is exhausted. */
bool side_start(struct side *side, const struct summary *summary, struct arena *scratch);
/* Medians of runs that have steps, in `medians`; how many there are. */
size_t side_run_medians(const struct side *side, double *medians, struct arena *scratch);
/* Steps of all runs, MOST_STEPS of them evenly spaced; NULL: scratch is exhausted. */
double *side_pooled(const struct side *side, struct arena *scratch, size_t *count);

/* settle.c: what to record so that the next comparison can tell, as a sentence. */
const char *what_settles(struct judging *judging, const struct side *before,
                         const struct side *after);

/* Whether the steps of one side are all more than `factor` times as long as any of the other, and
 * that is no chance: p of Student's test, with pooled variance, of their logarithms. */
struct distance {
    bool   is_slower, is_faster;
    double p_value;
};
struct distance side_distance(const struct side *before, const struct side *after, double factor,
                              struct arena *scratch);

/* few_steps.c: a count that a step of one side has clearly more of; NULL: none. */
const struct check *grown_count(const struct gate_result *result, bool is_after);
/* few_steps.c: times of fewer than FEWEST_STEPS; adds the check. */
bool judge_few_steps(struct judging *judging, const struct side *before, const struct side *after,
                     struct check check);
/* other_work.c: times of products of other shapes; changes the check that says so. */
bool judge_other_work(struct judging *judging, const struct side *before,
                      const struct side *after);

#endif
