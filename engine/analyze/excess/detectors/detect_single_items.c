/* single_items: a network that is called for one row after the other where nothing makes the next
 * row of the last one's result, or goes forward and back for small parts of one update: a call for
 * all of them would start each op once, and read each weight once. */
#include "analyze/excess/rounds.h"

enum {
    FEWEST_ITEMS = 4,
    FEWEST_UNKNOWN = 8, /* items, where no shapes were recorded */
    FEWEST_PARTS = 2,
    FEWEST_PRODUCTS = 2
};
static const double SMALL_OP = 6;    /* times the cost of starting one: the rest of it is work */
static const double LEAST_RATE = 10; /* operations a nanosecond: any core of today does that */
static const double LONGEST_GAP =
    3e5; /* between ops: more of it is work of its own, for each row */
static const double LEAST_SHARE = 0.05; /* of the step */

struct finder {
    struct ledger    *ledger;
    struct intern     texts; /* keys of ops */
    struct round_keys keys;
    uint32_t         *cells; /* by key of a call's first op: its cell + 1; 0 none */
    double            rate;  /* operations a nanosecond that a product reaches here */
};
struct call {                   /* one block of rounds: what it does */
    uint32_t products, singles; /* of the forward pass; those of one row */
    uint32_t first_product, last_product;
    uint32_t first_convolution; /* a time or a class may go through products before; NO_ID none */
    bool     trains, updates, looks_up;
    bool     looks_up_one;  /* in its second round: the first may read what was asked */
    bool     hands_on;      /* gradients to variables, as the backward pass of a part does */
    bool     changes_input; /* by its gradient: the next call begins with what this one made */
    bool     is_closure;    /* that an optimizer asks: it changes the weights in between */
};

static bool is_product(const struct work_unit *unit)
{
    return unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION ||
           unit->op_class == OP_ATTENTION || unit->op_class == OP_CELL;
}

static bool is_single(const struct tensor *tensor)
{
    return tensor && tensor->rank >= 2 && tensor->dims[0] == 1;
}

/* One row of a batch, or a vector that is no batch at all. */
static bool is_one_row(const struct tensor *tensor)
{
    return is_single(tensor) || (tensor && tensor->rank == 1);
}

/* Rows of other lengths are the same work: of what has one row, only the number of axes counts. */
static bool key_of(struct finder *finder, uint32_t u)
{
    const struct ledger    *ledger = finder->ledger;
    const struct work_unit *unit = &ledger->units.items[u];
    int64_t                 words[2 + 4 * (TENSOR_MAX_RANK + 1)];
    size_t                  count = 0;

    words[count++] = unit->type;
    words[count++] = unit->phase;
    for (uint32_t i = 0; i < 4; i++) {
        const struct tensor *tensor = unit_input(ledger, unit, i);

        if (!tensor)
            break;
        words[count++] = tensor->rank < 0 ? -1 : (int64_t)(uint8_t)tensor->rank;
        for (int8_t d = 0; d < tensor->rank && !is_single(tensor); d++)
            words[count++] = tensor->dims[d];
    }
    finder->keys.same[u] =
        intern_add(&finder->texts, (struct str) { (const char *)words, count * sizeof *words });
    return finder->keys.same[u] != NO_ID;
}

/* Operations of a convolution, at most: where it leaves places out they are fewer. 0 unknown. */
static double convolved(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *image = unit_input(ledger, unit, 0);
    const struct tensor *kernel = unit_input(ledger, unit, 1);
    double               places;

    if (unit->op_class != OP_CONVOLUTION || !image || !kernel || image->rank < 3 ||
        kernel->rank != image->rank || tensor_count(image) <= 0)
        return 0;
    places = (double)tensor_count(image) / (double)image->dims[1];
    return 2 * places * (double)tensor_count(kernel);
}

