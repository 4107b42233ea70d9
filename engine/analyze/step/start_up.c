#include "analyze/step/start_up.h"

#include "analyze/emit.h"
#include "base/sample.h"
#include "model/names.h"

enum {
    LONG_NS = 10000000,
    USUAL_FACTOR = 20, /* over the median of such calls */
    FEW_CALLS = 2,     /* of which none is usual */
    MOST_LONG = 8,     /* more long ones of a name come again and again */
    MOST_CALLS = 200,  /* more of all names are no start-up */
    LOAD_NS = 1000000, /* the first launch of a kernel that takes as long loads it */
};
static const double IDLE_SHARE = 0.95, IDLE_FIRST_SHARE = 0.5;

struct first_launches {
    bool *is_first; /* by event */
    VEC(uint32_t) by_kernel;
};

static bool is_blocking(const struct activity *activity)
{
    return activity->kind == ACTIVITY_SYNC || activity->kind == ACTIVITY_TRANSFER;
}

/* Compiling, and calls into the driver, as far as kinds tell: what is only known to be a call has a
 * correlation. What an allocation takes is the driver's, too, whose own call is not always
 * recorded. */
static bool is_call(const struct profile *profile, const struct activity *activity, uint32_t event)
{
    int64_t correlation;

    return activity->kind == ACTIVITY_LAUNCH || activity->kind == ACTIVITY_ALLOC ||
           activity->kind == ACTIVITY_COMPILE || is_blocking(activity) ||
           name_is(profile_str(profile, activity->name), NAMES_ATEN_ALLOCATION) ||
           (activity->kind == ACTIVITY_OTHER &&
            profile_stat(profile, STAT_CORRELATION, event, &correlation));
}

/* Records of session runs know no calls: the op that first launches a kernel loads or chooses it.
 */
static bool is_choosing(const struct profile *profile, const struct activity *activity,
                        bool is_first)
{
    return profile->format == FORMAT_GRAPH && activity->kind == ACTIVITY_OP && is_first;
}

/* From how long on a call is one. */
static int64_t least_ns(const struct start_up *start_up, bool is_first, bool is_choosing)
{
    if (is_choosing)
        return LONG_NS;
    return is_first && start_up->long_ns > LOAD_NS ? LOAD_NS : start_up->long_ns;
}

/* By event: whether it is of a host. NULL: scratch is exhausted. */
static bool *find_own(const struct profile *profile, uint32_t host, struct arena *scratch)
{
    bool *is_own = arena_new_array(scratch, bool, (size_t)profile->event_count + 1);

    for (size_t t = 0; is_own && t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t i = 0; line->host == host && i < line->event_count; i++)
            is_own[line->first_event + i] = true;
    }
    return is_own;
}

/* Earliest launch by kernel: each host loads its own. false: scratch is exhausted. */
static bool find_first_launches(const struct profile *profile, uint32_t host, struct arena *scratch,
                                struct first_launches *first)
{
    struct id_map row_of = { .arena = scratch };
    bool         *is_own = find_own(profile, host, scratch);

    first->is_first = arena_new_array(scratch, bool, (size_t)profile->event_count + 1);
    if (!first->is_first || !is_own)
        return false;
    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];
        uint32_t           kernel, row;

        if (flow->kind != FLOW_LAUNCH || flow->to >= profile->event_count ||
            flow->from >= profile->event_count || !is_own[flow->from] ||
            (profile->format == FORMAT_GRAPH &&
             event_activity(profile, flow->to)->kind != ACTIVITY_KERNEL))
            continue;
        kernel = event_activity_id(profile, flow->to);
        row = id_map_get(&row_of, kernel);
        if (row == NO_ID) {
            row = (uint32_t)first->by_kernel.count;
            if (!id_map_put(&row_of, kernel, row) ||
                !vec_push(&first->by_kernel, scratch, flow->from))
                return false;
        } else if (event_start_ns(profile, flow->from) <
                   event_start_ns(profile, first->by_kernel.items[row])) {
            first->by_kernel.items[row] = flow->from;
        }
    }
    for (size_t i = 0; i < first->by_kernel.count; i++)
        first->is_first[first->by_kernel.items[i]] = true;
    return true;
}

/* Whether calls of an activity usually take far less; `lengths` holds as many as there are events.
 * A kernel's first launch is held against those that are none. */
static bool is_unusual(const struct profile *profile, const struct start_up_call *call,
                       const struct first_launches *first, int64_t long_ns, double *lengths)
{
    size_t count = 0, long_count = 0;
    bool   is_first = first->is_first[call->event];

    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t event = line->first_event; event < line->first_event + line->event_count;
             event++)
            if (line->kind == TIMELINE_THREAD &&
                event_activity_id(profile, event) == call->activity &&
                !(is_first && first->is_first[event]))
                lengths[count++] = (double)event_duration_ns(profile, event);
    }
    for (size_t i = 0; i < count; i++)
        long_count += lengths[i] >= (double)long_ns;
    return long_count <= MOST_LONG && (count <= (is_first ? 0 : FEW_CALLS) ||
                                       (double)(call->end_ns - call->start_ns) >=
                                           USUAL_FACTOR * sample_middle(lengths, count));
}

