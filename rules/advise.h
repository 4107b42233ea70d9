/*
 * advise: runs all rules over a study, prices, removes double claims, ranks, replays the top together.
 */
#ifndef TFPROF_RULES_ADVISE_H
#define TFPROF_RULES_ADVISE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/option.h"
#include "rules/advice.h"
#include "rules/suppress.h"

struct study;

struct rule_setting { /* a parameter of a rule, or its severity */
    const char *rule, *key, *value; /* key NULL: only that there is such a rule, category, tag or pack */
    const char *source; /* where it was read, for errors */
    uint32_t    line, column;
};
struct advise_options {
    struct option_list rule_directories; /* --rules DIR: added to the built-in rules */
    struct option_list only, skip;       /* ids, categories or tags */
    struct option_list ignored;          /* fingerprints of findings; project_apply suppresses them */
    struct option_list set;              /* RULE.PARAM=VALUE */
    VEC(struct rule_setting) settings;   /* of the project; `set` comes after them */
    const char        *preset;           /* recommended, strict or all; NULL: recommended */
    struct suppressions *suppressions;   /* of the project; counts their use; NULL: none */
    size_t             memory_bytes;     /* a rule's heap; 0: 64 MiB */
    int64_t            instructions;     /* a rule's budget; 0: 50 M */
};

/* Whether the options name rules and parameters that there are, with values in range: what
 * advise_run would refuse, before a profile is read. Costs nothing where none are given. */
bool advise_check(const struct advise_options *options, struct err *err);
/* Built-in rules are compiled in from checkers/. ERR_USAGE for unknown rules or parameters, with the
 * nearest name. A rule that fails is in advice->failed; the rest run. */
bool advise_run(struct study *study, const struct advise_options *options, struct arena *arena,
                struct advice *advice, struct err *err);

#endif
