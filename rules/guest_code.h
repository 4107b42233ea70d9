/* guest_code: what a rule in another process says, as bytes (coder.h). */
#ifndef TFPROF_RULES_GUEST_CODE_H
#define TFPROF_RULES_GUEST_CODE_H

#include "rules/coder.h"
#include "rules/rule.h"

/* What a rule says of itself, or why it does not load. */
void code_rule(struct coder *coder, struct rule *rule);
/* What one run gave. */
void code_run(struct coder *coder, const struct rule *rule, struct rule_run *run);

#endif
