/*
 * catalogue: what rules there are, without running them on a profile: for `tfprof rules`, `tfprof
 * explain`, and the check of a rule's own examples.
 */
#ifndef TFPROF_RULES_CATALOGUE_H
#define TFPROF_RULES_CATALOGUE_H

#include "base/option.h"
#include "rules/advice.h"

struct advise_options; /* rules/advise.h */
struct study;
struct rule_trials; /* rules/trial.h */

/* The smallest preset that has a rule: all has every rule, strict has those of recommended too. */
enum rule_preset { PRESET_RECOMMENDED, PRESET_STRICT, PRESET_ALL };
const char *preset_name(enum rule_preset preset);
int         preset_from_name(const char *name); /* -1: there is none */

enum rule_param_kind { RULE_PARAM_NUMBER, RULE_PARAM_BOOL, RULE_PARAM_TEXT };
struct rule_param {
    const char          *name, *doc;
    enum rule_param_kind kind;
    enum unit            unit;     /* of a number */
    double               number;   /* number or bool: the default, or what --set made of it */
    const char          *text;     /* of a text */
    double               min, max; /* -inf and +inf: no limit */
    double               strict;   /* number under the presets strict and all; NaN: not given */
    bool                 is_set;   /* by the project, its preset or --set: not the rule's own */
};
struct rule_info {
    const char   *id, *title, *summary; /* summary: the file's first comment, one sentence */
    const char   *version, *pack, *file;
    const char   *category, *cause, *doc; /* cause and doc may be NULL */
    enum severity severity;
    bool          is_off; /* the project set its severity so */
    enum rule_preset preset;
    uint32_t      format_mask; /* 1 << enum profile_format */
    VEC(const char *) needs;   /* facts and tables */
    VEC(const char *) tags;
    VEC(const char *) more_specific_than; /* rule ids */
    VEC(struct rule_param) params;
};
struct rule_list {
    VEC(struct rule_info) rules;    /* by id */
    VEC(struct failed_rule) failed; /* that do not load */
    VEC(struct pack) packs;
    bool is_unfiltered; /* see rules_checked */
};

/* All built-in rules and those of the options (may be NULL), with the severities and parameters that
 * these give them. Strings live in the arena. */
bool rules_list(const struct advise_options *options, struct arena *arena, struct rule_list *list,
                struct err *err);

/* The rules of these directories alone. */
bool rules_of_directories(const struct option_list *directories, struct arena *arena,
                          struct rule_list *list, struct err *err);

/* What one rule said about one profile; `study` NULL: only info is filled. */
enum rule_outcome { RULE_QUIET, RULE_FOUND, RULE_SKIPPED, RULE_FAILED };
struct rule_explanation {
    struct rule_info  info;
    enum rule_outcome outcome;
    const char       *reason, *capture; /* of a skipped one; of a failed one: the message */
    VEC(struct finding) findings;
    VEC(struct evidence) needs; /* what it needs and this profile has, by name */
    const char *place;  /* of one that does not load: see failed_rule */
    bool is_unfiltered; /* see rules_checked */
};
/* ERR_USAGE with the nearest name when there is no such rule. */
bool rule_explain(const char *id, const struct advise_options *options, struct study *study,
                  struct arena *arena, struct rule_explanation *explanation, struct err *err);

struct rules_checked {
    uint32_t rule_count, fault_count;
    uint32_t untested_count; /* numbers that may be halved and doubled without an example noticing */
    bool     is_unfiltered;  /* rules of others ran without a filter of their system calls */
};
/* Runs the examples of every rule in `directory`: each must do what it says, one must fire and one
 * must be quiet. Then changes parameters, facts and tables one by one and looks whether an example
 * notices. What fixtures showed (`trials`, may be NULL) counts as examples do. Adds what is wrong to
 * `report`, with the script's line, and counts it. */
bool rules_check(const char *directory, const struct rule_trials *trials, struct arena *arena,
                 struct text *report, struct rules_checked *checked, struct err *err);

struct rule_cost {
    const char       *rule;
    int64_t           best_ns; /* of several runs */
    enum rule_outcome outcome;
    const char       *fault; /* of a failed one: file, line, a mark under it */
};
struct rule_costs {
    VEC(struct rule_cost) list; /* dearest first */
    bool is_unfiltered;         /* see rules_checked */
};
/* Runs every built-in rule and those of `directories` over a study, and times them. */
bool rules_bench(const struct option_list *directories, struct study *study, struct arena *arena,
                 struct rule_costs *costs, struct err *err);

/* A whole rule to begin with, its examples passing, as text of a script. */
void rule_template(const char *id, struct text *script);

/* What a reviewer would say of the scripts in `directory` that run: missing words, needs and
 * parameters that are not used. Adds to `report` and counts the remarks. */
struct rules_linted {
    uint32_t remark_count;
    bool     is_unfiltered; /* see rules_checked */
};
bool rules_lint(const char *directory, struct arena *arena, struct text *report,
                struct rules_linted *linted, struct err *err);

#endif
