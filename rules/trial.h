/*
 * trial: what fixtures showed of a rule, for those that check rules. A fixture is a profile,
 * described or recorded, with what the rule is to make of it; running them needs readers, which
 * rules do not see, so that their caller runs them and hands this in.
 */
#ifndef TFPROF_RULES_TRIAL_H
#define TFPROF_RULES_TRIAL_H

#include "base/vec.h"

#include <stdbool.h>

struct rule_trial {
    const char *rule; /* id */
    bool        has_fired, has_kept_quiet; /* as expected, in some fixture */
    bool        is_changed, is_noticed;    /* times or sizes were; some expectation failed */
    VEC(const char *) params; /* parameters whose change made some expectation fail */
};
struct rule_trials {
    VEC(struct rule_trial) list;
};

const struct rule_trial *trial_find(const struct rule_trials *trials, const char *rule); /* or NULL */
bool trial_has_param(const struct rule_trial *trial, const char *param); /* trial may be NULL */

#endif
