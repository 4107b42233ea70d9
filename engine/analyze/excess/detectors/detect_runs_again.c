/* runs_again: sessions of TensorFlow as its host profiler records them, runs without names or
 * graphs. Beside the run that trains, others run a good part of its ops, or of each other's, and
 * take about as long: for the same batch one run would fetch it all. Rows that are scored one by
 * one take much less than a batch, and evaluation of a larger set much longer. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

static const double MOST_ARE_SHARED = 0.5;             /* of the time of a run's ops */
static const double LEAST_ALIKE = 0.2, MOST_ALIKE = 2; /* times the way forward of the longest */
enum { FEWEST_OPS = 3, MOST_RUNS = 8 /* a step: more of them are for other inputs */ };

struct call { /* of an op, on any thread */
    uint32_t run, name;
    double   ns;
};
struct run {
    int64_t  start_ns, end_ns;
    uint32_t first_call, call_count;
    double   op_ns, forward_ns, shared_ns;
    bool     trains, writes, is_again;
};
struct finder {
    struct ledger *ledger;
    VEC(struct run) runs;   /* of the host, by start */
    VEC(struct call) calls; /* by run */
    uint32_t *stamps;       /* by name: 1 + the step in which a run before had an op of it */
};

static int by_run(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    return IN_ORDER(COMPARE(x->run, y->run), COMPARE(x->name, y->name));
}

/* False: out of memory. Runs of several threads at once are no row: the list is empty then. */
static bool list_runs(struct finder *finder)
{
    struct intervals runs = { 0 };

    if (!host_session_runs(finder->ledger, &runs))
        return false;
    for (size_t i = 0; i < runs.list.count; i++)
        if (!vec_push(&finder->runs, finder->ledger->scratch,
                      (struct run) { .start_ns = runs.list.items[i].start_ns,
                                     .end_ns = runs.list.items[i].end_ns }))
            return false;
    for (size_t i = 1; i < finder->runs.count; i++)
        if (finder->runs.items[i].start_ns < finder->runs.items[i - 1].end_ns)
            finder->runs.count = 0;
    return true;
}

static bool trains(const struct profile *profile, const struct op *op)
{
    return str_contains(profile_str(profile, op->name), STR("gradients")) ||
           str_fits(profile_str(profile, op->type), "*Apply*");
}

/* It sets a variable, which no other run does for it. */
static bool writes(const struct profile *profile, const struct op *op)
{
    return str_fits(profile_str(profile, op->type), "Assign*|Scatter*");
}

/* Ops of a run are on threads of the executor, the path of a step sees few of them. */
static bool list_calls(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct host_events    events = { .study = finder->ledger->study };
    uint32_t              event;

    while (host_events_next(&events, &event)) {
        uint32_t op = event_activity(profile, event)->op;
        int64_t  start_ns = event_start_ns(profile, event);
        size_t   behind =
            LOWER_BOUND(finder->runs.count, i, finder->runs.items[i].start_ns <= start_ns);
        struct run *run = &finder->runs.items[behind ? behind - 1 : 0];
        double      ns = (double)(event_end_ns(profile, event) - start_ns);

        if (op == NO_ID || !behind || run->end_ns < start_ns)
            continue;
        if (!vec_push(&finder->calls, finder->ledger->scratch,
                      (struct call) { (uint32_t)behind - 1, profile->ops.items[op].name, ns }))
            return false;
        run->call_count++;
        run->op_ns += ns;
        run->trains |= trains(profile, &profile->ops.items[op]);
        run->writes |= writes(profile, &profile->ops.items[op]);
        run->forward_ns += trains(profile, &profile->ops.items[op]) ? 0 : ns;
    }
    if (finder->calls.count)
        qsort(finder->calls.items, finder->calls.count, sizeof *finder->calls.items, by_run);
    for (size_t i = 1; i < finder->runs.count; i++)
        finder->runs.items[i].first_call =
            finder->runs.items[i - 1].first_call + finder->runs.items[i - 1].call_count;
    return true;
}

static void stamp(struct finder *finder, const struct run *run, size_t step)
{
    for (uint32_t i = 0; i < run->call_count; i++)
        finder->stamps[finder->calls.items[run->first_call + i].name] = (uint32_t)step + 1;
}