/* Operations of a linear layer from its shapes; 0 unknown. */
static double operations_of(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *left = unit_left(ledger, unit);
    const struct tensor *right = unit_right(ledger, unit);
    double               elements;
    bool                 is_turned = str_ends(unit_type(ledger, unit), STR("linear"));

    if (unit->op_class != OP_PRODUCT || !left || !right || left->rank < 1 || right->rank != 2)
        return 0;
    elements = (double)tensor_count(left);
    return elements > 0 ? 2 * elements * (double)right->dims[is_turned ? 0 : 1] : 0;
}

static void measure_rate(struct finder *finder)
{
    finder->rate = LEAST_RATE;
    for (size_t u = 0; u < finder->ledger->units.count; u++) {
        const struct work_unit *unit = &finder->ledger->units.items[u];
        double operations = unit->kind == UNIT_OP ? operations_of(finder->ledger, unit) : 0;

        if (operations > finder->rate * unit->typical_ns &&
            unit->typical_ns > SMALL_OP * finder->ledger->start_ns)
            finder->rate = operations / unit->typical_ns;
    }
}

static const struct work_unit *op_at(const struct finder *finder, const struct rounds *rounds,
                                     uint32_t row)
{
    return &finder->ledger->units.items[rounds->units[row]];
}

/* An op right behind the backward pass takes what the network began with, or its gradient; or, seen
 * without shapes, the pass has a gradient for one tensor at most, which no network consists of. */
static bool changes_input(const struct finder *finder, const struct rounds *rounds,
                          const struct round_block *block, uint32_t first_product)
{
    const struct tensor *first = unit_left(finder->ledger, op_at(finder, rounds, first_product));
    bool                 is_behind = false;
    uint32_t             handed = 0;

    for (uint32_t row = first_product + 1; row < block->starts[1]; row++) {
        const struct work_unit *unit = op_at(finder, rounds, row);

        handed += unit_hands_gradient(finder->ledger, unit);
        if (is_behind && unit->phase != UNIT_BACKWARD && unit->op_class == OP_ELEMENTWISE &&
            same_dims(unit_input(finder->ledger, unit, 0), first))
            return true;
        is_behind |= unit->phase == UNIT_BACKWARD;
    }
    return !finder->ledger->study->profile->has_shapes && is_behind && handed <= 1;
}

static bool looks_up_one(const struct finder *finder, const struct rounds *rounds,
                         const struct round_block *block)
{
    const struct work_unit *unit;

    for (uint32_t row = block->starts[1]; row < block->starts[1] + block->length; row++) {
        unit = op_at(finder, rounds, row);
        if (is_product(unit))
            break;
        if (unit->op_class == OP_EMBEDDING) {
            const struct tensor *ids = unit_input(finder->ledger, unit, 1);

            return !ids || tensor_count(ids) == 1;
        }
    }
    return false;
}

static struct call look_at_call(const struct finder *finder, const struct rounds *rounds,
                                const struct round_block *block)
{
    struct call call = { .first_convolution = NO_ID };

    for (uint32_t row = block->starts[0]; row < block->starts[1]; row++) {
        const struct work_unit *unit = op_at(finder, rounds, row);

        call.trains |= unit->phase == UNIT_BACKWARD;
        call.hands_on |= unit_hands_gradient(finder->ledger, unit);
        call.updates |= unit->phase == UNIT_UPDATE || unit->op_class == OP_UPDATE;
        call.looks_up |= unit->op_class == OP_EMBEDDING && !call.products;
        if (!is_product(unit) || unit->phase != UNIT_FORWARD ||
            row >= block->starts[0] + block->length)
            continue;
        if (!call.products++)
            call.first_product = row;
        call.last_product = row;
        if (unit->op_class == OP_CONVOLUTION && call.first_convolution == NO_ID)
            call.first_convolution = row;
        call.singles += is_one_row(unit_left(finder->ledger, unit));
    }
    call.looks_up_one = call.looks_up && looks_up_one(finder, rounds, block);
    call.is_closure = call.products &&
                      unit_optimizer_step(finder->ledger, op_at(finder, rounds, call.first_product),
                                          NULL) != NO_ID;
    call.changes_input = call.products && changes_input(finder, rounds, block, call.first_product);
    return call;
}

