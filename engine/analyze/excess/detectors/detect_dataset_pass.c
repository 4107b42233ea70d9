/* dataset_pass: a graph function that trains goes over a whole data set in each step, as metrics of
 * retrieval do over all candidates. The data set's ops run on threads of the pipeline, so the path
 * shows little of them: what counts is how long the op takes that goes over it. Where gradients are
 * made all along that time, it is the loop that trains. */
#include "analyze/excess/graph_names.h"
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

static const double MOST_STEPS = 0.6;  /* have it */
static const double RARE_SHARE = 0.98; /* once in fifty steps is enough */
enum { FEWEST_STEPS = 3, QUARTERS = 4, ALL_QUARTERS = (1 << QUARTERS) - 1 };

struct pass {
    int64_t start_ns, end_ns;
    uint8_t quarters; /* a bit for each that gradients are made in */
};
struct finder {
    struct ledger *ledger;
    VEC(struct pass) passes; /* by start */
    uint8_t *kind;           /* by activity: enum kind */
    bool     trains;
};
enum kind { KIND_OTHER, KIND_PASS, KIND_GRADIENT };

static int by_start(const void *a, const void *b)
{
    const struct pass *x = a, *y = b;

    return COMPARE(x->start_ns, y->start_ns);
}

static enum kind kind_of(const struct profile *profile, const struct activity *activity)
{
    struct str name = profile_str(profile, activity->name);

    if (str_equal(name, STR("ReduceDatasetOp::DoCompute")))
        return KIND_PASS;
    return activity->kind == ACTIVITY_OP && graph_name_is_gradient(name) ? KIND_GRADIENT
                                                                         : KIND_OTHER;
}

/* false: no data set is gone over, or out of memory. */
static bool learn(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    bool                  has_pass = false;

    finder->kind = arena_new_array(finder->ledger->scratch, uint8_t, profile->activities.count + 1);
    for (size_t a = 0; finder->kind && a < profile->activities.count; a++) {
        finder->kind[a] = (uint8_t)kind_of(profile, &profile->activities.items[a]);
        has_pass = has_pass || finder->kind[a] == KIND_PASS;
        finder->trains = finder->trains || finder->kind[a] == KIND_GRADIENT;
    }
    return has_pass && finder->trains;
}

static bool list_passes(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct host_events    events = { .study = finder->ledger->study };
    uint32_t              event;

    while (host_events_next(&events, &event)) {
        struct pass pass = { event_start_ns(profile, event), event_end_ns(profile, event), 0 };

        if (finder->kind[event_activity_id(profile, event)] == KIND_PASS &&
            pass.end_ns > pass.start_ns &&
            !vec_push(&finder->passes, finder->ledger->scratch, pass))
            return false;
    }
    if (finder->passes.count)
        qsort(finder->passes.items, finder->passes.count, sizeof(struct pass), by_start);
    return true;
}

static struct pass *pass_at(const struct finder *finder, int64_t at_ns)
{
    size_t low = LOWER_BOUND(finder->passes.count, i, finder->passes.items[i].start_ns <= at_ns);

    return low && at_ns < finder->passes.items[low - 1].end_ns ? &finder->passes.items[low - 1]
                                                               : NULL;
}

static void note_gradients(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct host_events    events = { .study = finder->ledger->study };
    uint32_t              event;

    while (host_events_next(&events, &event)) {
        struct pass *pass = finder->kind[event_activity_id(profile, event)] == KIND_GRADIENT
                                ? pass_at(finder, event_start_ns(profile, event))
                                : NULL;

        if (pass)
            pass->quarters |= (uint8_t)(1U << ((event_start_ns(profile, event) - pass->start_ns) *
                                               QUARTERS / (pass->end_ns - pass->start_ns)));
    }
}

/* Of a unit's time. */
static double share_inside(const struct finder *finder, const struct work_unit *unit)
{
    int64_t            middle_ns = unit->start_ns + (unit->end_ns - unit->start_ns) / 2;
    const struct pass *pass = pass_at(finder, middle_ns);
    int64_t            from_ns, to_ns;

    if (!pass || pass->quarters == ALL_QUARTERS || unit->end_ns <= unit->start_ns ||
        unit->phase == UNIT_BACKWARD || unit->phase == UNIT_UPDATE)
        return 0;
    from_ns = unit->start_ns > pass->start_ns ? unit->start_ns : pass->start_ns;
    to_ns = unit->end_ns < pass->end_ns ? unit->end_ns : pass->end_ns;
    return (double)(to_ns - from_ns) / (double)(unit->end_ns - unit->start_ns);
}

static bool is_gradient(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct profile *profile = ledger->study->profile;

    return unit->op != NO_ID &&
           graph_name_is_gradient(profile_str(profile, profile->ops.items[unit->op].name));
}

static size_t steps_with_pass(const struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;
    size_t               steps = 0;

    for (size_t step = 0; step < ledger->step_count; step++) {
        uint32_t u = ledger->first_unit[step];

        while (u < ledger->first_unit[step + 1] &&
               share_inside(finder, &ledger->units.items[u]) <= 0)
            u++;
        steps += u < ledger->first_unit[step + 1];
    }
    return steps;
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cell = NO_ID;

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        double            share = share_inside(finder, unit);

        if (share <= 0 || is_gradient(ledger, unit))
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "a data set is reduced inside of the function that trains"))
            return false;
        ledger_claim(ledger, cell, unit, RARE_SHARE * share);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    size_t        steps;

    if (ledger->is_torch || ledger->study->profile->format != FORMAT_XSPACE ||
        ledger_is_jax(ledger))
        return true;
    if (!learn(&finder))
        return finder.kind != NULL;
    if (!list_passes(&finder))
        return false;
    note_gradients(&finder);
    steps = steps_with_pass(&finder);
    return steps < FEWEST_STEPS || (double)steps < MOST_STEPS * (double)ledger->step_count ||
           claim(&finder, self);
}

const struct detector detector_dataset_pass = { "dataset-pass", CAUSE_RARE, GRADE_STRUCTURE, find };
