/*
 * gate: may this change land? Budgets on numbers of the profile, and comparison with a baseline:
 * exact counts first, then the step time where it is significant and large enough, and what
 * explains the difference. The result is plain data for renderers.
 */
#ifndef TFPROF_GATE_GATE_H
#define TFPROF_GATE_GATE_H

#include "base/option.h"
#include "gate/summary.h"

enum outcome { OUTCOME_PASS, OUTCOME_WARN, OUTCOME_INCONCLUSIVE, OUTCOME_FAIL };
const char *outcome_name(enum outcome outcome); /* "pass" */

/* In the order of reports: what a failed one costs comes before what it counts. */
enum check_kind {
    CHECK_RECORDING,
    CHECK_RULES,
    CHECK_COMPARABLE,
    CHECK_TIME,
    CHECK_COUNT,
    CHECK_FINDING,
    CHECK_BUDGET
};
const char *check_kind_name(enum check_kind kind); /* "count" */

struct check { /* one assertion and how it ended */
    const char     *id;    /* "count/launches", "budget/step_ms.p50": stable */
    const char     *rule;  /* of a diff rule: "step-regressed"; "budget", "finding" */
    enum check_kind kind;
    enum outcome    outcome;
    const char     *title;  /* one sentence with the numbers, no full stop */
    const char     *detail; /* how it was judged, or why not; "" none */
    const char     *file;   /* of the user's program; "" unknown */
    uint32_t        line;
    bool            has_before, has_after;
    bool            is_varying; /* a count that is not the same in each step */
    bool            is_free; /* a count that costs no more than the time that the step takes */
    double          before, after; /* in `unit` */
    enum unit       unit;
    char            fingerprint[17];
};
struct part_change { /* rows sum to the change of the step */
    enum part part;
    double    before_ns, after_ns;
};
struct change { /* an op, kernel or call site that is not as it was */
    const char   *rule; /* diff rule, or NULL: only its time changed */
    const char   *title, *remedy; /* remedy "" without a rule */
    const char   *noun; /* "kernel" */
    const char   *name, *group, *file;
    uint32_t      line;
    enum severity severity;
    enum { CHANGE_MORE, CHANGE_LESS, CHANGE_NEW, CHANGE_GONE } how;
    double        before_ns, after_ns, before_count, after_count; /* a step */
    char          fingerprint[17];
};
struct piece { /* of the step's change: something on its path, and what it replaced */
    const char *title; /* "MatMul float32 -> MatMul float64", "new: aten::index" */
    const char *was, *is, *file; /* names; NULL: new, or gone */
    uint32_t    line;
    double      before_ns, after_ns, before_count, after_count; /* a step */
};
struct difference { /* of hardware or work */
    const char *what, *before, *after;
    bool        is_hardware, is_fatal; /* fatal: times are not compared */
};
enum pace { PACE_UNKNOWN, PACE_SLOWER, PACE_FASTER };
struct gate_result {
    enum outcome outcome;
    const char  *headline; /* one sentence: what came out, and of what first */
    const char  *profile, *baseline; /* names; baseline NULL: budgets alone */
    size_t       runs_before, runs_after, steps_before, steps_after;
    bool         has_step;
    double       before_ns, after_ns; /* the step, or a batch of it */
    bool         is_per_batch; /* what follows is of a batch: one side's step has many more */
    double       batches_before, batches_after; /* a step, where is_per_batch */
    double       change; /* share */
    double       change_low, change_high; /* holds 95 %, with fewer than four runs a side 99 %;
                                           * NaN: unknown */
    double       p_value; /* NaN: not from runs */
    enum pace    pace; /* of the step, as far as that is sure */
    VEC(struct difference) differences;
    VEC(struct check)       checks;   /* failed first */
    VEC(struct part_change) parts;    /* largest change first; empty: not known */
    VEC(struct piece)       pieces;   /* largest change first; those that are not small */
    VEC(struct change)      changes;  /* beside them: those with a rule first, then by time */
    VEC(const struct finding *) added; /* advice that the baseline does not have */
    VEC(const struct known_finding *) fixed;
    const char *likely_cause; /* of a uniform slowdown; NULL otherwise */
    const char *command;      /* that shows more of it */
    const struct summary *before_summary, *after_summary; /* before NULL: no baseline */
};

/* Which counts that grew fail by themselves. */
enum count_policy {
    COUNTS_RECOMMENDED, /* those that cost something each, unless the step is faster all the same */
    COUNTS_STRICT,      /* all */
    COUNTS_LENIENT      /* none: they are warnings */
};
struct gate_limits {
    enum count_policy  counts;
    double             max_regression; /* share of the step; NaN: times are not gated */
    double             count_tolerance; /* share; 0: exact */
    struct option_list budgets;
    const char        *fail_on; /* severity of new findings that fail, or NULL */
    bool               accepts_damage; /* a damaged recording is a warning, else inconclusive */
};

/* baseline NULL: budgets alone. ERR_USAGE for a budget that cannot be read. */
bool gate_run(const struct summary *baseline, const struct summary *after,
              const struct gate_limits *limits, struct arena *arena, struct gate_result *result,
              struct err *err);
/* How many checks came out so. */
size_t gate_count(const struct gate_result *result, enum outcome outcome);
/* The exit status: 0, 1 or 4; `inconclusive` is "fail", "warn" or "pass". */
int    gate_status(const struct gate_result *result, const char *inconclusive);

/* Rules about the difference of two profiles, for catalogues of reports. */
struct diff_rule {
    const char   *id, *title, *remedy;
    enum severity severity;
};
extern const struct diff_rule diff_rules[];
extern const size_t           diff_rule_count;
const struct diff_rule       *diff_rule_find(const char *id); /* NULL: unknown */

#endif
