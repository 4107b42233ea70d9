/* summarize: recordings of one program, one a run, as what a gate compares. */
#ifndef TFPROF_CLI_SUMMARIZE_H
#define TFPROF_CLI_SUMMARIZE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/option.h"
#include "base/text.h"
#include "cli/input.h"
#include "gate/summary.h"
#include "rules/advise.h"

struct summarizing {
    const struct input_values   *input;
    const struct advise_options *rules;
    bool                         refuses_damage; /* else it is a note of the summary */
    struct text                 *warnings; /* gets lines for standard error */
};

/* Each operand is a run of its own: a file, or the directory of a job. Texts live in `arena`. Warns
 * which rules failed. */
bool summarize(struct summary *summary, const struct summarizing *how,
               const struct option_list *operands, struct arena *arena, struct err *err) MUST_USE;
/* ERR_SCRIPT when a rule failed and `rule_errors`, of --rule-errors, is "fail". */
bool summary_rules_hold(const struct summary *summary, const char *rule_errors, struct err *err);

#endif
