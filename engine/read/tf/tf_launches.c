/*
 * What put work on an accelerator's streams: the record of an op on the host, from its kernel's
 * start on, is the launch of what the streams show of it. A copy is named for the edge of the graph
 * that it is on ("edge_12_dense/MatMul:MEMCPYDtoH"): the op whose result it copies gives it away.
 */
#include "base/sort.h"
#include "read/tf/tf_model.h"

#include <stdlib.h>

struct call {
    int64_t  start_ns;
    uint32_t op, event;
};
struct calls {
    VEC(struct call) list; /* by op, then start */
};

static uint32_t op_of(const struct profile *profile, uint32_t event)
{
    return event_activity(profile, event)->op;
}

static int by_op(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    return IN_ORDER(COMPARE(x->op, y->op), COMPARE(x->start_ns, y->start_ns),
                    COMPARE(x->event, y->event));
}

static bool find_calls(const struct profile *profile, struct arena *scratch, struct calls *calls)
{
    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t i = 0; line->kind == TIMELINE_THREAD && i < line->event_count; i++) {
            uint32_t    event = line->first_event + i;
            struct call call = { event_start_ns(profile, event), op_of(profile, event), event };

            if (call.op != NO_ID && !vec_push(&calls->list, scratch, call))
                return false;
        }
    }
    if (calls->list.count)
        qsort(calls->list.items, calls->list.count, sizeof *calls->list.items, by_op);
    return true;
}

/* The last call of the op that began before a time, or NULL. */
static const struct call *call_before(const struct calls *calls, uint32_t op, int64_t time_ns)
{
    const struct call *items = calls->list.items;
    size_t             behind =
        LOWER_BOUND(calls->list.count, i,
                    items[i].op < op || (items[i].op == op && items[i].start_ns <= time_ns));

    return behind && items[behind - 1].op == op ? &items[behind - 1] : NULL;
}

/* The op whose result a copy takes, or NO_ID. */
static uint32_t copied_op(const struct tf_model *model, uint32_t event)
{
    const struct profile   *profile = model->profile;
    struct str              name = profile_str(profile, event_activity(profile, event)->name);
    static const struct str edge = STR_INIT("edge_");
    uint32_t                id;

    if (!str_starts(name, edge))
        return NO_ID;
    name = str_slice(name, edge.len, str_find_last(name, ':'));
    name = str_slice(name, str_find(name, '_') + 1, name.len);
    id = intern_find(&profile->names, name);
    return id == NO_ID ? NO_ID : tf_model_find(model, 0, id);
}

static bool join_stream(struct tf_model *model, const struct timeline *line,
                        const struct calls *calls)
{
    struct profile *profile = model->profile;

    for (uint32_t i = 0; i < line->event_count; i++) {
        uint32_t           event = line->first_event + i, op = op_of(profile, event);
        const struct call *call;

        if (event_activity(profile, event)->kind == ACTIVITY_MEMCPY)
            op = copied_op(model, event);
        call = op == NO_ID ? NULL : call_before(calls, op, event_start_ns(profile, event));

        if (call && !vec_push(&profile->flows, profile->arena,
                              (struct flow) { call->event, event, FLOW_LAUNCH }))
            return false;
    }
    return true;
}

bool tf_launches_join(struct tf_model *model)
{
    struct profile *profile = model->profile;
    struct calls    calls = { 0 };
    bool            has_streams = false;

    for (size_t t = 0; t < profile->timelines.count; t++)
        has_streams |= profile->timelines.items[t].kind == TIMELINE_STREAM;
    if (!has_streams)
        return true;
    if (!find_calls(profile, &model->scratch, &calls))
        return false;
    for (size_t t = 0; t < profile->timelines.count; t++)
        if (profile->timelines.items[t].kind == TIMELINE_STREAM &&
            !join_stream(model, &profile->timelines.items[t], &calls))
            return false;
    return true;
}
