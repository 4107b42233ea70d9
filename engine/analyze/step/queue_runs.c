#include "analyze/step/queue_runs.h"

#include "base/macros.h"
#include "model/op_class.h"

/* What ops tell of the run that they are part of. */
enum role { ROLE_NONE, ROLE_COMPUTES, ROLE_WRITES };
/* What runs of a thread do. */
struct caller {
    uint32_t host;
    bool     runs, computes, writes;
};
struct finder {
    const struct profile *profile;
    struct arena         *arena;
    uint8_t              *role_of;   /* by activity: enum role */
    bool                 *is_call;   /* by activity: Session.run */
    struct caller        *callers;   /* by timeline */
    struct id_map         caller_of; /* by executor step: row of timelines */
};

static enum role role_of_op(struct str type)
{
    enum op_class op_class = op_class_of(type);

    if (op_class == OP_PRODUCT || op_class == OP_CONVOLUTION || op_class == OP_UPDATE)
        return ROLE_COMPUTES;
    return str_fits(type, "*Save*|*Summary*") ? ROLE_WRITES : ROLE_NONE;
}

static bool learn_calls(struct finder *finder)
{
    const struct profile *profile = finder->profile;

    finder->is_call = arena_new_array(finder->arena, bool, profile->activities.count + 1);
    for (size_t a = 0; finder->is_call && a < profile->activities.count; a++) {
        const struct activity *activity = &profile->activities.items[a];

        finder->is_call[a] = activity->kind == ACTIVITY_RUN &&
                             str_equal(profile_str(profile, activity->name), STR("SessionRun"));
    }
    return finder->is_call != NULL;
}

static bool learn_roles(struct finder *finder)
{
    const struct profile *profile = finder->profile;

    finder->role_of = arena_new_array(finder->arena, uint8_t, profile->activities.count + 1);
    for (size_t a = 0; finder->role_of && a < profile->activities.count; a++) {
        const struct activity *activity = &profile->activities.items[a];

        if (activity->kind == ACTIVITY_OP && activity->op != NO_ID)
            finder->role_of[a] =
                (uint8_t)role_of_op(profile_str(profile, profile->ops.items[activity->op].type));
    }
    return finder->role_of != NULL;
}

/* Session.run and the executor tell the number of the run. */
static bool list_callers(struct finder *finder, size_t *count)
{
    const struct profile *profile = finder->profile;

    finder->callers = arena_new_array(finder->arena, struct caller, profile->timelines.count + 1);
    for (size_t t = 0; finder->callers && t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t event = line->first_event;
             line->kind == TIMELINE_THREAD && event < line->first_event + line->event_count;
             event++) {
            int64_t step;

            if (!finder->is_call[event_activity_id(profile, event)] ||
                !profile_stat(profile, STAT_EXECUTOR_STEP, event, &step))
                continue;
            *count += !finder->callers[t].runs;
            finder->callers[t] = (struct caller) { .host = line->host, .runs = true };
            if (!id_map_put(&finder->caller_of, (uint64_t)step, (uint32_t)t))
                return false;
        }
    }
    return finder->callers != NULL;
}

/* Ops stand inside of what the executor does for a run. */
static void look_at_ops(struct finder *finder, const struct timeline *line)
{
    const struct profile *profile = finder->profile;
    int64_t               end_ns = INT64_MIN, step = 0;

    for (uint32_t event = line->first_event; event < line->first_event + line->event_count;
         event++) {
        uint32_t  activity = event_activity_id(profile, event);
        enum role role = (enum role)finder->role_of[activity];
        uint32_t  caller;

        if (profile->activities.items[activity].kind == ACTIVITY_EXECUTOR &&
            profile_stat(profile, STAT_EXECUTOR_STEP, event, &step))
            end_ns = event_end_ns(profile, event);
        if (role == ROLE_NONE || event_start_ns(profile, event) >= end_ns)
            continue;
        caller = id_map_get(&finder->caller_of, (uint64_t)step);
        if (caller == NO_ID)
            continue;
        finder->callers[caller].computes |= role == ROLE_COMPUTES;
        finder->callers[caller].writes |= role == ROLE_WRITES;
    }
}

static bool computes_beside(const struct finder *finder, const struct caller *caller)
{
    for (size_t t = 0; t < finder->profile->timelines.count; t++)
        if (finder->callers[t].computes && finder->callers[t].host == caller->host)
            return true;
    return false;
}

static bool add_runs(const struct finder *finder, struct id_map *input_steps)
{
    for (uint32_t slot = 0; slot < finder->caller_of.slot_count; slot++) {
        const struct caller *caller;

        if (!finder->caller_of.values[slot])
            continue;
        caller = &finder->callers[finder->caller_of.values[slot] - 1];
        if (!caller->computes && !caller->writes && computes_beside(finder, caller) &&
            !id_map_put(input_steps, finder->caller_of.keys[slot], 1))
            return false;
    }
    return true;
}

bool queue_runs_find(const struct profile *profile, struct id_map *input_steps)
{
    struct finder finder = { .profile = profile, .arena = input_steps->arena };
    size_t        callers = 0;

    finder.caller_of.arena = input_steps->arena;
    if (profile->format != FORMAT_XSPACE)
        return true;
    if (!learn_calls(&finder) || !list_callers(&finder, &callers))
        return false;
    if (callers < 2)
        return true;
    if (!learn_roles(&finder))
        return false;
    for (size_t t = 0; t < profile->timelines.count; t++)
        if (profile->timelines.items[t].kind == TIMELINE_THREAD)
            look_at_ops(&finder, &profile->timelines.items[t]);
    return add_runs(&finder, input_steps);
}
