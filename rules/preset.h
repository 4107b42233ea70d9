/* preset: sets of rules to begin with, and how closely they look. */
#ifndef TFPROF_RULES_PRESET_H
#define TFPROF_RULES_PRESET_H

#include "rules/rule.h"

/* NULL: recommended. What a preset does not have is marked as off; --only and a severity of one's
 * own bring it back. Thresholds are lowered here, before parameters are set one by one. */
bool preset_apply(struct rule_set *set, const char *name, struct err *err);
/* Whether findings of the rule that are infos with a price become warnings. */
bool preset_raises(const char *name);

#endif
