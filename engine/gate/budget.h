/*
 * budget: a limit on a number of the profile, as people write it:
 *     step_ms.p50 <= 210      launches_per_step <= 4000      input_wait_share <= 5%
 *     findings.error == 0     memory.peak_bytes <= 70GiB     mfu >= 0.38
 * A number is a fact (docs/facts.md; dots and underscores are the same, and _ms may stand for _ns),
 * a statistic of the step, an exact count, or a number of findings.
 */
#ifndef TFPROF_GATE_BUDGET_H
#define TFPROF_GATE_BUDGET_H

#include "gate/summary.h"

enum comparison { AT_MOST, LESS, AT_LEAST, MORE, EQUAL };

struct budget {
    const char     *text;     /* as written */
    const char     *quantity; /* as written: "step_ms.p50" */
    enum comparison comparison;
    double          limit;    /* in `unit` */
    enum unit       unit;
    const char     *fact;     /* the fact that it is, or NULL */
};

/* ERR_USAGE with the nearest name for an unknown quantity, and for what cannot be read. */
bool budget_parse(const char *text, struct arena *arena, struct budget *budget, struct err *err);
/* The quantity alone: "step_ms.p50", for budget_value. */
bool budget_quantity(const char *name, struct arena *arena, struct budget *budget, struct err *err);
/* false: this profile does not have it. */
bool        budget_value(const struct budget *budget, const struct summary *summary,
                         struct arena *scratch, double *value);
bool        budget_holds(const struct budget *budget, double value);
const char *comparison_sign(enum comparison comparison); /* "<=" */

#endif
