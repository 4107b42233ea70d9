/*
 * guest: rules that are not ours are loaded and run in a process of their own (child.h), besides the
 * limits of their Lua state. One that ends its process fails alone; those behind it get a new one.
 */
#ifndef TFPROF_RULES_GUEST_H
#define TFPROF_RULES_GUEST_H

#include "rules/rule.h"

/* Loads rules whose file and script are known: fills info or error of each. False: their system
 * calls were not filtered. */
bool guest_load(struct rule *rules, size_t count, const struct rule_limits *limits,
                struct arena *arena);

/* Rules to run, and what that gave. Those that cannot look are skipped without a process. */
struct guest_runs {
    const struct rule *const *rules;
    struct rule_run          *runs; /* one a rule */
    size_t                    count;
    bool                      is_filtered; /* of system calls, in all processes there were */
};
bool guest_run(struct guest_runs *guests, const struct rule_view *view,
               const struct rule_limits *limits, struct arena *arena, struct err *err);

#endif
