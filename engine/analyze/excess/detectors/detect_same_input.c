/* same_input: a loop whose rounds feed each other, as steps of a sampler or words of a text do,
 * runs layers in each round on a tensor that nothing in a round can have made: it is the same in
 * all of them, and so is what the layers make of it. Recordings name no tensors; sizes tell what an
 * op cannot have made. */
#include "analyze/excess/calls.h"
#include "analyze/excess/makers.h"

static const double LEAST_SHARE = 0.05;

/* Can `unit` go on with what the one before, of `width`, made of the same samples? Channels come
 * behind the samples, columns last. */
static bool goes_on(const struct ledger *ledger, const struct work_unit *unit, int64_t width,
                    bool has_channels, int64_t samples)
{
    uint32_t             row = unit->op_class == OP_PRODUCT ? unit_first_factor(ledger, unit) : 0;
    const struct tensor *left = unit_input(ledger, unit, row);
    const struct tensor *other = unit_input(ledger, unit, row + 1);

    switch (unit->op_class) {
    case OP_PRODUCT:
    case OP_CONVOLUTION:
    case OP_ACTIVATION:
    case OP_NORMALISATION:
    case OP_POOL:
        break;
    case OP_RANDOM: /* dropout */
    case OP_ELEMENTWISE:
    case OP_COPY:
    case OP_CAST:
        if (other && other->rank > 1)
            return false;
        break;
    default:
        return false;
    }
    return left && left->rank >= 2 && left->dims[0] == samples &&
           left->dims[has_channels ? 1 : left->rank - 1] == width;
}

/* Behind the last product of a round: what the next one takes is made there. */
static uint32_t tail_of(const struct call_rows *rows, const struct stretch *stretch)
{
    uint32_t row = stretch->first + stretch->distance;

    while (row > stretch->first && !call_is_product(call_op(rows, row - 1)))
        row--;
    return row;
}

/* Behind the last of the layers that begin at row `from` and take nothing else. */
static uint32_t layers_end(const struct call_rows *rows, uint32_t from, uint32_t end)
{
    const struct ledger    *ledger = rows->ledger;
    const struct work_unit *last = call_op(rows, from); /* product */
    int64_t                 samples = unit_left(ledger, last)->dims[0];

    while (++from < end && goes_on(ledger, call_op(rows, from), unit_width(ledger, last),
                                   last->op_class == OP_CONVOLUTION, samples))
        if (call_is_product(call_op(rows, from)))
            last = call_op(rows, from);
    return from;
}

/* Does an op of the round, those of the layers aside, make what goes into them? */
static bool is_made(const struct call_rows *rows, const struct stretch *stretch, uint32_t from,
                    uint32_t end, const struct tensor *tensor)
{
    const struct ledger *ledger = rows->ledger;
    uint32_t             first = rows->ops[stretch->first];
    uint32_t             behind = rows->ops[stretch->first + stretch->distance];

    for (uint32_t u = first; u < behind; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP && (u < rows->ops[from] || u > rows->ops[end - 1]) &&
            unit_can_make(ledger, unit, tensor))
            return true;
    }
    return false;
}

/* In all rounds, layers [from, end) of the first take tensors of the same shapes. */
static bool are_alike(const struct call_rows *rows, const struct stretch *stretch, uint32_t from,
                      uint32_t end)
{
    for (uint32_t row = from; row < end; row++)
        for (uint32_t call = 1; call < stretch->calls; call++)
            if (call_op(rows, row)->op != call_op(rows, row + call * stretch->distance)->op)
                return false;
    return true;
}

static bool is_same_input(const struct call_rows *rows, const struct stretch *stretch,
                          uint32_t from, uint32_t *end)
{
    const struct ledger    *ledger = rows->ledger;
    const struct work_unit *unit = call_op(rows, from);
    uint32_t                row = unit_first_factor(ledger, unit);
    const struct tensor    *left = unit_input(ledger, unit, row);
    const struct tensor    *right = unit_input(ledger, unit, row + 1);

    if (unit->phase != UNIT_FORWARD ||
        (unit->op_class != OP_PRODUCT && unit->op_class != OP_CONVOLUTION) || !left || !right ||
        left->rank < 2 || right->rank < 2)
        return false;
    *end = layers_end(rows, from, tail_of(rows, stretch));
    return are_alike(rows, stretch, from, *end) && !is_made(rows, stretch, from, *end, left) &&
           !is_made(rows, stretch, from, *end, right);
}