/* Layers look at rows of a sequence as rows of a matrix and back. */
static bool is_like(const struct tensor *taken, const struct tensor *tensor)
{
    return same_dims(taken, tensor) ||
           (tensor && tensor_count(tensor) > 1 && same_sizes(taken, tensor));
}

static bool takes_like(const struct finder *finder, const struct work_unit *unit,
                       const struct tensor *tensor)
{
    return is_like(unit_input(finder->ledger, unit, 0), tensor) ||
           is_like(unit_input(finder->ledger, unit, 1), tensor);
}

/* What a layer makes has these sizes, as far as its operands tell: convolutions that keep the
 * places of an image, products with a weight or of two stacks. */
static bool makes(const struct finder *finder, const struct work_unit *layer,
                  const struct tensor *result)
{
    const struct tensor *data = unit_left(finder->ledger, layer);
    const struct tensor *weight = unit_right(finder->ledger, layer);
    int8_t               axis, rows;
    bool                 is_stack;

    if (!data || !weight || !result || data->rank < 2 || result->rank != data->rank)
        return false;
    if (layer->op_class == OP_CONVOLUTION) {
        axis = 1, rows = 0;
    } else {
        axis = (int8_t)(data->rank - 1);
        rows = str_ends(unit_type(finder->ledger, layer), STR("linear")) ? 0 : 1;
    }
    /* Attention multiplies stacks of matrices: a product has the columns of the second operand. */
    is_stack = layer->op_class == OP_PRODUCT && rows == 1 && weight->rank == data->rank;
    if (!is_stack && weight->rank != (layer->op_class == OP_CONVOLUTION ? data->rank : 2))
        return false;
    if (is_stack)
        rows = axis;
    for (int8_t i = 0; i < data->rank; i++)
        if (result->dims[i] != (i == axis ? weight->dims[rows] : data->dims[i]))
            return false;
    return true;
}

/* A part of a tensor along one axis, or all of it. */
static bool is_part(const struct tensor *part, const struct tensor *whole)
{
    int differing = 0;

    if (!part || !whole || part->rank != whole->rank)
        return false;
    for (int8_t i = 0; i < part->rank; i++) {
        if (part->dims[i] > whole->dims[i])
            return false;
        differing += part->dims[i] != whole->dims[i];
    }
    return differing <= 1;
}

/* The last layer of a round makes what the next round begins with, or is cut into it: layers of one
 * network, each of which takes the last one's result. */
static bool feeds_next(const struct finder *finder, const struct rounds *rounds,
                       const struct round_block *block, uint32_t round)
{
    uint32_t                begin = block->starts[round + 1], row = begin;
    const struct tensor    *taken = unit_input(finder->ledger, op_at(finder, rounds, begin), 0);
    const struct work_unit *unit = NULL;

    for (; row-- > block->starts[round];) {
        unit = op_at(finder, rounds, row);
        if (unit->op_class != OP_SLICE)
            break;
        if (!is_part(taken, unit_input(finder->ledger, unit, 0)))
            return false;
        taken = unit_input(finder->ledger, unit, 0);
    }
    return unit && is_product(unit) && unit->phase == UNIT_FORWARD && makes(finder, unit, taken);
}

/* A result as large as what the network began with can be what it begins with next time. */
static bool can_feed_next(const struct finder *finder, const struct rounds *rounds,
                          const struct round_block *block, const struct call *call, uint32_t round)
{
    const struct ledger *ledger = finder->ledger;
    const struct tensor *first = unit_left(ledger, op_at(finder, rounds, call->first_product));
    const struct tensor *image = NULL;
    uint32_t             behind = block->starts[round] + call->last_product - block->starts[0] + 1;

    if (call->first_convolution != NO_ID)
        image = unit_left(ledger, op_at(finder, rounds, call->first_convolution));
    for (uint32_t row = behind; row < block->starts[round + 1]; row++) {
        const struct work_unit *unit = op_at(finder, rounds, row);

        if (takes_like(finder, unit, first) || (image && takes_like(finder, unit, image)))
            return true;
    }
    return feeds_next(finder, rounds, block, round);
}

