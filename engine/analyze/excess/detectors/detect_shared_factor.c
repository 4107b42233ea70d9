/* shared_factor: in each round of a loop several products of one size take the same array, as the
 * gates of a recurrent cell do, and wait for nothing of each other. Their other operands side by
 * side make them one product. What they compute stays; what starting all but one takes goes. */
#include "analyze/excess/loops.h"

#include <math.h>

static const double LEAST_SHARE = 0.03; /* of the steps */
enum { FEWEST = 3 };                    /* products that take the same array */

struct finder {
    uint32_t *products;
    uint32_t *level; /* by op: products on the longest way to it, itself included */
    bool      has_levels;
};

static bool is_product(const struct waste *waste, uint32_t op)
{
    return waste_is(waste, op, "dot");
}

/* Until nothing changes: what a fusion gives is on the level of what it holds. */
static void find_levels(struct finder *finder, const struct waste *waste)
{
    enum { MOST_ROUNDS = 64 };
    bool has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
            struct op_ids from = op_graph_producers(waste->graph, op);
            uint32_t      root = waste->compiled->root[op], level = 0;

            for (size_t i = 0; i < from.count; i++)
                level = finder->level[from.ids[i]] > level ? finder->level[from.ids[i]] : level;
            level += is_product(waste, op);
            if (root != NO_ID && compiled_holds(waste->compiled, op) && finder->level[root] > level)
                level = finder->level[root];
            has_changed |= level != finder->level[op];
            finder->level[op] = level;
        }
    }
    finder->has_levels = true;
}

/* What makes an operand, wherever it is handed on from. */
static uint32_t factor_of(const struct waste *waste, uint32_t op, uint32_t place)
{
    uint32_t operand = op_graph_operand(waste->graph, op, place);

    return operand == NO_ID ? NO_ID : compiled_maker(waste->compiled, operand);
}

static bool go_together(const struct finder *finder, const struct waste *waste, uint32_t a,
                        uint32_t b, uint32_t place)
{
    const struct compiled *compiled = waste->compiled;

    return finder->level[a] == finder->level[b] &&
           compiled_elements(compiled, a) == compiled_elements(compiled, b) &&
           compiled_operand(compiled, a, 1 - place) == compiled_operand(compiled, b, 1 - place) &&
           factor_of(waste, a, place) == factor_of(waste, b, place);
}

/* Of a product's time, what starting it takes. */
static double start_share(const struct waste *waste, uint32_t op)
{
    uint32_t timed = compiled_timed(waste->compiled, op);
    double   mean_ns = waste->calls[timed] > 0 ? waste->ns[timed] / waste->calls[timed] : 0;

    return mean_ns > 0 ? fmin(waste->ledger->start_ns / mean_ns, 1) : 0;
}

/* Rows of the products of the loop's own rounds. */
static size_t collect(const struct finder *finder, const struct loops *loops)
{
    size_t count = 0;

    for (uint32_t op = 0; op < loops->waste.graph->vertex_count; op++)
        if (is_product(&loops->waste, op) && loop_holds(&loops->loop, &loops->waste, op))
            finder->products[count++] = op;
    return count;
}

static void look(struct loops *loops, void *context)
{
    struct finder *finder = context;
    struct waste  *waste = &loops->waste;
    size_t         count = collect(finder, loops);

    if (count >= FEWEST && !finder->has_levels)
        find_levels(finder, waste);
    for (size_t i = 0; i < count; i++)
        for (uint32_t place = 0; place < 2; place++) {
            uint32_t op = finder->products[i];
            double   alike = 0;

            for (size_t k = 0; k < count && factor_of(waste, op, place) != NO_ID; k++)
                alike += go_together(finder, waste, op, finder->products[k], place);
            if (alike >= FEWEST)
                waste_mark(waste, op, start_share(waste, op) * (1 - 1 / alike));
        }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { 0 };
    size_t        count = ledger->study->profile->ops.count;

    finder.products = arena_new_array(ledger->scratch, uint32_t, count + 1);
    finder.level = arena_new_array(ledger->scratch, uint32_t, count + 1);
    return finder.products && finder.level &&
           loops_claim(ledger, self, LEAST_SHARE, "products of a round that take the same array",
                       look, &finder);
}

const struct detector detector_shared_factor = { "shared-factor", CAUSE_DISPATCH, GRADE_STRUCTURE,
                                                 find };
