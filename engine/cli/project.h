/*
 * project: tfprof.toml of the project: what gates hold, which rules there are, and which findings
 * the project lives with. It is looked for in the working directory and above, up to the one that
 * holds .git. Options of the command line come before it.
 */
#ifndef TFPROF_CLI_PROJECT_H
#define TFPROF_CLI_PROJECT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/option.h"
#include "base/text.h"
#include "rules/advise.h"
#include "rules/suppress.h"

struct project {
    const char         *path; /* of the file; NULL: there is none */
    struct option_list  budgets, rule_directories, only, skip, set;
    const char         *max_regression, *count_tolerance, *counts, *fail_on, *inconclusive, *baseline, *damage;
    const char         *preset;
    VEC(struct rule_setting) settings; /* of [rule.ID] */
    struct suppressions suppressions;
};

/* `path`: of --config; NULL: look for it; "none": do without. An unknown key is ERR_USAGE with the
 * nearest one. */
bool project_load(struct project *project, const char *path, struct arena *arena, struct err *err);
/* Adds what the project says to what the command line says; suppressions will count their use. */
bool project_apply(struct project *project, struct advise_options *options, struct arena *arena,
                   struct err *err);
/* Both, and whether the options can be used. */
bool project_ready(struct project *project, const char *path, struct advise_options *options,
                   struct arena *arena, struct err *err);
/* The first two, of a project that is not asked for anything else. */
bool project_load_into(const char *path, struct advise_options *options, struct arena *arena,
                       struct err *err);
/* For standard error: which suppressions have expired, are about no rule, or took nothing away though
 * their rule looked; and whether rules of others ran without all of their locks. */
void project_add_warnings(const struct project *project, const struct advice *advice,
                          struct text *text);
void project_add_unfiltered(bool is_unfiltered, struct text *text);
void project_warn_unfiltered(bool is_unfiltered); /* on standard error */

#endif