/* Calls that could be one, on average: as those for two inputs of each step of a sampler, whose
 * steps feed each other. */
static double items_at_once(const struct finder *finder, const struct rounds *rounds,
                            const struct round_block *block, const struct call *call)
{
    double batches = 1;

    for (uint32_t r = 0; r + 1 < block->count; r++)
        batches += can_feed_next(finder, rounds, block, call, r);
    return block->count / batches;
}

/* Words that are picked one by one, or ids of which there is one more in each round. */
static bool makes_words(const struct finder *finder, const struct rounds *rounds,
                        const struct round_block *block, const struct call *call)
{
    uint32_t grown = 0;
    int64_t  before = 0;

    if (!call->looks_up)
        return false;
    for (uint32_t row = block->starts[0]; row < block->starts[1] && call->looks_up_one; row++) {
        const struct work_unit *unit = op_at(finder, rounds, row);
        struct str              type = unit_type(finder->ledger, unit);

        if (unit->op_class == OP_SORT || str_fits(type, "*argm*|*multinomial*"))
            return true;
    }
    for (uint32_t r = 0; r < block->count; r++) {
        const struct tensor *rows = unit_left(
            finder->ledger,
            op_at(finder, rounds, block->starts[r] + call->first_product - block->starts[0]));
        int64_t elements = rows ? tensor_count(rows) : 0;

        grown += r > 0 && elements > before;
        before = elements;
    }
    return grown + 1 == block->count;
}

/* Each round is longer than the one before: its way back goes through those before it as well, as
 * where a state is carried on with its graph. */
static bool goes_back_further(const struct round_block *block)
{
    uint32_t before = 0;

    for (uint32_t r = 0; r + 1 < block->count; r++) {
        uint32_t length = block->starts[r + 1] - block->starts[r];

        if (length <= before)
            return false;
        before = length;
    }
    return block->count >= FEWEST_ITEMS;
}

/* How many calls could be one; 0: no loop over items. */
static double looped_items(const struct finder *finder, const struct rounds *rounds,
                           const struct round_block *block, bool *are_single)
{
    struct call call = look_at_call(finder, rounds, block);
    bool        is_loop;

    *are_single = 2 * call.singles > call.products;
    if (call.products < FEWEST_PRODUCTS || call.updates)
        return 0;
    if (call.trains)
        return block->count >= FEWEST_PARTS && call.hands_on && !call.changes_input &&
                       !call.is_closure && !goes_back_further(block)
                   ? block->count
                   : 0;
    if (!finder->ledger->study->profile->has_shapes) {
        is_loop = block->count >= FEWEST_UNKNOWN && call.looks_up &&
                  !makes_words(finder, rounds, block, &call);
        return is_loop ? block->count : 0;
    }
    is_loop = block->count >= FEWEST_ITEMS && *are_single &&
              !makes_words(finder, rounds, block, &call) &&
              (call.looks_up || !can_feed_next(finder, rounds, block, &call, 0));
    if (!is_loop || call.looks_up)
        return is_loop ? block->count : 0;
    return items_at_once(finder, rounds, block, &call);
}

/* Once for all items each op is still to be started, and what is large to be computed. What other
 * programs held it up for goes with it. */
