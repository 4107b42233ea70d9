#include "read/xspace/xspace_relabel.h"

/* What is learnt, told apart from rows of ops. */
static uint32_t copy_key(enum copy_direction copy)
{
    return NO_ID - 1 - (uint32_t)copy;
}

static uint32_t kind_key(enum activity_kind kind)
{
    enum { BEHIND_COPIES = 64 };
    return NO_ID - BEHIND_COPIES - (uint32_t)kind;
}

/* The label of the activity `row` as it is known now, told apart from others of it by `learnt`;
 * NO_ID: the budget. */
static uint32_t label_with(struct relabel *relabel, uint32_t row, uint32_t learnt,
                           struct activity activity)
{
    struct profile *profile = relabel->profile;
    uint64_t        key = (uint64_t)row << 32 | learnt;
    uint32_t        label = id_map_get(&relabel->label_of, key);

    if (label != NO_ID)
        return label;
    label = (uint32_t)profile->labels.count;
    return vec_push(&profile->activities, profile->arena, activity) &&
                   vec_push(&profile->labels, profile->arena,
                            (uint32_t)profile->activities.count - 1) &&
                   id_map_put(&relabel->label_of, key, label)
               ? label
               : NO_ID;
}

bool xspace_relabel(struct relabel *relabel, uint32_t event, uint32_t op, enum copy_direction copy)
{
    struct profile *profile = relabel->profile;
    struct activity activity = *event_activity(profile, event);
    uint32_t        label;

    if (op != NO_ID)
        activity.op = op;
    else
        activity.copy = (uint8_t)copy;
    label = label_with(relabel, event_activity_id(profile, event),
                       op == NO_ID ? copy_key(copy) : op, activity);
    return label != NO_ID && packed_set(&profile->event_labels, profile->arena, event, label);
}

bool xspace_relabel_kind(struct relabel *relabel, uint32_t event, enum activity_kind kind)
{
    struct profile *profile = relabel->profile;
    struct activity activity = *event_activity(profile, event);
    uint32_t        label;

    activity.kind = (uint8_t)kind;
    label = label_with(relabel, event_activity_id(profile, event), kind_key(kind), activity);
    return label != NO_ID && packed_set(&profile->event_labels, profile->arena, event, label);
}
