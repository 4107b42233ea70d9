/* larger_pass: in steps that train, a pass without gradients through the trained weights over more
 * rows than are trained, of whose results a few rows are picked: what all of a buffer is worth
 * under weights that need not be asked again for each part of it. */
#include "analyze/excess/ledger.h"

enum { FEWEST_PRODUCTS = 2, LARGER = 2 /* times the rows that are trained */ };

struct finder {
    struct ledger *ledger;
    struct intern  weights; /* types and shapes of trained ones, as bytes */
    VEC(int64_t) rows;      /* by id of weights: the most that are trained */
};
struct pass {
    uint32_t first, last; /* units: its first product, and where its last row is picked */
    uint32_t products;
    int64_t  rows, trained_rows;
    bool     is_smaller; /* of other weights, or of no more rows */
};

/* Fills the key of what holds parameters, and the rows that it meets; without them, the key is
 * empty. */
static struct str weight_of(const struct ledger *ledger, const struct work_unit *unit,
                            int64_t words[TENSOR_MAX_RANK + 1], int64_t *rows)
{
    const struct tensor *left = unit_left(ledger, unit);
    const struct tensor *weight = unit_right(ledger, unit);
    size_t               count = 0;

    if (!left || !weight || left->rank < 2 || weight->rank < 2)
        return (struct str) { NULL, 0 };
    *rows = left->dims[0];
    words[count++] = unit->type;
    for (int8_t i = 0; i < weight->rank; i++)
        words[count++] = weight->dims[i];
    return (struct str) { (const char *)words, count * sizeof *words };
}

static bool list_trained(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;
    int64_t        words[TENSOR_MAX_RANK + 1], rows;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct str              key = { NULL, 0 };
        uint32_t                id;

        if (unit_is_forward_product(unit) && unit->is_trained)
            key = weight_of(ledger, unit, words, &rows);
        if (!key.len)
            continue;
        id = intern_add(&finder->weights, key);
        if (id == NO_ID)
            return false;
        while (finder->rows.count <= id)
            if (!vec_push(&finder->rows, ledger->scratch, 0))
                return false;
        if (rows > finder->rows.items[id])
            finder->rows.items[id] = rows;
    }
    return true;
}

static void add_product(const struct finder *finder, struct pass *pass, uint32_t u)
{
    int64_t    words[TENSOR_MAX_RANK + 1], rows = 0;
    struct str key = weight_of(finder->ledger, &finder->ledger->units.items[u], words, &rows);
    uint32_t   id = key.len ? intern_find(&finder->weights, key) : NO_ID;

    if (!pass->products++)
        pass->first = u;
    if (id == NO_ID || rows < LARGER * finder->rows.items[id]) {
        pass->is_smaller = true;
        return;
    }
    pass->rows = rows;
    pass->trained_rows = finder->rows.items[id];
}

static bool is_pick(const struct finder *finder, const struct pass *pass,
                    const struct work_unit *unit)
{
    const struct tensor *from = unit_input(finder->ledger, unit, 0);

    return unit->kind == UNIT_OP && unit->op_class == OP_GATHER && from && from->rank >= 1 &&
           from->dims[0] == pass->rows;
}

static bool claim(struct finder *finder, const struct detector *self, const struct pass *pass,
                  uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    if (pass->products < FEWEST_PRODUCTS || pass->is_smaller || pass->last <= pass->first)
        return true;
    if (!ledger_cell_once(ledger, self, &ledger->units.items[pass->first], cell,
                          "%lld rows pass without gradients, and %lld are trained",
                          (long long)pass->rows, (long long)pass->trained_rows))
        return false;
    ledger_claim_ops(ledger, *cell, pass->first, pass->last,
                     1 - (double)pass->trained_rows / (double)pass->rows);
    return true;
}

static bool look_at_step(struct finder *finder, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    struct pass    pass = { 0 };

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->is_trained || unit->phase == UNIT_BACKWARD || unit->phase == UNIT_UPDATE) {
            if (!claim(finder, self, &pass, cell))
                return false;
            pass = (struct pass) { 0 };
        } else if (unit_is_forward_product(unit))
            add_product(finder, &pass, u);
        else if (pass.products && is_pick(finder, &pass, unit))
            pass.last = u;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward || !ledger->study->profile->has_shapes)
        return true;
    if (!intern_init(&finder.weights, ledger->scratch) || !list_trained(&finder))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(&finder, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_larger_pass = { "larger-pass", CAUSE_REPEAT, GRADE_SIZES, find };
