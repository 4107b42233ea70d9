/* analysis: the list of analyses and the loop that runs them. */
#include "analyze/analysis.h"

#include "analyze/excerpt.h"
#include "base/trace.h"

#include <string.h>

const struct analysis *const analyses[] = {
#define ANALYSIS(name) &analysis_##name,
#include "analyze/analyses.def"
#undef ANALYSIS
};
const size_t analysis_count = ARRAY_COUNT(analyses);

/* The study's own names: those of the profile under the same ids, and room for more without
 * touching the profile, which is constant by now. */
static struct intern *study_names(const struct profile *profile, struct arena *arena)
{
    struct intern *names = arena_new(arena, struct intern);

    return names && intern_copy(names, &profile->names, arena) ? names : NULL;
}

static bool run_one(const struct analysis *analysis, struct study *study, struct err *err)
{
    int64_t start_ns = trace_now_ns();

    if (!analysis->run(study, err))
        return err_in(err, "analysis %s", analysis->name);
    if (trace_is_on("analyze", 1))
        trace_print("analyze", "%s %.3f ms", analysis->name,
                    (double)(trace_now_ns() - start_ns) / 1e6);
    return true;
}

bool study_run(struct study *study, const struct profile *profile,
               const struct study_options *options, struct arena *arena, struct err *err)
{
    struct intern *names = study_names(profile, arena);

    *study = (struct study) {
        .recording = profile, .profile = profile, .arena = arena, .options = *options
    };
    if (!names)
        return err_set(err, ERR_LIMIT, "no memory left for the names of the profile");
    facts_init(&study->facts, arena, names);
    for (size_t i = 0; i < analysis_count; i++)
        if (!run_one(analyses[i], study, err) ||
            (analyses[i] == &analysis_steps && !excerpt_make(study, 2 * EXCERPT_EVENTS, err)))
            return false;
    facts_settle(&study->facts);
    return true;
}

const struct fact_spec *analysis_fact(const char *name)
{
    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->produces_count; j++)
            if (strcmp(analyses[i]->produces[j].name, name) == 0)
                return &analyses[i]->produces[j];
    return NULL;
}

const struct table_spec *analysis_table(const char *name)
{
    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->table_count; j++)
            if (strcmp(analyses[i]->tables[j].name, name) == 0)
                return &analyses[i]->tables[j];
    return NULL;
}
