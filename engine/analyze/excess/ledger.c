#include "analyze/excess/ledger.h"

#include "model/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *excess_cause_name(enum excess_cause cause)
{
    static const char *const names[] = {
#define CAUSE(id, name, text) name,
#include "analyze/excess/causes.def"
#undef CAUSE
    };

    return names[cause];
}

const char *excess_grade_name(enum excess_grade grade)
{
    static const char *const names[] = { "A", "B", "C" };

    return names[grade];
}

uint32_t ledger_cell(struct ledger *ledger, const struct detector *self, const struct work_unit *at)
{
    struct cell cell = { .detector = self, .source = NO_ID };

    cell.region = ledger_region(ledger, at, &cell.source);
    if (cell.region == NO_ID || !vec_push(&ledger->cells, ledger->scratch, cell))
        return NO_ID;
    return (uint32_t)ledger->cells.count - 1;
}

static const double MOST_OF_UNIT = 0.5; /* share of a unit */

/* A unit is edited with one cell: the first that claims of it, or one that claims most of it, as of
 * a pause of which the first takes what starting an op costs. Of that one all of the unit is seen.
 */
static void hold(struct ledger *ledger, uint32_t cell, struct work_unit *unit, double ns)
{
    struct cell *of = &ledger->cells.items[cell];

    if (unit->cell != NO_ID && unit->cell != cell && ns > MOST_OF_UNIT * unit->ns) {
        struct cell *before = &ledger->cells.items[unit->cell];

        before->seen_ns -= unit->ns;
        before->lost_ns += unit->held_ns;
        of->seen_ns += unit->ns - unit->left_ns;
        unit->cell = NO_ID;
        unit->held_ns = 0;
    }
    if (unit->cell == NO_ID)
        unit->cell = cell;
    if (unit->cell == cell)
        unit->held_ns += ns;
}

double cell_factor(const struct cell *cell)
{
    return cell->seen_ns > 0 ? fmin(1, 1 - (cell->ns - cell->lost_ns) / cell->seen_ns) : 1;
}

void ledger_claim(struct ledger *ledger, uint32_t cell, struct work_unit *unit, double share)
{
    struct cell *of = &ledger->cells.items[cell];
    double       ns = unit->left_ns * share;

    if (ns <= 0)
        return;
    hold(ledger, cell, unit, ns);
    of->seen_ns += unit->left_ns;
    of->ns += ns;
    of->calls++;
    unit->left_ns -= ns;
    if (unit->type && ns > of->largest_ns) {
        of->largest_ns = ns;
        of->type = unit->type;
    }
}

void ledger_claim_ops(struct ledger *ledger, uint32_t cell, uint32_t first, uint32_t last,
                      double share)
{
    for (uint32_t u = first; u <= last; u++)
        if (unit_goes_with_ops(&ledger->units.items[u]))
            ledger_claim(ledger, cell, &ledger->units.items[u], share);
}

static CHECK_PRINTF(3, 0) bool tell(struct ledger *ledger, uint32_t cell, const char *format,
                                    va_list arguments)
{
    char text[256];

    if (vsnprintf(text, sizeof text, format, arguments) < 0)
        return true;
    ledger->cells.items[cell].detail = facts_name(&ledger->study->facts, str_from(text));
    return ledger->cells.items[cell].detail != NO_ID;
}

bool ledger_tell(struct ledger *ledger, uint32_t cell, const char *format, ...)
{
    va_list arguments;
    bool    is_told;

    va_start(arguments, format);
    is_told = tell(ledger, cell, format, arguments);
    va_end(arguments);
    return is_told;
}

bool ledger_cell_once(struct ledger *ledger, const struct detector *self,
                      const struct work_unit *at, uint32_t *cell, const char *format, ...)
{
    va_list arguments;
    bool    is_told;

    if (*cell != NO_ID)
        return true;
    *cell = ledger_cell(ledger, self, at);
    va_start(arguments, format);
    is_told = *cell != NO_ID && tell(ledger, *cell, format, arguments);
    va_end(arguments);
    return is_told;
}

bool ledger_is_jax(const struct ledger *ledger)
{
    const struct profile *profile = ledger->study->profile;

    return str_equal(profile_str(profile, profile->framework), STR("jax"));
}

struct str unit_type(const struct ledger *ledger, const struct work_unit *unit)
{
    return profile_str(ledger->study->profile, unit->type);
}

const struct tensor *unit_input(const struct ledger *ledger, const struct work_unit *unit,
                                uint32_t row)
{
    return profile_op_input(ledger->study->profile, unit->op, row);
}

uint32_t unit_first_factor(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && name_is(unit_type(ledger, unit), NAMES_ATEN_BIASED_PRODUCT);
}

const struct tensor *unit_left(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit_input(ledger, unit, unit_first_factor(ledger, unit));
}

const struct tensor *unit_right(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit_input(ledger, unit, unit_first_factor(ledger, unit) + 1);
}

bool unit_goes_with_ops(const struct work_unit *unit)
{
    return unit->kind != UNIT_OTHER || unit->part == PART_IDLE_OTHER;
}

