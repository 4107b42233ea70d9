/* What only the host's call tells of the work that it launched on a device: ROCm names the op
 * there, and the direction of copies that a kernel makes. */
#include "read/xspace/xspace_decode.h"

struct launched {
    struct profile *profile;
    struct id_map   label_of; /* by activity and what was learnt of it */
};

/* What is learnt, told apart from rows of ops. */
static uint32_t copy_key(enum copy_direction copy)
{
    return NO_ID - 1 - (uint32_t)copy;
}

/* The label of this activity with what was learnt; NO_ID: the budget. */
static uint32_t label_with(struct launched *launched, uint32_t row, uint32_t op,
                           enum copy_direction copy)
{
    struct profile *profile = launched->profile;
    uint64_t        key = (uint64_t)row << 32 | (op == NO_ID ? copy_key(copy) : op);
    uint32_t        label = id_map_get(&launched->label_of, key);
    struct activity activity = profile->activities.items[row];

    if (label != NO_ID)
        return label;
    if (op != NO_ID)
        activity.op = op;
    else
        activity.copy = (uint8_t)copy;
    label = (uint32_t)profile->labels.count;
    return vec_push(&profile->activities, profile->arena, activity) &&
                   vec_push(&profile->labels, profile->arena,
                            (uint32_t)profile->activities.count - 1) &&
                   id_map_put(&launched->label_of, key, label)
               ? label
               : NO_ID;
}

static bool learn(struct launched *launched, const struct flow *flow)
{
    struct profile        *profile = launched->profile;
    const struct activity *call = event_activity(profile, flow->from);
    const struct activity *work = event_activity(profile, flow->to);
    uint32_t               row = event_activity_id(profile, flow->to), op = NO_ID, label;
    enum copy_direction    copy = COPY_NONE;

    if (work->kind == ACTIVITY_MEMCPY && work->copy == COPY_NONE)
        copy = xspace_copy_direction(profile_str(profile, call->name));
    else if (work->kind == ACTIVITY_KERNEL && work->op == NO_ID && call->kind == ACTIVITY_LAUNCH)
        op = call->op;
    if (op == NO_ID && copy == COPY_NONE)
        return true;
    label = label_with(launched, row, op, copy);
    return label != NO_ID && packed_set(&profile->event_labels, profile->arena, flow->to, label);
}

bool xspace_launched(struct profile *profile)
{
    struct arena    scratch = { .budget_bytes = profile->arena->budget_bytes };
    struct launched launched = { .profile = profile, .label_of.arena = &scratch };
    bool            ok = true;

    for (size_t i = 0; ok && i < profile->flows.count; i++)
        ok = profile->flows.items[i].kind != FLOW_LAUNCH ||
             learn(&launched, &profile->flows.items[i]);
    arena_free(&scratch);
    return ok;
}
