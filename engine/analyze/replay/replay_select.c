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

/* At the end: names that could not be told are an error, never "no". */
static bool settle(struct pattern *pattern, struct err *err)
{
    bool is_settled = pattern && pattern_settled(pattern, err);

    pattern_free(pattern);
    return is_settled;
}

/* Names repeat: one match each. */
static bool name_matches(const struct profile *profile, const struct pattern *pattern,
                         uint32_t name, uint8_t *seen)
{
    enum { UNSEEN, NO, YES };

    if (seen[name] == UNSEEN)
        seen[name] = pattern_matches(pattern, profile_str(profile, name)) == PATTERN_YES ? YES : NO;
    return seen[name] == YES;
}

/* Marks frames that bear a name, their event's or their op's, or whose op is of a type, and those
 * inside of such. */
static bool match_frames(struct replay_select *selection, const char *text, bool is_type,
                         struct err *err)
{
    const struct profile *profile = selection->study->profile;
    struct pattern       *pattern = pattern_new(str_from(text), PATTERN_WHOLE, true, err);
    uint8_t              *seen = arena_new_array(selection->arena, uint8_t, profile->names.count);

    for (size_t f = 0; pattern && seen && f < selection->groups->frames.count; f++) {
        const struct frame_group *group = &selection->groups->frames.items[f];
        const struct activity    *activity =
            event_activity(profile, selection->path->frames.items[group->frame].event);
        const struct op *op = activity->op != NO_ID ? &profile->ops.items[activity->op] : NULL;

        selection->is_match[f] =
            (!is_type && name_matches(profile, pattern, activity->name, seen)) ||
            (op && name_matches(profile, pattern, is_type ? op->type : op->name, seen)) ||
            (group->parent != NO_ID && selection->is_match[group->parent]);
    }
    return settle(pattern, err) &&
           (seen || err_set(err, ERR_LIMIT, "names do not fit the memory budget"));
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
    pattern = pattern_new(str_from(text), PATTERN_WHOLE, true, err);
    for (size_t s = 0; pattern && s < pipeline->stages.count; s++)
        is_stage[s] = pattern_matches(pattern, intern_str(names, pipeline->stages.items[s].name)) ==
                      PATTERN_YES;
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
        if (!match_frames(selection, select->name, false, err))
            return false;
        narrow(selection);
    }
    if (select->op_type) {
        if (!match_frames(selection, select->op_type, true, err))
            return false;
        narrow(selection);
    }
    return !select->stage || narrow_to_stages(selection, select->stage, err);
}