static uint32_t around(struct ledger *ledger, const struct work_unit *unit)
{
    size_t      at = (size_t)(unit - ledger->units.items);
    const char *before = NULL, *behind = NULL;
    char        text[256];

    if (ledger->op_before[at] != NO_ID)
        before = unit_type(ledger, &ledger->units.items[ledger->op_before[at]]).data;
    if (ledger->op_behind[at] != NO_ID)
        behind = unit_type(ledger, &ledger->units.items[ledger->op_behind[at]]).data;
    if (before && behind)
        snprintf(text, sizeof text, "between %.100s and %.100s", before, behind);
    else if (before || behind)
        snprintf(text, sizeof text, "%s %.100s", before ? "behind" : "before",
                 before ? before : behind);
    else
        snprintf(text, sizeof text, "the step");
    return facts_name(&ledger->study->facts, str_from(text));
}

static bool is_range(const struct activity *activity)
{
    return activity->kind == ACTIVITY_ANNOTATION || activity->kind == ACTIVITY_RUN;
}

bool frame_is_own_python(const struct ledger *ledger, uint32_t frame)
{
    const struct path    *path = ledger->path;
    const struct profile *profile = ledger->study->profile;

    for (; frame != NO_ID; frame = path->frames.items[frame].parent) {
        const struct activity *activity = event_activity(profile, path->frames.items[frame].event);

        if (activity->kind == ACTIVITY_PYTHON)
            return activity->source != NO_ID && ledger->is_user[activity->source];
    }
    return false;
}

/* A frame's name without the mark that JAX's and TensorFlow's tracer sets before those of Python.
 */
static const char *frame_name(const struct profile *profile, uint32_t name)
{
    const char *text = profile_str(profile, name).data;

    return text[0] == '$' ? text + 1 : text;
}

/* The innermost frame of the user's own Python with the library's frame below it. */
static uint32_t user_frame(struct ledger *ledger, uint32_t frame, uint32_t *source)
{
    const struct path    *path = ledger->path;
    const struct profile *profile = ledger->study->profile;
    uint32_t              below = 0, range = NO_ID;
    char                  text[320];

    for (; frame != NO_ID; frame = path->frames.items[frame].parent) {
        const struct activity *activity = event_activity(profile, path->frames.items[frame].event);

        if (is_range(activity) && range == NO_ID)
            range = activity->name;
        if (activity->kind != ACTIVITY_PYTHON)
            continue;
        if (activity->source == NO_ID || !ledger->is_user[activity->source]) {
            below = activity->name;
            continue;
        }
        *source = activity->source;
        snprintf(text, sizeof text, below ? "%.140s > %.140s" : "%.140s",
                 frame_name(profile, activity->name), frame_name(profile, below));
        return facts_name(&ledger->study->facts, str_from(text));
    }
    return range;
}

uint32_t ledger_source(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct profile *profile = ledger->study->profile;
    uint32_t              source = unit->op == NO_ID ? NO_ID : ledger->compiled.source[unit->op];

    if (source >= profile->sources.count)
        return NO_ID;
    /* Thousands of instructions stand on few lines, and names of packages take long to compare. */
    if (ledger->user_line[source] == 0)
        ledger->user_line[source] = profile_user_source(profile, source) + 1;
    return ledger->user_line[source] - 1;
}

/* The outermost call that compiles: of a function by its name. NO_ID: there is none. */
static uint32_t compiling_call(const struct ledger *ledger, const struct work_unit *unit)
{
    uint32_t name = NO_ID;

    for (uint32_t f = unit->part == PART_COMPILE ? unit->frame : NO_ID; f != NO_ID;
         f = ledger->path->frames.items[f].parent) {
        const struct activity *activity =
            event_activity(ledger->study->profile, ledger->path->frames.items[f].event);

        if (activity->kind == ACTIVITY_DISPATCH)
            name = activity->name;
    }
    return name;
}

/* An optimizer's range is around all that its closure does, too, as of Lightning's training_step:
 * that is the closure's, not the update's. */
static uint32_t of_closure(struct ledger *ledger, const struct work_unit *unit, uint32_t region)
{
    struct str name = intern_str(ledger->study->facts.names, region);
    char       text[160];

    if (unit->phase == UNIT_UPDATE || !str_starts(name, STR("Optimizer.step")))
        return region;
    snprintf(text, sizeof text, "the closure of %.100s", name.data);
    return facts_name(&ledger->study->facts, str_from(text));
}

uint32_t ledger_region(struct ledger *ledger, const struct work_unit *unit, uint32_t *source)
{
    const struct profile *profile = ledger->study->profile;
    uint32_t              region;

    uint32_t origin = unit->op == NO_ID ? 0 : profile->ops.items[unit->op].origin;
    uint32_t line = ledger_source(ledger, unit);

    *source = line;
    region = user_frame(ledger, unit->frame, source);
    /* Around instructions of compiled programs there is the range that runs them. */
    if (origin && *source == line)
        return origin;
    if (region == NO_ID)
        region = compiling_call(ledger, unit);
    if (region != NO_ID)
        return of_closure(ledger, unit, region);
    if (unit->op != NO_ID && !ledger->is_torch && profile->ops.items[unit->op].name)
        return profile->ops.items[unit->op].name;
    return around(ledger, unit);
}

