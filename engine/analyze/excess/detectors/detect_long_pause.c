/* long_pause: the leading thread runs no op for much longer than between ops here: Python, by what
 * precedes and follows or by its recorded frames. */
#include "analyze/excess/pause_kinds.h"
#include "base/macros.h"
#include "base/sample.h"
#include "model/names.h"

#include <math.h>

static const double SHORTEST_NS = 60000, TIMES_MEDIAN = 8;
static const double BOUNDARY_NS =
    150000; /* the profiler itself, where one step goes over into the next */

/* Ops that only carry what Python makes are as small as starting them. */
static const double SMALL_OP = 6; /* times that */
enum { MOST_BETWEEN = 24 };       /* units */

/* What any program of compiled functions pays the host a step, at most a quarter of it. */
static const double FLOOR_NS = 1e6, FLOOR_JAX_NS = 3e5, FLOOR_SHARE = 0.25;

struct finder {
    struct ledger *ledger;
    double         least_ns;
    double         floor_ns; /* of the step looked at: what of the floor is not used up */
    uint32_t       floor_step;
    bool          *starts;   /* by name of the profile: programs are started inside */
    bool          *is_above; /* by frame: the same of this call */
    uint8_t       *kinds;    /* by unit: enum pause_kind; NULL where only length counts */
    uint8_t       *layers;   /* by name of the profile: 1 it calls a layer, 2 not, 0 not known */
};

static bool measure(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;
    VEC(double) lengths = { 0 };

    /* In a loop over values the usual pause is Python's own. */
    for (uint32_t u = 0; u < ledger->units.count; u++)
        if (unit_is_forward_pause(&ledger->units.items[u]) &&
            !(ledger->is_torch && pause_carries_values(ledger, u)) &&
            !vec_push(&lengths, ledger->scratch, ledger->units.items[u].ns))
            return false;
    finder->least_ns = SHORTEST_NS;
    if (lengths.count) {
        double median_ns = sample_middle(lengths.items, lengths.count);

        if (TIMES_MEDIAN * median_ns > finder->least_ns &&
            (double)lengths.count >= 2 * TIMES_MEDIAN)
            finder->least_ns = TIMES_MEDIAN * median_ns;
    }
    return true;
}

/* Functions of JAX in which Python waits for a result. */
static bool name_waits(struct str name)
{
    size_t space = str_find_last(name, ' ');

    name = space < name.len ? str_slice(name, space + 1, name.len) : name;
    return name_is(name, NAMES_JAX_WAIT);
}

bool frame_waits(const struct ledger *ledger, uint32_t name)
{
    enum { UNKNOWN, NO, YES };

    if (ledger->name_waits[name] == UNKNOWN)
        ledger->name_waits[name] = name_waits(profile_str(ledger->study->profile, name)) ? YES : NO;
    return ledger->name_waits[name] == YES;
}

static bool starts_or_waits(const struct ledger *ledger, const struct activity *activity)
{
    return activity->kind == ACTIVITY_DISPATCH || activity->kind == ACTIVITY_SYNC ||
           (activity->kind == ACTIVITY_PYTHON && frame_waits(ledger, activity->name));
}

/* Functions that start programs, or wait at times, may wait without a frame that says so. */
static bool mark_starters(struct finder *finder)
{
    const struct path    *path = finder->ledger->path;
    const struct profile *profile = finder->ledger->study->profile;

    finder->is_above = arena_new_array(finder->ledger->scratch, bool, path->frames.count + 1);
    finder->starts = arena_new_array(finder->ledger->scratch, bool, profile->names.count + 1);
    for (uint32_t f = 0; finder->starts && finder->is_above && f < path->frames.count; f++) {
        if (!starts_or_waits(finder->ledger, event_activity(profile, path->frames.items[f].event)))
            continue;
        for (uint32_t up = path->frames.items[f].parent; up != NO_ID && !finder->is_above[up];
             up = path->frames.items[up].parent) {
            finder->is_above[up] = true;
            finder->starts[event_activity(profile, path->frames.items[up].event)->name] = true;
        }
    }
    finder->layers = arena_new_array(finder->ledger->scratch, uint8_t, profile->names.count + 1);
    return finder->starts && finder->is_above && finder->layers;
}

