#include "analyze/excess/graph_calls.h"

#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const struct graph_call *x = a, *y = b;

    return COMPARE(x->start_ns, y->start_ns);
}

static bool is_call(const struct profile *profile, const struct activity *activity)
{
    return activity->kind == ACTIVITY_DISPATCH &&
           str_starts(profile_str(profile, activity->name), STR("EagerLocalExecute: __"));
}

/* Looked for among the few activities before the many events are. */
static bool has_calls(const struct profile *profile)
{
    for (size_t a = 0; a < profile->activities.count; a++)
        if (is_call(profile, &profile->activities.items[a]))
            return true;
    return false;
}

static bool trains(const struct profile *profile)
{
    for (size_t op = 0; op < profile->ops.count; op++)
        if (str_fits(profile_str(profile, profile->ops.items[op].name),
                     "gradient_tape/*|*/gradient_tape/*"))
            return true;
    return false;
}

static bool list(struct ledger *ledger, struct graph_calls *calls)
{
    const struct profile *profile = ledger->study->profile;
    struct host_events    events = { .study = ledger->study };
    uint32_t              event;

    while (host_events_next(&events, &event)) {
        const struct activity *activity = event_activity(profile, event);

        if (is_call(profile, activity) &&
            !vec_push(&calls->list, ledger->scratch,
                      (struct graph_call) { .start_ns = event_start_ns(profile, event),
                                            .end_ns = event_end_ns(profile, event),
                                            .name = activity->name,
                                            .needed = 1 }))
            return false;
    }
    return true;
}

bool graph_calls_find(struct ledger *ledger, struct graph_calls *calls)
{
    const struct profile *profile = ledger->study->profile;
    struct host_events    events = { .study = ledger->study };
    uint32_t              event;

    *calls = (struct graph_calls) { 0 };
    if (ledger->is_torch || profile->format != FORMAT_XSPACE || !has_calls(profile) ||
        trains(profile))
        return true;
    if (!list(ledger, calls))
        return false;
    if (calls->list.count)
        qsort(calls->list.items, calls->list.count, sizeof *calls->list.items, by_start);
    while (host_events_next(&events, &event)) {
        struct graph_call *call = event_activity(profile, event)->kind == ACTIVITY_OP
                                      ? graph_call_at(calls, event_start_ns(profile, event))
                                      : NULL;

        if (call)
            call->ops++;
    }
    return true;
}

struct graph_call *graph_call_at(struct graph_calls *calls, int64_t at_ns)
{
    size_t low = LOWER_BOUND(calls->list.count, i, calls->list.items[i].start_ns <= at_ns);

    return low && at_ns < calls->list.items[low - 1].end_ns ? &calls->list.items[low - 1] : NULL;
}

struct graph_call *graph_call_of(struct graph_calls *calls, const struct work_unit *unit)
{
    return graph_call_at(calls, unit->start_ns + (unit->end_ns - unit->start_ns) / 2);
}
