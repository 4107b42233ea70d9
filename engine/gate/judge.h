/* judge: the pieces of a gate. Each adds to the result; false: memory ran out. */
#ifndef TFPROF_GATE_JUDGE_H
#define TFPROF_GATE_JUDGE_H

#include "gate/gate.h"

struct judging {
    const struct summary     *before, *after; /* before NULL: no baseline */
    const struct gate_limits *limits;
    struct arena             *arena;  /* of the result */
    struct arena             *scratch;
    struct gate_result       *result;
    bool                      is_comparable;
    bool   seems_faster; /* slower as recorded, faster without what recording takes */
    double work_ratio; /* of other shapes: their arithmetic now over that before; 0 unknown */
};

/* Adds a check; fills its fingerprint. */
bool judge_add(struct judging *judging, struct check check);
bool judge_unit(struct judging *judging);      /* per_batch.c: may put others for both sides */
bool judge_recordings(struct judging *judging); /* judge_trust.c: damage */
bool judge_failed(struct judging *judging);    /* judge_trust.c: rules that failed */
/* The first rule that a budget of findings counts and that failed; NULL for other quantities. */
const struct failed_rule *judge_missing_rule(const struct judging *judging, const char *quantity);
bool judge_workload(struct judging *judging);  /* workload.c: sets is_comparable */
bool judge_counts(struct judging *judging);    /* judge_counts.c */
bool judge_memory(struct judging *judging);  /* judge_memory.c */
bool judge_time(struct judging *judging);      /* judge_time.c: step, significance, uniform */
/* "step slower: 2.00 ms, was 1.00 ms (+100 %)". */
const char *judge_time_title(struct judging *judging, const char *verb);
bool judge_recorder(struct judging *judging); /* judge_recorder.c: after time */
/* The check of the step's time; NULL: there is none. */
struct check *judge_time_check(struct gate_result *result);
bool judge_policy(struct judging *judging);    /* judge_policy.c: after counts, memory and time */
bool judge_findings(struct judging *judging);  /* judge_findings.c */
bool judge_budgets(struct judging *judging, struct err *err); /* judge_budgets.c */
bool judge_pieces(struct judging *judging);    /* pieces.c: its change by what is on the path */
bool judge_masked(struct judging *judging);    /* judge_masked.c: after parts */
bool judge_parts(struct judging *judging);     /* changes.c: the change of the step in parts */
bool judge_changes(struct judging *judging);   /* changes.c: ops, kernels, call sites */
bool judge_items(struct judging *judging);     /* diff_items.c: rules on pairs of rows */
bool judge_rules(struct judging *judging);     /* diff_totals.c: rules on totals, as changes */
/* Adds a change that a rule is about; fills severity, remedy and fingerprint. */
bool judge_change(struct judging *judging, struct change change);

/* Stable over runs: `rule` and names without their digits. */
void judge_fingerprint(char fingerprint[17], const char *rule, const char *name, const char *more);
/* "launches a step" as "launches a batch" where batches are compared. */
const char *judge_in_unit(const struct judging *judging, const char *title);
/* "212.4 ms" in the arena. */
const char *judge_value(struct arena *arena, double value, enum unit unit);
/* "+4.1 %", "-0.3 %". */
const char *judge_percent(struct arena *arena, double share);
/* Every op or kernel that both have slower by about one factor: that factor; else 0. */
double uniform_factor(const struct judging *judging);
/* Of a step that became longer, with the same work on processors: by how much that takes longer,
 * where other programs on them explain it: at its fastest it does not take longer, or all of it but
 * the op that grew most takes longer and little as long as before, or beside a steady accelerator;
 * else 0. */
double load_factor(const struct judging *judging, double before_ns, double after_ns);

#endif
