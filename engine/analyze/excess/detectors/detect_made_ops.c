/* made_ops: Python adds ops to the graph of a session between its runs, as assignments in a loop
 * do, and the session prepares the graph anew before the next one. The host's profiler shows what
 * ran, not the graph: runs have ops that no other run has, named like those of runs before but for
 * a number that rises. */
#include "analyze/excess/ledger.h"
#include "base/intern.h"
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"

#include <stdlib.h>

static const double MOST_GROW = 0.6; /* of the steps have a run with ops of its own */
enum { FEWEST_RUNS = 3, MOST_DIGITS = 9 };

struct call { /* of an op, on any thread */
    uint32_t run, op;
};
struct finder {
    struct ledger   *ledger;
    struct intervals runs;
    bool            *grows; /* by run */
    VEC(struct call) calls; /* by run */
    uint32_t *first;        /* by op: 1 + the first run that has it */
    bool     *again;        /* by op: another one has it, too */
};
struct family { /* ops of one name but for the number behind it */
    int64_t  number;
    uint32_t last_run, runs;
    bool     falls; /* the number does not always rise */
};

static int by_run(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    return IN_ORDER(COMPARE(x->run, y->run), COMPARE(x->op, y->op));
}

static bool list_calls(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct host_events    events = { .study = finder->ledger->study };
    uint32_t              event;

    while (host_events_next(&events, &event)) {
        uint32_t op = event_activity(profile, event)->op;
        int64_t  start_ns = event_start_ns(profile, event);
        uint32_t behind = (uint32_t)LOWER_BOUND(finder->runs.list.count, i,
                                                finder->runs.list.items[i].start_ns <= start_ns);

        if (op == NO_ID || !behind || finder->runs.list.items[behind - 1].end_ns < start_ns)
            continue;
        if (!vec_push(&finder->calls, finder->ledger->scratch,
                      (struct call) { .run = behind - 1, .op = op }))
            return false;
        finder->again[op] |= finder->first[op] && finder->first[op] != behind;
        finder->first[op] = behind;
    }
    if (finder->calls.count)
        qsort(finder->calls.items, finder->calls.count, sizeof *finder->calls.items, by_run);
    return true;
}

/* "Assign_12": its number, and the name before it. -1: it has none, as the first of a family. */
static int64_t number_of(struct str *name)
{
    size_t  end = name->len;
    int64_t number = 0;

    while (end > 0 && name->data[end - 1] >= '0' && name->data[end - 1] <= '9')
        end--;
    if (end < 2 || end == name->len || name->len - end > MOST_DIGITS || name->data[end - 1] != '_')
        return -1;
    for (size_t i = end; i < name->len; i++)
        number = 10 * number + (name->data[i] - '0');
    *name = str_slice(*name, 0, end - 1);
    return number;
}

/* Puts the calls of ops that one run alone has into families; those of others have none. */
static bool sort_families(const struct finder *finder, struct family *families, uint32_t *family_of)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct intern         names;

    if (!intern_init(&names, finder->ledger->scratch))
        return false;
    for (size_t i = 0; i < finder->calls.count; i++) {
        const struct call *call = &finder->calls.items[i];
        struct str         name = profile_str(profile, profile->ops.items[call->op].name);
        int64_t            number = number_of(&name);
        uint32_t           id = finder->again[call->op] ? 0 : intern_add(&names, name);
        struct family     *family;

        if (id == NO_ID)
            return false;
        family_of[i] = id;
        if (id == 0)
            continue;
        family = &families[id];
        if (family->runs && family->last_run == call->run)
            continue;
        family->falls |= family->runs && number <= family->number;
        family->number = number;
        family->last_run = call->run;
        family->runs++;
    }
    return true;
}

/* How many runs have ops of their own, of families that grow from run to run; 1 + the row of the
 * last such call goes to *example. False: out of memory. */
static bool mark_growing(struct finder *finder, size_t *growing, size_t *example)
{
    struct arena  *scratch = finder->ledger->scratch;
    struct family *families = arena_new_array(scratch, struct family, finder->calls.count + 2);
    uint32_t      *family_of = arena_new_array(scratch, uint32_t, finder->calls.count + 1);

    if (!families || !family_of || !sort_families(finder, families, family_of))
        return false;
    for (size_t i = 0; i < finder->calls.count; i++) {
        const struct family *family = &families[family_of[i]];
        bool                *grows = &finder->grows[finder->calls.items[i].run];

        if (family_of[i] == 0 || family->falls || family->runs < FEWEST_RUNS)
            continue;
        *growing += !*grows;
        *grows = true;
        *example = i + 1;
    }
    return true;
}

