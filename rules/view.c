/* view: hands a study's facts and its replay to rules. */
#include "rules/view.h"

#include "analyze/replay/edit_lines.h"
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

static bool add_location(const struct profile *profile, uint32_t source, struct arena *arena,
                         struct finding *finding)
{
    const struct source_line *line = &profile->sources.items[source];
    struct str                file = profile_str(profile, line->file);
    struct location           location = { .file = file.data, .line = line->line };

    return file.len == 0 || vec_push(&finding->locations, arena, location);
}

/* Lines that make up half of it together, unless they are many. */
static bool place_study(void *context, const struct edit *edits, size_t count, struct arena *arena,
                        struct finding *finding, struct err *err)
{
    enum { MOST_LINES = 3 };
    static const double MOST_OF_IT = 0.5;
    struct study       *study = context;
    struct edit_lines   lines;
    double              ns = 0;
    size_t              told = 0;

    if (!edit_lines_find(study, edits, count, arena, &lines, err))
        return false;
    while (told < lines.list.count && told < MOST_LINES && ns < MOST_OF_IT * lines.selected_ns)
        ns += lines.list.items[told++].ns;
    if (ns < MOST_OF_IT * lines.selected_ns)
        return true;
    for (size_t i = 0; i < told; i++)
        if (!add_location(study->profile, lines.list.items[i].source, arena, finding))
            return err_set(err, ERR_LIMIT, "lines do not fit the memory budget");
    return true;
}

struct rule_view view_of_study(struct study *study)
{
    struct str framework = profile_str(study->profile, study->profile->framework);

    return (struct rule_view) { .facts = &study->facts,
                                .format = profile_format_name(study->profile->format),
                                .framework = framework.data ? framework.data : "",
                                .replay = replay_study,
                                .replay_graph = replay_graph,
                                .place = place_study,
                                .replay_context = study };
}
