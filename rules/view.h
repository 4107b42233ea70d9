/* view: a study as rules see it. */
#ifndef TFPROF_RULES_VIEW_H
#define TFPROF_RULES_VIEW_H

#include "rules/rule.h"

struct rule_view view_of_study(struct study *study);

#endif
