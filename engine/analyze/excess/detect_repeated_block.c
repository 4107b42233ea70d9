/* repeated_block: an encoder that runs again and again within a step: the same look-up of ids and
 * the same layers behind it, while nothing between makes new ids. */
#include "analyze/excess/ledger.h"

enum { FEWEST_ROUNDS = 3, LONGEST_LAYER = 160, FARTHEST_LAYER = 40 };

struct finder {
    struct ledger *ledger;
    uint32_t      *ops; /* units of a step that are ops and no views */
    size_t         count;
};

static const struct work_unit *op_at(const struct finder *finder, size_t row)
{
    return &finder->ledger->units.items[finder->ops[row]];
}

static bool is_same(const struct finder *finder, size_t a, size_t b)
{
    const struct work_unit *left = op_at(finder, a), *right = op_at(finder, b);

    return left->type == right->type && left->op == right->op && left->phase == right->phase;
}

/* What picks or draws among as many numbers as the table has rows can make the ids of the next
 * round. */
static bool makes_ids(const struct finder *finder, const struct work_unit *unit, int64_t rows)
{
    struct str           type = unit_type(finder->ledger, unit);
    const struct tensor *from = unit_input(finder->ledger, unit, 0);

    if (unit->op_class != OP_SORT && !str_contains(type, STR("argm")) &&
        !str_contains(type, STR("multinomial")))
        return false;
    return !from || from->rank < 1 || from->dims[from->rank - 1] == rows;
}

/* Behind the last of the layers that follow `from`: rounds of one period with a product in it. */
static size_t layers_end(const struct finder *finder, size_t from, size_t end)
{
    for (size_t at = from; at < end && at < from + FARTHEST_LAYER; at++) {
        if (op_at(finder, at)->op_class != OP_PRODUCT)
            continue;
        for (size_t period = 3; period <= LONGEST_LAYER && at + 2 * period <= end; period++) {
            size_t length = 0;

            while (at + length + period < end && is_same(finder, at + length, at + length + period))
                length++;
            if (length >= period)
                return at + length + period;
        }
    }
    return from;
}

static bool claim(struct finder *finder, const struct detector *self, const size_t *starts,
                  size_t rounds, size_t length, uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    if (*cell == NO_ID) {
        *cell = ledger_cell(ledger, self, op_at(finder, starts[0]));
        if (*cell == NO_ID ||
            !ledger_tell(ledger, *cell,
                         "the same look-up and the same layers behind it %zu times a step", rounds))
            return false;
    }
    for (size_t r = 1; r < rounds; r++)
        for (uint32_t u = finder->ops[starts[r]]; u < finder->ops[starts[r] + length - 1] + 1; u++)
            if (ledger->units.items[u].kind == UNIT_OP)
                ledger_claim(ledger, *cell, &ledger->units.items[u], 1);
    return true;
}

/* Rounds that begin with the look-up at `first`, as long as all are alike and nothing makes ids. */
static bool look_at(struct finder *finder, const struct detector *self, size_t first,
                    uint32_t *cell)
{
    enum { MOST_ROUNDS = 256 };
    size_t               starts[MOST_ROUNDS], rounds = 0, length = 0;
    const struct tensor *table = unit_input(finder->ledger, op_at(finder, first), 0);

    if (!table || table->rank < 1)
        return true;

    for (size_t i = first; i < finder->count && rounds < MOST_ROUNDS; i++) {
        if (makes_ids(finder, op_at(finder, i), table->dims[0]))
            break;
        if (is_same(finder, first, i))
            starts[rounds++] = i;
    }
    if (rounds < FEWEST_ROUNDS)
        return true;
    length = layers_end(finder, first + 1, starts[1]) - first;
    for (size_t r = 1; r < rounds && length > 1; r++)
        for (size_t i = 0; i < length; i++)
            if (starts[r] + i >= finder->count || !is_same(finder, first + i, starts[r] + i))
                return true;
    return length <= 1 || claim(finder, self, starts, rounds, length, cell);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || ledger->has_backward || !ledger->study->profile->has_shapes)
        return true;
    finder.ops = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    if (!finder.ops)
        return false;
    for (size_t step = 0; step < ledger->step_count; step++) {
        uint32_t seen = NO_ID;

        finder.count = 0;
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
            if (ledger->units.items[u].kind == UNIT_OP &&
                ledger->units.items[u].op_class != OP_VIEW)
                finder.ops[finder.count++] = u;
        for (size_t i = 0; i < finder.count; i++) {
            const struct work_unit *unit = op_at(&finder, i);

            if (unit->op_class != OP_EMBEDDING || unit->op == seen)
                continue;
            seen = unit->op;
            if (!look_at(&finder, self, i, &cell))
                return false;
        }
    }
    return true;
}

const struct detector detector_repeated_block = { "repeated-block", CAUSE_REPEAT, GRADE_SIZES,
                                                  find };
