/* side_product: beside a product with a weight a narrow path of two thin products of the same
 * input, added to its result, where nothing is trained: an adapter that was never merged into the
 * weight. One that rescales its columns (DoRA) also multiplies the two with an identity, adds what
 * that gives to the weight and takes its norms. */
#include "analyze/excess/ledger.h"

enum {
    FEWEST_PAIRS = 4,    /* a step: one may be a part of the model */
    NARROW = 4,          /* the width between the two is that part of the wider side, or less */
    FARTHEST = 8,        /* ops from one to the next */
    FARTHEST_BEFORE = 16 /* ops from the product beside it, or the path before it */
};

/* Units of a narrow path in order. */
struct path_beside {
    uint32_t first; /* what leads to it, behind the product that it stands beside */
    uint32_t down, up, add;
    int64_t  from, to; /* widths */
};

static bool is_linear(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && !unit->is_trained &&
           str_fits(unit_type(ledger, unit), "aten::linear|aten::matmul");
}

static int64_t last_dim(const struct tensor *tensor)
{
    return tensor && tensor->rank > 0 ? tensor->dims[tensor->rank - 1] : 0;
}

/* Rows of the weight: what a linear layer makes of the last axis. */
static int64_t width_of(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *weight = unit_input(ledger, unit, 1);
    bool                 is_turned = str_equal(unit_type(ledger, unit), STR("aten::linear"));

    return weight && weight->rank == 2 ? weight->dims[is_turned ? 0 : 1] : 0;
}

/* The next product, a few ops on, if its input is that wide. NO_ID: it is not. */
static uint32_t next_product(const struct ledger *ledger, uint32_t from, uint32_t end,
                             int64_t input_width)
{
    uint32_t seen = 0;

    for (uint32_t u = from; u < end && seen < FARTHEST; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP)
            continue;
        seen++;
        if (unit->op_class == OP_PRODUCT)
            return is_linear(ledger, unit) && last_dim(unit_input(ledger, unit, 0)) == input_width
                       ? u
                       : NO_ID;
    }
    return NO_ID;
}

/* The product of the path with an identity is added to the weight, which may lie the other way. */
static bool is_of_weight(const struct path_beside *path, const struct tensor *sum)
{
    return sum->rank == 2 && ((sum->dims[0] == path->to && sum->dims[1] == path->from) ||
                              (sum->dims[0] == path->from && sum->dims[1] == path->to));
}

/* A sum of two results of the path's width, or of its weight, before another product. */
static uint32_t next_sum(const struct ledger *ledger, const struct path_beside *path, uint32_t end)
{
    uint32_t seen = 0;

    for (uint32_t u = path->up + 1; u < end && seen < FARTHEST; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *left = unit_input(ledger, unit, 0);

        if (unit->kind != UNIT_OP)
            continue;
        seen++;
        if (unit->op_class == OP_PRODUCT)
            return NO_ID;
        if (str_fits(unit_type(ledger, unit), "aten::add|aten::add_") && left &&
            (last_dim(left) == path->to || is_of_weight(path, left)) &&
            same_dims(left, unit_input(ledger, unit, 1)))
            return u;
    }
    return NO_ID;
}

/* The ops behind the last product with the same widths: what makes the input of the path's first
 * product, or rescales the weight by the path before it. */
static uint32_t find_start(const struct ledger *ledger, const struct path_beside *path,
                           uint32_t begin)
{
    uint32_t      seen = 0;
    struct tensor result;

    for (uint32_t u = path->down; u-- > begin && seen < FARTHEST_BEFORE;) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP)
            continue;
        seen++;
        if (unit->op_class == OP_PRODUCT)
            return unit_product_result(ledger, unit, &result) && last_dim(&result) == path->to
                       ? u + 1
                       : path->down;
    }
    return path->down;
}

/* begin: nothing before it belongs to the path. */
static bool find_path(const struct ledger *ledger, uint32_t begin, uint32_t down, uint32_t end,
                      struct path_beside *path)
{
    const struct work_unit *first = &ledger->units.items[down];
    int64_t                 between;

    if (!is_linear(ledger, first))
        return false;
    path->from = last_dim(unit_input(ledger, first, 0));
    between = width_of(ledger, first);
    path->down = down;
    path->up = between > 0 ? next_product(ledger, down + 1, end, between) : NO_ID;
    if (path->up == NO_ID)
        return false;
    path->to = width_of(ledger, &ledger->units.items[path->up]);
    if (NARROW * between > (path->from < path->to ? path->from : path->to))
        return false;
    path->add = next_sum(ledger, path, end);
    path->first = find_start(ledger, path, begin);
    return path->add != NO_ID;
}

/* What is between them scales the result or drops some of it, and what leads to it prepares the
 * input: they go with them. */
static void claim(struct ledger *ledger, const struct path_beside *path, uint32_t cell)
{
    for (uint32_t u = path->first; u <= path->add; u++)
        ledger_claim(ledger, cell, &ledger->units.items[u], 1);
}

static bool look_at_step(struct ledger *ledger, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    uint32_t           first = ledger->first_unit[step], end = ledger->first_unit[step + 1];
    uint32_t           pairs = 0;
    struct path_beside path;

    for (uint32_t u = first; u < end; u++)
        if (find_path(ledger, first, u, end, &path))
            pairs++, u = path.add;
    if (pairs < FEWEST_PAIRS)
        return true;
    for (uint32_t u = first; u < end; u++) {
        if (!find_path(ledger, first, u, end, &path))
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[u], cell,
                              "%u pairs of thin products are added to a product of the same input",
                              pairs))
            return false;
        claim(ledger, &path, *cell);
        u = path.add;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || ledger->has_backward || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(ledger, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_side_product = { "side-product", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                find };
