/* redrawn_rounds: each round of a loop runs another loop that draws random numbers from the same
 * key as the round before, as down a tree of halves to the one that is asked for: what it draws on
 * the way it has drawn before. One draw a round, of a key of its own, would do. */
#include "analyze/excess/loops.h"
#include "model/names.h"

static const double LEAST_SHARE = 0.05; /* of the steps */
static const double FEWEST_ROUNDS = 3;  /* of the inner loop */
static const double FEWEST_OUTER = 2;
enum { DEEPEST = 256 /* along what makes a key */, UNKNOWN = 0, FIXED, VARIES };

struct finder {
    uint8_t *is_fixed; /* by op, for the loop that is looked at: UNKNOWN, FIXED or VARIES */
    size_t   count;
};

static bool is_random(const struct waste *waste, uint32_t op)
{
    return name_is(profile_str(waste->profile, waste->profile->ops.items[op].origin),
                   NAMES_JAX_RANDOM);
}

static bool is_in(const struct waste *waste, uint32_t op, uint32_t holder)
{
    uint32_t caller;

    for (caller = waste->profile->ops.items[op].caller; caller && caller != holder + 1;)
        caller = waste->profile->ops.items[caller - 1].caller;
    return caller != 0;
}

/* The nearest loop around an op. */
static uint32_t loop_around(const struct waste *waste, uint32_t op)
{
    uint32_t caller = waste->profile->ops.items[op].caller;

    while (caller && !waste_is(waste, caller - 1, "while"))
        caller = waste->profile->ops.items[caller - 1].caller;
    return caller ? caller - 1 : NO_ID;
}

/* How often what is held by `holder` (counted from 1) itself runs. */
static double runs_of(const struct waste *waste, uint32_t holder)
{
    double most = 0;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (waste->profile->ops.items[op].caller == holder && waste->calls[op] > most &&
            !waste_is(waste, op, "while|conditional|call"))
            most = waste->calls[op];
    return most;
}

/* What a side of a condition is given: its parameter is the first, the second ... of those. */
static uint32_t given_to_side(const struct waste *waste, uint32_t parameter)
{
    uint32_t caller = waste->profile->ops.items[parameter].caller, place = 1;

    if (!caller || !waste_is(waste, caller - 1, "conditional"))
        return NO_ID;
    for (uint32_t op = 0; op < parameter; op++)
        place += waste->profile->ops.items[op].caller == caller && waste_is(waste, op, "parameter");
    return op_graph_operand(waste->graph, caller - 1, place);
}

static bool is_fixed(struct loops *loops, struct finder *finder, uint32_t op, int depth);

/* An element of what goes from round to round, or of what a side of a condition is given. */
static bool is_fixed_element(struct loops *loops, struct finder *finder, uint32_t op, int depth)
{
    const struct waste *waste = &loops->waste;
    uint32_t            tuple = op_graph_operand(waste->graph, op, 0);
    uint32_t            element = axes_element(&loops->axes, op), given;

    if (tuple == NO_ID)
        return false;
    if (tuple == loops->loop.parameter)
        return loop_carries(&loops->loop, &loops->axes, element) == CARRIED_SAME;
    given = waste_is(waste, tuple, "parameter") ? given_to_side(waste, tuple) : tuple;
    if (given != NO_ID && waste_is(waste, given, "tuple"))
        given = op_graph_operand(waste->graph, given, element);
    return given != NO_ID && is_fixed(loops, finder, given, depth + 1);
}

static bool find_fixed(struct loops *loops, struct finder *finder, uint32_t op, int depth)
{
    const struct waste *waste = &loops->waste;
    struct op_ids       producers = op_graph_producers(waste->graph, op);

    if (waste_is(waste, op, "constant|iota"))
        return true;
    if (waste_is(waste, op, "get-tuple-element"))
        return is_fixed_element(loops, finder, op, depth);
    if (!producers.count || depth == DEEPEST || waste_is(waste, op, "rng*|custom-call|infeed|recv"))
        return false;
    for (size_t i = 0; i < producers.count; i++)
        if (!is_fixed(loops, finder, producers.ids[i], depth + 1))
            return false;
    return true;
}

/* Whether a result is the same in all rounds of the loop that is looked at. What another loop gives
 * is, where all that goes into it is. */
static bool is_fixed(struct loops *loops, struct finder *finder, uint32_t op, int depth)
{
    if (finder->is_fixed[op] == UNKNOWN)
        finder->is_fixed[op] = find_fixed(loops, finder, op, depth) ? FIXED : VARIES;
    return finder->is_fixed[op] == FIXED;
}

/* Keys are unsigned numbers: all that the rounds of `inner` change begin the same each time. */
static bool begins_the_same(struct loops *loops, struct finder *finder, const struct loop *inner)
{
    const struct profile *profile = loops->waste.profile;
    const struct op      *row = &profile->ops.items[inner->op];
    uint32_t              given = op_graph_operand(loops->waste.graph, inner->op, 0);
    bool                  has_key = false;

    if (given == NO_ID || !waste_is(&loops->waste, given, "tuple"))
        return false;
    for (uint32_t element = 0; element < inner->elements; element++) {
        const struct tensor *tensor = &profile->tensors.items[row->first_output + element];
        uint32_t             key = op_graph_operand(loops->waste.graph, given, element);

        if (tensor->dtype != DTYPE_U32 || tensor->rank < 1 ||
            loop_carries(inner, &loops->axes, element) == CARRIED_SAME)
            continue;
        if (key == NO_ID || !is_fixed(loops, finder, key, 0))
            return false;
        has_key = true;
    }
    return has_key;
}

static bool draws(const struct waste *waste, uint32_t inner)
{
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (waste->calls[op] > 0 && is_random(waste, op) && is_in(waste, op, inner))
            return true;
    return false;
}

static void look_at_inner(struct loops *loops, struct finder *finder, const struct loop *inner)
{
    struct waste *waste = &loops->waste;
    double        runs = runs_of(waste, waste->profile->ops.items[inner->op].caller);
    double        rounds = runs > 0 ? runs_of(waste, inner->op + 1) / runs : 0;

    if (rounds < FEWEST_ROUNDS || runs < FEWEST_OUTER * (double)waste->ledger->step_count ||
        !draws(waste, inner->op) || !begins_the_same(loops, finder, inner))
        return;
    waste_mark(waste, inner->op, 1 - 1 / rounds);
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (is_in(waste, op, inner->op))
            waste_mark(waste, op, 1 - 1 / rounds);
}

static void look(struct loops *loops, void *context)
{
    struct finder *finder = context;
    struct waste  *waste = &loops->waste;

    for (size_t op = 0; op < finder->count; op++)
        finder->is_fixed[op] = UNKNOWN;
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        struct loop inner;

        if (waste_is(waste, op, "while") && !is_random(waste, op) &&
            loop_around(waste, op) == loops->loop.op && loop_open(&inner, &loops->axes, op))
            look_at_inner(loops, finder, &inner);
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .count = ledger->study->profile->ops.count };

    if (!ledger_is_jax(ledger))
        return true;
    finder.is_fixed = arena_new_array(ledger->scratch, uint8_t, finder.count + 1);
    return finder.is_fixed &&
           loops_claim(ledger, self, LEAST_SHARE, "each round draws again from the same key", look,
                       &finder);
}

const struct detector detector_redrawn_rounds = { "redrawn-rounds", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                  find };
