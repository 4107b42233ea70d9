/* verdict: the one sentence that leads the advice, from the composition of the step. */
#ifndef TFPROF_RULES_VERDICT_H
#define TFPROF_RULES_VERDICT_H

#include "analyze/facts.h"
#include "base/err.h"
#include "rules/advice.h"

bool        verdict_make(struct verdict *verdict, const struct facts *facts, struct arena *arena,
                         struct err *err);
const char *verdict_of_part(int part); /* enum part: the class of a step that it takes most of */

#endif
