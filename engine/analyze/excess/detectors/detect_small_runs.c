/* small_runs: a step of many runs of a session that compute next to nothing: variables loaded or
 * read, or a queue filled, one by one. One run can fetch, assign, or enqueue all of them. Runs that
 * compute are for other inputs. */
#include "analyze/excess/ledger.h"
#include "analyze/step/step_sessions.h"
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"

#include <stdlib.h>

static const double SMALL_NS = 5e5; /* of ops on the path: a run with more does something */
static const double LONG_PAUSE = 2; /* times the usual one: the rest is other work of the program */
enum { FEWEST = 8 /* a step */ };

struct small {
    int64_t start_ns, end_ns, pause_ns; /* the pause before it */
    double  op_ns;
    size_t  row;     /* among all runs */
    bool    is_seen; /* in a looked-at step */
    bool    computes;
};
struct finder {
    struct ledger *ledger;
    VEC(struct small) runs; /* by start; first all, then the small ones */
};

static int by_start(const void *a, const void *b)
{
    const struct small *x = a, *y = b;

    return IN_ORDER(COMPARE(x->start_ns, y->start_ns), COMPARE(x->end_ns, y->end_ns));
}

static bool add(struct finder *finder, int64_t start_ns, int64_t end_ns)
{
    return vec_push(&finder->runs, finder->ledger->scratch,
                    (struct small) { .start_ns = start_ns, .end_ns = end_ns });
}

static bool list_calls(struct finder *finder)
{
    struct intervals runs = { 0 };

    if (!host_session_runs(finder->ledger, &runs))
        return false;
    for (size_t i = 0; i < runs.list.count; i++)
        if (!add(finder, runs.list.items[i].start_ns, runs.list.items[i].end_ns))
            return false;
    return true;
}

static bool list_recorded(struct finder *finder)
{
    struct sessions sessions;

    if (!sessions_find(finder->ledger->study->profile, finder->ledger->scratch, &sessions))
        return false;
    for (size_t i = 0; i < sessions.list.count; i++)
        if (!add(finder, sessions.list.items[i].start_ns, sessions.list.items[i].end_ns))
            return false;
    for (size_t i = 0; i < sessions.list.count; i++)
        finder->runs.items[i].pause_ns = sessions.list.items[i].pause_ns;
    return true;
}

/* Recorded runs know their pauses without what recording took. */
static bool list_runs(struct finder *finder)
{
    bool is_graph = finder->ledger->study->profile->format == FORMAT_GRAPH;

    if (!(is_graph ? list_recorded(finder) : list_calls(finder)))
        return false;
    if (finder->runs.count)
        qsort(finder->runs.items, finder->runs.count, sizeof *finder->runs.items, by_start);
    for (size_t i = 1; !is_graph && i < finder->runs.count; i++) {
        int64_t pause_ns = finder->runs.items[i].start_ns - finder->runs.items[i - 1].end_ns;

        finder->runs.items[i].pause_ns = pause_ns > 0 ? pause_ns : 0;
    }
    return true;
}

static bool computes(const struct work_unit *unit)
{
    return unit->op_class != OP_OTHER && unit->op_class != OP_VARIABLE &&
           unit->op_class != OP_UPDATE && unit->op_class != OP_VIEW && unit->op_class != OP_COPY &&
           unit->op_class != OP_CONTROL && unit->op_class != OP_READBACK;
}

static void mark_seen(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;

    for (size_t step = 0; step < ledger->step_count; step++) {
        uint32_t first = ledger->first_unit[step], last = ledger->first_unit[step + 1];
        size_t   run =
            last > first
                  ? LOWER_BOUND(finder->runs.count, i,
                                finder->runs.items[i].start_ns < ledger->units.items[first].start_ns)
                  : finder->runs.count;

        while (run < finder->runs.count &&
               finder->runs.items[run].start_ns < ledger->units.items[last - 1].end_ns)
            finder->runs.items[run++].is_seen = true;
    }
}

