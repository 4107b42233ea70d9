/* summarize: recordings of one program, one a run, as what a gate compares. */
#ifndef TFPROF_CLI_SUMMARIZE_H
#define TFPROF_CLI_SUMMARIZE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/option.h"
#include "cli/input.h"
#include "gate/summary.h"
#include "rules/advise.h"

/* Each operand is a run of its own: a file, or the directory of a job. Texts live in `arena`. */
bool summarize(struct summary *summary, const struct input_values *values,
               const struct advise_options *rules, const struct option_list *operands,
               struct arena *arena, struct err *err) MUST_USE;

#endif
