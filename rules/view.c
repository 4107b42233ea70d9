/* view: hands a study's facts and its replay to rules. */
#include "rules/view.h"

#include "analyze/study.h"
#include "rules/names.h"

static bool replay_study(void *context, const struct edit *edits, size_t count,
                         struct replay_result *result, struct err *err)
{
    return replay_run(context, edits, count, result, err);
}

static bool replay_graph(void *context, const struct edit *edits, size_t count,
                         struct graph_replay_result *result)
{
    return graph_replay_run(context, edits, count, result);
}

struct rule_view view_of_study(struct study *study)
{
    struct str framework = profile_str(study->profile, study->profile->framework);

    return (struct rule_view) { .facts = &study->facts,
                                .format = profile_format_name(study->profile->format),
                                .framework = framework.data ? framework.data : "",
                                .replay = replay_study,
                                .replay_graph = replay_graph,
                                .replay_context = study };
}