bool host_events_next(struct host_events *events, uint32_t *event)
{
    const struct profile *profile = events->study->profile;

    for (; events->timeline < profile->timelines.count; events->timeline++, events->next = 0) {
        const struct timeline *line = &profile->timelines.items[events->timeline];

        if (line->kind != TIMELINE_THREAD || line->host != events->study->steps.host ||
            events->next == line->event_count)
            continue;
        *event = line->first_event + events->next++;
        return true;
    }
    return false;
}

bool host_session_runs(const struct ledger *ledger, struct intervals *runs)
{
    const struct profile *profile = ledger->study->profile;
    struct host_events    events = { .study = ledger->study };
    uint32_t              event;

    while (host_events_next(&events, &event))
        if (str_equal(profile_str(profile, event_activity(profile, event)->name),
                      STR("SessionRun")) &&
            !vec_push(&runs->list, ledger->scratch,
                      (struct interval) { .start_ns = event_start_ns(profile, event),
                                          .end_ns = event_end_ns(profile, event) }))
            return false;
    if (runs->list.count)
        qsort(runs->list.items, runs->list.count, sizeof *runs->list.items, interval_compare);
    return true;
}

bool unit_hands_gradient(const struct ledger *ledger, const struct work_unit *unit)
{
    return str_equal(unit_type(ledger, unit), STR("torch::autograd::AccumulateGrad"));
}

uint32_t unit_optimizer_step(const struct ledger *ledger, const struct work_unit *unit,
                             struct str *name)
{
    const struct profile *profile = ledger->study->profile;

    for (uint32_t f = unit->frame; f != NO_ID; f = ledger->path->frames.items[f].parent) {
        uint32_t   event = ledger->path->frames.items[f].event;
        struct str text = profile_str(profile, event_activity(profile, event)->name);

        if (!str_starts(text, STR("Optimizer.step")))
            continue;
        if (name)
            *name = text;
        return f;
    }
    return NO_ID;
}

bool unit_is_forward_product(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD &&
           (unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION);
}

bool unit_is_layer_of_one_step(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *input = unit_input(ledger, unit, 0);
    const struct tensor *state = unit_input(ledger, unit, 1); /* [layers, rows, width] */

    if (unit->op_class != OP_CELL || !input || input->rank != 3 ||
        !str_fits(unit_type(ledger, unit), "aten::lstm|aten::gru|aten::rnn_tanh|aten::rnn_relu"))
        return false;
    return state && state->rank == 3 ? input->dims[0] * input->dims[1] == state->dims[1]
                                     : input->dims[0] == 1 || input->dims[1] == 1;
}

bool unit_is_forward_pause(const struct work_unit *unit)
{
    return unit->kind == UNIT_PAUSE && unit->phase == UNIT_FORWARD;
}

bool unit_is_of_numbers(const struct ledger *ledger, const struct work_unit *unit)
{
    for (uint32_t i = 0; unit_input(ledger, unit, i); i++)
        if (unit_input(ledger, unit, i)->rank > 0)
            return false;
    return unit_input(ledger, unit, 0) &&
           (unit->op_class == OP_ELEMENTWISE || unit->op_class == OP_CAST);
}

int unit_numbers(const struct ledger *ledger, const struct work_unit *unit, size_t place,
                 int64_t *numbers, int most)
{
    return unit->frame == NO_ID ? 0
                                : profile_numbers(ledger->study->profile,
                                                  ledger->path->frames.items[unit->frame].event,
                                                  place, numbers, most);
}

bool unit_product_result(const struct ledger *ledger, const struct work_unit *unit,
                         struct tensor *result)
{
    struct str           type = unit_type(ledger, unit);
    const struct tensor *left = unit_left(ledger, unit);
    const struct tensor *right = unit_right(ledger, unit);

    if (!left || !right || left->rank < 2 || right->rank != 2)
        return false;
    *result = *left;
    result->dims[left->rank - 1] = str_ends(type, STR("linear")) ? right->dims[0] : right->dims[1];
    return true;
}

static bool takes(const struct ledger *ledger, const struct work_unit *unit,
                  const struct tensor *whole)
{
    for (uint32_t i = 0; unit_input(ledger, unit, i); i++)
        if (same_dims(unit_input(ledger, unit, i), whole))
            return true;
    return false;
}

bool units_take(const struct ledger *ledger, uint32_t first, uint32_t end,
                const struct tensor *whole)
{
    enum { NEXT_FEW = 8 };
    int looked = 0;

    for (uint32_t u = first; u < end && looked < NEXT_FEW; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP)
            continue;
        if (unit->phase != UNIT_FORWARD)
            break;
        if (takes(ledger, unit, whole))
            return true;
        looked += unit->op_class != OP_VIEW;
    }
    return false;
}
