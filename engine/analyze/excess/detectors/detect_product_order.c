/* product_order: a product makes a large array that is only multiplied on, into something small
 * again. (A B) C and A (B C) are the same; sizes tell which of the two takes less. Also where
 * something else is added in between, as the weight that an adapter of two thin matrices is for,
 * and where a product with a constant spreads rows, as resizing does, before another one works on
 * each of them. */
#include "analyze/excess/linear.h"
#include "base/macros.h"

#include <math.h>

static const double LEAST_SHARE = 0.02; /* of the steps */
static const double LEAST_GAIN = 2;     /* operations as it is over those the other way round */
static const double MOST_OFF = 0.01;    /* that sizes may differ by: none do but for rounding */

/* Axes of a product by their sizes: `batch` in all three arrays, `rows` of the left operand,
 * `columns` of the right one, `inner` summed over. They follow from the sizes of the arrays and the
 * operations. */
struct product {
    double left, right, result, pairs; /* elements; pairs multiplied */
    double batch, rows, columns, inner;
};

static bool read_product(const struct waste *waste, uint32_t op, struct product *product)
{
    const struct op *row = &waste->profile->ops.items[op];

    *product = (struct product) { .left = compiled_operand(waste->compiled, op, 0),
                                  .right = compiled_operand(waste->compiled, op, 1),
                                  .result = compiled_elements(waste->compiled, op),
                                  .pairs = (double)row->flops / 2 };
    if (row->input_count != 2 || product->left <= 0 || product->right <= 0 ||
        product->result <= 0 || product->pairs <= 0)
        return false;
    product->rows = product->pairs / product->right;
    product->columns = product->pairs / product->left;
    product->inner = product->pairs / product->result;
    product->batch = product->left / (product->rows * product->inner);
    return product->batch > 1 - MOST_OFF;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= MOST_OFF * b;
}

struct chain {
    struct waste       *waste;
    uint32_t            first;
    struct product      product; /* the first */
    struct linear_reach between; /* the first, then all that hands on or changes its result */
    uint32_t            ends[LINEAR_MOST];
    size_t              end_count;
    bool                has_sum;
    double              done, needed; /* pairs each run of the first */
};

/* One of its operands is made of constants alone. */
static bool has_constant(const struct waste *waste, uint32_t op)
{
    struct op_ids producers = op_graph_producers(waste->graph, op);
    bool          is_one = false;

    for (size_t i = 0; i < producers.count; i++)
        is_one |= !waste->compiled->from[producers.ids[i]];
    return is_one;
}

/* A constant spreads rows before a product works on each, or sums rows up behind one: it goes to
 * the side where there are fewer. */
static double pairs_beside(const struct chain *chain, uint32_t op, const struct product *end)
{
    const struct product *made = &chain->product;
    double                small = made->left < made->right ? made->right : made->left;
    bool                  is_spread = has_constant(chain->waste, chain->first);

    if (is_spread == has_constant(chain->waste, op) ||
        (is_spread ? made->result < LEAST_GAIN * small : made->result < LEAST_GAIN * end->result))
        return 0;
    return end->pairs * small / made->result + made->pairs * end->result / made->result;
}

/* Pairs of one run of an end, if its product came first; 0: it cannot. */
static double pairs_first(const struct chain *chain, uint32_t op, const struct product *end)
{
    const struct product *made = &chain->product;
    double                other_columns = end->pairs / made->result, width;
    bool                  is_left = is_near(end->left, made->result);

    width = is_left ? end->rows : end->columns;
    /* Which axis it sums over: one of the first product's columns or rows. */
    if (is_near(end->batch, made->batch) &&
        ((is_near(end->inner, made->columns) && is_near(width, made->rows)) ||
         (is_near(end->inner, made->rows) && is_near(width, made->columns))))
        return made->batch * made->inner * other_columns * (made->rows + made->columns);
    return pairs_beside(chain, op, end);
}

