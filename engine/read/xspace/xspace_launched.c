/* What only the host's call tells of the work that it launched on a device: ROCm names the op
 * there, and the direction of copies that a kernel makes. */
#include "read/xspace/xspace_decode.h"
#include "read/xspace/xspace_relabel.h"

static bool learn(struct relabel *relabel, const struct flow *flow)
{
    struct profile        *profile = relabel->profile;
    const struct activity *call = event_activity(profile, flow->from);
    const struct activity *work = event_activity(profile, flow->to);
    uint32_t               op = NO_ID;
    enum copy_direction    copy = COPY_NONE;

    if (work->kind == ACTIVITY_MEMCPY && work->copy == COPY_NONE)
        copy = xspace_copy_direction(profile_str(profile, call->name));
    else if (work->kind == ACTIVITY_KERNEL && work->op == NO_ID && call->kind == ACTIVITY_LAUNCH)
        op = call->op;
    return (op == NO_ID && copy == COPY_NONE) || xspace_relabel(relabel, flow->to, op, copy);
}

bool xspace_launched(struct profile *profile)
{
    struct arena   scratch = { .budget_bytes = profile->arena->budget_bytes };
    struct relabel relabel = { .profile = profile, .label_of.arena = &scratch };
    bool           ok = true;

    for (size_t i = 0; ok && i < profile->flows.count; i++)
        ok = profile->flows.items[i].kind != FLOW_LAUNCH ||
             learn(&relabel, &profile->flows.items[i]);
    arena_free(&scratch);
    return ok;
}