static void look_at_ops(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        size_t                  behind =
            LOWER_BOUND(finder->runs.count, i, finder->runs.items[i].start_ns <= unit->start_ns);

        if (unit->kind != UNIT_OP || behind == 0)
            continue;
        finder->runs.items[behind - 1].op_ns += unit->ns;
        finder->runs.items[behind - 1].computes |= computes(unit);
    }
}

/* Starting a run takes long where other threads keep the cores busy: its own length tells nothing.
 */
static bool is_small(const struct small *run)
{
    return run->is_seen && !run->computes && run->op_ns < SMALL_NS;
}

/* Keeps small runs, and no more of the pause before each than is usual. */
static bool keep_small(struct finder *finder)
{
    double *pauses = arena_new_array(finder->ledger->scratch, double, finder->runs.count + 1);
    size_t  kept = 0;
    double  longest_ns;

    if (!pauses)
        return false;
    for (size_t i = 0; i < finder->runs.count; i++)
        if (is_small(&finder->runs.items[i])) {
            pauses[kept] = (double)finder->runs.items[i].pause_ns;
            finder->runs.items[kept] = finder->runs.items[i];
            finder->runs.items[kept++].row = i;
        }
    finder->runs.count = kept;
    longest_ns = kept ? LONG_PAUSE * sample_median(pauses, kept) : 0;
    for (size_t i = 0; i < kept; i++)
        if ((double)finder->runs.items[i].pause_ns > longest_ns)
            finder->runs.items[i].pause_ns = (int64_t)longest_ns;
    return true;
}

/* What of a stretch of time lies in small runs, or right before them. */
static double time_in_runs(const struct finder *finder, int64_t start_ns, int64_t end_ns)
{
    size_t  i = LOWER_BOUND(finder->runs.count, r, finder->runs.items[r].end_ns <= start_ns);
    int64_t sum_ns = 0;

    for (; i < finder->runs.count; i++) {
        const struct small *run = &finder->runs.items[i];
        int64_t             from_ns = run->start_ns - run->pause_ns;
        int64_t             first_ns = from_ns > start_ns ? from_ns : start_ns;
        int64_t             last_ns = run->end_ns < end_ns ? run->end_ns : end_ns;

        if (from_ns >= end_ns)
            break;
        if (last_ns > first_ns)
            sum_ns += last_ns - first_ns;
    }
    return (double)sum_ns;
}

/* A row of small runs with nothing else between becomes one. */
static double left_over(const struct finder *finder)
{
    size_t rows = 1;

    for (size_t i = 1; i < finder->runs.count; i++)
        rows += finder->runs.items[i].row != finder->runs.items[i - 1].row + 1;
    return (double)rows / (double)finder->runs.count;
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    double         a_step = (double)finder->runs.count / (double)ledger->step_count;
    double         left = left_over(finder);
    uint32_t       cell = NO_ID;

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        double            ns = (double)(unit->end_ns - unit->start_ns), in_runs;

        if ((unit->kind != UNIT_PAUSE && unit->phase != UNIT_INPUT) || ns <= 0)
            continue;
        /* Runs of several threads go side by side. */
        in_runs = time_in_runs(finder, unit->start_ns, unit->end_ns);
        in_runs = in_runs < ns ? in_runs : ns;
        if (in_runs <= 0)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "%.0f runs a step in which no op takes long", a_step))
            return false;
        ledger_claim(ledger, cell, unit, in_runs / ns * (1 - left));
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };

    if (ledger->is_torch || !list_runs(&finder))
        return ledger->is_torch;
    mark_seen(&finder);
    look_at_ops(&finder);
    if (!keep_small(&finder))
        return false;
    return finder.runs.count < FEWEST * ledger->step_count || claim(&finder, self);
}

const struct detector detector_small_runs = { "small-runs", CAUSE_DISPATCH, GRADE_SIZES, find };