static bool calls_layer(const struct finder *finder, uint32_t name)
{
    if (!finder->layers[name])
        finder->layers[name] =
            name_is(profile_str(finder->ledger->study->profile, name), NAMES_TORCH_LAYER_CALL) ? 1
                                                                                               : 2;
    return finder->layers[name] == 1;
}

/* The frame right below the user's own, or the innermost range, is the library's own, or one that
 * starts programs; or none is, and it may be a wait. So is a layer of a library's, however deep: it
 * looks its settings up and collects what it gives back. */
static bool is_base(const struct finder *finder, const struct work_unit *unit)
{
    const struct ledger  *ledger = finder->ledger;
    const struct path    *path = ledger->path;
    const struct profile *profile = ledger->study->profile;
    uint32_t              below = NO_ID;
    bool                  is_layer = false;

    for (uint32_t f = unit->frame; f != NO_ID; f = path->frames.items[f].parent) {
        const struct activity *activity = event_activity(profile, path->frames.items[f].event);

        if (activity->kind == ACTIVITY_SYNC && !ledger->is_torch)
            return true;
        if (activity->kind != ACTIVITY_PYTHON)
            continue;
        if (activity->source != NO_ID && ledger->is_user[activity->source]) {
            if (!ledger->is_torch &&
                (below == NO_ID ? finder->starts[activity->name] : finder->is_above[below]))
                return true;
            break;
        }
        below = f;
        is_layer |= ledger->is_torch && calls_layer(finder, activity->name);
        if (!ledger->is_torch && frame_waits(ledger, activity->name))
            return true;
    }
    return below != NO_ID &&
           (is_layer ||
            name_is(profile_str(profile,
                                event_activity(profile, path->frames.items[below].event)->name),
                    NAMES_TORCH_BASE));
}

/* Less what the profiler does between two steps. */
static double share_of(const struct ledger *ledger, const struct work_unit *unit)
{
    size_t at = (size_t)(unit - ledger->units.items);
    bool   is_boundary =
        at == ledger->first_unit[unit->step] || at + 1 == ledger->first_unit[unit->step + 1];

    if (!is_boundary)
        return 1;
    return unit->left_ns > BOUNDARY_NS ? 1 - BOUNDARY_NS / unit->left_ns : 0;
}

/* The cell of the place, which a pause of its own opens. */
static bool cell_at(struct finder *finder, const struct detector *self,
                    const struct work_unit *unit, uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       source, region = ledger_region(ledger, unit, &source);

    if (region == NO_ID)
        return false;
    for (*cell = 0; *cell < ledger->cells.count; (*cell)++)
        if (ledger->cells.items[*cell].detector == self &&
            ledger->cells.items[*cell].region == region)
            return true;
    *cell = ledger_cell(ledger, self, unit);
    return *cell != NO_ID;
}

/* Inside of a call the runtime is at work. */
static bool is_in_call(const struct ledger *ledger, const struct work_unit *unit)
{
    static const uint32_t CALLS =
        1u << ACTIVITY_DISPATCH | 1u << ACTIVITY_RUN | 1u << ACTIVITY_EXECUTOR;

    return unit->frame != NO_ID && ledger->path->frames.items[unit->frame].kinds & CALLS;
}

/* Python of another thread, a loader's say, that the leading one waited for. */
static bool is_elsewhere(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct path *path = ledger->path;

    return !ledger->is_torch && unit->frame != NO_ID && path->leader != NO_ID &&
           path->frames.items[unit->frame].timeline != path->leader;
}

/* What of a pause is beyond the floor of its step. */
static double beyond_floor(struct finder *finder, const struct work_unit *unit)
{
    const struct ledger *ledger = finder->ledger;
    double               step_ns = ledger->total_ns / (double)ledger->step_count, used_ns;

    if (finder->floor_step != unit->step) {
        finder->floor_step = unit->step;
        finder->floor_ns =
            fmin(ledger_is_jax(ledger) ? FLOOR_JAX_NS : FLOOR_NS, FLOOR_SHARE * step_ns);
    }
    used_ns = fmin(finder->floor_ns, unit->left_ns);
    finder->floor_ns -= used_ns;
    return 1 - used_ns / unit->left_ns;
}

