/* shifted_rounds: an array is rolled by one number of places after the other, multiplied with
 * another as large and summed: a correlation, shift by shift, each of which passes over the whole
 * array. By Fourier transforms all shifts take as many passes as a dozen of them do. */
#include "analyze/excess/ledger.h"

#include <math.h>

enum { FEWEST_SHIFTS = 16, MOST_BETWEEN = 12 /* units, of a round, and between two */ };
static const double PASSES = 4;     /* over the array in a round: copy, product and its sum */
static const double TRANSFORMS = 3; /* two forward, one back, of as many passes as twos make n */

struct stretch { /* of rounds that follow each other */
    uint32_t first, last, rounds;
    uint32_t op; /* of the rolls */
};

static bool is_forward(const struct ledger *ledger, uint32_t u, const char *types)
{
    const struct work_unit *unit = &ledger->units.items[u];

    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && unit->op != NO_ID &&
           str_fits(unit_type(ledger, unit), types);
}

/* The unit of the next op of these types within a round that takes an array like `rolled`, as each
 * of its first `operands`; `end`: none. */
static uint32_t next_taker(const struct ledger *ledger, uint32_t from, uint32_t end,
                           const struct tensor *rolled, const char *types, uint32_t operands)
{
    uint32_t to = from + MOST_BETWEEN < end ? from + MOST_BETWEEN : end;

    for (uint32_t u = from; u < to; u++) {
        bool takes = is_forward(ledger, u, types);

        for (uint32_t row = 0; takes && row < operands; row++) {
            const struct tensor *taken = unit_input(ledger, &ledger->units.items[u], row);

            takes = taken && same_dims(taken, rolled);
        }
        if (takes)
            return u;
    }
    return end;
}

/* The last unit of a round that begins with a roll; `end`: it is none. */
static uint32_t round_end(const struct ledger *ledger, uint32_t roll, uint32_t end)
{
    const struct tensor *rolled = unit_input(ledger, &ledger->units.items[roll], 0);
    uint32_t             product, sum;

    if (!rolled || rolled->rank == 0)
        return end;
    product = next_taker(ledger, roll + 1, end, rolled, "aten::mul", 2);
    if (product == end)
        return end;
    sum = next_taker(ledger, product + 1, end, rolled, "aten::sum|aten::mean", 1);
    return sum < end && next_taker(ledger, roll + 1, sum, rolled, "aten::roll", 1) == sum ? sum
                                                                                          : end;
}

static bool claim(struct ledger *ledger, const struct detector *self, const struct stretch *stretch,
                  uint32_t *cell)
{
    double rounds = (double)stretch->rounds;
    double needed = TRANSFORMS * log2(rounds) / (PASSES * rounds);
    bool  *marks;

    if (stretch->rounds < FEWEST_SHIFTS)
        return true;
    marks = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    if (!marks || !units_mark_backward(ledger, stretch->first, stretch->last, marks) ||
        !ledger_cell_once(ledger, self, &ledger->units.items[stretch->first], cell,
                          "%u times rolled, multiplied and summed", stretch->rounds))
        return false;
    ledger_claim_ops(ledger, *cell, stretch->first, stretch->last, 1 - needed);
    for (uint32_t u = 0; u < ledger->units.count; u++)
        if (marks[u])
            ledger_claim(ledger, *cell, &ledger->units.items[u], 1 - needed);
    return true;
}

static bool look_at_step(struct ledger *ledger, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    struct stretch stretch = { .op = NO_ID };
    uint32_t       end = ledger->first_unit[step + 1];

    for (uint32_t u = ledger->first_unit[step]; u < end; u++) {
        uint32_t last = is_forward(ledger, u, "aten::roll") ? round_end(ledger, u, end) : end;

        if (last == end)
            continue;
        if (ledger->units.items[u].op != stretch.op || u > stretch.last + MOST_BETWEEN) {
            if (!claim(ledger, self, &stretch, cell))
                return false;
            stretch = (struct stretch) { .first = u, .op = ledger->units.items[u].op };
        }
        stretch.last = last;
        stretch.rounds++;
        u = last;
    }
    return claim(ledger, self, &stretch, cell);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(ledger, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_shifted_rounds = { "shifted-rounds", CAUSE_REPEAT, GRADE_SIZES,
                                                  find };
