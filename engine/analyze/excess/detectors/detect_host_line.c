/* host_line: where Python was recorded, the host's time by the program's own functions and by what
 * lies below them: functions that start nothing are Python (input, where they come before the
 * step's computation); lines that start many programs are dispatch, or put a batch together item by
 * item. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "model/names.h"

static const double LEAST_SHARE = 0.03; /* of the step */
static const double BEFORE = 0.05;      /* of a step's computation, done when its input is made */
enum { FEWEST_CALLS = 8 };              /* a step, from which a line starts programs one by one */

struct line { /* a function of the program, and what of a library it calls */
    uint32_t user, callee, unit, cell;
    double   ns, before_ns, calls;
    bool     waits; /* for results, whatever else it does */
};
struct finder {
    struct ledger *ledger;
    VEC(struct line) lines;
    uint32_t *line_of; /* by unit: row of lines + 1; 0 none */
    bool     *before;  /* by unit: little of its step was computed */
};

/* The innermost frame of the program's own, and the frame of a library right below. */
static bool find_place(const struct ledger *ledger, uint32_t frame, uint32_t *user,
                       uint32_t *callee)
{
    const struct path    *path = ledger->path;
    const struct profile *profile = ledger->study->profile;

    *callee = 0;
    for (; frame != NO_ID; frame = path->frames.items[frame].parent) {
        const struct activity *activity = event_activity(profile, path->frames.items[frame].event);

        if (activity->kind != ACTIVITY_PYTHON)
            continue;
        *user = activity->name;
        if (activity->source != NO_ID && ledger->is_user[activity->source])
            return true;
        *callee = activity->name;
    }
    return false;
}

/* NULL: out of memory. */
static struct line *line_for(struct finder *finder, uint32_t user, uint32_t callee)
{
    struct line line = { .user = user, .callee = callee, .unit = NO_ID, .cell = NO_ID };

    for (size_t i = 0; i < finder->lines.count; i++)
        if (finder->lines.items[i].user == user && finder->lines.items[i].callee == callee)
            return &finder->lines.items[i];
    return vec_push(&finder->lines, finder->ledger->scratch, line)
               ? &finder->lines.items[finder->lines.count - 1]
               : NULL;
}

static bool is_hosts(const struct work_unit *unit)
{
    return unit->kind == UNIT_PAUSE || unit->part == PART_COPY || unit->part == PART_IDLE_SYNC;
}

static bool add_units(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       user, callee;

    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct line            *line;

        if (!is_hosts(unit) || !find_place(ledger, unit->frame, &user, &callee))
            continue;
        line = line_for(finder, user, callee);
        if (!line)
            return false;
        finder->line_of[u] = (uint32_t)(line - finder->lines.items) + 1;
        line->ns += unit->left_ns;
        line->before_ns += finder->before[u] ? unit->left_ns : 0;
        if (line->unit == NO_ID)
            line->unit = u;
    }
    return true;
}

/* The outermost call of a program. */
static bool is_start(const struct ledger *ledger, const struct frame *frame)
{
    const struct profile *profile = ledger->study->profile;
    const struct frame   *parent =
        frame->parent == NO_ID ? NULL : &ledger->path->frames.items[frame->parent];

    return event_activity(profile, frame->event)->kind == ACTIVITY_DISPATCH &&
           !(parent && event_activity(profile, parent->event)->kind == ACTIVITY_DISPATCH);
}

static bool is_wait(const struct ledger *ledger, const struct frame *frame)
{
    const struct profile  *profile = ledger->study->profile;
    const struct activity *activity = event_activity(profile, frame->event);

    return activity->kind == ACTIVITY_SYNC ||
           (activity->kind == ACTIVITY_PYTHON && frame_waits(ledger, activity->name));
}

/* Programs that a line starts, and whether it waits for results. */
static bool add_calls(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;
    uint32_t             user, callee;

    for (uint32_t f = 0; f < ledger->path->frames.count; f++) {
        const struct frame *frame = &ledger->path->frames.items[f];
        bool                starts = is_start(ledger, frame), waits = is_wait(ledger, frame);
        struct line        *line;

        if ((!starts && !waits) || !find_place(ledger, f, &user, &callee))
            continue;
        line = line_for(finder, user, callee);
        if (!line)
            return false;
        line->calls += starts ? 1.0 / (double)ledger->step_count : 0;
        line->waits |= waits;
    }
    return true;
}

