/* growing_calls: calls of one graph function that run more ops from call to call, and then begin
 * again with few: a text that grows by a token each call goes through a loop of the graph as a
 * whole. What the first call of such a round runs is what each of them needs. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

static const double MOST_GROW = 0.8;  /* of the calls belong to such rounds */
static const double LEAST_GROWTH = 2; /* of a round, from its first call to its last */
enum { SHORTEST = 6, LONG = 12 };     /* calls of a round; from LONG on one is enough */

struct call {
    int64_t  start_ns, end_ns;
    uint32_t name, ops;
    double   needed; /* share of its time */
};
struct finder {
    struct ledger *ledger;
    VEC(struct call) calls; /* by start; later by name, then start */
};
struct series { /* of calls of one function */
    size_t first, end, rounds, calls, longest;
};

static int by_start(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    return COMPARE(x->start_ns, y->start_ns);
}

static int by_name(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    return IN_ORDER(COMPARE(x->name, y->name), by_start(a, b));
}

/* Walks the events of the host's threads. */
static bool each_event(struct finder *finder, bool (*take)(struct finder *finder, uint32_t event))
{
    struct host_events events = { .study = finder->ledger->study };
    uint32_t           event;

    while (host_events_next(&events, &event))
        if (!take(finder, event))
            return false;
    return true;
}

static bool take_call(struct finder *finder, uint32_t event)
{
    const struct profile  *profile = finder->ledger->study->profile;
    const struct activity *activity = event_activity(profile, event);
    struct call            call = { .start_ns = event_start_ns(profile, event),
                                    .end_ns = event_end_ns(profile, event),
                                    .name = activity->name,
                                    .needed = 1 };

    return activity->kind != ACTIVITY_DISPATCH ||
           !str_starts(profile_str(profile, call.name), STR("EagerLocalExecute: __")) ||
           vec_push(&finder->calls, finder->ledger->scratch, call);
}

/* The call that is under way at a time, or NULL. */
static struct call *call_at(struct finder *finder, int64_t at_ns)
{
    size_t low = LOWER_BOUND(finder->calls.count, i, finder->calls.items[i].start_ns <= at_ns);

    return low && at_ns < finder->calls.items[low - 1].end_ns ? &finder->calls.items[low - 1]
                                                              : NULL;
}

static bool take_op(struct finder *finder, uint32_t event)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct call          *call = event_activity(profile, event)->kind == ACTIVITY_OP
                                     ? call_at(finder, event_start_ns(profile, event))
                                     : NULL;

    if (call)
        call->ops++;
    return true;
}

/* Behind the last call of the round that begins at `first`, or `first` where none does. */
static size_t round_end(const struct finder *finder, size_t first, size_t end)
{
    const struct call *calls = finder->calls.items;
    size_t             last = first;

    while (last + 1 < end && calls[last + 1].ops > calls[last].ops)
        last++;
    return last - first + 1 >= SHORTEST && calls[first].ops > 0 &&
                   calls[last].ops >= LEAST_GROWTH * calls[first].ops
               ? last + 1
               : first;
}

static bool grows(const struct series *series)
{
    return (double)series->calls >= MOST_GROW * (double)(series->end - series->first) &&
           (series->rounds > 1 || series->longest >= LONG);
}

/* Of the calls of one function: how many are in rounds, and what those need where most are. */
static struct series look_at(struct finder *finder, size_t first)
{
    struct call  *calls = finder->calls.items;
    struct series series = { .first = first, .end = first };

    while (series.end < finder->calls.count && calls[series.end].name == calls[first].name)
        series.end++;
    for (size_t i = first, end; i<series.end; i = end> i ? end : i + 1) {
        end = round_end(finder, i, series.end);
        series.rounds += end > i;
        series.calls += end - i;
        series.longest = end - i > series.longest ? end - i : series.longest;
    }
    for (size_t i = first, end; grows(&series) && i<series.end; i = end> i ? end : i + 1) {
        end = round_end(finder, i, series.end);
        for (size_t c = i; c < end; c++)
            calls[c].needed = (double)calls[i].ops / calls[c].ops;
    }
    return series;
}

/* The longest function's rounds are told of. */
static bool claim(struct finder *finder, const struct detector *self, const struct series *series)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cell = NO_ID;

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit  *unit = &ledger->units.items[u];
        const struct call *call =
            call_at(finder, unit->start_ns + (unit->end_ns - unit->start_ns) / 2);

        if (!call || call->needed >= 1)
            continue;
        if (cell == NO_ID) {
            cell = ledger_cell(ledger, self, unit);
            if (cell == NO_ID ||
                !ledger_tell(ledger, cell,
                             "a function runs more ops from call to call, %zu calls in a row, "
                             "then begins anew",
                             series->longest))
                return false;
        }
        ledger_claim(ledger, cell, unit, 1 - call->needed);
    }
    return true;
}

/* Looked for among the few activities before the many events are. */
static bool has_functions(const struct profile *profile)
{
    for (size_t a = 0; a < profile->activities.count; a++)
        if (str_starts(profile_str(profile, profile->activities.items[a].name),
                       STR("EagerLocalExecute: __")))
            return true;
    return false;
}

static bool trains(const struct ledger *ledger)
{
    const struct profile *profile = ledger->study->profile;

    for (size_t op = 0; op < profile->ops.count; op++)
        if (str_fits(profile_str(profile, profile->ops.items[op].name),
                     "gradient_tape/*|*/gradient_tape/*"))
            return true;
    return false;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    struct series best = { 0 };

    if (ledger->is_torch || ledger->study->profile->format != FORMAT_XSPACE ||
        !has_functions(ledger->study->profile) || trains(ledger))
        return true;
    if (!each_event(&finder, take_call))
        return false;
    if (finder.calls.count < SHORTEST)
        return true;
    qsort(finder.calls.items, finder.calls.count, sizeof(struct call), by_start);
    if (!each_event(&finder, take_op))
        return false;
    qsort(finder.calls.items, finder.calls.count, sizeof(struct call), by_name);
    for (size_t i = 0; i < finder.calls.count;) {
        struct series series = look_at(&finder, i);

        if (grows(&series) && series.longest > best.longest)
            best = series;
        i = series.end;
    }
    qsort(finder.calls.items, finder.calls.count, sizeof(struct call), by_start);
    return best.longest == 0 || claim(&finder, self, &best);
}

const struct detector detector_growing_calls = { "growing-prefix", CAUSE_REPEAT, GRADE_SIZES,
                                                 find };
