/*
 * step_repeats: iterations that nothing marks, by the row of ops that comes again. Each name's
 * usual distance to its next call is a period to try; the shortest one after which nearly all calls
 * are the same is an iteration. What is done now and then (a line of a log) spoils one comparison
 * around it. The first round may be another one, as prompts are before decoding, where each of the
 * others copies from or to the device or waits for it, which the layers of one pass do not. Rounds
 * inside of one call of a module are its layers, too.
 */
#include "analyze/step/step_markers.h"
#include "base/macros.h"
#include "base/sample.h"

#include <math.h>
#include <stdlib.h>

enum { FEWEST_ROUNDS = 3, SHORTEST_PERIOD = 8, MOST_CALLS = 200000 };
static const double LEAST_SAME = 0.98, MOST_OFF = 0.1;

/* An op that no other op of its thread is around. */
struct call {
    uint32_t event, name;
    uint32_t later; /* next call of the same name, or NO_ID */
};
struct calls {
    VEC(struct call) list;
    const struct timeline *line;
    int64_t                total_ns;
};
/* One name: where it is called first, how often, and the usual number of calls to its next one. */
struct caller {
    uint32_t first, count;
    double   period;
};
struct callers {
    VEC(struct caller) list;
};

static bool list_calls(const struct profile *profile, const struct timeline *line,
                       struct arena *scratch, struct calls *calls)
{
    int64_t reached_ns = INT64_MIN;

    calls->line = line;
    for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++) {
        const struct activity *activity = event_activity(profile, i);

        if (activity->kind != ACTIVITY_OP || event_start_ns(profile, i) < reached_ns)
            continue;
        reached_ns = event_end_ns(profile, i);
        calls->total_ns += reached_ns - event_start_ns(profile, i);
        if (!vec_push(&calls->list, scratch,
                      (struct call) { .event = i, .name = activity->name, .later = NO_ID }))
            return false;
    }
    return true;
}

/* From the last call to the first, so that each knows the next one of its name. */
static bool link_callers(struct calls *calls, struct arena *scratch, struct callers *callers)
{
    struct id_map row_of = { .arena = scratch };

    for (size_t i = calls->list.count; i-- > 0;) {
        struct call *call = &calls->list.items[i];
        uint32_t     row = id_map_get(&row_of, call->name);

        if (row == NO_ID) {
            row = (uint32_t)callers->list.count;
            if (!id_map_put(&row_of, call->name, row) ||
                !vec_push(&callers->list, scratch, (struct caller) { .first = NO_ID }))
                return false;
        }
        call->later = callers->list.items[row].first;
        callers->list.items[row].first = (uint32_t)i;
        callers->list.items[row].count++;
    }
    return true;
}

static void set_period(const struct calls *calls, struct caller *caller, double *gaps)
{
    size_t count = 0;

    for (uint32_t i = caller->first; calls->list.items[i].later != NO_ID;
         i = calls->list.items[i].later)
        gaps[count++] = (double)(calls->list.items[i].later - i);
    caller->period = count ? sample_median(gaps, count) : 0;
}

static int by_period_and_first(const void *a, const void *b)
{
    const struct caller *x = a, *y = b;

    if (x->period != y->period)
        return x->period < y->period ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Whether nearly all calls of [from, end) are those a period later. */
static bool is_same_after(const struct calls *calls, size_t from, size_t end, size_t period)
{
    size_t last = calls->list.count > period ? calls->list.count - period : 0;
    size_t until = end < last ? end : last, others = 0;

    for (size_t i = from; i < until; i++) {
        others += calls->list.items[i].name != calls->list.items[i + period].name;
        if ((double)others > (1 - LEAST_SAME) * (double)(until - from))
            return false;
    }
    return true;
}

/* Whether a name is called once in each round of the calls from one on, `count` times. */
static bool begins_rounds(const struct calls *calls, const struct caller *caller, size_t from,
                          uint32_t count)
{
    double rounds = (double)(calls->list.count - from) / caller->period;

    return count >= FEWEST_ROUNDS && caller->period >= SHORTEST_PERIOD &&
           fabs((double)count - rounds) <= fmax(1, MOST_OFF * rounds) &&
           is_same_after(calls, from, calls->list.count, (size_t)caller->period);
}

/* Whether a thread copies, or waits for a device, between each two calls of a name from one on. */
static bool talks_in_rounds(const struct profile *profile, const struct timeline *line,
                            const struct call *list, uint32_t from)
{
    uint32_t at = line->first_event;

    for (uint32_t i = from; list[i].later != NO_ID; i = list[i].later) {
        int64_t end_ns = event_start_ns(profile, list[list[i].later].event);
        bool    talks = false;

        while (event_start_ns(profile, at) < event_start_ns(profile, list[i].event))
            at++;
        for (; event_start_ns(profile, at) < end_ns; at++) {
            enum activity_kind kind = event_activity(profile, at)->kind;

            talks = talks || kind == ACTIVITY_TRANSFER || kind == ACTIVITY_SYNC;
        }
        if (!talks)
            return false;
    }
    return true;
}

static bool is_in_rounds(const struct profile *profile, const struct calls *calls,
                         const struct caller *caller)
{
    uint32_t second = calls->list.items[caller->first].later;

    return begins_rounds(calls, caller, 0, caller->count) ||
           (second != NO_ID && begins_rounds(calls, caller, second, caller->count - 1) &&
            !is_same_after(calls, caller->first, second, second - caller->first) &&
            talks_in_rounds(profile, calls->line, calls->list.items, second));
}

/* Who begins the rounds: the first one in them. NULL: nothing comes again. */
static const struct caller *find_period(const struct profile *profile, const struct calls *calls,
                                        struct callers *callers, double *gaps)
{
    for (size_t i = 0; i < callers->list.count; i++)
        set_period(calls, &callers->list.items[i], gaps);
    qsort(callers->list.items, callers->list.count, sizeof *callers->list.items,
          by_period_and_first);
    for (size_t i = 0; i < callers->list.count; i++) {
        const struct caller *caller = &callers->list.items[i];

        if (is_in_rounds(profile, calls, caller))
            return caller;
    }
    return NULL;
}

/* A round lasts to the next one; the last one to its last call, where it is whole. */
static bool add_rounds(const struct profile *profile, const struct calls *calls,
                       const struct caller *caller, struct marker marker, struct arena *arena,
                       struct markers *markers)
{
    const struct call *list = calls->list.items;
    size_t             last = (size_t)((1 - MOST_OFF) * caller->period);

    for (uint32_t i = caller->first; i != NO_ID; i = list[i].later) {
        size_t end = calls->list.count - 1;

        if (list[i].later == NO_ID && end - i < last)
            break;
        marker.event = list[i].event;
        marker.start_ns = event_start_ns(profile, list[i].event);
        marker.end_ns = list[i].later == NO_ID ? event_end_ns(profile, list[end].event)
                                               : event_start_ns(profile, list[list[i].later].event);
        if (!vec_push(&markers->list, arena, marker))
            return false;
    }
    return true;
}

/* Whether a module's call, as stacks of Python tell, has two beginnings of rounds in it. */
static bool are_layers(const struct profile *profile, const struct timeline *line,
                       const struct markers *markers)
{
    for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++) {
        const struct activity *activity = event_activity(profile, i);
        const struct marker   *list = markers->list.items;
        size_t                 next;

        if (activity->kind != ACTIVITY_PYTHON ||
            !str_starts(profile_str(profile, activity->name), STR("nn.Module: ")))
            continue;
        next = LOWER_BOUND(markers->list.count, m, list[m].start_ns < event_start_ns(profile, i));
        if (next + 1 < markers->list.count && list[next + 1].start_ns < event_end_ns(profile, i))
            return true;
    }
    return false;
}

