#include "analyze/replay/edits_run.h"

#include "analyze/replay/graph_replay.h"
#include "analyze/study.h"

#include <math.h>

/* As price_by_replay (rules/price.c): an accelerator's work in the event graph, else on the path.
 */
static bool run(struct whatif *whatif, struct study *study, const struct edit *edits, size_t count,
                struct whatif_result *result, struct err *err)
{
    struct graph_replay_result graph;
    struct replay_result       replayed;
    double                     now_ns = whatif->now.step_ns;

    if (!replay_run(study, edits, count, &replayed, err))
        return false;
    *result = (struct whatif_result) { .step_ns = fmin(replayed.step_ns, now_ns),
                                       .selected_count = replayed.selected_ns > 0,
                                       .selected_ns = replayed.selected_ns,
                                       .bottleneck = (enum part)replayed.bound };
    if (count && graph_replay_run(study, edits, count, &graph))
        result->step_ns = now_ns - fmax(0, graph.saved_ns);
    result->saved_ns = now_ns - result->step_ns;
    return true;
}

bool edits_run(struct whatif *whatif, struct study *study, const struct edit *edits,
               struct arena *arena, struct err *err)
{
    size_t count = whatif->edits.count;

    whatif->is_path = true;
    whatif->now.step_ns = INFINITY;
    whatif->step_count = (uint32_t)study->path.step_rows.count;
    whatif->each = arena_new_array(arena, struct whatif_result, count + 1);
    if (!whatif->each)
        return err_set(err, ERR_LIMIT, "the edits do not fit the memory budget");
    if (!run(whatif, study, NULL, 0, &whatif->now, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!run(whatif, study, &edits[i], 1, &whatif->each[i], err))
            return false;
    whatif->now.saved_ns = 0;
    return run(whatif, study, edits, count, &whatif->together, err);
}
