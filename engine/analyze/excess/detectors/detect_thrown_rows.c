/* thrown_rows: products and convolutions of which what stands behind them keeps a few rows or
 * places: the others were for nothing, there and back. Between the two lie ops that work row by
 * row; a sum of two paths, as around a layer, ends the way, as what comes before it is for others,
 * too.
 * unread_direction: a recurrent layer goes both ways over a sequence of which one place is read: up
 * to there one way and from there the other would do. */
#include "analyze/excess/ledger.h"

enum { LOOK_AHEAD = 4 };
static const double MOST_KEPT = 0.5;

struct cut { /* what one or several ops in a row leave of an array */
    struct tensor whole;
    uint32_t      first, last; /* units */
    int           axis;        /* the last one that is cut */
    int           least_axis;  /* the first one that is cut */
    double        kept;
};

/* What an op leaves of `from`, along one axis, and of what shape that is. false: it is no cut. */
static bool cut_by(const struct ledger *ledger, const struct work_unit *unit,
                   const struct tensor *from, int *axis, struct tensor *to)
{
    int64_t dim, begin, end, size, step = 1;

    if (unit->kind != UNIT_OP || unit->op_class != OP_SLICE ||
        !same_dims(unit_input(ledger, unit, 0), from) ||
        unit_numbers(ledger, unit, 1, &dim, 1) != 1)
        return false;
    dim += dim < 0 ? from->rank : 0;
    if (dim < 0 || dim >= from->rank)
        return false;
    size = from->dims[dim];
    *axis = (int)dim;
    *to = *from;
    if (str_ends(unit_type(ledger, unit), STR("::select"))) {
        for (int i = *axis; i + 1 < to->rank; i++)
            to->dims[i] = to->dims[i + 1];
        to->rank--;
        return true;
    }
    if (!str_ends(unit_type(ledger, unit), STR("::slice")) ||
        unit_numbers(ledger, unit, 2, &begin, 1) != 1 ||
        unit_numbers(ledger, unit, 3, &end, 1) != 1)
        return false;
    if (unit_numbers(ledger, unit, 4, &step, 1) != 1 || step < 1)
        step = 1;
    begin += begin < 0 ? size : 0;
    end = end > size ? size : end + (end < 0 ? size : 0);
    if (begin < 0 || begin >= end)
        return false;
    to->dims[dim] = (end - begin - 1) / step + 1;
    return true;
}

/* The cuts in a row that begin at unit `at`. false: it is none, or none across rows. */
static bool find_cut(const struct ledger *ledger, uint32_t at, uint32_t end, struct cut *cut)
{
    const struct tensor *whole = unit_input(ledger, &ledger->units.items[at], 0);
    struct tensor        left, to;
    int                  axis;

    if (!whole || whole->rank < 2 || tensor_count(whole) <= 0)
        return false;
    *cut = (struct cut) {
        .whole = *whole, .first = at, .last = at, .axis = -1, .least_axis = TENSOR_MAX_RANK
    };
    left = *whole;
    for (uint32_t u = at; u < end && u <= cut->last + LOOK_AHEAD; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP)
            continue;
        if (!cut_by(ledger, unit, &left, &axis, &to))
            break;
        if (tensor_count(&to) < tensor_count(&left)) {
            cut->axis = axis > cut->axis ? axis : cut->axis;
            cut->least_axis = axis < cut->least_axis ? axis : cut->least_axis;
        }
        left = to;
        cut->last = u;
    }
    cut->kept = (double)tensor_count(&left) / (double)tensor_count(whole);
    return cut->axis >= 0 && cut->kept > 0;
}

/* Rows that a mask or a list of places picks, as far as the next op shows how many came. */
static bool find_picked(const struct ledger *ledger, uint32_t at, uint32_t end, struct cut *cut)
{
    const struct tensor *whole = unit_input(ledger, &ledger->units.items[at], 0);

    if (!str_equal(unit_type(ledger, &ledger->units.items[at]), STR("aten::index")) || !whole ||
        whole->rank < 2 || tensor_count(whole) <= 0)
        return false;
    for (uint32_t u = at + 1; u < end && u <= at + LOOK_AHEAD; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *rows = unit_input(ledger, unit, 0);

        if (unit->kind != UNIT_OP || !rows || rows->rank != 2 ||
            rows->dims[1] != whole->dims[whole->rank - 1])
            continue;
        *cut = (struct cut) { .whole = *whole, .first = at, .last = at, .axis = whole->rank - 2 };
        cut->kept = (double)tensor_count(rows) / (double)tensor_count(whole);
        return cut->kept > 0;
    }
    return false;
}

