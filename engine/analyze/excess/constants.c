/* constants.c: see constants.h. */
#include "analyze/excess/constants.h"
#include "base/macros.h"

enum {
    FEWEST_OPS = 3,
    MOST_LENGTHS = 8,
    MASK_COUNTS = 4,    /* of batch, heads, queries and keys */
    MOST_MASK_OPS = 400 /* of a block mask */
};

struct chain {
    int64_t  lengths[MOST_LENGTHS];
    uint32_t count;
    uint32_t open; /* lengths that what was counted last brings along with the next op */
    uint32_t room; /* those of whole arrays of one number that are still to be seen */
    bool     has_counts;
};

static bool counts(struct str type)
{
    return str_fits(type, "aten::arange|aten::linspace|aten::logspace|aten::eye|aten::*_window|"
                          "aten::tril_indices|aten::triu_indices");
}

static bool fills(struct str type)
{
    return str_fits(type, "aten::full|aten::ones|aten::zeros");
}

static bool is_op(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->op != NO_ID;
}

/* What gives the same each time for the same operands, and no layer of a network does. */
static bool is_formula(const struct ledger *ledger, const struct work_unit *unit)
{
    switch (unit->op_class) {
    case OP_ELEMENTWISE:
    case OP_REDUCE:
    case OP_CONCAT:
    case OP_TRANSPOSE:
    case OP_CAST:
    case OP_COPY:
    case OP_VIEW:
    case OP_SLICE:
        return true;
    default:
        /* Scalars that Python hands over, and reads. */
        return str_fits(unit_type(ledger, unit),
                        "aten::empty|aten::lift_fresh|aten::detach_|aten::item|aten::outer|"
                        "aten::ger|aten::tril|aten::triu|aten::fill_|aten::masked_fill*|"
                        "aten::where|aten::cumsum|aten::repeat*|aten::meshgrid");
    }
}

static bool has_length(const struct chain *chain, int64_t length)
{
    for (uint32_t i = 0; i < chain->count; i++)
        if (chain->lengths[i] == length)
            return true;
    return length == 1;
}

/* A whole array of one number has no axis to be spread over; a column of data has. */
static bool is_whole(const struct tensor *tensor)
{
    for (int8_t d = 0; d < tensor->rank; d++)
        if (tensor->dims[d] <= 1)
            return false;
    return tensor->rank >= 2;
}

static bool add_length(struct chain *chain, const struct tensor *tensor, int64_t length)
{
    uint32_t *from = chain->open > 0 ? &chain->open : &chain->room;

    if (*from == 0 || chain->count == MOST_LENGTHS || length <= 0 ||
        (from == &chain->room && !is_whole(tensor)))
        return false;
    chain->lengths[chain->count++] = length;
    (*from)--;
    return true;
}

/* All lengths of the unit's operands are of the chain, or ops before brought them. */
static bool fits(struct chain *chain, const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *tensor;

    for (uint32_t i = 0; (tensor = unit_input(ledger, unit, i)); i++)
        for (int8_t d = 0; d < tensor->rank; d++)
            if (!has_length(chain, tensor->dims[d]) && !add_length(chain, tensor, tensor->dims[d]))
                return false;
    return true;
}

static bool goes_on(struct chain *chain, const struct ledger *ledger, const struct work_unit *unit)
{
    struct str type = unit_type(ledger, unit);

    if (unit->phase != UNIT_FORWARD || unit->is_trained)
        return false;
    if (counts(type)) {
        chain->open++;
        chain->has_counts = true;
        return true;
    }
    if (fills(type)) {
        chain->room += 2;
        chain->has_counts |= !str_equal(type, STR("aten::zeros"));
        return true;
    }
    if (!is_formula(ledger, unit) || !fits(chain, ledger, unit))
        return false;
    if (unit_input(ledger, unit, 0) && unit_input(ledger, unit, 0)->rank > 0)
        chain->open = 0;
    return true;
}

