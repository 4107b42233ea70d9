/*
 * price: what a finding saves a step. By replay where the rule gives edits and the profile allows
 * it, else by the rule's fallback; never more than the time it is about, nor than the step. What
 * such models have been worth on recorded programs then makes the range.
 */
#ifndef TFPROF_RULES_PRICE_H
#define TFPROF_RULES_PRICE_H

#include "rules/rule.h"

struct pricing {
    const struct rule_view *view;
    double                  step_ns;     /* median; NaN: the profile has no steps */
    double                  replayed_ns; /* the same as replay sees it, without edits */
    bool                    can_replay;
    bool                    has_device;  /* accelerators were recorded */
    bool has_path; /* and edits of what the path of a step is made of */
    struct err              why_not; /* where it cannot */
};

/* Several drafts at once. Begins as zero. */
struct joint {
    size_t           count;
    double           step_ns;     /* the step after them, calibrated */
    double           model_ns;    /* by the models alone */
    double           replayed_ns; /* with their edits, as replay sees it */
    int              bound;       /* enum part that takes most of it then */
    struct edit_list edits;
};

void pricing_start(struct pricing *pricing, const struct rule_view *view);
/* Fills draft->finding.impact. A bad pattern in an edit: ERR_SCRIPT. */
bool price_draft(const struct pricing *pricing, struct draft *draft, struct arena *arena,
                 struct err *err);
/* From what the model gives (price_draft) to what programs that were priced so saved: the range that
 * holds three of four, and its middle, by method and confidence (calibration.def). Advice says these;
 * examples and fixtures of rules test the model. */
void price_calibrate(const struct pricing *pricing, struct impact *impact);
/* Takes one draft more into what several save together, in the order of the calls: the first saves
 * what its finding says, each other one what the ones before have left of its time, times what such
 * findings were worth behind a first (calibration.def). false: cannot be replayed. */
bool price_together(const struct pricing *pricing, struct joint *joint, const struct draft *draft,
                    struct arena *arena);
/* Do two drafts claim the same time of the step, as replay shows it? -1: cannot be told. */
int    price_overlap(const struct pricing *pricing, const struct draft *a, const struct draft *b,
                     struct arena *arena);
double price_weight(const struct impact *impact); /* what findings are ranked by */

#endif