double unit_kept_rows(const struct ledger *ledger, uint32_t at)
{
    struct tensor result;
    struct cut    cut;

    if (!unit_product_result(ledger, &ledger->units.items[at], &result))
        return 1;
    for (uint32_t u = at + 1; u < ledger->units.count && u <= at + LOOK_AHEAD; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP && same_dims(unit_input(ledger, unit, 0), &result))
            return find_cut(ledger, u, (uint32_t)ledger->units.count, &cut) &&
                           cut.axis < result.rank - 1
                       ? cut.kept
                       : 1;
    }
    return 1;
}

/* A product whose result has the shape of *whole, which becomes that of its rows. A square matrix
 * is no rows of a batch, but the edges of a graph, whose layers pass all nodes on to each other. */
static bool is_product_of_rows(const struct ledger *ledger, const struct work_unit *unit,
                               const struct cut *cut, struct tensor *whole)
{
    const struct tensor *left;
    struct tensor        result;

    if (unit->op_class != OP_PRODUCT || cut->axis >= whole->rank - 1 ||
        !unit_product_result(ledger, unit, &result) || !same_dims(&result, whole))
        return false;
    left = unit_left(ledger, unit);
    if (left->rank == 2 && left->dims[0] == left->dims[1])
        return false;
    *whole = *left;
    return true;
}

/* Each place of its result is computed by itself. */
static bool is_convolution_of_places(const struct ledger *ledger, const struct work_unit *unit,
                                     const struct cut *cut, const struct tensor *whole)
{
    const struct tensor *from = unit_left(ledger, unit), *weight = unit_right(ledger, unit);

    return unit->op_class == OP_CONVOLUTION && cut->least_axis >= 2 && from && weight &&
           from->rank == whole->rank && weight->rank == whole->rank &&
           from->dims[0] == whole->dims[0] && weight->dims[0] == whole->dims[1];
}

/* Each row of its result comes of the same one of `whole`. */
static bool is_by_row(const struct ledger *ledger, const struct work_unit *unit,
                      const struct cut *cut, const struct tensor *whole)
{
    struct str type = unit_type(ledger, unit);
    uint32_t   wholes = 0;

    for (uint32_t i = 0; unit_input(ledger, unit, i); i++)
        wholes += same_dims(unit_input(ledger, unit, i), whole);
    if (wholes != 1) /* two paths meet */
        return false;
    if (unit->op_class == OP_NORMALISATION)
        return str_fits(type, "aten::batch_norm") ? cut->least_axis >= 2
                                                  : str_fits(type, "aten::layer_norm|"
                                                                   "aten::rms_norm") &&
                                                        cut->axis < whole->rank - 1;
    if (unit->op_class == OP_SOFTMAX)
        return cut->axis < whole->rank - 1;
    return unit->op_class == OP_ELEMENTWISE || unit->op_class == OP_ACTIVATION ||
           unit->op_class == OP_CAST || unit->op_class == OP_RANDOM;
}

/* The ops that lead to the cut, back to the first product; `at` when there is none. */
static uint32_t find_first(const struct ledger *ledger, uint32_t begin, uint32_t end,
                           const struct cut *cut)
{
    struct tensor whole = cut->whole;
    uint32_t      first = cut->first;

    for (uint32_t u = cut->first; u-- > begin;) {
        const struct work_unit *unit = &ledger->units.items[u];

        /* A counter beside it may be of batches that were normalised. */
        if (unit->kind != UNIT_OP || unit->op_class == OP_VIEW || unit_is_of_numbers(ledger, unit))
            continue;
        if (unit->phase != UNIT_FORWARD || units_take(ledger, cut->last + 1, end, &whole))
            break;
        if (is_convolution_of_places(ledger, unit, cut, &whole))
            return u;
        if (is_product_of_rows(ledger, unit, cut, &whole))
            first = u;
        else if (!is_by_row(ledger, unit, cut, &whole))
            break;
    }
    return first;
}

