/* read_finding: what check returned, as drafts. Raises for findings that break the contract. */
#ifndef TFPROF_RULES_READ_FINDING_H
#define TFPROF_RULES_READ_FINDING_H

#include "rules/rule.h"

#include <lua.h>

/* The result at the stack index: nil, a finding, a list of findings, or skip { … }. */
void read_outcome(lua_State *lua, int index, const struct rule *rule, struct arena *arena,
                  struct rule_run *run);

#endif