static double time_of(const struct call_rows *rows, uint32_t from, uint32_t end)
{
    double ns = 0;

    for (uint32_t u = rows->ops[from]; u <= rows->ops[end - 1]; u++)
        ns += rows->ledger->units.items[u].left_ns;
    return ns;
}

static bool claim(const struct call_rows *rows, const struct detector *self,
                  const struct stretch *stretch, uint32_t from, uint32_t end, uint32_t *cell)
{
    struct ledger *ledger = rows->ledger;

    if (!ledger_cell_once(ledger, self, call_op(rows, from), cell,
                          "layers on what no round of a loop makes, %u times a step",
                          stretch->calls))
        return false;
    for (uint32_t call = 1; call < stretch->calls; call++) {
        uint32_t move = call * stretch->distance;

        ledger_claim_ops(ledger, *cell, rows->ops[from + move], rows->ops[end - 1 + move], 1);
    }
    return true;
}

/* Does something behind the last product make a tensor as large as this one? */
static bool is_state(const struct call_rows *rows, const struct stretch *stretch,
                     const struct tensor *tensor)
{
    uint32_t end = stretch->first + stretch->distance;
    int64_t  largest;

    for (uint32_t row = tail_of(rows, stretch); row < end; row++) {
        const struct work_unit *unit = call_op(rows, row);

        unit_operands(rows->ledger, unit, &largest);
        if (unit->op_class == OP_ELEMENTWISE && largest == tensor_count(tensor))
            return true;
    }
    return false;
}

/* Rounds that get their input from outside may each get another: other layers must take what the
 * round before made, words or a state. */
static bool has_other_layers(const struct call_rows *rows, const struct stretch *stretch,
                             uint32_t from, uint32_t end, bool writes_text)
{
    for (uint32_t row = stretch->first; row < stretch->first + stretch->distance; row++) {
        const struct work_unit *unit = call_op(rows, row);
        const struct tensor    *left = unit_left(rows->ledger, unit);

        if ((row < from || row >= end) && call_is_product(unit) &&
            (writes_text || (left && is_state(rows, stretch, left))))
            return true;
    }
    return false;
}

static bool look_at(const struct call_rows *rows, const struct detector *self,
                    const struct stretch *stretch, uint32_t *cell)
{
    const struct ledger *ledger = rows->ledger;
    struct call_traits   is = calls_look_at(rows, stretch);
    double               least_ns = LEAST_SHARE * ledger->total_ns / (double)ledger->step_count;

    if (is.draws || (!calls_write_text(&is) && !calls_feed_themselves(&is)))
        return true;
    for (uint32_t row = stretch->first, end; row < stretch->first + stretch->distance; row++) {
        if (!is_same_input(rows, stretch, row, &end))
            continue;
        if (has_other_layers(rows, stretch, row, end, calls_write_text(&is)) &&
            time_of(rows, row, end) * (stretch->calls - 1) >= least_ns &&
            !claim(rows, self, stretch, row, end, cell))
            return false;
        row = end - 1;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct call_rows rows;
    uint32_t         cell = NO_ID;

    if (!ledger->is_torch || ledger->has_backward || !ledger->study->profile->has_shapes ||
        ledger->study->steps.source == STEPS_WHOLE_TRACE) /* whose rounds may be steps */
        return true;
    if (!calls_open(&rows, ledger))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct stretch best;

        calls_of_step(&rows, step);
        if (!calls_longest(&rows, &best))
            return false;
        if (best.calls > 0 && !look_at(&rows, self, &best, &cell))
            return false;
    }
    return true;
}

const struct detector detector_same_input = { "same-input", CAUSE_REPEAT, GRADE_SIZES, find };