static uint64_t mix(uint64_t hash, const struct work_unit *unit)
{
    hash = (hash ^ unit->type) * 0x100000001b3u ^ (hash >> 29);
    return (hash ^ unit->op) * 0x100000001b3u ^ (hash >> 31);
}

/* Ops from unit `first` on that make a constant; as pauses do, what is no op goes on. Zeros alone
 * are room for what is written into them. */
static uint32_t read_chain(const struct ledger *ledger, struct constant *constant)
{
    struct chain chain = { 0 };
    uint32_t     ops = 0, step = ledger->units.items[constant->first].step;

    constant->hash = 0x9e3779b97f4a7c15u;
    for (uint32_t u = constant->first; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->step != step || (is_op(unit) && !goes_on(&chain, ledger, unit)))
            break;
        if (!is_op(unit))
            continue;
        constant->hash = mix(constant->hash, unit);
        constant->end = u + 1;
        ops++;
    }
    return chain.has_counts ? ops : 0;
}

/* What create_block_mask of torch does behind the counts of batch, heads, queries and keys: the
 * function of the mask over them, blocks that are counted and put in order, and that order written
 * into a table to be read the other way round. */
struct block_mask {
    uint32_t ops, counts; /* counts: in a row, up to the last op */
    uint32_t orders, tables;
    uint64_t hash;
    bool     asks_data;
};

static void add_mask_op(struct block_mask *mask, struct constant *constant, struct str before,
                        struct str type, uint32_t u)
{
    bool is_order = str_equal(type, STR("aten::argsort")) && str_equal(before, STR("aten::sum"));
    bool is_table =
        str_equal(type, STR("aten::index_put_")) && str_equal(before, STR("aten::new_ones"));

    mask->asks_data |= mask->orders == 0 && str_fits(type, "aten::index|aten::index_select|"
                                                           "aten::gather|*ModIndex");
    mask->orders += is_order;
    mask->tables += is_table;
    if (is_order || is_table) {
        constant->end = u + 1;
        constant->hash = mask->hash;
    }
}

static bool read_block_mask(const struct ledger *ledger, struct constant *constant)
{
    struct block_mask mask = { .hash = 0x9e3779b97f4a7c15u };
    struct str        before = STR("");
    uint32_t          step = ledger->units.items[constant->first].step;

    for (uint32_t u = constant->first; u < ledger->units.count && mask.ops < MOST_MASK_OPS; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct str              type = unit_type(ledger, unit);

        if (unit->step != step)
            break;
        if (unit->kind != UNIT_OP)
            continue;
        mask.counts = str_equal(type, STR("aten::arange")) ? mask.counts + 1 : 0;
        if (unit->phase != UNIT_FORWARD || unit->is_trained || unit_is_forward_product(unit) ||
            (mask.ops < MASK_COUNTS ? mask.counts <= mask.ops : mask.counts == MASK_COUNTS))
            break;
        mask.hash = mix(mask.hash, unit);
        mask.ops++;
        add_mask_op(&mask, constant, before, type, u);
        before = type;
    }
    constant->asks_data = mask.asks_data;
    constant->is_mask = mask.orders > 1 && mask.tables > 0;
    return constant->is_mask;
}

bool constants_find(const struct ledger *ledger, struct constants *constants)
{
    *constants = (struct constants) { 0 };
    if (!ledger->is_torch)
        return true;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        struct constant constant = { .first = u, .end = u };
        struct str      type = unit_type(ledger, &ledger->units.items[u]);

        if (!is_op(&ledger->units.items[u]) || (!counts(type) && !fills(type)))
            continue;
        if (!read_block_mask(ledger, &constant)) {
            constant = (struct constant) { .first = u, .end = u };
            if (!ledger->study->profile->has_shapes || read_chain(ledger, &constant) < FEWEST_OPS)
                constant.hash = 0;
        }
        if (constant.hash && !vec_push(&constants->rows, ledger->scratch, constant))
            return false;
        u = constant.end > u ? constant.end - 1 : u;
    }
    return true;
}
