/* repeated_block: an encoder that runs again and again within a step: the same look-up of ids and
 * the same layers behind it, while nothing between makes new ids or asks for the next batch. */
#include "analyze/excess/calls.h"
#include "analyze/excess/rounds.h"

enum { NEAR = 8, FEWEST_ROUNDS = 3, LONGEST_LAYER = 160, FARTHEST_LAYER = 40 };

struct finder {
    struct ledger    *ledger;
    struct call_rows  rows; /* of a step */
    struct round_keys keys;
    uint32_t         *looked; /* by key: step + 1 in which its rounds were looked at */
};

static const struct work_unit *op_at(const struct finder *finder, size_t row)
{
    return &finder->ledger->units.items[finder->rows.ops[row]];
}

static bool is_same(const struct finder *finder, size_t a, size_t b)
{
    const struct work_unit *left = op_at(finder, a), *right = op_at(finder, b);

    return left->type == right->type && left->op == right->op && left->phase == right->phase;
}

/* Elements that an op makes which picks or draws among as many numbers as the table has rows; 0: it
 * does no such thing, -1: not known. */
static int64_t picked_count(const struct finder *finder, size_t row, int64_t rows)
{
    const struct work_unit *unit = op_at(finder, row);
    const struct tensor    *from = unit_input(finder->ledger, unit, 0);

    if (!call_is_pick(finder->ledger, unit))
        return 0;
    if (!from || from->rank < 1)
        return call_is_looked_up(&finder->rows, (uint32_t)row) ? -1 : 0;
    if (rows <= 0 || from->dims[from->rank - 1] != rows)
        return 0;
    return tensor_count(from) < 0 ? -1 : tensor_count(from) / rows;
}

/* One dimension of it is shorter than that of the ids: it can be a part of new ones. */
static bool is_part_of(const struct tensor *part, const struct tensor *ids)
{
    int shorter = 0;

    if (!part || part->rank != ids->rank)
        return false;
    for (int8_t i = 0; i < ids->rank; i++) {
        if (part->dims[i] > ids->dims[i])
            return false;
        shorter += part->dims[i] < ids->dims[i];
    }
    return shorter == 1;
}

/* Cuts the ids, writes into them, or puts parts together that can be ids again. */
static bool changes_ids(const struct finder *finder, const struct work_unit *unit,
                        const struct tensor *ids)
{
    const struct tensor *to = unit_input(finder->ledger, unit, 0);

    switch (unit->op_class) {
    case OP_SLICE:
    case OP_SCATTER:
    case OP_COPY:
        return same_dims(to, ids);
    case OP_CONCAT:
        return is_part_of(to, ids);
    default:
        return false;
    }
}

/* Takes some rows of a longer list of ids: those of the next item. */
static bool takes_next(const struct finder *finder, const struct work_unit *unit,
                       const struct tensor *ids)
{
    const struct tensor *from = unit_input(finder->ledger, unit, 0);

    return (unit->op_class == OP_SLICE || unit->op_class == OP_GATHER) && from && ids->rank >= 1 &&
           from->rank >= 1 && from->dtype == ids->dtype &&
           from->dims[from->rank - 1] == ids->dims[ids->rank - 1] &&
           tensor_count(from) > tensor_count(ids);
}

/* A list of ids is taken apart, and each round gets one of its rows. */
static bool spreads_ids(const struct finder *finder, const struct work_unit *unit,
                        const struct tensor *ids)
{
    return takes_next(finder, unit, ids) &&
           str_ends(unit_type(finder->ledger, unit), STR("::unbind"));
}

/* The ids of the next round are others, but not made from this one's results. */
static bool brings_ids(const struct finder *finder, size_t row, const struct tensor *ids)
{
    const struct work_unit *unit = op_at(finder, row);
    struct str              type = unit_type(finder->ledger, unit);

    if (str_contains(type, STR("randint")) || (ids && takes_next(finder, unit, ids)))
        return true;
    if (!str_ends(type, STR("::lift_fresh")))
        return false;
    if (ids)
        return same_dims(unit_input(finder->ledger, unit, 0), ids);
    for (size_t i = row + 1; i < finder->rows.count && i <= row + NEAR; i++)
        if (op_at(finder, i)->op_class == OP_EMBEDDING)
            return true;
    return false;
}

