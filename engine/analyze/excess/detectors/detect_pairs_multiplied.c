/* pairs_multiplied: a product makes all pairs of rows, and nothing but another product takes them:
 * (q k^T) v is q (k^T v), whose products are as small as a row is long. With a softmax between the
 * two it is not. */
#include "analyze/excess/ledger.h"

static const double LEAST_GAIN = 2; /* pairs of rows over those of the other order */
enum { MOST_CHAINS = 32, FARTHEST = 3 /* ops between: what scales all pairs */ };

struct chain { /* all pairs of `rows` with `columns`, from rows of `inner` to rows of `last` */
    int64_t rows, inner, columns, last;
};
struct finder {
    struct ledger *ledger;
    struct chain   chains[MOST_CHAINS];
    size_t         count;
    uint32_t       cell;
};

static int64_t dim(const struct tensor *tensor, int8_t from_end)
{
    return tensor && tensor->rank >= from_end ? tensor->dims[tensor->rank - from_end] : 0;
}

/* A product of two operands, neither of which need be a weight. */
static bool read_product(const struct ledger *ledger, const struct work_unit *unit,
                         struct chain *product)
{
    const struct tensor *left = unit_input(ledger, unit, 0), *right = unit_input(ledger, unit, 1);

    if (unit->kind != UNIT_OP || unit->op == NO_ID ||
        !str_fits(unit_type(ledger, unit), "aten::mm|aten::bmm|aten::matmul") ||
        dim(left, 2) <= 0 || dim(right, 2) <= 0 || dim(right, 1) <= 0 ||
        dim(left, 1) != dim(right, 2))
        return false;
    *product = (struct chain) { dim(left, 2), dim(left, 1), dim(right, 1), 0 };
    return true;
}

static double operations_now(const struct chain *chain)
{
    return (double)chain->rows * (double)chain->columns * (double)(chain->inner + chain->last);
}

static double operations_then(const struct chain *chain)
{
    return (double)chain->inner * (double)chain->last * (double)(chain->columns + chain->rows);
}

/* A single number for all pairs, or views of them, may stand between. */
static bool keeps_order(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *with = unit_input(ledger, unit, 1);

    return unit->kind != UNIT_OP || unit->op_class == OP_VIEW || unit->op_class == OP_TRANSPOSE ||
           (str_fits(unit_type(ledger, unit), "aten::mul|aten::div") && with && with->rank == 0);
}

/* The second product, which takes all pairs that the first, at `u`, makes. */
static bool find_second(const struct ledger *ledger, uint32_t u, uint32_t end, struct chain *chain)
{
    uint32_t seen = 0;

    for (uint32_t next = u + 1; next < end && seen <= FARTHEST; next++) {
        const struct work_unit *unit = &ledger->units.items[next];
        struct chain            second;

        if (keeps_order(ledger, unit)) {
            seen += unit->kind == UNIT_OP && unit->op_class != OP_VIEW;
            continue;
        }
        if (unit->phase != UNIT_FORWARD || !read_product(ledger, unit, &second) ||
            second.rows != chain->rows || second.inner != chain->columns)
            return false;
        chain->last = second.columns;
        return operations_now(chain) >= LEAST_GAIN * operations_then(chain);
    }
    return false;
}

static bool is_known(const struct finder *finder, const struct chain *chain)
{
    for (size_t i = 0; i < finder->count; i++)
        if (finder->chains[i].rows == chain->rows && finder->chains[i].inner == chain->inner &&
            finder->chains[i].columns == chain->columns && finder->chains[i].last == chain->last)
            return true;
    return false;
}

static void list_chains(struct finder *finder, size_t step)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       end = ledger->first_unit[step + 1];

    for (uint32_t u = ledger->first_unit[step]; u < end && finder->count < MOST_CHAINS; u++) {
        struct chain chain;

        if (ledger->units.items[u].phase == UNIT_FORWARD &&
            read_product(ledger, &ledger->units.items[u], &chain) &&
            find_second(ledger, u, end, &chain) && !is_known(finder, &chain))
            finder->chains[finder->count++] = chain;
    }
}

/* It takes or makes an array of all pairs, in whatever order of its axes. */
static const struct chain *chain_of(const struct finder *finder, const struct work_unit *unit)
{
    struct chain product;
    bool         is_product = read_product(finder->ledger, unit, &product);

    for (size_t c = 0; unit->kind == UNIT_OP && unit->op != NO_ID && c < finder->count; c++) {
        const struct chain *chain = &finder->chains[c];

        for (uint32_t i = 0; unit_input(finder->ledger, unit, i); i++) {
            const struct tensor *tensor = unit_input(finder->ledger, unit, i);
            int64_t              a = dim(tensor, 2), b = dim(tensor, 1);

            if ((a == chain->rows && b == chain->columns) ||
                (a == chain->columns && b == chain->rows))
                return chain;
        }
        if (is_product && ((product.rows == chain->rows && product.columns == chain->columns) ||
                           (product.rows == chain->columns && product.columns == chain->rows)))
            return chain;
    }
    return NULL;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .cell = NO_ID };

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        list_chains(&finder, step);
    for (size_t u = 0; finder.count && u < ledger->units.count; u++) {
        struct work_unit   *unit = &ledger->units.items[u];
        const struct chain *chain = chain_of(&finder, unit);

        if (!chain || unit->op_class == OP_VIEW)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &finder.cell,
                              "all pairs of %lld and %lld rows are made and only multiplied",
                              (long long)chain->rows, (long long)chain->columns))
            return false;
        ledger_claim(ledger, finder.cell, unit, 1 - operations_then(chain) / operations_now(chain));
    }
    return true;
}

const struct detector detector_pairs_multiplied = { "product-order", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                    find };
