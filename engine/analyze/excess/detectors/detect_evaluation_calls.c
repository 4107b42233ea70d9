/* evaluation_calls: between runs of the function that trains, runs of others that compute no
 * gradients: evaluation, where their name says so (nobody acts on a loss), where they take batches
 * of their own, or where they come in some of the steps only. A policy that acts comes in all steps
 * and reads no data but what Keras' predict wraps its rows in. Runs of a session have no names:
 * those with gradients are told from others. */
#include "analyze/excess/graph_names.h"
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "base/sort.h"
#include "model/names.h"

#include <stdlib.h>

static const double RARE_SHARE = 0.98; /* once in fifty steps is enough */
static const double EVERY_STEP = 0.9;  /* of the steps */

struct function { /* a compiled program, a graph function, or runs of a session of one kind */
    uint32_t name, steps, last_step;
    bool     is_run, in_training_run; /* of a session */
    bool     trains, reads_batch, computes;
};
struct call {
    int64_t  start_ns;
    uint32_t name;
    bool     is_run, trains; /* of a session; one with gradients */
};
struct finder {
    struct ledger *ledger;
    VEC(struct call) calls; /* of graph functions, and runs of sessions, by start */
    VEC(struct function) functions;
    uint32_t *function_of;    /* by unit: row of functions + 1; 0: no op, or of none */
    bool      trains_in_each; /* step: else a step is less than what is done for an update */
};

static int by_start(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    return IN_ORDER(COMPARE(x->start_ns, y->start_ns), COMPARE(x->name, y->name));
}

static bool list_calls(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct host_events    events = { .study = finder->ledger->study };
    uint32_t              event;

    while (host_events_next(&events, &event)) {
        const struct activity *activity = event_activity(profile, event);
        struct str             name = profile_str(profile, activity->name);
        struct call            call = { .start_ns = event_start_ns(profile, event),
                                        .name = activity->name,
                                        .is_run = str_equal(name, STR("SessionRun")) };

        if ((call.is_run || (activity->kind == ACTIVITY_DISPATCH &&
                             str_starts(name, STR("EagerLocalExecute: __")))) &&
            !vec_push(&finder->calls, finder->ledger->scratch, call))
            return false;
    }
    if (finder->calls.count)
        qsort(finder->calls.items, finder->calls.count, sizeof(struct call), by_start);
    return true;
}

/* The call that began last before a time, or NULL. */
static struct call *called_before(const struct finder *finder, int64_t at_ns)
{
    size_t low = LOWER_BOUND(finder->calls.count, i, finder->calls.items[i].start_ns <= at_ns);

    return low ? &finder->calls.items[low - 1] : NULL;
}

static bool is_gradient(const struct profile *profile, const struct op *op)
{
    struct str name = profile_str(profile, op->name);

    return graph_name_is_gradient(name) ||
           str_contains(profile_str(profile, op->type), STR("Backprop")) ||
           str_contains(profile_str(profile, op->origin), STR("transpose(jvp("));
}

static void learn(const struct ledger *ledger, const struct work_unit *unit,
                  struct function *function)
{
    if (unit->op != NO_ID)
        function->trains |=
            is_gradient(ledger->study->profile, &ledger->study->profile->ops.items[unit->op]);
    function->reads_batch |= unit->op_class == OP_INPUT || unit->phase == UNIT_INPUT;
    function->computes |= unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION ||
                          unit->op_class == OP_ATTENTION || unit->op_class == OP_CELL;
    if (function->last_step != unit->step)
        function->steps++, function->last_step = unit->step;
}

/* Which runs of a session compute gradients, or update with them: on the path of the step or beside
 * it. */
static void learn_runs(const struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct host_events    events = { .study = finder->ledger->study };
    bool                  has_runs = false;
    uint32_t              event;

    for (size_t i = 0; i < finder->calls.count; i++)
        has_runs |= finder->calls.items[i].is_run;
    while (has_runs && host_events_next(&events, &event)) {
        uint32_t     op = event_activity(profile, event)->op;
        struct call *call =
            op == NO_ID ? NULL : called_before(finder, event_start_ns(profile, event));

        if (call && call->is_run && !call->trains)
            call->trains =
                is_gradient(profile, &profile->ops.items[op]) ||
                name_is(profile_str(profile, profile->ops.items[op].type), NAMES_TF_UPDATE);
    }
}

