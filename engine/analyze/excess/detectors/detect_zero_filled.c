/* zero_filled: products and convolutions with an array that a compiled program makes by writing
 * smaller ones among zeros: blocks on a diagonal, kernels whose taps are spread, rows that are
 * padded. What they multiply by those zeros is not needed, nor is the gradient of them. Places that
 * the data tells may be others next time: buffers of experts have to have room. */
#include "analyze/excess/waste.h"

#include <math.h>

static const double LEAST_SHARE = 0.05; /* of the steps */
static const double MOST_FILLED = 0.5;  /* fuller ones are how programs are written */
static const double SMALLER = 2;        /* time of the parts' own products: small ones are slower */
enum { MOST_LOOKS = 1024 };             /* at what makes one array: sums of sums grow without end */

static double filled_of(const struct waste *waste, uint32_t op, uint32_t *looks);

/* Of its operands, elements that are written. */
static double written_by(const struct waste *waste, uint32_t op, uint32_t place, uint32_t *looks)
{
    uint32_t operand = op_graph_operand(waste->graph, op, place);

    return operand == NO_ID
               ? compiled_operand(waste->compiled, op, place)
               : compiled_operand(waste->compiled, op, place) * filled_of(waste, operand, looks);
}

/* What is written into an array, and what that held. */
static double written_by_both(const struct waste *waste, uint32_t op, uint32_t place,
                              uint32_t *looks)
{
    double held = written_by(waste, op, 0, looks);

    return held + written_by(waste, op, place, looks);
}

/* Arrays beside each other or on top of each other: the rest is zero in all of them. */
static double written_by_all(const struct waste *waste, uint32_t op, uint32_t *looks)
{
    double written = 0;

    for (uint32_t place = 0; place < waste->profile->ops.items[op].input_count; place++)
        written += written_by(waste, op, place, looks);
    return written;
}

/* Elements of an array that are not known to be zero, over all. What is made of constants alone is
 * taken for zeros: a few of another number count as zeros, too. */
static double filled_of(const struct waste *waste, uint32_t op, uint32_t *looks)
{
    uint32_t maker = compiled_maker(waste->compiled, op);
    double   made = compiled_elements(waste->compiled, maker), written = made;

    if (made <= 0 || *looks == 0)
        return 1;
    --*looks;
    if (waste_is(waste, maker, "reverse"))
        written = written_by(waste, maker, 0, looks);
    else if (waste_is(waste, maker, "broadcast") && waste_is_constant(waste, maker))
        written = 0;
    else if (waste_is(waste, maker, "pad") &&
             waste_is_constant(waste, op_graph_operand(waste->graph, maker, 1)))
        written = written_by(waste, maker, 0, looks);
    else if (waste_is(waste, maker, "scatter") &&
             waste_is_constant(waste, op_graph_operand(waste->graph, maker, 1)))
        written = written_by_both(waste, maker, 2, looks);
    else if (waste_is(waste, maker, "dynamic-update-slice"))
        written = written_by_both(waste, maker, 1, looks);
    else if (waste_is(waste, maker, "concatenate|add"))
        written = written_by_all(waste, maker, looks);
    return fmin(written / made, 1);
}

/* The same sizes, in whatever order. */
static bool has_same_sizes(const struct tensor *a, const struct tensor *b)
{
    uint32_t seen = 0;

    for (int i = 0; i < a->rank; i++) {
        int j = 0;

        while (j < b->rank && (seen >> j & 1 || a->dims[i] != b->dims[j]))
            j++;
        if (j == b->rank)
            return false;
        seen |= 1U << j;
    }
    return a->rank == b->rank;
}

/* Gradients of the array have its axes, and the line of the product where they have one. */
static void mark_gradients(struct waste *waste, uint32_t product, uint32_t place, double share)
{
    const struct op     *ops = waste->profile->ops.items;
    const struct tensor *tensors = waste->profile->tensors.items;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (ops[op].program == ops[product].program && waste_is(waste, op, "dot|convolution") &&
            ops[op].output_count == 1 &&
            (ops[op].source == NO_ID || ops[op].source == ops[product].source) &&
            has_same_sizes(&tensors[ops[op].first_output],
                           &tensors[ops[product].first_input + place]))
            waste_mark(waste, op, share);
}

static void look_at(struct waste *waste, uint32_t product)
{
    for (uint32_t place = 0; place < 2; place++) {
        uint32_t operand = op_graph_operand(waste->graph, product, place);
        uint32_t looks = MOST_LOOKS;
        double   filled = operand == NO_ID ? 1 : filled_of(waste, operand, &looks);

        if (filled <= 0 || filled >= MOST_FILLED)
            continue;
        waste_mark(waste, product, 1 - filled * SMALLER);
        mark_gradients(waste, product, place, 1 - filled * SMALLER);
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;

    if (!waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (waste_is(&waste, op, "dot|convolution") && waste_calls(&waste, op) > 0)
            look_at(&waste, op);
    return waste_claim(&waste, self, LEAST_SHARE, "products with arrays that are mostly zeros");
}

const struct detector detector_zero_filled = { "zero-filled", CAUSE_SHAPE, GRADE_STRUCTURE, find };
