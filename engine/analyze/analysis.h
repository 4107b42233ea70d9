/*
 * analysis: turns the model into facts. One file each (analysis_X.c), one line in analyses.def, which
 * also says what it comes after. An analysis that finds nothing to look at calls facts_absent for what it produces and
 * returns true; false is for ERR_LIMIT alone.
 */
#ifndef TFPROF_ANALYZE_ANALYSIS_H
#define TFPROF_ANALYZE_ANALYSIS_H

#include "analyze/study.h"
#include "base/err.h"

struct analysis {
    const char              *name;
    const char              *summary;
    const struct fact_spec  *produces;
    size_t                   produces_count;
    const struct table_spec *tables;
    size_t                   table_count;
    bool (*run)(struct study *study, struct err *err);
};
#define ANALYSIS(name, after) extern const struct analysis analysis_##name;
#include "analyze/analyses.def"
#undef ANALYSIS
extern const struct analysis *const analyses[];
extern const size_t                 analysis_count;

/* Runs all; the profile must outlive the study. */
bool study_run(struct study *study, const struct profile *profile, const struct study_options *options,
               struct arena *arena, struct err *err);
/* The declaration of a fact (or table) whether or not this profile has it; NULL: no analysis knows it. */
const struct fact_spec  *analysis_fact(const char *name);
const struct table_spec *analysis_table(const char *name);

#endif
