/* select: --only, --skip and --set applied to a set of rules. ERR_USAGE names the nearest word. */
#ifndef TFPROF_RULES_SELECT_H
#define TFPROF_RULES_SELECT_H

#include "rules/advise.h"
#include "rules/rule.h"

/* Frees and removes the rules that are not wanted. */
bool select_rules(struct rule_set *set, const struct option_list *only,
                  const struct option_list *skip, struct arena *arena, struct err *err);
/* RULE.PARAM=VALUE taken apart; ERR_USAGE when it is none. */
bool select_split(const char *text, struct arena *arena, struct rule_setting *setting,
                  struct err *err);
/* The preset, then settings of the project, then RULE.PARAM=VALUE. A severity is set as a parameter called so;
 * "off" leaves the rule out. */
bool select_settings(struct rule_set *set, const struct advise_options *options,
                       struct arena *arena, struct err *err);
/* The rule of that id; NULL and ERR_USAGE with the nearest when there is none. */
struct rule *select_find(struct rule_set *set, const char *id, struct arena *arena,
                         struct err *err);

#endif
