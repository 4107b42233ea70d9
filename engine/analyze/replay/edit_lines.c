#include "analyze/replay/edit_lines.h"

#include "analyze/path/path.h"
#include "analyze/replay/replay_select.h"
#include "analyze/replay/segment_groups.h"
#include "analyze/study.h"
#include "base/sort.h"

#include <stdlib.h>

struct finder {
    struct study        *study;
    struct replay_select selection;
    bool                *is_any; /* by group of segments: an edit selects it */
};

/* The line of the program's own at a group of frames or around it; NO_ID: none is known. */
static uint32_t line_at(const struct finder *finder, uint32_t group)
{
    const struct segment_groups *groups = finder->selection.groups;
    const struct profile        *profile = finder->study->profile;

    for (; group != NO_ID; group = groups->frames.items[group].parent) {
        uint32_t               frame = groups->frames.items[group].frame;
        const struct activity *activity =
            event_activity(profile, finder->study->path.frames.items[frame].event);
        uint32_t source =
            activity->kind == ACTIVITY_PYTHON ? activity->source
            : activity->op == NO_ID
                ? NO_ID
                : profile_user_source(profile, profile->ops.items[activity->op].source);

        if (source != NO_ID && groups->is_user[source])
            return source;
    }
    return NO_ID;
}

static bool is_same_line(const struct profile *profile, uint32_t a, uint32_t b)
{
    const struct source_line *of_a = &profile->sources.items[a], *of_b = &profile->sources.items[b];

    return of_a->file == of_b->file && of_a->line == of_b->line;
}

static bool add(const struct finder *finder, struct edit_lines *lines, uint32_t source, double ns,
                struct arena *arena)
{
    for (size_t i = 0; i < lines->list.count; i++)
        if (is_same_line(finder->study->profile, lines->list.items[i].source, source)) {
            lines->list.items[i].ns += ns;
            return true;
        }
    return vec_push(&lines->list, arena, ((struct edit_line) { .source = source, .ns = ns }));
}

static int compare_lines(const void *x, const void *y)
{
    const struct edit_line *a = x, *b = y;

    return IN_ORDER(COMPARE(b->ns, a->ns), COMPARE(a->source, b->source));
}

static bool select_all(struct finder *finder, const struct edit *edits, size_t count,
                       struct err *err)
{
    size_t groups = finder->selection.groups->groups.count;

    finder->is_any = arena_new_array(finder->selection.arena, bool, groups + 1);
    if (!finder->is_any)
        return err_set(err, ERR_LIMIT, "lines do not fit the memory budget");
    for (size_t e = 0; e < count; e++) {
        if (!replay_select_run(&finder->selection, &edits[e].select, err))
            return false;
        for (size_t i = 0; i < groups; i++)
            finder->is_any[i] |= finder->selection.is_selected[i];
    }
    return true;
}

static bool sum_lines(const struct finder *finder, struct edit_lines *lines, struct arena *arena)
{
    const struct segment_groups *groups = finder->selection.groups;

    for (size_t i = 0; i < groups->groups.count; i++) {
        const struct segment_group *group = &groups->groups.items[i];
        uint32_t                    line;

        if (!finder->is_any[i])
            continue;
        lines->selected_ns += group->length_ns;
        line = line_at(finder, group->frame);
        line = line == NO_ID ? line_at(finder, group->owner) : line;
        if (line != NO_ID && !add(finder, lines, line, group->length_ns, arena))
            return false;
    }
    return true;
}

bool edit_lines_find(struct study *study, const struct edit *edits, size_t count,
                     struct arena *arena, struct edit_lines *lines, struct err *err)
{
    struct arena  scratch = { .budget_bytes = study->arena->budget_bytes };
    struct finder finder = { .study = study };
    bool          ok;

    *lines = (struct edit_lines) { .selected_ns = 0 };
    if (study->path.segments.count == 0 || study->profile->sources.count == 0)
        return true;
    study->groups = study->groups ? study->groups : segment_groups_make(study, err);
    if (!study->groups)
        return false;
    finder.selection = (struct replay_select) {
        .study = study,
        .path = &study->path,
        .pipeline = study->pipeline,
        .groups = study->groups,
        .arena = &scratch,
    };
    if (!study->groups->is_user)
        study->groups->is_user = profile_user_sources(study->profile, study->arena);
    ok =
        (study->groups->is_user || err_set(err, ERR_LIMIT, "lines do not fit the memory budget")) &&
        replay_select_begin(&finder.selection, err) && select_all(&finder, edits, count, err) &&
        (sum_lines(&finder, lines, arena) ||
         err_set(err, ERR_LIMIT, "lines do not fit the memory budget"));
    arena_free(&scratch);
    if (ok && lines->list.count)
        qsort(lines->list.items, lines->list.count, sizeof *lines->list.items, compare_lines);
    return ok;
}
