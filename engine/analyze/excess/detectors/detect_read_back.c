/* read_back: beside the functions that train, variable after variable is read one by one and none
 * is written: Python takes the weights out. What follows until the next function is called belongs
 * to it. Where Keras saves or backs up, each variable is written behind its reading; where all are
 * read first, Python has a list of arrays, and what it does with them is not recorded. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

static const double RARE_SHARE = 0.98; /* once in fifty steps is enough */
static const double MOST_READ = 0.6;   /* of the ops of a stretch: others compute with variables */
/* Of a stretch: behind the last variable. Where each is written to a file behind its reading, most
 * of it lies before that, and closing the file behind. */
static const double WORKS_BEHIND = 0.5;
static const double FEW_WRITE = 0.25; /* writes for each read: more give variables a new value */
enum { FEWEST_READS = 8 };            /* a counter and a few metrics are read in any loop */

enum call_kind { CALL_FUNCTION, CALL_READ, CALL_HANDLE, CALL_WRITE, CALL_OTHER };
struct call { /* of an eager op, or of a graph function */
    int64_t start_ns, end_ns;
    uint8_t kind;
};
struct stretch {              /* between two calls of functions */
    int64_t start_ns, end_ns; /* from the first read to the next function */
    int64_t read_ns;          /* when the last variable was read */
    double  reads, handles, writes, others;
};
struct finder {
    struct ledger *ledger;
    VEC(struct call) calls; /* by start */
    VEC(struct stretch) stretches;
};

static int by_start(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    return IN_ORDER(COMPARE(x->start_ns, y->start_ns), COMPARE(x->end_ns, y->end_ns));
}

/* What an eager op does to variables. */
static enum call_kind kind_of(struct str op)
{
    if (str_starts(op, STR("__")))
        return CALL_FUNCTION;
    if (str_equal(op, STR("ReadVariableOp")))
        return CALL_READ;
    /* What is read is handed on as a value; handles are found again. */
    if (str_fits(op, "Identity|VarHandleOp|VarIsInitializedOp"))
        return CALL_HANDLE;
    if (str_fits(op, "Assign*|*Summary*"))
        return CALL_WRITE;
    return CALL_OTHER;
}

/* 1 + enum call_kind by activity; 0: no call. `*beside`: variables are read beside functions. NULL:
 * out of memory. */
static uint8_t *kinds_of(struct finder *finder, bool *beside)
{
    const struct profile *profile = finder->ledger->study->profile;
    const struct str      prefix = STR("EagerLocalExecute: ");
    uint8_t              *kinds =
        arena_new_array(finder->ledger->scratch, uint8_t, profile->activities.count + 1);
    bool calls = false, reads = false;

    for (size_t a = 0; kinds && a < profile->activities.count; a++) {
        struct str name = profile_str(profile, profile->activities.items[a].name);

        if (profile->activities.items[a].kind != ACTIVITY_DISPATCH || !str_starts(name, prefix))
            continue;
        kinds[a] = (uint8_t)(kind_of(str_slice(name, prefix.len, name.len)) + 1);
        calls |= kinds[a] == CALL_FUNCTION + 1;
        reads |= kinds[a] == CALL_READ + 1;
    }
    *beside = calls && reads;
    return kinds;
}

static bool list_calls(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct host_events    events = { .study = finder->ledger->study };
    bool                  beside;
    const uint8_t        *kinds = kinds_of(finder, &beside);
    uint32_t              event;

    if (!kinds || !beside)
        return kinds != NULL;
    while (host_events_next(&events, &event)) {
        uint8_t     kind = kinds[event_activity_id(profile, event)];
        struct call call = { .start_ns = event_start_ns(profile, event) };

        if (!kind)
            continue;
        call.end_ns = event_end_ns(profile, event);
        call.kind = (uint8_t)(kind - 1);
        if (!vec_push(&finder->calls, finder->ledger->scratch, call))
            return false;
    }
    if (finder->calls.count)
        qsort(finder->calls.items, finder->calls.count, sizeof(struct call), by_start);
    return true;
}

static bool takes_weights_out(const struct stretch *stretch)
{
    return stretch->reads >= FEWEST_READS && stretch->writes <= FEW_WRITE * stretch->reads &&
           stretch->reads + stretch->handles >=
               MOST_READ * (stretch->reads + stretch->handles + stretch->writes + stretch->others);
}

static bool close_stretch(struct finder *finder, struct stretch *stretch, int64_t end_ns)
{
    bool is_kept = true;

    stretch->end_ns = end_ns;
    if (takes_weights_out(stretch))
        is_kept = vec_push(&finder->stretches, finder->ledger->scratch, *stretch);
    *stretch = (struct stretch) { 0 };
    return is_kept;
}

static bool list_stretches(struct finder *finder)
{
    struct stretch stretch = { 0 };

    for (size_t i = 0; i < finder->calls.count; i++) {
        const struct call *call = &finder->calls.items[i];

        if (call->kind == CALL_FUNCTION && !close_stretch(finder, &stretch, call->start_ns))
            return false;
        if (stretch.reads <= 0)
            stretch.start_ns = call->start_ns;
        if (call->kind == CALL_READ)
            stretch.read_ns = call->end_ns;
        stretch.reads += call->kind == CALL_READ;
        stretch.handles += call->kind == CALL_HANDLE;
        stretch.writes += call->kind == CALL_WRITE;
        stretch.others += call->kind == CALL_OTHER;
    }
    return close_stretch(finder, &stretch, INT64_MAX);
}

/* Pauses reach over the ends of a stretch: their middle tells. */
static const struct stretch *stretch_of(const struct finder *finder, const struct work_unit *unit)
{
    int64_t middle_ns = unit->start_ns + (unit->end_ns - unit->start_ns) / 2;

    for (size_t i = 0; i < finder->stretches.count; i++)
        if (finder->stretches.items[i].start_ns <= middle_ns &&
            middle_ns < finder->stretches.items[i].end_ns)
            return &finder->stretches.items[i];
    return NULL;
}

/* The last stretch has no end. */
static const char *purpose_of(const struct finder *finder)
{
    double all_ns = 0, behind_ns = 0;

    for (size_t i = 0; i < finder->stretches.count; i++) {
        const struct stretch *stretch = &finder->stretches.items[i];

        if (stretch->end_ns == INT64_MAX)
            continue;
        all_ns += (double)(stretch->end_ns - stretch->start_ns);
        behind_ns += (double)(stretch->end_ns - stretch->read_ns);
    }
    return behind_ns > WORKS_BEHIND * all_ns ? "looking" : "saving";
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (ledger->is_torch || ledger->study->profile->format != FORMAT_XSPACE)
        return true;
    if (!list_calls(&finder) || !list_stretches(&finder))
        return false;
    for (size_t u = 0; finder.stretches.count && u < ledger->units.count; u++) {
        struct work_unit     *unit = &ledger->units.items[u];
        const struct stretch *stretch = stretch_of(&finder, unit);

        if (!stretch)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "%s: %.0f variables are read one by one, %.0f written",
                              purpose_of(&finder), stretch->reads, stretch->writes))
            return false;
        ledger_claim(ledger, cell, unit, RARE_SHARE);
    }
    return true;
}

const struct detector detector_read_back = { "read-back", CAUSE_RARE, GRADE_SIZES, find };