static bool add_end(struct chain *chain, uint32_t end)
{
    if (chain->end_count == LINEAR_MOST)
        return false;
    for (size_t i = 0; i < chain->end_count; i++)
        if (chain->ends[i] == end)
            return true;
    chain->ends[chain->end_count++] = end;
    return true;
}

/* All that takes the result, up to products; false: something else does. */
static bool follow(struct chain *chain)
{
    const struct waste *waste = chain->waste;

    chain->between.ops[0] = chain->first;
    chain->between.count = 1;
    for (size_t at = 0; at < chain->between.count; at++) {
        struct linear_reach takers = { .count = 0 };

        if (!linear_takers(waste, chain->between.ops[at], &takers))
            return false;
        for (size_t i = 0; i < takers.count; i++) {
            enum linear_role role = linear_role(waste, chain->between.ops[at], takers.ops[i]);
            bool             is_known = false;

            if (role == LINEAR_PRODUCT || role == LINEAR_REDUCED) {
                if (!add_end(chain, takers.ops[i]))
                    return false;
                continue;
            }
            if (role == LINEAR_NOT || role == LINEAR_CUT || chain->between.count == LINEAR_MOST)
                return false;
            chain->has_sum |= role == LINEAR_SUM;
            for (size_t k = 0; k < chain->between.count; k++)
                is_known |= chain->between.ops[k] == takers.ops[i];
            if (!is_known)
                chain->between.ops[chain->between.count++] = takers.ops[i];
        }
    }
    return chain->end_count > 0;
}

/* How often an end runs for each run of the first product: more than once only in a loop. */
static double times_of(const struct waste *waste, uint32_t end, uint32_t first)
{
    uint32_t timed = compiled_timed(waste->compiled, end);
    double   times = waste_calls(waste, end) / waste_calls(waste, first);

    return waste->profile->ops.items[timed].caller && times > 1 ? times : 1;
}

/* Sums over rows or columns cost next to nothing beside products. */
static bool weigh(struct chain *chain)
{
    const struct waste *waste = chain->waste;

    chain->done = chain->product.pairs;
    for (size_t i = 0; i < chain->end_count; i++) {
        double         times = times_of(waste, chain->ends[i], chain->first), needed;
        struct product end;

        if (!compiled_is_type(waste->compiled, chain->ends[i], "reduce")) {
            if (!read_product(waste, chain->ends[i], &end) ||
                !(is_near(end.left, chain->product.result) ||
                  is_near(end.right, chain->product.result)))
                return false;
            needed = pairs_first(chain, chain->ends[i], &end);
            if (needed <= 0)
                return false;
            chain->needed += times * needed;
            chain->done += chain->has_sum ? 0 : times * end.pairs;
        }
    }
    return chain->needed > 0 && chain->done >= LEAST_GAIN * chain->needed;
}

/* What is added stays, and is multiplied by itself: then the ends are needed as they are. */
static void mark(struct chain *chain)
{
    double share = 1 - chain->needed / chain->done;

    for (size_t i = 0; i < chain->between.count; i++)
        waste_mark(chain->waste, chain->between.ops[i], share);
    for (size_t i = 0; i < chain->end_count && !chain->has_sum; i++)
        waste_mark(chain->waste, chain->ends[i], share);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;

    if (!waste_open(&waste, ledger))
        return false;
    for (uint32_t op = 0; waste.graph && op < waste.graph->vertex_count; op++) {
        struct chain chain = { .waste = &waste, .first = op };

        if (compiled_is_type(&ledger->compiled, op, "dot|convolution") &&
            waste_calls(&waste, op) > 0 && read_product(&waste, op, &chain.product) &&
            follow(&chain) && weigh(&chain))
            mark(&chain);
    }
    return !waste.graph ||
           waste_claim(&waste, self, LEAST_SHARE,
                       "a large product is only multiplied on, into something small");
}

const struct detector detector_product_order = { "product-order", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                 find };
