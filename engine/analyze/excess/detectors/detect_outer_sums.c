/* outer_sums: all pairs of two arrays' rows are put together in one array of passes over memory,
 * and summed at once: a product of matrices, or a distance, gives the sums without that array.
 * outer_matrix: all pairs of two matrices' elements are made to be multiplied with something, which
 * each can be by itself. */
#include "analyze/excess/axes.h"
#include "base/macros.h"

static const double LEAST_SHARE = 0.05; /* of the steps */
static const double NEEDED = 2;         /* passes over the sums, that a product may take */
static const double LEAST_SPARED = 0.9; /* of a matrix that is made of two */
enum { FEWEST_ROWS = 8, MOST_SPREAD = 8, DEEPEST = 12 };

struct formula { /* what is summed */
    struct waste        *waste;
    struct axes          axes;
    const struct tensor *all;                 /* the shape of all pairs */
    uint8_t              spread[MOST_SPREAD]; /* of each operand: bit by axis that it has */
    size_t               count;
};

static bool is_of_pairs(const struct formula *formula, const struct tensor *tensor)
{
    int axis = 0;

    for (int i = 0; i < tensor->rank; i++) {
        while (axis < formula->all->rank && formula->all->dims[axis] == 1)
            axis++;
        if (tensor->dims[i] == 1)
            continue;
        if (axis == formula->all->rank || tensor->dims[i] != formula->all->dims[axis++])
            return false;
    }
    return axis == formula->all->rank;
}

static bool add_spread(struct formula *formula, uint32_t broadcast)
{
    struct axis_list has = axes_list(&formula->axes, broadcast, formula->axes.axes);
    uint8_t          bits = 0;

    for (int i = 0; i < has.count; i++)
        bits |= (uint8_t)(1 << has.ids[i]);
    if (has.count >= 0 && formula->count < MOST_SPREAD)
        formula->spread[formula->count++] = bits;
    return has.count >= 0;
}

/* Products and squares of differences are products of matrices; so are exponentials of sums. What
 * else is done to pairs cannot be taken apart. */
static bool read_formula(struct formula *formula, uint32_t op, bool is_exponent, int depth)
{
    static const char    linear[] = "add|subtract|negate|convert";
    const struct tensor *shape;
    struct op_ids        producers;

    op = compiled_maker(formula->waste->compiled, op);
    shape = axes_shape(&formula->axes, op);
    if (!shape || !same_dims(shape, formula->all) || depth == DEEPEST)
        return false;
    if (waste_is(formula->waste, op, "broadcast"))
        return add_spread(formula, op);
    if (!waste_is(formula->waste, op, linear) &&
        (is_exponent || !waste_is(formula->waste, op, "multiply|exponential")))
        return false;
    is_exponent |= waste_is(formula->waste, op, "exponential");
    producers = op_graph_producers(formula->waste->graph, op);
    for (size_t i = 0; i < producers.count; i++)
        if (!read_formula(formula, producers.ids[i], is_exponent, depth + 1))
            return false;
    return producers.count > 0;
}

/* Two operands have what is summed, and each has rows that the other one is repeated over. */
static bool pairs_rows(const struct formula *formula, uint8_t summed)
{
    uint8_t rows = 0;

    for (int axis = 0; axis < formula->all->rank; axis++)
        rows |= (uint8_t)((formula->all->dims[axis] >= FEWEST_ROWS) << axis);
    for (size_t a = 0; a < formula->count; a++)
        for (size_t b = 0; b < a; b++)
            if ((formula->spread[a] & formula->spread[b] & summed) == summed &&
                formula->spread[a] & ~formula->spread[b] & rows & ~summed &&
                formula->spread[b] & ~formula->spread[a] & rows & ~summed)
                return true;
    return false;
}

/* Zeros, for arrays of all pairs of each round of a loop to be written into. */
static void mark_stack(struct formula *formula, const struct op *writer, double share)
{
    const struct profile *profile = formula->waste->profile;
    const struct tensor  *stack = &profile->tensors.items[writer->first_output];

    for (uint32_t op = 0; op < formula->waste->graph->vertex_count; op++) {
        const struct op *row = &profile->ops.items[op];

        if (row->program == writer->program && waste_is(formula->waste, op, "broadcast") &&
            row->output_count && same_dims(&profile->tensors.items[row->first_output], stack))
            waste_mark(formula->waste, op, share);
    }
}

/* What else passes over an array of all pairs: gradients do, and what keeps it for them. */
static void mark_passes(struct formula *formula, uint32_t program, double share)
{
    const struct profile *profile = formula->waste->profile;

    for (uint32_t op = 0; op < formula->waste->graph->vertex_count; op++) {
        const struct op *row = &profile->ops.items[op];
        uint32_t         place = waste_is(formula->waste, op, "dynamic-update-slice");
        bool             is_pass =
            linear_is_elementwise(formula->waste, op) ||
            waste_is(formula->waste, op,
                     "reduce|copy|broadcast|transpose|dynamic-slice|dynamic-update-slice");
        bool takes = row->input_count > place &&
                     is_of_pairs(formula, &profile->tensors.items[row->first_input + place]);

        if (row->program != program || !is_pass)
            continue;
        if (takes ||
            (row->output_count && is_of_pairs(formula, &profile->tensors.items[row->first_output])))
            waste_mark(formula->waste, op, share);
        if (takes && place && row->output_count)
            mark_stack(formula, row, share);
    }
}