/* What is looked at where long calls of a host are searched. */
struct looked_at {
    const struct intervals      *busy, *working;
    const struct first_launches *first;
};

/* A long call with little beside it, or the long choice of a kernel. */
static bool may_be_start_up(const struct start_up *start_up, const struct looked_at *at,
                            uint32_t event)
{
    const struct profile  *profile = start_up->profile;
    const struct activity *activity = event_activity(profile, event);
    bool                   is_first = at->first->is_first[event];
    bool                   choosing = is_choosing(profile, activity, is_first);
    int64_t                ns = event_duration_ns(profile, event);

    if (ns < least_ns(start_up, is_first, choosing) ||
        !(choosing || is_call(profile, activity, event)))
        return false;
    return (double)intervals_overlap_ns(is_first ? at->working : at->busy,
                                        event_start_ns(profile, event),
                                        event_end_ns(profile, event)) <=
           (1 - (is_first ? IDLE_FIRST_SHARE : IDLE_SHARE)) * (double)ns;
}

static bool find_long_on(struct start_up *start_up, const struct looked_at *at, size_t row,
                         struct arena *arena)
{
    const struct profile  *profile = start_up->profile;
    const struct timeline *line = &profile->timelines.items[row];
    int64_t                compiled_ns = INT64_MIN; /* what is inside is part of it */

    for (uint32_t event = line->first_event; event < line->first_event + line->event_count;
         event++) {
        const struct activity *activity = event_activity(profile, event);
        struct start_up_call   call = { .start_ns = event_start_ns(profile, event),
                                        .end_ns = event_end_ns(profile, event),
                                        .event = event,
                                        .timeline = (uint32_t)row,
                                        .activity = event_activity_id(profile, event),
                                        .is_blocking = is_blocking(activity) };
        bool                   compiles = activity->kind == ACTIVITY_COMPILE;

        if (!may_be_start_up(start_up, at, event) || (compiles && call.start_ns < compiled_ns))
            continue;
        if (compiles)
            compiled_ns = call.end_ns;
        if (!vec_push(&start_up->calls, arena, call))
            return false;
    }
    return true;
}

static bool find_long(struct start_up *start_up, uint32_t host, const struct looked_at *at,
                      struct arena *arena)
{
    const struct profile *profile = start_up->profile;

    for (size_t t = 0; t < profile->timelines.count; t++)
        if (profile->timelines.items[t].kind == TIMELINE_THREAD &&
            profile->timelines.items[t].host == host && !find_long_on(start_up, at, t, arena))
            return false;
    return true;
}

bool start_up_find(const struct profile *profile, uint32_t host, const struct intervals *busy,
                   const struct intervals *working, struct arena *arena, struct start_up *start_up)
{
    struct arena scratch = { .budget_bytes = arena->budget_bytes };
    double      *lengths = arena_new_array(&scratch, double, (size_t)profile->event_count + 1);
    size_t       others = start_up->calls.count, kept = others; /* of hosts before */
    bool         ok;

    struct first_launches first = { 0 };
    struct looked_at      at = { busy, working, &first };

    if (start_up->long_ns == 0)
        start_up->long_ns = LONG_NS;
    ok = lengths && find_first_launches(profile, host, &scratch, &first) &&
         find_long(start_up, host, &at, arena);
    if (ok && start_up->calls.count > others + MOST_CALLS)
        start_up->calls.count = others;
    for (size_t i = others; ok && i < start_up->calls.count; i++) {
        struct start_up_call call = start_up->calls.items[i];

        if (call.is_blocking || is_unusual(profile, &call, &first, start_up->long_ns, lengths))
            start_up->calls.items[kept++] = call;
    }
    start_up->calls.count = kept;
    arena_free(&scratch);
    return ok;
}

bool start_up_has(const struct study *study, uint32_t event)
{
    const struct start_up *start_up = study->start_up;

    if (!start_up || start_up->profile != study->profile)
        return false;
    for (size_t i = 0; i < start_up->calls.count; i++)
        if (!start_up->calls.items[i].is_blocking && start_up->calls.items[i].event == event)
            return true;
    return false;
}

void start_up_mark(const struct study *study, struct path *path)
{
    for (size_t i = 0; study->start_up && i < path->frames.count; i++) {
        struct frame *frame = &path->frames.items[i];

        if (start_up_has(study, frame->event))
            frame->kinds |= KIND_BIT(ACTIVITY_COMPILE);
    }
}
