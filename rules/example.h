/*
 * example: one of the examples that a rule carries. Its facts and tables stand in for a profile, and
 * its `replay` for the engine: what the first 1, 2, … edits save.
 */
#ifndef TFPROF_RULES_EXAMPLE_H
#define TFPROF_RULES_EXAMPLE_H

#include "rules/rule.h"

enum { MAX_SAVINGS = 8 };

struct example {
    const char   *name, *format, *framework;
    struct facts  facts;
    struct intern names;
    double        step_ns;
    double        saved_ns[MAX_SAVINGS]; /* by 1, 2, … edits */
    size_t        saved_count;           /* 0: cannot be replayed */
    double        selected_ns;
    bool          is_finding, is_skipped;
    double        impact_ns; /* NaN: not checked */
    int           severity;  /* enum severity, or -1: not checked */
};

/* Reads example `number` (1, 2, …) of a loaded rule. NULL: it is read, or *is_there is false; else
 * what is wrong with it. The example must stay where it is. */
const char *example_read(struct rule *rule, int number, struct arena *arena,
                         struct example *example, bool *is_there);
/* What is wrong with how the rule answers, or NULL. */
const char *example_run(struct rule *rule, struct example *example, struct arena *arena,
                        bool *has_fired);

#endif
