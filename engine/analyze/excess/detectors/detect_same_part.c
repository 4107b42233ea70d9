/* same_part: a network that is called several times in a step, told by the names of ops alone,
 * whose first part must be the same each time. Where dropout is on and nothing hands over other
 * rows, calls are samples of one input: all before the first draw is the same. Where words are
 * picked and looked up, convolutions between the two do not take them: their picture is the same
 * for each word. */
#include "analyze/excess/calls.h"

static const double LEAST_SHARE = 0.05; /* of the step */

struct same_part {
    uint32_t first, length; /* ops, counted from the begin of a call; may go over into the next */
};

/* Dropout that is off calls nothing. */
static bool drops(const struct call_rows *rows, uint32_t row)
{
    const struct ledger    *ledger = rows->ledger;
    const struct profile   *profile = ledger->study->profile;
    const struct work_unit *unit = call_op(rows, row);
    uint32_t                event;

    if (!str_contains(unit_type(ledger, unit), STR("dropout")) || unit->frame == NO_ID)
        return false;
    event = ledger->path->frames.items[unit->frame].event;
    return event + 1 < profile->event_count &&
           event_start_ns(profile, event + 1) >= event_start_ns(profile, event) &&
           event_start_ns(profile, event + 1) <
               event_start_ns(profile, event) + event_duration_ns(profile, event);
}

/* What a call begins with came from elsewhere: rows of a batch, numbers, a draw. */
static bool brings(const struct work_unit *unit)
{
    switch (unit->op_class) {
    case OP_SLICE:
    case OP_GATHER:
    case OP_CONCAT:
    case OP_RANDOM:
    case OP_CAST:
    case OP_COPY:
    case OP_READBACK:
    case OP_EMBEDDING:
    case OP_SCATTER:
        return true;
    default:
        return false;
    }
}

static const struct work_unit *op_of(const struct call_rows *rows, const struct stretch *stretch,
                                     uint32_t at)
{
    return call_op(rows, stretch->first + at % stretch->distance);
}

/* From the first layer of a call to its first draw, with nothing brought before or between. */
static bool find_sampled(const struct call_rows *rows, const struct stretch *stretch,
                         struct same_part *part)
{
    uint32_t first, last = NO_ID, at = 0, products = 0;

    for (first = 0; first < stretch->distance && !drops(rows, stretch->first + first);)
        first++;
    if (first == stretch->distance)
        return false;
    for (uint32_t row = first; row < stretch->distance; row++)
        last = drops(rows, stretch->first + row) ? row : last;
    /* Behind the last draw one layer makes the result; calls may be counted from their middle. */
    for (uint32_t row = last + 1; row % stretch->distance != first; row++) {
        const struct work_unit *unit = op_of(rows, stretch, row);

        if (call_is_product(unit) && ++products == 2)
            at = row;
        if (products > 0 && brings(unit))
            return false;
    }
    *part = (struct same_part) { at % stretch->distance,
                                 (first + 2 * stretch->distance - at) % stretch->distance };
    return products > 2;
}

/* Behind the pick of a word, before the look-up of it. */
static bool find_picture(const struct call_rows *rows, const struct stretch *stretch,
                         struct same_part *part)
{
    uint32_t pick = NO_ID, at;

    for (at = 0; at < stretch->distance; at++)
        if (call_is_pick(rows->ledger, op_of(rows, stretch, at)))
            pick = at;
    if (pick == NO_ID || op_of(rows, stretch, pick + 1)->op_class != OP_CONVOLUTION)
        return false;
    for (at = 1; at < stretch->distance; at++)
        if (op_of(rows, stretch, pick + at)->op_class == OP_EMBEDDING)
            break;
    *part = (struct same_part) { (pick + 1) % stretch->distance, at - 1 };
    return at < stretch->distance;
}

static bool claim(const struct call_rows *rows, const struct detector *self,
                  const struct stretch *stretch, const struct same_part *part, uint32_t *cell)
{
    struct ledger *ledger = rows->ledger;
    double         ns = 0;

    for (int pass = 0; pass < 2; pass++) {
        /* A part that goes over into the next call is the begin of that. */
        for (uint32_t call = part->first + part->length <= stretch->distance; call < stretch->calls;
             call++) {
            uint32_t first = stretch->first + call * stretch->distance + part->first;
            uint32_t last = first + part->length - 1;

            for (uint32_t u = rows->ops[first]; last < rows->count && u <= rows->ops[last]; u++) {
                if (pass == 0)
                    ns += ledger->units.items[u].left_ns;
                else if (unit_goes_with_ops(&ledger->units.items[u]))
                    ledger_claim(ledger, *cell, &ledger->units.items[u], 1);
            }
        }
        if (ns < LEAST_SHARE * ledger->total_ns / (double)ledger->step_count)
            return true;
        if (*cell != NO_ID)
            continue;
        *cell = ledger_cell(ledger, self, op_of(rows, stretch, part->first));
        if (*cell == NO_ID ||
            !ledger_tell(ledger, *cell, "the same %u ops on what no call changes, %u times a step",
                         part->length, stretch->calls))
            return false;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct call_rows rows;
    uint32_t         cell = NO_ID;

    if (!ledger->is_torch || ledger->has_backward ||
        ledger->study->steps.source == STEPS_WHOLE_TRACE) /* whose rounds may be steps */
        return true;
    if (!calls_open(&rows, ledger))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct stretch   stretch;
        struct same_part part;

        calls_of_step(&rows, step);
        if (!calls_longest(&rows, &stretch))
            return false;
        if (stretch.calls > 0 &&
            (find_sampled(&rows, &stretch, &part) || find_picture(&rows, &stretch, &part)) &&
            !claim(&rows, self, &stretch, &part, &cell))
            return false;
    }
    return true;
}

const struct detector detector_same_part = { "same-input", CAUSE_REPEAT, GRADE_SIZES, find };
