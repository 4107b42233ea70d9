/* derived_weight: without gradients, a product of two thin matrices whose result is the weight of a
 * product just behind it, a matrix that is converted and scaled to be one, or the weight of a
 * convolution that is normed, scaled or inverted: weights made again from parameters in each call.
 */
#include "analyze/excess/ledger.h"

enum { LOOK_AHEAD = 10, FEWEST_ELEMENTS = 4096 };

static bool is_plain_product(const struct ledger *ledger, const struct work_unit *unit)
{
    struct str type;

    if (unit->kind != UNIT_OP || unit->op_class != OP_PRODUCT || unit->phase != UNIT_FORWARD ||
        unit->is_trained)
        return false;
    type = unit_type(ledger, unit);
    return str_fits(type, "*::mm|*::matmul");
}

static bool is_weight(const struct tensor *tensor, int64_t rows, int64_t columns)
{
    return tensor && tensor->rank == 2 &&
           ((tensor->dims[0] == rows && tensor->dims[1] == columns) ||
            (tensor->dims[0] == columns && tensor->dims[1] == rows));
}

/* The unit that takes the product's result for its weight, or 0. */
static uint32_t user_of(const struct ledger *ledger, uint32_t at)
{
    const struct work_unit *product = &ledger->units.items[at];
    const struct tensor    *left = unit_input(ledger, product, 0);
    const struct tensor    *right = unit_input(ledger, product, 1);
    int64_t                 rows, inner, columns;

    if (!left || !right || left->rank != 2 || right->rank != 2)
        return 0;
    rows = left->dims[0], inner = left->dims[1], columns = right->dims[1];
    if (2 * inner >= rows || 2 * inner >= columns)
        return 0;
    for (uint32_t u = at + 1; u < ledger->units.count && u <= at + LOOK_AHEAD; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op_class != OP_PRODUCT || unit->is_trained)
            continue;
        const struct tensor *weight = unit_right(ledger, unit);
        const struct tensor *data = unit_left(ledger, unit);

        /* With as many rows the result may be data as well. */
        if (is_weight(weight, rows, columns) && !is_weight(data, rows, columns))
            return u;
    }
    return 0;
}

static const struct work_unit *op_before(const struct ledger *ledger, uint32_t u, uint32_t *at)
{
    while ((u = ledger->op_before[u]) != NO_ID)
        if (ledger->units.items[u].op_class != OP_VIEW) {
            *at = u;
            return &ledger->units.items[u];
        }
    return NULL;
}

/* Where a matrix as large as the weight of the layer at `user` is converted and then scaled right
 * before it, by ops of which each takes what the one before made; NO_ID: it is not. Data would have
 * other sizes. */
static uint32_t scaled_from(const struct ledger *ledger, uint32_t user)
{
    const struct work_unit *layer = &ledger->units.items[user], *unit;
    const struct tensor    *weight = unit_right(ledger, layer);
    uint32_t                at = user, first = NO_ID, scaled = 0;

    if (!unit_is_forward_product(layer) || layer->op_class != OP_PRODUCT || layer->is_trained ||
        !weight || weight->rank != 2 || tensor_count(weight) < FEWEST_ELEMENTS ||
        same_dims(unit_left(ledger, layer), weight))
        return NO_ID;
    while ((unit = op_before(ledger, at, &at)) && unit->phase == UNIT_FORWARD &&
           same_dims(unit_input(ledger, unit, 0), weight)) {
        if (unit->op_class == OP_CAST && scaled > 0)
            first = at;
        else if (unit->op_class != OP_ELEMENTWISE || first != NO_ID)
            break;
        scaled++;
    }
    return first;
}

/* Laid out as the weight is, or with a row for each of its first axis. */
static bool holds_weight(const struct tensor *tensor, const struct tensor *weight)
{
    bool is_rows;

    if (!tensor || tensor->rank < 2 || tensor_count(tensor) != tensor_count(weight))
        return false;
    is_rows = tensor->rank == 2 && tensor->dims[0] == weight->dims[0];
    return is_rows || same_dims(tensor, weight) ||
           (tensor->rank == 3 && tensor->dims[0] == 1 && tensor->dims[1] == weight->dims[0]);
}

