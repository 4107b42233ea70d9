/* rank: which of the findings keep their price, in what order they stand, and their fingerprints.
 */
#ifndef TFPROF_RULES_RANK_H
#define TFPROF_RULES_RANK_H

#include "rules/price.h"

struct draft_list {
    VEC(struct draft) drafts;
};
/* Of findings that claim the same time the more specific keeps it; the others become its children.
 */
bool rank_claims(const struct pricing *pricing, struct draft_list *list, struct arena *arena);
/* A fact with the price of time of which nobody knows the share that goes: less than any advice. */
bool rank_is_vague(const struct finding *finding);
/* Where a veto says that the recording supports no conclusion about a step, findings lose their price of
 * step time and are facts; the veto says how many. false: the arena is exhausted. */
bool rank_veto(struct draft_list *list, struct arena *arena);
/* What tells a finding from others of its program, run after run: rule and subject. */
void rank_fingerprints(struct draft_list *list);
/* What is about the limit that a class of verdict names goes before other things without a price. */
void rank_verdict(struct draft_list *list, const char *class_name);
/* Vetoes first, then priced ones by what they save; gives ranks. */
void rank_findings(struct draft_list *list);

#endif
