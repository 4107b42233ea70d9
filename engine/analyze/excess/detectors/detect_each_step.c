/* What TensorFlow programs do in each step though once, or now and then, would do: an iterator over
 * the data is made, whose buffers are filled anew before it hands out anything; all variables are
 * fetched from a session, which copies those that rows are written to. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"

static const double MOST_STEPS = 0.6;  /* have it */
static const double RARE_SHARE = 0.98; /* once in fifty steps is enough */
static const double FILLING_SHARE =
    0.95; /* of making and first asking: an iterator that stays is asked too */
enum { FEWEST_STEPS = 3 };

/* What a unit does. An iterator that is asked for a batch goes with one that was made before it. */
enum kind { KIND_OTHER, KIND_MADE, KIND_ASKED, KIND_FETCHED };
struct finder {
    struct ledger *ledger;
    uint8_t       *activity_kind; /* enum kind */
    uint8_t       *kind;          /* by unit */
};

/* Only Python makes iterators so, call by call or by a run of a session's initializer; data sets
 * inside of data sets make theirs by no op. */
static enum kind kind_of_call(const struct profile *profile, size_t row)
{
    const struct activity *activity = &profile->activities.items[row];
    struct str             name = profile_str(profile, activity->name);
    struct str             type = activity->op == NO_ID
                                      ? (struct str) { 0 }
                                      : profile_str(profile, profile->ops.items[activity->op].type);

    if (str_equal(name, STR("EagerLocalExecute: MakeIterator")) ||
        str_equal(type, STR("MakeIterator")))
        return KIND_MADE;
    return str_equal(name, STR("EagerLocalExecute: IteratorGetNext")) ||
                   str_equal(type, STR("IteratorGetNext"))
               ? KIND_ASKED
               : KIND_OTHER;
}

/* The op that a session runs where a variable itself is fetched; products read it by other ops. */
static bool is_fetch(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct profile *profile = ledger->study->profile;

    return unit->kind == UNIT_OP && unit->op != NO_ID &&
           str_ends(profile_str(profile, profile->ops.items[unit->op].name),
                    STR("/Read/ReadVariableOp"));
}

static enum kind kind_of_input(const struct finder *finder, const struct work_unit *unit)
{
    const struct path *path = finder->ledger->path;

    for (uint32_t f = unit->frame; f < path->frames.count; f = path->frames.items[f].parent) {
        uint32_t  event = path->frames.items[f].event;
        enum kind kind = KIND_OTHER;

        if (event != NO_ID)
            kind = finder->activity_kind[event_activity_id(finder->ledger->study->profile, event)];
        if (kind != KIND_OTHER)
            return kind;
    }
    return KIND_OTHER;
}

/* Behind a fetched variable its copy is handed over, and the last one is given back to the system:
 * no longer than making it takes. */
static bool is_given_back(const struct finder *finder, size_t u)
{
    const struct work_unit *unit = &finder->ledger->units.items[u];

    return u > finder->ledger->first_unit[unit->step] && finder->kind[u - 1] == KIND_FETCHED &&
           unit->kind != UNIT_OP && unit[-1].kind == UNIT_OP && unit->ns <= unit[-1].ns;
}

static bool open_finder(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct ledger        *ledger = finder->ledger;

    finder->activity_kind =
        arena_new_array(ledger->scratch, uint8_t, profile->activities.count + 1);
    finder->kind = arena_new_array(ledger->scratch, uint8_t, ledger->units.count + 1);
    if (!finder->activity_kind || !finder->kind)
        return false;
    for (size_t a = 0; a < profile->activities.count; a++)
        finder->activity_kind[a] = (uint8_t)kind_of_call(profile, a);
    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        finder->kind[u] = (uint8_t)(is_fetch(ledger, unit)     ? KIND_FETCHED
                                    : is_given_back(finder, u) ? KIND_FETCHED
                                                               : kind_of_input(finder, unit));
    }
    return true;
}

/* Of the looked-at steps, those that hold something of that kind. */
static bool is_in_most(const struct finder *finder, enum kind kind)
{
    const struct ledger *ledger = finder->ledger;
    size_t               steps = 0;

    for (size_t step = 0; step < ledger->step_count; step++) {
        uint32_t u = ledger->first_unit[step];

        while (u < ledger->first_unit[step + 1] && finder->kind[u] != kind)
            u++;
        steps += u < ledger->first_unit[step + 1];
    }
    return steps >= FEWEST_STEPS && (double)steps >= MOST_STEPS * (double)ledger->step_count;
}

static bool claim(struct finder *finder, const struct detector *self, enum kind first,
                  enum kind last, double share, const char *detail)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cell = NO_ID;

    if (!is_in_most(finder, first))
        return true;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (finder->kind[u] < first || finder->kind[u] > last)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell, "%s", detail))
            return false;
        ledger_claim(ledger, cell, unit, share);
    }
    return true;
}

static bool is_tensorflow(const struct ledger *ledger)
{
    return !ledger->is_torch && ledger->study->profile->format != FORMAT_KINETO &&
           !ledger_is_jax(ledger);
}

static bool find_iterator(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };

    if (!is_tensorflow(ledger))
        return true;
    return open_finder(&finder) &&
           claim(&finder, self, KIND_MADE, KIND_ASKED, FILLING_SHARE,
                 "Python makes an iterator over the data before each batch");
}

static bool find_fetched(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };

    if (!is_tensorflow(ledger))
        return true;
    return open_finder(&finder) && claim(&finder, self, KIND_FETCHED, KIND_FETCHED, RARE_SHARE,
                                         "variables are fetched whole in each run");
}

const struct detector detector_iterator_made = { "iterator-made", CAUSE_WAIT_INPUT, GRADE_STRUCTURE,
                                                 find_iterator };
const struct detector detector_fetched_variables = { "fetched-variables", CAUSE_RARE,
                                                     GRADE_STRUCTURE, find_fetched };
