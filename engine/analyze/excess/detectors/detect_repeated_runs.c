/* Several runs of a session in a step that compute the same: the one that trains, else the first
 * one, is needed, and what others share with it or with each other is done again. */
#include "analyze/excess/ledger.h"
#include "analyze/step/step_sessions.h"

static const double MOST_ARE_SHARED = 0.5; /* of a run's ops: then it could be part of another */

struct repeats {
    struct sessions sessions;
    uint32_t       *first_op; /* by run, and one behind the last: rows of ops */
    uint32_t       *ops;      /* that ran, by run */
    uint32_t       *seen;     /* by op: 1 + the last step in which a run before this one had it */
    uint32_t       *shared;   /* by run: its ops that another run of the step had */
};

/* Ops of each run, those of a run together. False: no memory. */
static bool list_ops(const struct profile *profile, struct arena *arena, struct repeats *repeats)
{
    size_t    runs = repeats->sessions.list.count;
    uint32_t *run_of = arena_new_array(arena, uint32_t, profile->recorded_steps.count + 1);

    repeats->first_op = arena_new_array(arena, uint32_t, runs + 2);
    repeats->ops = arena_new_array(arena, uint32_t, profile->op_runs.count + 1);
    if (!run_of || !repeats->first_op || !repeats->ops)
        return false;
    for (size_t i = 0; i < runs; i++)
        run_of[repeats->sessions.list.items[i].step] = (uint32_t)i + 1;
    for (size_t i = 0; i < profile->op_runs.count; i++)
        repeats->first_op[run_of[profile->op_runs.items[i].step] + 1]++;
    for (size_t i = 0; i <= runs; i++) /* the first place is for ops of no run */
        repeats->first_op[i + 1] += repeats->first_op[i];
    for (size_t i = 0; i < profile->op_runs.count; i++)
        repeats->ops[repeats->first_op[run_of[profile->op_runs.items[i].step]]++] =
            profile->op_runs.items[i].op;
    return true;
}

/* Behind list_ops, first_op[run] is where the run's ops begin: each place moved on by one run. */
static void mark(struct repeats *repeats, size_t run, uint32_t stamp)
{
    for (uint32_t i = repeats->first_op[run]; i < repeats->first_op[run + 1]; i++)
        repeats->seen[repeats->ops[i]] = stamp;
}

/* The run of a step that is needed: the first that trains, else the first. */
static size_t needed_run(const struct sessions *sessions, size_t first)
{
    for (size_t run = first; run < first + sessions->period && run < sessions->list.count; run++)
        if (sessions->list.items[run].updates)
            return run;
    return first;
}

static bool is_again(const struct repeats *repeats, size_t run, uint32_t op)
{
    return repeats->seen[op] == run / repeats->sessions.period + 1;
}

/* Counts what runs share, and stamps what the step had before `run`. */
static void begin_run(struct repeats *repeats, size_t run)
{
    const struct sessions *sessions = &repeats->sessions;
    uint32_t               step = (uint32_t)(run / sessions->period);
    size_t                 needed = needed_run(sessions, step * sessions->period);

    if (run == step * sessions->period)
        mark(repeats, needed, step + 1);
    else if (run - 1 != needed)
        mark(repeats, run - 1, step + 1);
    for (uint32_t i = repeats->first_op[run]; i < repeats->first_op[run + 1]; i++)
        repeats->shared[run] += is_again(repeats, run, repeats->ops[i]);
}

/* Runs that train do their own work, though they may share a forward pass; those that save read all
 * variables, as others do. */
static bool may_go(const struct repeats *repeats, size_t run)
{
    const struct sessions *sessions = &repeats->sessions;

    return !sessions->list.items[run].updates && !sessions->list.items[run].saves &&
           run != needed_run(sessions, run / sessions->period * sessions->period);
}

/* Of a unit in a run, or of the pause that leads to one: what need not be. */
static double share_of(const struct repeats *repeats, size_t run, const struct work_unit *unit)
{
    uint32_t ops = repeats->first_op[run + 1] - repeats->first_op[run];

    if (unit->kind == UNIT_OP)
        return unit->op != NO_ID && is_again(repeats, run, unit->op) ? 1 : 0;
    return (double)repeats->shared[run] >= MOST_ARE_SHARED * (double)ops ? 1 : 0;
}

/* The run that a unit is in, or that the pause it is leads to; their count: none. */
static size_t run_of_unit(const struct sessions *sessions, const struct work_unit *unit)
{
    int64_t middle_ns = unit->start_ns + (unit->end_ns - unit->start_ns) / 2;
    size_t  behind = sessions_behind(sessions, middle_ns);

    return behind > 0 && sessions->list.items[behind - 1].end_ns > middle_ns ? behind - 1 : behind;
}

static bool claim(struct ledger *ledger, const struct detector *self, struct repeats *repeats)
{
    const struct sessions *sessions = &repeats->sessions;
    uint32_t               cell = NO_ID;
    size_t                 begun = 0;

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        size_t            run = run_of_unit(sessions, unit);
        double            share;

        while (run < sessions->list.count && begun <= run)
            begin_run(repeats, begun++);
        if (run + 1 != begun || run >= sessions->list.count || !may_go(repeats, run))
            continue;
        share = share_of(repeats, run, unit);
        if (share <= 0)
            continue;
        if (cell == NO_ID)
            cell = ledger_cell(ledger, self, unit);
        if (cell == NO_ID ||
            !ledger_tell(
                ledger, cell,
                "%zu runs a step, and one of them has %u of its %u ops in common with the others",
                sessions->period, repeats->shared[run],
                repeats->first_op[run + 1] - repeats->first_op[run]))
            return false;
        ledger_claim(ledger, cell, unit, share);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct repeats        repeats = { 0 };

    if (!sessions_find(profile, ledger->scratch, &repeats.sessions))
        return false;
    if (repeats.sessions.period < 2)
        return true;
    repeats.seen = arena_new_array(ledger->scratch, uint32_t, profile->ops.count + 1);
    repeats.shared = arena_new_array(ledger->scratch, uint32_t, repeats.sessions.list.count + 1);
    return repeats.seen && repeats.shared && list_ops(profile, ledger->scratch, &repeats) &&
           claim(ledger, self, &repeats);
}

const struct detector detector_repeated_runs = { "repeated-run", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                 find };