/* As long as a run on the same batch would take, next to the step's longest. */
static bool is_as_long(const struct run *run, const struct run *longest)
{
    return run->op_ns >= LEAST_ALIKE * longest->forward_ns &&
           run->op_ns <= MOST_ALIKE * longest->forward_ns;
}

static void compare(struct finder *finder, struct run *run, const struct run *longest, size_t step)
{
    for (uint32_t i = 0; i < run->call_count; i++) {
        const struct call *call = &finder->calls.items[run->first_call + i];

        run->shared_ns += finder->stamps[call->name] == step + 1 ? call->ns : 0;
    }
    /* What one variable tells, as the number of the step, another run can hand out as well. */
    run->is_again = ((run->call_count < FEWEST_OPS && !run->writes) || is_as_long(run, longest)) &&
                    run->shared_ns > 0 && run->shared_ns >= MOST_ARE_SHARED * run->op_ns;
}

/* Runs that train are needed, and else the first one; the others are held against them. */
static void judge(struct finder *finder, struct run *runs, size_t count, size_t step)
{
    const struct run *longest = &runs[0];

    for (size_t i = 0; i < count; i++) {
        if (runs[i].trains > longest->trains ||
            (runs[i].trains == longest->trains && runs[i].op_ns > longest->op_ns))
            longest = &runs[i];
        if (runs[i].trains)
            stamp(finder, &runs[i], step);
    }
    for (size_t i = 0; i < count; i++)
        if (!runs[i].trains) {
            compare(finder, &runs[i], longest, step);
            stamp(finder, &runs[i], step);
        }
}

/* What part of a stretch of time lies in runs that are done again, or leads to one: as much of it
 * as others have of the run. */
static double share_again(const struct finder *finder, size_t first, size_t last,
                          const struct work_unit *unit)
{
    double ns = 0, length_ns = (double)(unit->end_ns - unit->start_ns);

    for (size_t i = first; i < last; i++) {
        const struct run *run = &finder->runs.items[i];
        int64_t           from_ns = i > 0 ? run[-1].end_ns : run->start_ns;
        int64_t           begin_ns = from_ns > unit->start_ns ? from_ns : unit->start_ns;
        int64_t           end_ns = run->end_ns < unit->end_ns ? run->end_ns : unit->end_ns;

        if (run->is_again && end_ns > begin_ns)
            ns += (double)(end_ns - begin_ns) * run->shared_ns / run->op_ns;
    }
    return length_ns > 0 ? ns / length_ns : 0;
}

static bool claim_step(struct finder *finder, const struct detector *self, size_t step,
                       const size_t bounds[2], uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        double            share = share_again(finder, bounds[0], bounds[1], unit);

        if (share <= 0)
            continue;
        if (!ledger_cell_once(ledger, self, unit, cell,
                              "ops of one run of a session again in another one"))
            return false;
        ledger_claim(ledger, *cell, unit, share);
    }
    return true;
}

static bool look_at_step(struct finder *finder, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    const struct ledger *ledger = finder->ledger;
    uint32_t             begin = ledger->first_unit[step], end = ledger->first_unit[step + 1];
    size_t               first, last;
    int64_t              from_ns, to_ns;

    if (end <= begin)
        return true;
    from_ns = ledger->units.items[begin].start_ns;
    to_ns = ledger->units.items[end - 1].end_ns;
    first = LOWER_BOUND(finder->runs.count, i, finder->runs.items[i].start_ns < from_ns);
    last = LOWER_BOUND(finder->runs.count, i, finder->runs.items[i].start_ns < to_ns);
    if (last < first + 2 || last - first > MOST_RUNS)
        return true;
    judge(finder, &finder->runs.items[first], last - first, step);
    return claim_step(finder, self, step, (size_t[]) { first, last }, cell);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct finder         finder = { .ledger = ledger };
    uint32_t              cell = NO_ID;

    if (ledger->is_torch || profile->format != FORMAT_XSPACE || ledger_is_jax(ledger))
        return true;
    if (!list_runs(&finder))
        return false;
    if (finder.runs.count < 2)
        return true;
    finder.stamps =
        arena_new_array(ledger->scratch, uint32_t, profile->names.first + profile->names.count + 1);
    if (!finder.stamps || !list_calls(&finder))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(&finder, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_runs_again = { "run-again", CAUSE_REPEAT, GRADE_SIZES, find };