/* A batch is asked for between the op before and this one: its ids are others. */
static bool has_next_batch(const struct finder *finder, size_t row)
{
    uint32_t end = finder->rows.ops[row];

    for (uint32_t u = row > 0 ? finder->rows.ops[row - 1] + 1 : end; u <= end; u++)
        if (finder->ledger->units.items[u].phase == UNIT_INPUT)
            return true;
    return false;
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

static int64_t ids_count(const struct finder *finder, size_t row)
{
    const struct tensor *ids = unit_input(finder->ledger, op_at(finder, row), 1);

    return ids ? tensor_count(ids) : -1;
}

/* Where the next network begins: a look-up of fewer ids behind products of this one. */
static size_t next_network(const struct finder *finder, size_t from, size_t end)
{
    bool has_product = false;

    for (size_t i = from + 1; i < end; i++) {
        has_product |= op_at(finder, i)->op_class == OP_PRODUCT;
        if (has_product && op_at(finder, i)->op_class == OP_EMBEDDING &&
            ids_count(finder, i) < ids_count(finder, from))
            return i;
    }
    return from;
}

/* With their ops, the Python between them need not run. */
static bool claim(struct finder *finder, const struct detector *self, const size_t *starts,
                  size_t rounds, size_t length, uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    if (!ledger_cell_once(ledger, self, op_at(finder, starts[0]), cell,
                          "the same look-up and the same layers behind it %zu times a step",
                          rounds))
        return false;
    for (size_t r = 1; r < rounds; r++)
        ledger_claim_ops(ledger, *cell, finder->rows.ops[starts[r]],
                         finder->rows.ops[starts[r] + length - 1], 1);
    return true;
}

/* The layers behind a look-up work on what it finds: on a row for each id, or on fewer where ids
 * are of pairs of rows. Positions that are added to each sample of a batch, or to pictures, are no
 * input of their own: there are more rows than ids. */
static bool feeds_layers(const struct finder *finder, size_t from, size_t end)
{
    for (size_t at = from + 1; at < end && at < from + FARTHEST_LAYER; at++) {
        const struct work_unit *unit = op_at(finder, at);
        const struct tensor    *x = unit_left(finder->ledger, unit);

        if (unit->op_class == OP_CONVOLUTION)
            return false;
        if (unit->op_class != OP_PRODUCT)
            continue;
        return !x || x->rank < 2 || tensor_count(x) <= 0 ||
               tensor_count(x) / x->dims[x->rank - 1] <= ids_count(finder, from);
    }
    return true;
}

/* Without shapes: other layers lie between. What comes right behind may be for the next text, and a
 * network of which a result is read in each round has another to tell each time. */
static bool is_between_others(const struct finder *finder, size_t from, size_t end)
{
    bool has_other = false;

    if (finder->ledger->study->profile->has_shapes)
        return true;
    for (size_t i = from; i < end; i++) {
        if (op_at(finder, i)->op_class == OP_READBACK)
            return false;
        has_other |= unit_is_forward_product(op_at(finder, i));
    }
    return has_other;
}

/* Where no steps are known, rounds that fill the recording may be its steps. */
static bool may_be_steps(const struct finder *finder, const size_t *starts, size_t rounds,
                         size_t length)
{
    static const double  most = 0.8; /* of the time */
    const struct ledger *ledger = finder->ledger;
    double               ns = 0;

    for (size_t r = 0; r < rounds; r++)
        for (uint32_t u = finder->rows.ops[starts[r]];
             u <= finder->rows.ops[starts[r] + length - 1]; u++)
            ns += ledger->units.items[u].ns;
    return ledger->study->steps.source == STEPS_WHOLE_TRACE && ns > most * ledger->total_ns;
}

/* Rounds that begin with the look-ups at `starts`, as far as all are alike. */
static bool look_at_rounds(struct finder *finder, const struct detector *self, const size_t *starts,
                           size_t rounds, uint32_t *cell)
{
    size_t first, length;

    if (rounds < FEWEST_ROUNDS || !feeds_layers(finder, starts[0], starts[1]))
        return true;
    first = starts[0];
    length = layers_end(finder, first + 1, starts[1]) - first;
    if (length <= 1)
        length = next_network(finder, first, starts[1]) - first;
    for (size_t r = 1; r < rounds && length > 1; r++)
        for (size_t i = 0; i < length; i++)
            if (starts[r] + i >= finder->rows.count || !is_same(finder, first + i, starts[r] + i))
                return true;
    return length <= 1 || !is_between_others(finder, first + length, starts[1]) ||
           may_be_steps(finder, starts, rounds, length) ||
           claim(finder, self, starts, rounds, length, cell);
}

/* Rounds that get ids of their own where these are spread over them just before `first`. */
static int64_t spread_before(const struct finder *finder, size_t first, const struct tensor *ids)
{
    int64_t rounds = 0;

    for (size_t i = first > NEAR ? first - NEAR : 0; ids && i < first; i++)
        if (spreads_ids(finder, op_at(finder, i), ids))
            rounds = unit_input(finder->ledger, op_at(finder, i), 0)->dims[0];
    return rounds;
}

static bool is_start(const struct finder *finder, size_t first, size_t row)
{
    return finder->keys.begin[finder->rows.ops[row]] == finder->keys.begin[finder->rows.ops[first]];
}

/* The look-up at `first` and all like it, as long as no round makes the ids of another. A round
 * that picks fewer ids than are looked up makes none, unless something puts them among the others.
 */
static bool look_at(struct finder *finder, const struct detector *self, size_t first,
                    uint32_t *cell)
{
    size_t               starts[MOST_ROUNDS], rounds = 0;
    const struct tensor *table = unit_input(finder->ledger, op_at(finder, first), 0);
    const struct tensor *ids = unit_input(finder->ledger, op_at(finder, first), 1);
    bool                 has_picked = false, has_changed = false;
    int64_t              others = spread_before(finder, first, ids);

    if (finder->ledger->study->profile->has_shapes && (!table || table->rank < 1 || !ids))
        return true;
    for (size_t i = first; i < finder->rows.count && rounds < MOST_ROUNDS; i++) {
        const struct work_unit *unit = op_at(finder, i);
        int64_t                 picked = picked_count(finder, i, ids ? table->dims[0] : 0);
        bool                    starts_round = is_start(finder, first, i);

        has_changed |= ids && changes_ids(finder, unit, ids);
        has_picked |= picked != 0;
        if (picked < 0 || (picked > 0 && picked == ids_count(finder, first)) ||
            (has_picked && has_changed))
            break;
        if (brings_ids(finder, i, ids) || has_next_batch(finder, i) ||
            (others > 0 && starts_round)) {
            if (!look_at_rounds(finder, self, starts, rounds, cell))
                return false;
            rounds = 0;
        }
        others = ids && spreads_ids(finder, unit, ids)
                     ? unit_input(finder->ledger, unit, 0)->dims[0]
                     : others - starts_round;
        if (starts_round)
            starts[rounds++] = i;
    }
    return look_at_rounds(finder, self, starts, rounds, cell);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || ledger->has_backward || !rounds_are_told(ledger))
        return true;
    if (!calls_open(&finder.rows, ledger) || !rounds_keys(ledger, &finder.keys))
        return false;
    finder.looked = arena_new_array(ledger->scratch, uint32_t, finder.keys.count);
    if (!finder.looked)
        return false;
    for (uint32_t step = 0; step < ledger->step_count; step++) {
        calls_of_step(&finder.rows, step);
        for (size_t i = 0; i < finder.rows.count; i++) {
            const struct work_unit *unit = op_at(&finder, i);

            uint32_t key = finder.keys.begin[finder.rows.ops[i]];
            if (unit->op_class != OP_EMBEDDING || finder.looked[key] == step + 1)
                continue;
            finder.looked[key] = step + 1;
            if (!look_at(&finder, self, i, &cell))
                return false;
        }
    }
    return true;
}

const struct detector detector_repeated_block = { "repeated-block", CAUSE_REPEAT, GRADE_SIZES,
                                                  find };