static bool find_in_step(struct ledger *ledger, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    uint32_t begin = ledger->first_unit[step], end = ledger->first_unit[step + 1];

    for (uint32_t u = begin; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct cut              cut;
        uint32_t                first;

        if (unit->kind != UNIT_OP || unit->phase != UNIT_FORWARD || unit->op == NO_ID ||
            (!find_cut(ledger, u, end, &cut) && !find_picked(ledger, u, end, &cut)))
            continue;
        first = cut.kept <= MOST_KEPT ? find_first(ledger, begin, end, &cut) : cut.first;
        u = cut.last;
        if (first == cut.first)
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[first], cell,
                              "what stands behind the product keeps 1 of %.0f parts", 1 / cut.kept))
            return false;
        ledger_claim_ops(ledger, *cell, first, cut.first - 1, 1 - cut.kept);
        if (!ledger_claim_way_back(ledger, *cell, first, cut.first - 1, 1 - cut.kept))
            return false;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    for (size_t step = 0; ledger->is_torch && step < ledger->step_count; step++)
        if (!find_in_step(ledger, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_thrown_rows = { "thrown-rows", CAUSE_UNUSED, GRADE_STRUCTURE, find };

/* One that goes both ways: the shape of its result, its layers, and the axis of the sequence. */
static bool goes_both_ways(const struct ledger *ledger, const struct work_unit *unit,
                           struct tensor *result, int64_t *layers, int *axis)
{
    const struct tensor *input = unit_input(ledger, unit, 0), *state = unit_input(ledger, unit, 1);

    if (unit->kind != UNIT_OP || unit->phase != UNIT_FORWARD || unit->op_class != OP_CELL ||
        !str_fits(unit_type(ledger, unit), "aten::lstm|aten::gru|aten::rnn_tanh|aten::rnn_relu") ||
        !input || !state || input->rank != 3 || state->rank != 3 ||
        input->dims[0] == input->dims[1] || unit_numbers(ledger, unit, 4, layers, 1) != 1 ||
        *layers < 1 || state->dims[0] / 2 != *layers || state->dims[0] % 2)
        return false;
    *axis = input->dims[0] == state->dims[1] ? 1 : 0;
    *result = *input;
    result->dims[2] = 2 * state->dims[2];
    return input->dims[1 - *axis] == state->dims[1];
}

/* The first op behind unit `at` that takes its result reads one place of it, and no other takes it
 * before the next such call. */
static bool is_read_once(const struct ledger *ledger, uint32_t at, uint32_t end,
                         const struct tensor *result, int axis)
{
    struct cut cut = { .last = 0 };

    for (uint32_t u = at + 1; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->phase != UNIT_FORWARD || u <= cut.last)
            continue;
        if (unit->op == ledger->units.items[at].op)
            break;
        if (!same_dims(unit_input(ledger, unit, 0), result))
            continue;
        if (cut.last || !find_cut(ledger, u, end, &cut) || cut.least_axis != axis ||
            cut.kept * (double)result->dims[axis] > 1.001)
            return false;
    }
    return cut.last > 0;
}

static bool find_unread(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    for (uint32_t u = 0; ledger->is_torch && u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        struct tensor     result;
        int64_t           layers;
        int               axis;
        double            share;

        if (!goes_both_ways(ledger, unit, &result, &layers, &axis) ||
            !is_read_once(ledger, u, ledger->first_unit[unit->step + 1], &result, axis))
            continue;
        share = (1 - 1 / (double)result.dims[axis]) / (2 * (double)layers);
        if (!ledger_cell_once(ledger, self, unit, &cell, "1 of %lld places is read",
                              (long long)result.dims[axis]))
            return false;
        ledger_claim(ledger, cell, unit, share);
        if (!ledger_claim_way_back(ledger, cell, u, u, share))
            return false;
    }
    return true;
}

const struct detector detector_unread_direction = { "unread-direction", CAUSE_UNUSED,
                                                    GRADE_STRUCTURE, find_unread };
