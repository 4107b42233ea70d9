/* growing_calls: calls of one graph function that run more ops from call to call, and then begin
 * again with few: a text that grows by a token each call goes through a loop of the graph as a
 * whole. What the first call of such a round runs is what each of them needs. */
#include "analyze/excess/graph_calls.h"
#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

static const double MOST_GROW = 0.8;  /* of the calls belong to such rounds */
static const double LEAST_GROWTH = 2; /* of a round, from its first call to its last */
enum { SHORTEST = 6, LONG = 12 };     /* calls of a round; from LONG on one is enough */

struct finder {
    struct ledger     *ledger;
    struct graph_calls calls; /* by start; for a while by name, then start */
};
struct series { /* of calls of one function */
    size_t first, end, rounds, calls, longest;
};

static int by_start(const void *a, const void *b)
{
    const struct graph_call *x = a, *y = b;

    return COMPARE(x->start_ns, y->start_ns);
}

static int by_name(const void *a, const void *b)
{
    const struct graph_call *x = a, *y = b;

    return IN_ORDER(COMPARE(x->name, y->name), by_start(a, b));
}

/* Behind the last call of the round that begins at `first`, or `first` where none does. */
static size_t round_end(const struct finder *finder, size_t first, size_t end)
{
    const struct graph_call *calls = finder->calls.list.items;
    size_t                   last = first;

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
    struct graph_call *calls = finder->calls.list.items;
    struct series      series = { .first = first, .end = first };

    while (series.end < finder->calls.list.count && calls[series.end].name == calls[first].name)
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
        struct work_unit        *unit = &ledger->units.items[u];
        const struct graph_call *call = graph_call_of(&finder->calls, unit);

        if (!call || call->needed >= 1)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "a function runs more ops from call to call, %zu calls in a row, "
                              "then begins anew",
                              series->longest))
            return false;
        ledger_claim(ledger, cell, unit, 1 - call->needed);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    struct series best = { 0 };

    if (!graph_calls_find(ledger, &finder.calls))
        return false;
    if (finder.calls.list.count < SHORTEST)
        return true;
    qsort(finder.calls.list.items, finder.calls.list.count, sizeof(struct graph_call), by_name);
    for (size_t i = 0; i < finder.calls.list.count;) {
        struct series series = look_at(&finder, i);

        if (grows(&series) && series.longest > best.longest)
            best = series;
        i = series.end;
    }
    qsort(finder.calls.list.items, finder.calls.list.count, sizeof(struct graph_call), by_start);
    return best.longest == 0 || claim(&finder, self, &best);
}

const struct detector detector_growing_calls = { "growing-prefix", CAUSE_REPEAT, GRADE_SIZES,
                                                 find };