static void look_at_sum(struct formula *formula, uint32_t reduce)
{
    struct axis_list     summed = axes_list(&formula->axes, reduce, formula->axes.axes);
    uint32_t             data = op_graph_operand(formula->waste->graph, reduce, 0);
    const struct tensor *shape = data == NO_ID ? NULL : axes_shape(&formula->axes, data);
    uint8_t              bits = 0;
    double               terms = 1;

    if (!formula->waste->adds[reduce] || !shape || shape->rank < 3 || summed.count < 1)
        return;
    for (int i = 0; i < summed.count; i++) {
        bits |= (uint8_t)(1 << summed.ids[i]);
        terms *= (double)shape->dims[summed.ids[i]];
    }
    formula->all = shape;
    formula->count = 0;
    if (terms > NEEDED && read_formula(formula, data, false, 0) && pairs_rows(formula, bits))
        mark_passes(formula, formula->waste->profile->ops.items[reduce].program,
                    1 - NEEDED / terms);
}

/* Each number times each of another array, as a matrix: both are broadcast, to other axes. */
static bool is_outer(struct formula *formula, uint32_t op)
{
    struct op_ids producers = op_graph_producers(formula->waste->graph, op);

    formula->all = axes_shape(&formula->axes, op);
    formula->count = 0;
    if (!formula->all || formula->all->rank < 3 || producers.count != 2 ||
        !waste_is(formula->waste, op, "multiply"))
        return false;
    for (size_t i = 0; i < producers.count; i++)
        if (!read_formula(formula, producers.ids[i], true, DEEPEST - 1))
            return false;
    return formula->count == 2 && formula->spread[0] && formula->spread[1] &&
           !(formula->spread[0] & formula->spread[1]);
}

/* Of the matrix, the elements of an array that has some of its axes. */
static double part_of(const struct formula *formula, uint8_t axes)
{
    double part = 1;

    for (int axis = 0; axis < formula->all->rank; axis++)
        part /= axes >> axis & 1 ? 1 : (double)formula->all->dims[axis];
    return part;
}

/* A product of two arrays that are both spread: what a product of matrices that sums over one
 * number becomes. */
static bool spreads_both(const struct formula *formula, uint32_t op)
{
    const struct waste *waste = formula->waste;
    struct op_ids       producers = op_graph_producers(waste->graph, op);

    for (size_t i = 0; i < producers.count; i++) {
        uint32_t maker = compiled_maker(waste->compiled, producers.ids[i]);

        if (!waste_is(waste, maker, "broadcast") || compiled_operand(waste->compiled, maker, 0) < 2)
            return false;
    }
    return producers.count == 2 && waste_is(waste, op, "multiply");
}

/* Products with such a matrix, and its gradient, are as large as it. */
static void look_at_product(struct formula *formula, uint32_t dot)
{
    const struct compiled *compiled = formula->waste->compiled;

    for (uint32_t place = 0; place < 2 && waste_is(formula->waste, dot, "dot"); place++) {
        uint32_t operand = op_graph_operand(formula->waste->graph, dot, place);
        double   share;

        if (operand == NO_ID || !is_outer(formula, compiled_maker(compiled, operand)))
            continue;
        share = 1 - part_of(formula, formula->spread[0]) - part_of(formula, formula->spread[1]);
        if (share < LEAST_SPARED)
            continue;
        mark_passes(formula, formula->waste->profile->ops.items[dot].program, share);
        for (uint32_t op = 0; op < formula->waste->graph->vertex_count; op++)
            if (op == dot || (compiled_elements(compiled, op) == tensor_elements(formula->all) &&
                              (waste_is(formula->waste, op, "dot") || spreads_both(formula, op))))
                waste_mark(formula->waste, op, share);
    }
}

/* `look_at` marks what an op shows. */
static bool find(struct ledger *ledger, const struct detector *self, const char *detail,
                 void (*look_at)(struct formula *formula, uint32_t op))
{
    struct waste   waste;
    struct formula formula = { .waste = &waste };

    if (!waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    if (!axes_open(&formula.axes, &waste))
        return false;
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (waste_calls(&waste, op) > 0)
            look_at(&formula, op);
    return waste_claim(&waste, self, LEAST_SHARE, detail);
}

static bool find_sums(struct ledger *ledger, const struct detector *self)
{
    return find(ledger, self, "sums over an array of all pairs of rows", look_at_sum);
}

static bool find_matrix(struct ledger *ledger, const struct detector *self)
{
    return find(ledger, self, "a matrix of all products of two others", look_at_product);
}

const struct detector detector_outer_sums = { "outer-sums", CAUSE_BYTES, GRADE_STRUCTURE,
                                              find_sums };
const struct detector detector_outer_matrix = { "outer-matrix", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                find_matrix };
