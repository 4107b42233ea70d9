#include "analyze/replay/replay_select.h"

#include "analyze/input/pipeline.h"
#include "analyze/path/path.h"
#include "analyze/replay/segment_groups.h"
#include "analyze/study.h"
#include "base/pattern.h"

bool replay_select_begin(struct replay_select *selection, struct err *err)
{
    const struct segment_groups *groups = selection->groups;

    selection->is_selected = arena_new_array(selection->arena, bool, groups->groups.count);
    selection->is_match = arena_new_array(selection->arena, uint8_t, groups->frames.count);
    return (selection->is_selected && selection->is_match) ||
           err_set(err, ERR_LIMIT, "replay does not fit the memory budget");
}

static bool pattern_for(const char *text, struct pattern **pattern, struct err *err)
{
    *pattern = NULL;
    if (!text)
        return true;
    *pattern = pattern_new(str_from(text), PATTERN_WHOLE, true, err);
    return *pattern != NULL;
}

/* At the end: names that could not be told are an error, never "no". */
static bool settle(struct pattern *pattern, struct err *err)
{
    bool is_settled = !pattern || pattern_settled(pattern, err);

    pattern_free(pattern);
    return is_settled;
}

static bool matches(const struct pattern *pattern, struct str subject)
{
    return pattern_matches(pattern, subject) == PATTERN_YES;
}

static const struct activity *group_activity(const struct replay_select *selection,
                                             const struct frame_group   *group)
{
    return event_activity(selection->study->profile,
                          selection->path->frames.items[group->frame].event);
}

/* An event is known by its name, and by its op's. Names repeat: one match each. */
static bool name_matches(const struct profile *profile, const struct pattern *pattern,
                         uint32_t name, uint8_t *seen)
{
    enum { UNSEEN, NO, YES };

    if (seen[name] == UNSEEN)
        seen[name] = matches(pattern, profile_str(profile, name)) ? YES : NO;
    return seen[name] == YES;
}

/* Marks frames whose own or an ancestor's name matches. */
static bool match_names(struct replay_select *selection, const char *text, struct err *err)
{
    const struct profile *profile = selection->study->profile;
    struct pattern       *pattern;
    uint8_t              *seen = arena_new_array(selection->arena, uint8_t, profile->names.count);

    if (!seen)
        return err_set(err, ERR_LIMIT, "names do not fit the memory budget");
    if (!pattern_for(text, &pattern, err))
        return false;
    for (size_t f = 0; f < selection->groups->frames.count; f++) {
        const struct frame_group *group = &selection->groups->frames.items[f];
        const struct activity    *activity = group_activity(selection, group);

        selection->is_match[f] =
            name_matches(profile, pattern, activity->name, seen) ||
            (activity->op != NO_ID &&
             name_matches(profile, pattern, profile->ops.items[activity->op].name, seen)) ||
            (group->parent != NO_ID && selection->is_match[group->parent]);
    }
    return settle(pattern, err);
}

/* Marks frames inside an op whose type matches. */
static bool match_types(struct replay_select *selection, const char *text, struct err *err)
{
    const struct profile *profile = selection->study->profile;
    struct pattern       *pattern;

    if (!pattern_for(text, &pattern, err))
        return false;
    for (size_t f = 0; f < selection->groups->frames.count; f++) {
        const struct frame_group *group = &selection->groups->frames.items[f];
        uint32_t                  op = group_activity(selection, group)->op;

        selection->is_match[f] =
            (op != NO_ID && matches(pattern, profile_str(profile, profile->ops.items[op].type))) ||
            (group->parent != NO_ID && selection->is_match[group->parent]);
    }
    return settle(pattern, err);
}

const bool *replay_select_stages(const struct replay_select *selection, const char *text,
                                 struct err *err)
{
    const struct pipeline *pipeline = selection->pipeline;
    const struct intern   *names = selection->study->facts.names;
    struct pattern        *pattern;
    bool                  *is_stage;

    if (!pipeline) {
        err_set(err, ERR_INCONCLUSIVE, "the profile has no input pipeline to edit");
        return NULL;
    }
    is_stage = arena_new_array(selection->arena, bool, pipeline->stages.count);
    if (!is_stage) {
        err_set(err, ERR_LIMIT, "stages do not fit the memory budget");
        return NULL;
    }
    if (!pattern_for(text, &pattern, err))
        return NULL;
    for (size_t s = 0; s < pipeline->stages.count; s++)
        is_stage[s] = matches(pattern, intern_str(names, pipeline->stages.items[s].name));
    return settle(pattern, err) ? is_stage : NULL;
}

static bool frame_matches(const struct replay_select *selection, const struct segment_group *group)
{
    return (group->frame != NO_ID && selection->is_match[group->frame]) ||
           (group->owner != NO_ID && selection->is_match[group->owner]);
}

static bool has_kind(const struct replay_select *selection, uint32_t frame_group, uint32_t mask)
{
    return frame_group != NO_ID &&
           selection->path->frames.items[selection->groups->frames.items[frame_group].frame].kinds &
               mask;
}

static void narrow(struct replay_select *selection)
{
    for (size_t i = 0; i < selection->groups->groups.count; i++)
        selection->is_selected[i] = selection->is_selected[i] &&
                                    frame_matches(selection, &selection->groups->groups.items[i]);
}

static bool narrow_to_stages(struct replay_select *selection, const char *text, struct err *err)
{
    const bool *is_stage = replay_select_stages(selection, text, err);

    if (!is_stage)
        return false;
    for (size_t f = 0; f < selection->groups->frames.count; f++) {
        uint32_t stage = selection->groups->frames.items[f].stage;

        selection->is_match[f] = stage != NO_ID && is_stage[stage];
    }
    narrow(selection);
    return true;
}

bool replay_select_run(struct replay_select *selection, const struct edit_select *select,
                       struct err *err)
{
    for (size_t i = 0; i < selection->groups->groups.count; i++) {
        const struct segment_group *group = &selection->groups->groups.items[i];

        selection->is_selected[i] =
            (!select->cell || select->cell == group->cell) &&
            (!select->part_mask || (select->part_mask & (UINT32_C(1) << group->part))) &&
            (!select->kind_mask || has_kind(selection, group->frame, select->kind_mask) ||
             has_kind(selection, group->owner, select->kind_mask));
    }
    if (select->name) {
        if (!match_names(selection, select->name, err))
            return false;
        narrow(selection);
    }
    if (select->op_type) {
        if (!match_types(selection, select->op_type, err))
            return false;
        narrow(selection);
    }
    return !select->stage || narrow_to_stages(selection, select->stage, err);
}
