/* Runs of sessions of TensorFlow 1: what lies between them, by what they are. Four detectors over
 * one list of runs: a graph that grows, batches that are fetched and fed back, inputs that are
 * scored one by one, checkpoints. */
#include "analyze/excess/ledger.h"
#include "analyze/step/step_sessions.h"
#include "base/sample.h"

static const double MOST_GROW = 0.6;    /* of the steps have ops of their own */
static const double SMALL_RUN_NS = 5e6; /* runs that batching would speed up are shorter */
static const double OPS_SHARE = 0.6;    /* of small ops, what a batch of many saves */
enum { FEWEST_STEPS = 3, FEWEST_RUNS = 8, FETCH_OPS = 12, FEWEST_COPIES = 8 };

/* The run that a pause leads to, or NO_ID for units inside of runs. */
static uint32_t run_behind(const struct sessions *sessions, const struct work_unit *unit)
{
    int64_t middle_ns = unit->start_ns + (unit->end_ns - unit->start_ns) / 2;
    size_t  run = sessions_behind(sessions, middle_ns);

    if (unit->kind == UNIT_OP || run == 0 || run >= sessions->list.count ||
        sessions->list.items[run - 1].end_ns > middle_ns)
        return NO_ID;
    return (uint32_t)run;
}

/* A pause less what recording the run before it cost. */
static double pause_share(const struct sessions *sessions, uint32_t run,
                          const struct work_unit *unit)
{
    double pause_ns = (double)sessions->list.items[run].pause_ns;

    return pause_ns < unit->left_ns ? pause_ns / unit->left_ns : 1;
}

static bool open_cell(struct ledger *ledger, const struct detector *self,
                      const struct work_unit *unit, uint32_t *cell)
{
    if (*cell == NO_ID)
        *cell = ledger_cell(ledger, self, unit);
    return *cell != NO_ID;
}

/* Most of the time passes between runs: a graph that grows is prepared anew there. */
static bool is_mostly_between(const struct sessions *sessions)
{
    size_t  count = sessions->list.count;
    int64_t pause_ns = 0;

    for (size_t i = 1; i < count; i++)
        pause_ns += sessions->list.items[i].pause_ns;
    return count > 1 && 2 * pause_ns >= sessions->list.items[count - 1].end_ns -
                                            sessions->list.items[0].start_ns;
}

/* Python adds ops to the graph between runs, which then is prepared anew: runs have ops of their
 * own, or those that need them were not recorded. */
static bool find_growing(struct ledger *ledger, const struct detector *self)
{
    struct sessions sessions;
    uint32_t        cell = NO_ID;
    size_t          grown = 0, steps;
    bool            is_grown;

    if (!sessions_find(ledger->study->profile, ledger->scratch, &sessions))
        return false;
    steps = sessions.list.count / sessions.period;
    for (size_t i = sessions.period; i < sessions.list.count; i++)
        grown += sessions.list.items[i].own_ops > 0;
    is_grown = (double)grown >= MOST_GROW * (double)(steps - 1);
    if (steps < FEWEST_STEPS ||
        (!is_grown && (sessions.idle_copies < FEWEST_COPIES || !is_mostly_between(&sessions))))
        return true;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        uint32_t          run = run_behind(&sessions, unit);

        if (run == NO_ID)
            continue;
        if (!open_cell(ledger, self, unit, &cell) ||
            !(is_grown ? ledger_tell(ledger, cell, "%zu of %zu runs have ops that ran in no other",
                                     grown, sessions.list.count)
                       : ledger_tell(ledger, cell,
                                     "the graph holds %u copies of an op that no run needs",
                                     sessions.idle_copies)))
            return false;
        ledger_claim(ledger, cell, unit, pause_share(&sessions, run, unit));
    }
    return true;
}