/* The pause before a run, from the one before it. */
static int64_t pause_ns(const struct finder *finder, size_t run)
{
    int64_t ns =
        run ? finder->runs.list.items[run].start_ns - finder->runs.list.items[run - 1].end_ns
            : (int64_t)0;

    return ns > 0 ? ns : 0;
}

/* What a pause is where the graph stays as it was: the usual one before other runs. */
static bool usual_pause(const struct finder *finder, double *usual_ns)
{
    double *pauses = arena_new_array(finder->ledger->scratch, double, finder->runs.list.count + 1);
    size_t  count = 0;

    if (!pauses)
        return false;
    for (size_t i = 1; i < finder->runs.list.count; i++)
        if (!finder->grows[i])
            pauses[count++] = (double)pause_ns(finder, i);
    *usual_ns = count ? sample_median(pauses, count) : 0;
    return true;
}

/* The part of a unit in pauses that lead to runs of a grown graph, less the usual one. */
static double share_of(const struct finder *finder, double usual_ns, const struct work_unit *unit)
{
    double ns = 0, length_ns = (double)(unit->end_ns - unit->start_ns);
    size_t run = LOWER_BOUND(finder->runs.list.count, i,
                             finder->runs.list.items[i].start_ns <= unit->start_ns);

    for (; run < finder->runs.list.count; run++) {
        int64_t from_ns = run ? finder->runs.list.items[run - 1].end_ns : unit->end_ns;
        int64_t begin_ns = from_ns > unit->start_ns ? from_ns : unit->start_ns;
        int64_t to_ns = finder->runs.list.items[run].start_ns;
        double  gap_ns = (double)pause_ns(finder, run);

        if (from_ns >= unit->end_ns)
            break;
        to_ns = to_ns < unit->end_ns ? to_ns : unit->end_ns;
        if (finder->grows[run] && to_ns > begin_ns && gap_ns > usual_ns)
            ns += (double)(to_ns - begin_ns) * (1 - usual_ns / gap_ns);
    }
    return length_ns > 0 ? ns / length_ns : 0;
}

static bool claim(struct finder *finder, const struct detector *self, size_t growing,
                  size_t example)
{
    struct ledger        *ledger = finder->ledger;
    const struct profile *profile = ledger->study->profile;
    struct str            name =
        profile_str(profile, profile->ops.items[finder->calls.items[example].op].name);
    uint32_t cell = NO_ID;
    double   usual_ns;

    if (!usual_pause(finder, &usual_ns))
        return false;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        double            share = share_of(finder, usual_ns, unit);

        if (share <= 0)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "%zu of %zu runs have ops that ran in no other, as %.*s", growing,
                              (size_t)finder->runs.list.count, (int)name.len, name.data))
            return false;
        ledger_claim(ledger, cell, unit, share);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct finder         finder = { .ledger = ledger };
    size_t                growing = 0, example = 0;

    if (ledger->is_torch || profile->format != FORMAT_XSPACE || ledger_is_jax(ledger))
        return true;
    if (!host_session_runs(ledger, &finder.runs))
        return false;
    if (finder.runs.list.count < FEWEST_RUNS)
        return true;
    finder.first = arena_new_array(ledger->scratch, uint32_t, profile->ops.count + 1);
    finder.again = arena_new_array(ledger->scratch, bool, profile->ops.count + 1);
    finder.grows = arena_new_array(ledger->scratch, bool, finder.runs.list.count);
    if (!finder.first || !finder.again || !finder.grows || !list_calls(&finder) ||
        !mark_growing(&finder, &growing, &example))
        return false;
    if (growing < FEWEST_RUNS || (double)growing < MOST_GROW * (double)ledger->step_count)
        return true;
    return claim(&finder, self, growing, example - 1);
}

const struct detector detector_made_ops = { "growing-graph", CAUSE_COMPILE, GRADE_STRUCTURE, find };