/* Instructions know their program; ops of graphs run while their function is called. */
static struct function function_of(const struct finder *finder, const struct work_unit *unit)
{
    struct function    function = { .last_step = NO_ID };
    const struct call *call;

    if (unit->op != NO_ID)
        function.name = finder->ledger->study->profile->ops.items[unit->op].module;
    call = function.name ? NULL : called_before(finder, unit->start_ns);
    if (call) {
        function.name = call->name;
        function.is_run = call->is_run;
        function.in_training_run = call->trains;
    }
    return function;
}

static bool is_same(const struct function *a, const struct function *b)
{
    return a->name == b->name && a->in_training_run == b->in_training_run;
}

static bool look_at_units(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct function         function;
        size_t                  row = 0;

        if ((unit->kind != UNIT_OP || unit->op == NO_ID) && unit->phase != UNIT_INPUT)
            continue;
        function = function_of(finder, unit);
        while (row < finder->functions.count && !is_same(&finder->functions.items[row], &function))
            row++;
        if (!function.name)
            continue;
        if (row == finder->functions.count &&
            !vec_push(&finder->functions, ledger->scratch, function))
            return false;
        finder->function_of[u] = (uint32_t)row + 1;
        learn(ledger, unit, &finder->functions.items[row]);
    }
    return true;
}

static bool says_evaluation(struct str name)
{
    return name_is(name, NAMES_EVALUATION);
}

static bool is_evaluation(const struct finder *finder, size_t unit)
{
    const struct ledger   *ledger = finder->ledger;
    const struct function *function;
    struct str             name;

    if (!finder->function_of[unit])
        return false;
    function = &finder->functions.items[finder->function_of[unit] - 1];
    name = profile_str(ledger->study->profile, function->name);
    return function->computes && !function->trains &&
           (!function->is_run || finder->trains_in_each) &&
           ((function->reads_batch && !function->is_run && !name_is(name, NAMES_KERAS_PREDICT)) ||
            says_evaluation(name) ||
            (double)function->steps < EVERY_STEP * (double)ledger->step_count);
}

static bool trains(const struct finder *finder, size_t unit)
{
    return finder->function_of[unit] &&
           finder->functions.items[finder->function_of[unit] - 1].trains;
}

/* From the pause before a stretch's first op to its last op, whatever small lies between. */
static bool claim(struct finder *finder, const struct detector *self, size_t first, size_t last,
                  uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    struct str     name;

    if (*cell == NO_ID) {
        name = profile_str(ledger->study->profile,
                           finder->functions.items[finder->function_of[last] - 1].name);
        *cell = ledger_cell(ledger, self, &ledger->units.items[last]);
        if (*cell == NO_ID ||
            !ledger_tell(ledger, *cell, "runs of %.*s between those that train", STR_ARG(name)))
            return false;
    }
    if (first > ledger->first_unit[ledger->units.items[first].step] &&
        ledger->units.items[first - 1].kind == UNIT_PAUSE)
        first--;
    for (size_t u = first; u <= last; u++)
        ledger_claim(ledger, *cell, &ledger->units.items[u], RARE_SHARE);
    return true;
}

static bool look_at_step(struct finder *finder, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    const struct ledger *ledger = finder->ledger;
    size_t               first = SIZE_MAX, last = 0;

    for (size_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        if (first != SIZE_MAX && trains(finder, u)) {
            if (!claim(finder, self, first, last, cell))
                return false;
            first = SIZE_MAX;
        }
        if (is_evaluation(finder, u)) {
            first = first == SIZE_MAX ? u : first;
            last = u;
        }
    }
    return first == SIZE_MAX || claim(finder, self, first, last, cell);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;
    bool          has_training = false;

    if (ledger->is_torch || ledger->study->profile->format != FORMAT_XSPACE)
        return true;
    finder.function_of = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    if (!finder.function_of || !list_calls(&finder))
        return false;
    learn_runs(&finder);
    if (!look_at_units(&finder))
        return false;
    for (size_t f = 0; f < finder.functions.count; f++) {
        const struct function *function = &finder.functions.items[f];

        has_training |= function->trains;
        finder.trains_in_each |=
            function->trains && (double)function->steps >= EVERY_STEP * (double)ledger->step_count;
    }
    for (size_t step = 0; has_training && step < ledger->step_count; step++)
        if (!look_at_step(&finder, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_evaluation_calls = { "evaluation-calls", CAUSE_RARE, GRADE_SIZES,
                                                    find };
