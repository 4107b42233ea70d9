/* summed_rounds: each round of a loop adds a result to what it carries, and the last thing that is
 * done to that result is linear, by what no round changes: a solve with the same matrix, a product
 * with the same weights. The sum over all rounds takes it once, behind the loop. XLA moves out what
 * is the same in all rounds; of the way back through it each round's gradient goes alone. */
#include "analyze/excess/loops.h"

#include <string.h>

static const double LEAST_SHARE = 0.05; /* of the steps */
static const double FEWEST_ROUNDS = 8;  /* a step */

#define PRODUCTS "dot|convolution"

enum mark { MARK_NONE, MARK_LINEAR, MARK_SUM };
struct finder {
    struct loops *loops;
    uint8_t      *marks; /* by op: enum mark; none where no sum is looked at */
    bool          is_out_of_memory;
};

static bool is_same(const struct finder *finder, uint32_t op)
{
    const struct loops *loops = finder->loops;

    for (uint32_t element = 0; op != NO_ID && element < loops->loop.elements; element++)
        if (loop_is_carried(&loops->loop, &loops->axes, op, element))
            return loop_carries(&loops->loop, &loops->axes, element) == CARRIED_SAME;
    return op != NO_ID &&
           waste_is(&loops->waste, compiled_maker(loops->waste.compiled, op), "constant");
}

static bool is_solve(const struct finder *finder, uint32_t op)
{
    const struct profile *profile = finder->loops->waste.profile;
    struct str            origin = profile_str(profile, profile->ops.items[op].origin);

    return waste_is(&finder->loops->waste, op, "triangular-solve") ||
           (waste_is(&finder->loops->waste, op, "custom-call") &&
            str_ends(origin, STR("/triangular_solve")));
}

/* The operand that an instruction is linear in, where its other one is the same in all rounds;
 * NO_ID: there is none. */
static uint32_t linear_operand(const struct finder *finder, uint32_t op)
{
    const struct waste *waste = &finder->loops->waste;
    uint32_t            left = op_graph_operand(waste->graph, op, 0),
             right = op_graph_operand(waste->graph, op, 1);

    if (waste_is(waste, op, "bitcast|copy|transpose|reshape|negate|broadcast|parameter"))
        return left;
    if (waste_is(waste, op, "gather"))
        return is_same(finder, right) ? left : NO_ID;
    if (is_solve(finder, op))
        return is_same(finder, left) ? right : NO_ID;
    if (!waste_is(waste, op, PRODUCTS "|multiply"))
        return NO_ID;
    return is_same(finder, left) ? right : is_same(finder, right) ? left : NO_ID;
}

/* Marks what an addend is made by, as far as that is linear. */
static void mark_linear(struct finder *finder, uint32_t op, int depth)
{
    enum { DEEPEST = 64 };
    const struct waste *waste = &finder->loops->waste;
    uint32_t            root, from;

    if (op == NO_ID || depth == DEEPEST || finder->marks[op] != MARK_NONE)
        return;
    if (!loop_holds(&finder->loops->loop, waste, op))
        return;
    root = compiled_holds(waste->compiled, op) ? waste->compiled->root[op] : NO_ID;
    if (root != NO_ID) {
        finder->marks[op] = MARK_LINEAR;
        mark_linear(finder, root, depth + 1);
        return;
    }
    if (waste_is(waste, op, "add|subtract")) {
        finder->marks[op] = MARK_LINEAR;
        mark_linear(finder, op_graph_operand(waste->graph, op, 0), depth + 1);
        mark_linear(finder, op_graph_operand(waste->graph, op, 1), depth + 1);
        return;
    }
    from = linear_operand(finder, op);
    if (from == NO_ID)
        return;
    finder->marks[op] = MARK_LINEAR;
    mark_linear(finder, from, depth + 1);
}

/* Whether `op` is a sum of others, which are then looked at, and of the carried element, which
 * nothing but `sum`, that takes `op`, reads. */
static bool is_sum(struct finder *finder, uint32_t op, uint32_t sum, uint32_t element, int depth)
{
    enum { DEEPEST = 8 };
    const struct loops *loops = finder->loops;
    uint32_t            maker = op == NO_ID ? NO_ID : compiled_maker(loops->waste.compiled, op);

    if (maker == NO_ID || depth == DEEPEST)
        return false;
    if (loop_is_carried(&loops->loop, &loops->axes, maker, element))
        return sum != NO_ID && loop_is_private(&loops->loop, &loops->axes, element, sum);
    if (!waste_is(&loops->waste, maker, "add"))
        return false;
    for (uint32_t place = 0; place < 2; place++)
        if (is_sum(finder, op_graph_operand(loops->waste.graph, maker, place), maker, element,
                   depth + 1)) {
            finder->marks[maker] = MARK_SUM;
            mark_linear(finder, op_graph_operand(loops->waste.graph, maker, 1 - place), 0);
            return true;
        }
    return false;
}

/* What takes it only holds others that do, or is linear, or the sum. */
static bool is_for_sums(const struct finder *finder, uint32_t op)
{
    const struct compiled *compiled = finder->loops->waste.compiled;
    struct op_ids          takers = op_graph_consumers(finder->loops->waste.graph, op);

    for (size_t i = 0; i < takers.count; i++) {
        uint32_t taker = takers.ids[i];

        if (compiled_holds(compiled, taker) && compiled->root[taker] != op)
            continue; /* its contents take it */
        if (finder->marks[taker] == MARK_NONE)
            return false;
    }
    return true;
}

/* What something else in the round takes is needed there. */
static void unmark_needed(struct finder *finder)
{
    bool has_changed = true;

    while (has_changed) {
        has_changed = false;
        for (uint32_t op = finder->loops->waste.graph->vertex_count; op-- > 0;)
            if (finder->marks[op] == MARK_LINEAR && !is_for_sums(finder, op)) {
                finder->marks[op] = MARK_NONE;
                has_changed = true;
            }
    }
}

/* Other orders of axes and the like alone are how a compiler lays out what it adds up. */
static bool has_product(const struct finder *finder)
{
    for (uint32_t op = 0; op < finder->loops->waste.graph->vertex_count; op++)
        if (finder->marks[op] == MARK_LINEAR &&
            (waste_is(&finder->loops->waste, op, PRODUCTS) || is_solve(finder, op)))
            return true;
    return false;
}

static void look(struct loops *loops, void *context)
{
    struct finder *finder = context;
    struct waste  *waste = &loops->waste;
    double         rounds = loops_rounds(loops);
    uint32_t       count = waste->graph->vertex_count;

    if (!finder->marks)
        finder->marks = arena_new_array(waste->ledger->scratch, uint8_t, count + 1);
    finder->is_out_of_memory = !finder->marks;
    if (!finder->marks || rounds < FEWEST_ROUNDS)
        return;
    finder->loops = loops;
    for (uint32_t element = 0; element < loops->loop.elements; element++) {
        bool is_found;

        if (!is_sum(finder, op_graph_operand(waste->graph, loops->loop.root, element), NO_ID,
                    element, 0))
            continue; /* and has marked nothing */
        unmark_needed(finder);
        is_found = has_product(finder);
        for (uint32_t op = 0; op < count; op++)
            if (is_found && finder->marks[op] == MARK_LINEAR)
                waste_mark(waste, op, 1 - 1 / rounds);
        memset(finder->marks, MARK_NONE, count);
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { 0 };

    return loops_claim(ledger, self, LEAST_SHARE,
                       "rounds add up what is linear in what each of them makes", look, &finder) &&
           !finder.is_out_of_memory;
}

const struct detector detector_summed_rounds = { "summed-rounds", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                 find };
