/* gathered_matrix: a matrix that is multiplied is made of copies of a few numbers, which the
 * program counts itself: of a filter, one for each row (Toeplitz), or for each of its places. A
 * convolution, or a product of Fourier transforms, takes the few as they are. On the way back the
 * gradients of all copies are made and added up. */
#include "analyze/excess/linear.h"

static const double LEAST_SHARE = 0.05; /* of the steps */
static const double LEAST_COPIES = 32;  /* of each number: windows of pictures have fewer */
static const double NEEDED = 3;         /* passes over the numbers */

struct finder {
    struct waste *waste;
    VEC(uint32_t) copies; /* instructions on all copies */
};

static bool is_counted(const struct finder *finder, uint32_t op)
{
    return op != NO_ID && !finder->waste->compiled->from[op];
}

/* Gives `op` on as it is, in another order or under a mask that is the same in all steps. */
static bool gives_on(const struct finder *finder, uint32_t taker, uint32_t op)
{
    struct op_ids makers = op_graph_producers(finder->waste->graph, taker);

    if (compiled_hands_on(finder->waste->compiled, taker))
        return true;
    for (size_t i = 0; i < makers.count; i++)
        if (makers.ids[i] != op && !is_counted(finder, makers.ids[i]))
            return false;
    return waste_is(finder->waste, taker, "select|multiply|negate");
}

/* All that takes the copies multiplies by them, as a matrix. */
static bool end_in_products(struct finder *finder, uint32_t op, int depth)
{
    enum { DEEPEST = 24 };
    struct waste *waste = finder->waste;
    struct op_ids takers = op_graph_consumers(waste->graph, op);

    if (depth == DEEPEST || !takers.count || !vec_push(&finder->copies, waste->ledger->scratch, op))
        return false;
    for (size_t i = 0; i < takers.count; i++) {
        uint32_t taker = takers.ids[i];
        bool     is_inside = compiled_holds(waste->compiled, taker);

        if ((is_inside && waste->compiled->root[taker] != op) || waste_is(waste, taker, "dot"))
            continue; /* its contents take them, or it multiplies */
        if ((!is_inside && !gives_on(finder, taker, op)) ||
            !end_in_products(finder, taker, depth + 1))
            return false;
    }
    return true;
}

/* What is added up to the gradient of the numbers is a product, as it is. */
static bool begins_in_product(struct finder *finder, uint32_t op)
{
    enum { FARTHEST = 24 };
    struct waste *waste = finder->waste;

    for (int i = 0; i < FARTHEST && op != NO_ID && !waste_is(waste, op, "dot"); i++) {
        struct op_ids makers = op_graph_producers(waste->graph, op);
        uint32_t      root = waste->compiled->root[op], from = NO_ID;

        for (size_t m = 0; root == NO_ID && m < makers.count; m++)
            from = is_counted(finder, makers.ids[m]) ? from : makers.ids[m];
        if ((root == NO_ID && (from == NO_ID || !gives_on(finder, op, from))) ||
            !vec_push(&finder->copies, waste->ledger->scratch, op))
            return false;
        op = root == NO_ID ? from : root;
    }
    return op != NO_ID && waste_is(waste, op, "dot");
}

/* How many copies of each number the instruction makes, or adds up; 0: it does neither. */
static double count_copies(struct finder *finder, uint32_t op)
{
    const struct compiled *compiled = finder->waste->compiled;
    bool                   adds = waste_is(finder->waste, op, "scatter");
    double few = adds ? compiled_elements(compiled, op) : compiled_operand(compiled, op, 0);
    double many = adds ? compiled_operand(compiled, op, 2) : compiled_elements(compiled, op);

    if ((!adds && !waste_is(finder->waste, op, "gather")) || few <= 0 ||
        !is_counted(finder, op_graph_operand(finder->waste->graph, op, 1)))
        return 0;
    finder->copies.count = 0;
    if (many / few < LEAST_COPIES)
        return 0;
    if (!adds)
        return end_in_products(finder, op, 0) ? many / few : 0;
    return begins_in_product(finder, op_graph_operand(finder->waste->graph, op, 2)) &&
                   vec_push(&finder->copies, finder->waste->ledger->scratch, op)
               ? many / few
               : 0;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste  waste;
    struct finder finder = { .waste = &waste };

    if (!waste_open(&waste, ledger))
        return false;
    for (uint32_t op = 0; waste.graph && op < waste.graph->vertex_count; op++) {
        double copies = count_copies(&finder, op);

        for (size_t i = 0; copies > 0 && i < finder.copies.count; i++)
            waste_mark(&waste, finder.copies.items[i], 1 - NEEDED / copies);
    }
    return !waste.graph || waste_claim(&waste, self, LEAST_SHARE,
                                       "a matrix of copies of a few numbers, in a counted order");
}

const struct detector detector_gathered_matrix = { "gathered-matrix", CAUSE_BYTES, GRADE_STRUCTURE,
                                                   find };