/* Small ops between two long pauses hand over what Python makes one by one: they go with it. */
static void claim_between(struct ledger *ledger, uint32_t cell, uint32_t before, uint32_t behind)
{
    if (behind - before > MOST_BETWEEN ||
        ledger->units.items[before].step != ledger->units.items[behind].step)
        return;
    for (uint32_t u = before + 1; u < behind; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OTHER || unit->phase != UNIT_FORWARD || unit->is_trained ||
            unit->op_class == OP_PRODUCT ||
            (unit->kind == UNIT_OP && unit->ns > SMALL_OP * ledger->start_ns))
            return;
    }
    for (uint32_t u = before + 1; u < behind; u++)
        ledger_claim(ledger, cell, &ledger->units.items[u], 1);
}

/* Between the gradient of the loss, which is 1, and the last node no Python runs but in nodes. */
static bool is_in_backward(const struct ledger *ledger, uint32_t u)
{
    const struct work_unit *units = ledger->units.items, *before, *behind;

    if (ledger->op_before[u] == NO_ID || ledger->op_behind[u] == NO_ID)
        return false;
    before = &units[ledger->op_before[u]];
    behind = &units[ledger->op_behind[u]];
    return behind->phase == UNIT_BACKWARD &&
           (before->phase == UNIT_BACKWARD ||
            str_equal(unit_type(ledger, before), STR("aten::ones_like")));
}

/* What follows an update up to the next op counts as the update's: the profiler goes over into the
 * next step there. It does not take that long. */
static bool is_behind_update(const struct work_unit *unit)
{
    static const double LONGER_NS = 50e6;

    return unit->kind == UNIT_PAUSE && unit->phase == UNIT_UPDATE && unit->left_ns > LONGER_NS;
}

static bool is_long(const struct finder *finder, uint32_t u, bool is_bare)
{
    if (finder->kinds && finder->kinds[u] != (is_bare ? PAUSE_UNKNOWN : PAUSE_AGAIN))
        return !is_bare && finder->kinds[u] == PAUSE_LOOP;
    return finder->ledger->units.items[u].left_ns >= finder->least_ns;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .floor_step = NO_ID };
    bool          is_bare = self->grade == GRADE_NAMES;
    uint32_t      cell, last = NO_ID;
    double        share;

    if (!ledger->is_torch && is_bare == ledger->study->profile->has_python_frames)
        return true;
    if (!measure(&finder) || !mark_starters(&finder))
        return false;
    finder.kinds = ledger->is_torch ? pause_kinds_find(ledger, finder.least_ns) : NULL;
    if (ledger->is_torch && !finder.kinds)
        return false;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if ((!unit_is_forward_pause(unit) && !is_behind_update(unit)) ||
            !is_long(&finder, u, is_bare) || is_base(&finder, unit) || is_in_backward(ledger, u) ||
            is_elsewhere(ledger, unit) || (is_bare && is_in_call(ledger, unit)))
            continue;
        share = share_of(ledger, unit) * (ledger->is_torch ? 1 : beyond_floor(&finder, unit));
        if (share <= 0)
            continue;
        if (!cell_at(&finder, self, unit, &cell))
            return false;
        ledger_claim(ledger, cell, unit, share);
        if (ledger->is_torch && last != NO_ID)
            claim_between(ledger, cell, last, u);
        last = u;
    }
    return true;
}

const struct detector detector_long_pause = { "long-pause", CAUSE_PYTHON, GRADE_SIZES, find };
/* Where no Python was recorded, nothing says what a pause is, nor, in PyTorch, that one of a single
 * step comes again: an upper bound. */
const struct detector detector_bare_pause = { "long-pause", CAUSE_PYTHON, GRADE_NAMES, find };