/* Where nothing is trained and ops right before the convolution at `user` pass over what has the
 * sizes of its weight and not of its data, the first of them, else NO_ID: weight_norm that is left
 * on, weights that are standardised, or an inverse. */
static uint32_t normed_from(const struct ledger *ledger, uint32_t user)
{
    const struct work_unit *layer = &ledger->units.items[user], *unit;
    const struct tensor    *data = unit_left(ledger, layer), *weight = unit_right(ledger, layer);
    uint32_t                at = user, first = NO_ID;

    if (ledger->has_backward || !unit_is_forward_product(layer) ||
        layer->op_class != OP_CONVOLUTION || !data || !weight || weight->rank < 3 ||
        tensor_count(weight) < FEWEST_ELEMENTS || same_dims(data, weight))
        return NO_ID;
    while ((unit = op_before(ledger, at, &at)) && unit->phase == UNIT_FORWARD &&
           (unit->op_class == OP_ELEMENTWISE || unit->op_class == OP_REDUCE ||
            unit->op_class == OP_NORMALISATION || unit->op_class == OP_DECOMPOSITION) &&
           holds_weight(unit_input(ledger, unit, 0), weight) &&
           !same_dims(unit_input(ledger, unit, 0), data))
        first = at;
    return first;
}

/* The op right before, views among them. */
static const struct work_unit *call_before(const struct ledger *ledger, uint32_t u, uint32_t *at)
{
    if (ledger->op_before[u] == NO_ID)
        return NULL;
    *at = ledger->op_before[u];
    return &ledger->units.items[*at];
}

static bool is_relaid(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit && str_fits(unit_type(ledger, unit), "*::reshape|*::reshape_as|*::view|*::view_as");
}

/* The same where no shapes were recorded, by what data would not go through right before a
 * convolution: weight_norm, or a batch norm of rows that are laid out anew before and behind it.
 * Data is normed in the layout that convolutions make and take; where it has its channels last, it
 * is transposed. */
static uint32_t normed_by_name(const struct ledger *ledger, uint32_t user)
{
    const struct work_unit *layer = &ledger->units.items[user], *norm;
    uint32_t                at = user, first;
    bool                    is_relaid_behind;

    if (ledger->study->profile->has_shapes || ledger->has_backward ||
        !unit_is_forward_product(layer) || layer->op_class != OP_CONVOLUTION)
        return NO_ID;
    norm = call_before(ledger, user, &at);
    is_relaid_behind = is_relaid(ledger, norm);
    if (is_relaid_behind)
        norm = call_before(ledger, at, &at);
    if (!norm || norm->phase != UNIT_FORWARD)
        return NO_ID;
    first = at;
    if (str_fits(unit_type(ledger, norm), "*::_weight_norm"))
        return first;
    return is_relaid_behind && str_fits(unit_type(ledger, norm), "*::batch_norm") &&
                   is_relaid(ledger, call_before(ledger, first, &at))
               ? first
               : NO_ID;
}

static bool claim(struct ledger *ledger, const struct detector *self, uint32_t first, uint32_t end,
                  const char *what, uint32_t *cell)
{
    if (!ledger_cell_once(ledger, self, &ledger->units.items[first], cell,
                          "%s is the weight of the next layer", what))
        return false;
    for (uint32_t u = first; u < end; u++)
        if (ledger->units.items[u].kind == UNIT_OP)
            ledger_claim(ledger, *cell, &ledger->units.items[u], 1);
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    for (uint32_t u = 0; ledger->is_torch && u < ledger->units.count; u++) {
        uint32_t first = scaled_from(ledger, u), normed = normed_from(ledger, u), user;

        if (normed == NO_ID)
            normed = normed_by_name(ledger, u);
        if (first != NO_ID &&
            !claim(ledger, self, first, u, "a matrix that is converted and scaled", &cell))
            return false;
        if (normed != NO_ID &&
            !claim(ledger, self, normed, u, "what is normed, scaled or inverted", &cell))
            return false;
        if (!is_plain_product(ledger, &ledger->units.items[u]))
            continue;
        user = user_of(ledger, u);
        if (!user)
            continue;
        if (!claim(ledger, self, u, user, "a product of two thin matrices", &cell))
            return false;
        u = user;
    }
    return true;
}

const struct detector detector_derived_weight = { "derived-weight", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                  find };