static double share_of(const struct finder *finder, const struct work_unit *unit, double items,
                       bool are_single)
{
    double share = 1 - 1 / items, small_ns = SMALL_OP * finder->ledger->start_ns;
    double operations = 0;

    if (!unit_goes_with_ops(unit) || unit->typical_ns <= 0)
        return 0;
    if (unit->kind != UNIT_OP)
        return unit->typical_ns > LONGEST_GAP ? share * LONGEST_GAP / unit->typical_ns : share;
    /* The host only starts what an accelerator does. */
    if (finder->ledger->path->has_device && !finder->ledger->is_of_device)
        return share;
    if (are_single && (operations = convolved(finder->ledger, unit)) > 0) {
        double rest_ns = unit->typical_ns - operations / finder->rate;

        return rest_ns > 0 ? share * rest_ns / unit->typical_ns : 0;
    }
    operations = are_single ? operations_of(finder->ledger, unit) : 0;
    if (operations > 0 && unit->typical_ns > operations / finder->rate + small_ns)
        small_ns = unit->typical_ns - operations / finder->rate;
    return unit->typical_ns > small_ns ? share * small_ns / unit->typical_ns : share;
}

/* The same loop in the next step is the same cell. NO_ID: out of memory. */
static uint32_t cell_of(struct finder *finder, const struct detector *self,
                        const struct rounds *rounds, const struct round_block *block)
{
    uint32_t  unit = rounds->units[block->starts[0]];
    uint32_t *cell = &finder->cells[finder->keys.begin[unit]];

    if (!*cell) {
        *cell = ledger_cell(finder->ledger, self, &finder->ledger->units.items[unit]) + 1;
        if (!*cell || !ledger_tell(finder->ledger, *cell - 1, "the same %u ops %u times a step",
                                   block->length, block->count))
            return NO_ID;
    }
    return *cell - 1;
}

static bool claim(struct finder *finder, const struct detector *self, const struct rounds *rounds,
                  const struct round_block *block, double items, bool are_single)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       first = rounds->units[block->starts[0]];
    uint32_t       last = rounds->units[block->starts[block->count - 1] + block->length - 1];
    double         ns = 0;
    uint32_t       cell;

    for (uint32_t u = first; u <= last; u++)
        ns += ledger->units.items[u].left_ns *
              share_of(finder, &ledger->units.items[u], items, are_single);
    if (ns < LEAST_SHARE * ledger->total_ns / (double)ledger->step_count)
        return true;
    cell = cell_of(finder, self, rounds, block);
    if (cell == NO_ID)
        return false;
    for (uint32_t u = first; u <= last; u++)
        ledger_claim(ledger, cell, &ledger->units.items[u],
                     share_of(finder, &ledger->units.items[u], items, are_single));
    return true;
}

static bool find_keys(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;

    if (!ledger->study->profile->has_shapes)
        return rounds_keys(ledger, &finder->keys);
    finder->keys.same = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    if (!finder->keys.same || !intern_init(&finder->texts, ledger->scratch))
        return false;
    for (uint32_t u = 0; u < ledger->units.count; u++)
        if (ledger->units.items[u].kind == UNIT_OP && !key_of(finder, u))
            return false;
    finder->keys.begin = finder->keys.same;
    finder->keys.count = finder->texts.count + 1;
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };

    if (!ledger->is_torch)
        return true;
    if (!find_keys(&finder))
        return false;
    finder.cells = arena_new_array(ledger->scratch, uint32_t, (size_t)finder.keys.count + 1);
    if (!finder.cells)
        return false;
    measure_rate(&finder);
    for (size_t step = 0; step < ledger->step_count; step++) {
        struct rounds rounds;
        uint32_t      behind = 0;

        if (!rounds_find(ledger, step, &finder.keys, &rounds))
            return false;
        for (size_t b = 0; b < rounds.blocks.count; b++) {
            const struct round_block *block = &rounds.blocks.items[b];
            bool                      are_single;
            double                    items;

            if (block->starts[0] < behind)
                continue;
            items = looped_items(&finder, &rounds, block, &are_single);
            if (items <= 1)
                continue;
            behind = block->starts[block->count - 1] + block->length;
            if (!claim(&finder, self, &rounds, block, items, are_single))
                return false;
        }
    }
    return true;
}

const struct detector detector_single_items = { "single-items", CAUSE_DISPATCH, GRADE_SIZES, find };