static void mark_before(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;

    for (size_t step = 0; step < ledger->step_count; step++) {
        double all_ns = 0, done_ns = 0;

        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
            all_ns += ledger->units.items[u].kind == UNIT_OP ? ledger->units.items[u].ns : 0;
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
            finder->before[u] = done_ns <= BEFORE * all_ns;
            done_ns += ledger->units.items[u].kind == UNIT_OP ? ledger->units.items[u].ns : 0;
        }
    }
}

/* Of all lines of a function: what they took, and started. */
static struct line whole_function(const struct finder *finder, uint32_t user)
{
    struct line all = { .user = user };

    for (size_t i = 0; i < finder->lines.count; i++) {
        const struct line *line = &finder->lines.items[i];

        if (line->user != user)
            continue;
        all.ns += line->ns;
        all.before_ns += line->before_ns;
        all.calls += line->calls;
        all.waits |= line->waits;
    }
    return all;
}

static bool puts_together(const struct ledger *ledger, uint32_t callee)
{
    struct str name = profile_str(ledger->study->profile, callee);

    return name_is(name, NAMES_NUMPY_MAKER);
}

/* Whether a line's time is Python: beside a few programs and waits of other lines a function may
 * work itself; beside programs also in a library, where nothing is started or waited for. */
static bool is_python(const struct line *line, const struct line *all)
{
    if (all->calls <= 0 && !all->waits)
        return true;
    return line->calls <= 0 && !line->waits && all->calls < FEWEST_CALLS &&
           (all->calls > 0 || !line->callee);
}

/* What a detector looks for: how much of a line's time it claims; 0: it is not its line. */
static double share_of(const struct finder *finder, const struct detector *self,
                       const struct line *line)
{
    struct line all = whole_function(finder, line->user);
    double      least_ns = LEAST_SHARE * finder->ledger->total_ns;

    if (is_python(line, &all)) {
        bool   is_input = all.before_ns > 0.5 * all.ns;
        double ns = all.calls <= 0 && !all.waits ? all.ns : line->ns;

        return self->cause == (is_input ? CAUSE_WAIT_INPUT : CAUSE_PYTHON) && ns >= least_ns ? 1
                                                                                             : 0;
    }
    if (line->calls < FEWEST_CALLS || line->ns < least_ns)
        return 0;
    return self->cause ==
                   (puts_together(finder->ledger, line->callee) ? CAUSE_BYTES : CAUSE_DISPATCH)
               ? 1 - 1 / line->calls
               : 0;
}

/* Python of one function is one cell; lines that start programs have their own. */
static bool cell_of(struct finder *finder, const struct detector *self, struct line *line)
{
    struct ledger *ledger = finder->ledger;

    for (size_t i = 0; i < finder->lines.count && line->calls <= 0; i++)
        if (finder->lines.items[i].user == line->user && finder->lines.items[i].cell != NO_ID)
            line->cell = finder->lines.items[i].cell;
    if (line->cell != NO_ID)
        return true;
    line->cell = ledger_cell(ledger, self, &ledger->units.items[line->unit]);
    if (line->cell == NO_ID)
        return false;
    return line->calls >= 1
               ? ledger_tell(ledger, line->cell, "%.0f programs started a step", line->calls)
               : ledger_tell(ledger, line->cell, "nothing is started below it");
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };

    if (ledger->is_torch || !ledger->study->profile->has_python_frames)
        return true;
    finder.line_of = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    finder.before = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    if (!finder.line_of || !finder.before)
        return false;
    mark_before(&finder);
    if (!add_units(&finder))
        return false;
    if (!finder.lines.count)
        return true;
    if (!add_calls(&finder))
        return false;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        struct line *line = finder.line_of[u] ? &finder.lines.items[finder.line_of[u] - 1] : NULL;
        double       share = line ? share_of(&finder, self, line) : 0;

        if (share <= 0)
            continue;
        if (!cell_of(&finder, self, line))
            return false;
        ledger_claim(ledger, line->cell, &ledger->units.items[u], share);
    }
    return true;
}

const struct detector detector_input_python = { "own-python", CAUSE_WAIT_INPUT, GRADE_STRUCTURE,
                                                find };
const struct detector detector_own_python = { "own-python", CAUSE_PYTHON, GRADE_STRUCTURE, find };
const struct detector detector_batch_of_items = { "batch-of-items", CAUSE_BYTES, GRADE_STRUCTURE,
                                                  find };
const struct detector detector_calls_at_line = { "calls-at-line", CAUSE_DISPATCH, GRADE_STRUCTURE,
                                                 find };