/* A run only fetches a batch, and the next one is fed it. */
static bool find_fed_back(struct ledger *ledger, const struct detector *self)
{
    struct sessions sessions;
    uint32_t        cell = NO_ID;

    if (!sessions_find(ledger->study->profile, ledger->scratch, &sessions))
        return false;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit     *unit = &ledger->units.items[u];
        uint32_t              run = run_behind(&sessions, unit);
        const struct session *before;

        if (run == NO_ID)
            continue;
        before = &sessions.list.items[run - 1];
        if (!sessions.list.items[run].is_fed || !before->reads_input ||
            before->op_count >= FETCH_OPS)
            continue;
        if (!open_cell(ledger, self, unit, &cell) ||
            !ledger_tell(ledger, cell, "a run of %u ops fetches a batch, and the next run is fed",
                         before->op_count))
            return false;
        ledger_claim(ledger, cell, unit, pause_share(&sessions, run, unit));
    }
    return true;
}

/* Equal small runs that train nothing, one fed input each. */
static bool are_single(const struct sessions *sessions, struct arena *scratch)
{
    double *lengths = arena_new_array(scratch, double, sessions->list.count + 1);

    if (sessions->period != 1 || sessions->list.count < FEWEST_RUNS || !lengths)
        return false;
    for (size_t i = 0; i < sessions->list.count; i++) {
        const struct session *run = &sessions->list.items[i];

        if (!run->is_fed || run->updates || run->own_ops)
            return false;
        lengths[i] = (double)(run->end_ns - run->start_ns);
    }
    return sample_median(lengths, sessions->list.count) < SMALL_RUN_NS;
}

static bool find_single(struct ledger *ledger, const struct detector *self)
{
    struct sessions sessions;
    uint32_t        cell = NO_ID;
    double          kept;

    if (!sessions_find(ledger->study->profile, ledger->scratch, &sessions))
        return false;
    if (!are_single(&sessions, ledger->scratch))
        return true;
    kept = 1.0 / (double)sessions.list.count;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (!open_cell(ledger, self, unit, &cell) ||
            !ledger_tell(ledger, cell, "%zu runs of the same %u ops, each fed its own input",
                         sessions.list.count, sessions.list.items[0].op_count))
            return false;
        ledger_claim(ledger, cell, unit, (unit->kind == UNIT_OP ? OPS_SHARE : 1) * (1 - kept));
    }
    return true;
}

/* The run that a unit is in, or that the pause it is leads to. NO_ID: behind the last run. */
static uint32_t run_around(const struct sessions *sessions, const struct work_unit *unit)
{
    int64_t middle_ns = unit->start_ns + (unit->end_ns - unit->start_ns) / 2;
    size_t  behind = sessions_behind(sessions, middle_ns);

    if (behind > 0 && sessions->list.items[behind - 1].end_ns > middle_ns)
        return (uint32_t)behind - 1;
    return behind < sessions->list.count ? (uint32_t)behind : NO_ID;
}

/* Runs that write all variables, with the pauses before: Python names files and tidies up there. */
static bool find_saving(struct ledger *ledger, const struct detector *self)
{
    struct sessions sessions;
    uint32_t        cell = NO_ID;

    if (!sessions_find(ledger->study->profile, ledger->scratch, &sessions))
        return false;
    for (size_t u = 0; sessions.list.count && u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        uint32_t          run = run_around(&sessions, unit);

        if (run == NO_ID || !sessions.list.items[run].saves)
            continue;
        if (!open_cell(ledger, self, unit, &cell) ||
            !ledger_tell(ledger, cell, "saving: a run of %u ops writes the variables",
                         sessions.list.items[run].op_count))
            return false;
        ledger_claim(ledger, cell, unit,
                     unit->start_ns < sessions.list.items[run].start_ns
                         ? pause_share(&sessions, run, unit)
                         : 1);
    }
    return true;
}

const struct detector detector_growing_graph = { "growing-graph", CAUSE_COMPILE, GRADE_STRUCTURE,
                                                 find_growing };
const struct detector detector_fed_back = { "fed-back", CAUSE_WAIT_INPUT, GRADE_STRUCTURE,
                                            find_fed_back };
const struct detector detector_saving_run = { "saving-run", CAUSE_WAIT_IO, GRADE_STRUCTURE,
                                              find_saving };
const struct detector detector_single_inputs = { "single-inputs", CAUSE_DISPATCH, GRADE_SIZES,
                                                 find_single };
