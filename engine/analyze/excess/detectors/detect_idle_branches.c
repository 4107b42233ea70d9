/* idle_branches: like branches of a network in a row, such as heads or decoders of several tasks,
 * of which a step trains one or a few: autograd records the others, too, and nothing goes back
 * through them. Told by the names of ops alone.
 * detached_rounds: where it is the last of them in each step, they are rounds of one network over
 * its own results, detached before the last: all are needed, but not what autograd keeps of them.
 */
#include "analyze/excess/calls.h"

enum { SHORTEST = 2, LONGEST = 48 }; /* ops of a branch */
enum { FEWEST_STEPS = 3 };           /* in which the last one is trained, by no chance */
/* Of the branches. Target networks are as many as those that they are for. */
static const double LEAST_IDLE = 0.66;
/* Of a round's time, what recording it takes: of four small networks on one core 0.15 to 0.29, of a
 * larger one of convolutions on two, whose kept arrays are fresh memory each time, 0.56. */
static const double RECORDING = 0.3;

struct branches {
    uint32_t first, length, count; /* rows of ops */
    uint32_t idle;
};

static bool number_of(const struct ledger *ledger, const struct work_unit *unit, int64_t *number)
{
    return unit->frame != NO_ID &&
           ledger_sequence(ledger, ledger->path->frames.items[unit->frame].event, number);
}

/* An op that autograd records takes a number: the next one has another. */
static bool is_recorded(const struct call_rows *rows, uint32_t row)
{
    int64_t number, next;

    return number_of(rows->ledger, call_op(rows, row), &number) &&
           (row + 1 >= rows->count ||
            (number_of(rows->ledger, call_op(rows, row + 1), &next) && next > number));
}

/* Of the rows before each: how many are products, products that autograd does not record, and ops
 * that gradients go back through. */
struct counts {
    uint32_t products, unrecorded, trained;
};
struct finder {
    struct call_rows rows;
    struct counts   *before; /* by row, and one behind the last */
};

static void count_rows(struct finder *finder)
{
    struct counts sum = { 0 };

    for (uint32_t row = 0; row < finder->rows.count; row++) {
        const struct work_unit *unit = call_op(&finder->rows, row);
        bool                    is_product = call_is_product(unit);

        finder->before[row] = sum;
        sum.products += is_product;
        sum.unrecorded += is_product && !is_recorded(&finder->rows, row);
        sum.trained += unit->is_trained;
    }
    finder->before[finder->rows.count] = sum;
}

/* It multiplies, autograd records that, and nothing goes back through any of it. */
static bool is_idle(const struct finder *finder, const struct branches *of, uint32_t branch)
{
    const struct counts *begin = &finder->before[of->first + branch * of->length];
    const struct counts *end = begin + of->length;

    return end->products > begin->products && end->unrecorded == begin->unrecorded &&
           end->trained == begin->trained;
}

/* Of the ways to cut a stretch into branches the one with most idle ones. */
static struct branches cut(const struct finder *finder, const struct stretch *stretch)
{
    struct branches best = { 0 };

    for (uint32_t from = 0; from < stretch->distance; from++) {
        struct branches found = { stretch->first + from, stretch->distance,
                                  stretch->calls - (from > 0), 0 };

        for (uint32_t branch = 0; branch < found.count; branch++)
            found.idle += is_idle(finder, &found, branch);
        if (found.idle > best.idle)
            best = found;
    }
    return best;
}

static bool claim(const struct finder *finder, const struct detector *self,
                  const struct branches *of, double share, uint32_t *cell)
{
    const struct call_rows *rows = &finder->rows;
    struct ledger          *ledger = rows->ledger;

    for (uint32_t branch = 0; branch < of->count; branch++) {
        uint32_t first = of->first + branch * of->length;

        if (!is_idle(finder, of, branch))
            continue;
        if (!ledger_cell_once(ledger, self, call_op(rows, first), cell,
                              "of %u like branches in a row nothing goes back through %u",
                              of->count, of->idle))
            return false;
        for (uint32_t u = rows->ops[first]; u <= rows->ops[first + of->length - 1]; u++)
            if (unit_goes_with_ops(&ledger->units.items[u]))
                ledger_claim(ledger, *cell, &ledger->units.items[u], share);
    }
    return true;
}

static void keep_forward(struct call_rows *rows)
{
    uint32_t count = 0;

    for (uint32_t row = 0; row < rows->count; row++)
        if (call_op(rows, row)->phase == UNIT_FORWARD)
            rows->ops[count++] = rows->ops[row];
    rows->count = count;
}

/* Those that take most ops, whichever length a branch has. O(LONGEST rows). */
static struct branches find_idle(const struct finder *finder)
{
    struct branches best = { 0 };

    for (uint32_t length = SHORTEST; length <= LONGEST; length++)
        for (struct stretch stretch = { 0 };
             calls_next(&finder->rows, stretch.first + stretch.calls * stretch.distance, length,
                        &stretch);) {
            struct branches found = cut(finder, &stretch);

            if (found.idle < found.count && found.idle >= LEAST_IDLE * found.count &&
                found.idle * found.length > best.idle * best.length)
                best = found;
        }
    return best;
}

static struct branches idle_of_step(struct finder *finder, size_t step)
{
    calls_of_step(&finder->rows, step);
    keep_forward(&finder->rows);
    count_rows(finder);
    return find_idle(finder);
}

/* Which head is trained changes with the batch; a round that is trained comes after the others. */
static bool are_rounds(struct finder *finder, size_t steps)
{
    for (size_t step = 0; step < steps; step++) {
        struct branches of = idle_of_step(finder, step);

        if (of.idle == 0 || of.idle + 1 != of.count || is_idle(finder, &of, of.count - 1))
            return false;
    }
    return steps >= FEWEST_STEPS;
}

static bool find(struct ledger *ledger, const struct detector *self, bool of_rounds)
{
    struct finder finder = { 0 };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward)
        return true;
    finder.before = arena_new_array(ledger->scratch, struct counts, ledger->units.count + 1);
    if (!finder.before || !calls_open(&finder.rows, ledger))
        return false;
    if (are_rounds(&finder, ledger->step_count) != of_rounds)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct branches best = idle_of_step(&finder, step);

        if (best.idle > 0 && !claim(&finder, self, &best, of_rounds ? RECORDING : 1, &cell))
            return false;
    }
    return true;
}

static bool find_branches(struct ledger *ledger, const struct detector *self)
{
    return find(ledger, self, false);
}

static bool find_rounds(struct ledger *ledger, const struct detector *self)
{
    return find(ledger, self, true);
}

const struct detector detector_idle_branches = { "idle-branches", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                 find_branches };
const struct detector detector_detached_rounds = { "detached-rounds", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                   find_rounds };
