/* What a device's work does not tell by its name: ROCm names the op on the host's call that
 * launched it, and the direction of copies that a kernel makes; CUPTI tells the memories of copies
 * that it calls by no direction. And what the call does not tell: TensorFlow up to 2.4 gives it the
 * name of what it launches. */
#include "read/xspace/xspace_decode.h"
#include "read/xspace/xspace_details.h"
#include "read/xspace/xspace_relabel.h"

/* The way of a copy that has none in its name. What its memories tell stands above what its call
 * says: XLA calls copies of pinned memory of the host "D2H" too. */
static enum copy_direction copy_way(const struct profile *profile, const struct flow *flow)
{
    const struct activity *call = event_activity(profile, flow->from);
    enum copy_direction    copy = COPY_NONE;
    int64_t                kinds;

    if (profile_stat(profile, STAT_COPY_KIND, flow->to, &kinds))
        copy = xspace_memories_direction(profile_str(profile, (uint32_t)kinds));
    return copy == COPY_NONE ? xspace_copy_direction(profile_str(profile, call->name)) : copy;
}

static bool learn_of_call(struct relabel *relabel, const struct flow *flow)
{
    const struct activity *call = event_activity(relabel->profile, flow->from);
    const struct activity *work = event_activity(relabel->profile, flow->to);

    return call->kind != ACTIVITY_OTHER || call->name != work->name ||
           xspace_relabel_kind(relabel, flow->from, ACTIVITY_LAUNCH);
}

static bool learn(struct relabel *relabel, const struct flow *flow)
{
    struct profile        *profile = relabel->profile;
    const struct activity *call = event_activity(profile, flow->from);
    const struct activity *work = event_activity(profile, flow->to);
    uint32_t               op = NO_ID;
    enum copy_direction    copy = COPY_NONE;

    if (work->kind == ACTIVITY_MEMCPY && work->copy == COPY_NONE)
        copy = copy_way(profile, flow);
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
             (learn(&relabel, &profile->flows.items[i]) &&
              learn_of_call(&relabel, &profile->flows.items[i]));
    arena_free(&scratch);
    return ok;
}
