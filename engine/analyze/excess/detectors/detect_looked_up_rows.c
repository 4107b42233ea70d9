/* looked_up_rows: rows of a small table, one of nodes or words, are looked up many times each, as
 * for both ends of each edge, and a product works on what was looked up: multiplied before, each
 * row would be worked on once. What else stands beside them in a row is each its own. */
#include "analyze/excess/ledger.h"

static const double LEAST_COPIES = 4, LEAST_PART = 0.3 /* of a row */;
enum { MOST_LOOKUPS = 8, FARTHEST = 12 /* units before the product */ };

struct finder {
    struct ledger *ledger;
    uint32_t       cell;
};
struct again { /* a product: rows that it works on, their length, and the part that is copies */
    int64_t rows, width;
    double  share;
};

static bool is_lookup(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && unit->op != NO_ID &&
           (unit->op_class == OP_GATHER || unit->op_class == OP_EMBEDDING);
}

static int64_t last_dim(const struct tensor *tensor)
{
    return tensor && tensor->rank > 1 ? tensor->dims[tensor->rank - 1] : 0;
}

/* Lookups just before unit `u`, with the rows of their tables; what stands between them only looks
 * at ids. */
static size_t lookups_before(const struct finder *finder, uint32_t first, uint32_t u,
                             const struct tensor **tables)
{
    const struct ledger *ledger = finder->ledger;
    size_t               count = 0;

    for (uint32_t i = 1; i <= FARTHEST && u >= first + i && count < MOST_LOOKUPS; i++) {
        const struct work_unit *unit = &ledger->units.items[u - i];
        const struct tensor    *table = unit_input(ledger, unit, 0);

        if (is_lookup(unit) && table && table->rank == 2)
            tables[count++] = table;
        else if (unit->kind == UNIT_OP && unit->op_class != OP_VIEW && unit->op_class != OP_SLICE)
            break;
    }
    return count;
}

/* Elements of a row that come from small tables, weighted by what their copies cost too much. */
static double repeated(const struct tensor *const *tables, size_t count, bool *is_used,
                       int64_t width, int64_t rows)
{
    for (size_t i = 0; i < count; i++) {
        if (is_used[i] || tables[i]->dims[1] != width)
            continue;
        is_used[i] = true;
        return rows <= 0 || (double)rows < LEAST_COPIES * (double)tables[i]->dims[0]
                   ? 0
                   : (double)width * (1 - (double)tables[i]->dims[0] / (double)rows);
    }
    return 0;
}

static struct again look_at(const struct finder *finder, uint32_t first, uint32_t u)
{
    const struct ledger *ledger = finder->ledger;
    const struct tensor *left = unit_left(ledger, &ledger->units.items[u]);
    const struct tensor *tables[MOST_LOOKUPS];
    bool                 is_used[MOST_LOOKUPS] = { false };
    struct again         again = { .width = last_dim(left) };
    uint32_t             behind = u;
    double               sum = 0;
    size_t               count;

    if (again.width <= 0)
        return again;
    again.rows = tensor_count(left) / again.width;
    while (behind > first && (ledger->units.items[behind - 1].kind != UNIT_OP ||
                              ledger->units.items[behind - 1].op_class == OP_VIEW))
        behind--;
    if (behind > first && ledger->units.items[behind - 1].op_class == OP_CONCAT &&
        ledger->units.items[behind - 1].op != NO_ID) {
        const struct work_unit *join = &ledger->units.items[behind - 1];

        count = lookups_before(finder, first, behind - 1, tables);
        for (uint32_t i = 0; i < ledger->study->profile->ops.items[join->op].input_count; i++) {
            const struct tensor *part = unit_input(ledger, join, i);

            if (last_dim(part) > 0 && tensor_count(part) / last_dim(part) == again.rows)
                sum += repeated(tables, count, is_used, last_dim(part), again.rows);
        }
    } else {
        count = lookups_before(finder, first, behind, tables);
        sum = count ? repeated(tables, 1, is_used, again.width, again.rows) : 0;
    }
    again.share = sum < LEAST_PART * (double)again.width ? 0 : sum / (double)again.width;
    return again;
}

/* Two products go back for one: what they have in common with it are its rows and their length. */
static bool is_gradient_of(const struct ledger *ledger, const struct work_unit *unit,
                           const struct again *again)
{
    const struct tensor *left = unit_input(ledger, unit, 0), *right = unit_input(ledger, unit, 1);

    return unit->phase == UNIT_BACKWARD && unit->op_class == OP_PRODUCT && left && right &&
           left->rank == 2 && right->rank == 2 && right->dims[1] == again->width &&
           (left->dims[0] == again->rows ||
            (left->dims[1] == again->rows && right->dims[0] == again->rows));
}

static bool claim(struct finder *finder, const struct detector *self, struct work_unit *unit,
                  const struct again *again)
{
    if (!ledger_cell_once(finder->ledger, self, unit, &finder->cell,
                          "a product of %lld rows that were looked up in a table of fewer",
                          (long long)again->rows))
        return false;
    ledger_claim(finder->ledger, finder->cell, unit, again->share);
    return true;
}

static bool look_at_step(struct finder *finder, const struct detector *self, size_t step)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       first = ledger->first_unit[step], end = ledger->first_unit[step + 1];
    struct again   last[MOST_LOOKUPS];
    size_t         count = 0;

    for (uint32_t u = first; u < end; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        struct again      again = { 0 };

        if (unit->kind != UNIT_OP || unit->op == NO_ID || unit->op_class != OP_PRODUCT)
            continue;
        if (unit->phase == UNIT_FORWARD)
            again = look_at(finder, first, u);
        for (size_t i = 0; i < count && again.share <= 0; i++)
            if (is_gradient_of(ledger, unit, &last[i]))
                again = last[i];
        if (again.share <= 0)
            continue;
        if (unit->phase == UNIT_FORWARD && count < MOST_LOOKUPS)
            last[count++] = again;
        if (!claim(finder, self, unit, &again))
            return false;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .cell = NO_ID };

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(&finder, self, step))
            return false;
    return true;
}

const struct detector detector_looked_up_rows = { "repeated-rows", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                  find };
