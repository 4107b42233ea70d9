/* state_copied: all of a step's arrays are copied to the host one after the other, and then nothing
 * runs for long: the state is saved. A loss or metrics that are read are one array, or short;
 * arrays that are copied, worked on, and followed by others are not saved but looked at. */
#include "analyze/excess/ledger.h"
#include "model/names.h"

static const double LEAST_SHARE = 0.05; /* of the step, in the pauses behind */
static const double LONG_NS = 3e5;      /* between two copies: something is done with the first */
enum { FEWEST_COPIES = 2 };

struct copies { /* of one step, in a row: no program is started between */
    int64_t first_ns, last_ns, next_start_ns;
    size_t  count, at_once; /* copies, and those since the last long pause */
    size_t  series;         /* of several copies at once */
};
struct finder {
    struct ledger *ledger;
    VEC(struct copies) rows; /* by time, FEWEST_COPIES and more */
};

static bool add_row(struct finder *finder, struct copies *row, int64_t start_ns)
{
    bool is_added = true;

    row->next_start_ns = start_ns;
    if (row->count >= FEWEST_COPIES)
        is_added = vec_push(&finder->rows, finder->ledger->scratch, *row);
    *row = (struct copies) { 0 };
    return is_added;
}

static void add_copy(struct copies *row, int64_t start_ns)
{
    if (!row->count++)
        row->first_ns = start_ns;
    else if ((double)(start_ns - row->last_ns) > LONG_NS)
        row->at_once = 0;
    row->series += ++row->at_once == FEWEST_COPIES;
    row->last_ns = start_ns;
}

static bool list_rows(struct finder *finder, const struct timeline *line)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct copies         row = { 0 };

    for (uint32_t i = 0; i < line->event_count; i++) {
        uint32_t   event = line->first_event + i;
        struct str name = profile_str(profile, event_activity(profile, event)->name);

        if (str_contains(name, STR("copy_to_host_async"))) {
            add_copy(&row, event_start_ns(profile, event));
        } else if (name_is(name, NAMES_JIT_CALL) &&
                   !add_row(finder, &row, event_start_ns(profile, event))) {
            return false;
        }
    }
    return add_row(finder, &row, INT64_MAX);
}

/* Pauses of the leading thread behind the first copy, before a program is started again, and the
 * one up to it, in which saving is prepared. */
static double go_over(struct finder *finder, uint32_t cell)
{
    struct ledger *ledger = finder->ledger;
    double         ns = 0;

    for (size_t u = 0, row = 0; u < ledger->units.count && row < finder->rows.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        while (row < finder->rows.count && finder->rows.items[row].next_start_ns <= unit->start_ns)
            row++;
        if (row == finder->rows.count || unit->kind != UNIT_PAUSE ||
            unit->end_ns < finder->rows.items[row].first_ns ||
            frame_is_own_python(ledger, unit->frame))
            continue;
        ns += unit->left_ns;
        if (cell != NO_ID)
            ledger_claim(ledger, cell, unit, 1);
    }
    return ns;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct finder         finder = { .ledger = ledger };
    uint32_t              cell;

    if (!ledger_is_jax(ledger))
        return true;
    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        finder.rows.count = 0;
        if (line->kind != TIMELINE_THREAD || line->host != ledger->study->steps.host)
            continue;
        if (!list_rows(&finder, line))
            return false;
        if (!finder.rows.count || go_over(&finder, NO_ID) < LEAST_SHARE * ledger->total_ns)
            continue;
        cell = ledger_cell(ledger, self, &ledger->units.items[0]);
        if (cell == NO_ID ||
            !ledger_tell(ledger, cell,
                         finder.rows.items[0].series < 2
                             ? "%zu arrays are copied out, and nothing runs behind that"
                             : "looking: %zu arrays are read, some after others",
                         finder.rows.items[0].count))
            return false;
        go_over(&finder, cell);
    }
    return true;
}

const struct detector detector_state_copied = { "state-copied", CAUSE_WAIT_IO, GRADE_SIZES, find };