static bool find_rounds(const struct profile *profile, struct calls *calls, struct marker marker,
                        struct arena *arena, struct markers *markers)
{
    struct callers       callers = { 0 };
    double              *gaps = arena_new_array(arena, double, calls->list.count + 1);
    const struct caller *first;

    if (!gaps || !link_callers(calls, arena, &callers))
        return false;
    first = find_period(profile, calls, &callers, gaps);
    if (first && !add_rounds(profile, calls, first, marker, arena, markers))
        return false;
    if (are_layers(profile, calls->line, markers))
        markers->list.count = 0;
    return true;
}

/* Whether rounds are of one length, but for the one or the few that other programs held up. */
static bool are_mostly_alike(const struct markers *markers, struct arena *arena)
{
    static const double MOST_OFF_USUAL = 0.3;
    enum { ONE_OF = 8 };
    size_t  count = markers->list.count - 1; /* the first is often another one */
    double *lengths = arena_new_array(arena, double, count + 1);
    double  usual_ns;
    size_t  others = 0;

    for (size_t i = 0; lengths && i < count; i++)
        lengths[i] =
            (double)(markers->list.items[i + 1].end_ns - markers->list.items[i + 1].start_ns);
    if (!lengths)
        return false;
    usual_ns = sample_middle(lengths, count);
    for (size_t i = 0; i < count; i++)
        others += fabs(lengths[i] - usual_ns) > MOST_OFF_USUAL * usual_ns;
    return others <= (count > ONE_OF ? count / ONE_OF : 1);
}

/* The last round ends with its last op, what it asked for may go on: its length is not asked. */
static void keep_alike(struct markers *markers, bool are_steps, struct arena *arena)
{
    size_t count = markers->list.count;
    bool   are_alike;

    markers->list.count--;
    are_alike = count >= FEWEST_ROUNDS &&
                (are_steps ? markers_are_alike(markers, arena) : are_mostly_alike(markers, arena));
    markers->list.count = are_alike ? count : 0;
}

static bool has_streams(const struct profile *profile, uint32_t host)
{
    for (uint32_t t = 0; t < profile->timelines.count; t++)
        if (profile->timelines.items[t].kind == TIMELINE_STREAM &&
            profile->timelines.items[t].host == host)
            return true;
    return false;
}

bool markers_repeats(struct profile const *profile, bool on_streams, struct arena *arena,
                     struct markers *markers)
{
    for (uint32_t host = 0; host < profile->hosts.count; host++) {
        struct calls  leader = { 0 };
        struct marker marker = { .host = host, .number = -1 };

        if (has_streams(profile, host) != on_streams)
            continue;
        for (uint32_t t = 0; t < profile->timelines.count; t++) {
            struct calls calls = { 0 };

            if (profile->timelines.items[t].kind != TIMELINE_THREAD ||
                profile->timelines.items[t].host != host)
                continue;
            if (!list_calls(profile, &profile->timelines.items[t], arena, &calls))
                return false;
            if (calls.total_ns <= leader.total_ns)
                continue;
            leader = calls;
            marker.timeline = t;
        }
        if (leader.list.count >= FEWEST_ROUNDS * SHORTEST_PERIOD &&
            leader.list.count <= MOST_CALLS &&
            !find_rounds(profile, &leader, marker, arena, markers))
            return false;
    }
    if (markers->list.count)
        keep_alike(markers, on_streams, arena);
    return true;
}
