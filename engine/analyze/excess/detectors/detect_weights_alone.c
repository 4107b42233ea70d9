/* weights_alone: a program without gradients makes arrays of its weights and of constants alone, in
 * each call: a table of places that is resized, a table of items that is normalised, a product of
 * two weights. Weights are told by how JAX names arguments: several arrays of one tree, none of
 * which the program gives back, that multiply what comes of the other arguments. */
#include "analyze/excess/waste.h"

static const double LEAST_SHARE = 0.1; /* of the steps: less is how weights are put in order */
enum { FEWEST_LEAVES = 4 };            /* of a tree: fewer may be a batch with its labels */
enum { OF_WEIGHTS = 1, OF_OTHERS = 2 };

struct finder {
    struct waste *waste;
    uint8_t      *of;   /* by op: OF_…; 0: constants alone */
    bool         *made; /* by op: by more than another order or type of weights */
};

static struct str origin_of(const struct finder *finder, uint32_t op)
{
    return profile_str(finder->waste->profile, finder->waste->profile->ops.items[op].origin);
}

static bool is_argument(const struct finder *finder, uint32_t op)
{
    return !finder->waste->profile->ops.items[op].caller &&
           waste_is(finder->waste, op, "parameter");
}

/* "params" of "params['dense']['kernel']" or "params.dense.kernel"; empty: it is of no tree, of
 * gradients, or of the tree that Equinox makes of all arguments. */
static struct str tree_of(const struct finder *finder, uint32_t op)
{
    struct str origin = origin_of(finder, op);
    size_t     key = str_search(origin, STR("['")), field = str_find(origin, '.');
    struct str tree = str_slice(origin, 0, key < field ? key : field);

    return tree.len == origin.len || str_starts(tree, STR("dynamic_")) ||
                   str_contains(tree, STR("grad"))
               ? STR("")
               : tree;
}

static bool is_float(const struct finder *finder, uint32_t op)
{
    const struct profile *profile = finder->waste->profile;
    const struct op      *row = &profile->ops.items[op];
    uint8_t dtype = row->output_count ? profile->tensors.items[row->first_output].dtype
                                      : (uint8_t)DTYPE_UNKNOWN;

    return dtype == DTYPE_F32 || dtype == DTYPE_BF16 || dtype == DTYPE_F16 || dtype == DTYPE_F64;
}

/* Enough arguments of its tree, all of floats that no call changes; integers may be weights of few
 * bits, which are meant to be made wider in each call. */
static bool is_weight(const struct finder *finder, uint32_t op)
{
    const struct profile *profile = finder->waste->profile;
    struct str            tree = tree_of(finder, op);
    size_t                leaves = 0;

    if (!tree.len)
        return false;
    for (uint32_t other = 0; other < finder->waste->graph->vertex_count; other++) {
        if (profile->ops.items[other].program != profile->ops.items[op].program ||
            !is_argument(finder, other) || !str_equal(tree_of(finder, other), tree))
            continue;
        if (finder->waste->compiled->from[other] != FROM_INPUT || !is_float(finder, other))
            return false;
        leaves++;
    }
    return leaves >= FEWEST_LEAVES;
}

/* Of what an instruction is made. Of a loop it is not followed what a round before made. */
static uint8_t of_what(const struct finder *finder, uint32_t op)
{
    struct op_ids producers = op_graph_producers(finder->waste->graph, op);
    uint32_t      root = finder->waste->compiled->root[op];
    uint8_t       of = 0;

    if (is_argument(finder, op))
        return is_weight(finder, op) ? OF_WEIGHTS : OF_OTHERS;
    if (root != NO_ID)
        return finder->of[root];
    for (size_t i = 0; i < producers.count; i++)
        of |= finder->of[producers.ids[i]];
    return producers.count || waste_is(finder->waste, op, "constant|iota") ? of : OF_OTHERS;
}

/* false: it did not come to an end, and nothing is known. */
static bool spread(struct finder *finder)
{
    enum { MOST_ROUNDS = 24 };
    uint32_t count = finder->waste->graph->vertex_count;
    bool     has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < count; op++) {
            uint8_t of =
                finder->of[op] == (OF_WEIGHTS | OF_OTHERS) || (round && is_argument(finder, op))
                    ? finder->of[op]
                    : finder->of[op] | of_what(finder, op);

            has_changed |= of != finder->of[op];
            finder->of[op] = of;
        }
    }
    return !has_changed;
}

static bool is_product(const struct finder *finder, uint32_t op)
{
    return waste_is(finder->waste, op, "dot|convolution");
}

/* A product of weights and of what comes of the other arguments. */
static bool is_layer(const struct finder *finder, uint32_t op)
{
    struct op_ids producers = op_graph_producers(finder->waste->graph, op);
    bool          has_weights = false, has_others = false;

    if (!is_product(finder, op))
        return false;
    for (size_t i = 0; i < producers.count; i++) {
        has_weights |= finder->of[producers.ids[i]] == OF_WEIGHTS;
        has_others |= (finder->of[producers.ids[i]] & OF_OTHERS) != 0;
    }
    return has_weights && has_others;
}

/* Layers, and no gradients: what the weights are does not change from call to call. */
static bool infers(const struct finder *finder, uint32_t program)
{
    const struct profile *profile = finder->waste->profile;
    bool                  has_layer = false;

    for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++) {
        if (profile->ops.items[op].program != program)
            continue;
        if (str_contains(origin_of(finder, op), STR("transpose(jvp")))
            return false;
        has_layer |= is_layer(finder, op);
    }
    return has_layer;
}

/* What puts weights in another order or type is how the compiler wants them; it goes with what is
 * made of them. */
static void find_made(struct finder *finder)
{
    enum { FARTHEST = 24 };
    bool has_changed = true;

    for (int round = 0; has_changed && round < FARTHEST; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++) {
            struct op_ids producers = op_graph_producers(finder->waste->graph, op);
            bool          made =
                is_product(finder, op) ||
                waste_is(finder->waste, op, "reduce|sqrt|rsqrt|exponential|tanh|sort|gather");

            if (finder->of[op] != OF_WEIGHTS || finder->made[op])
                continue;
            for (size_t i = 0; !made && i < producers.count; i++)
                made = finder->made[producers.ids[i]];
            finder->made[op] = made;
            has_changed |= made;
        }
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste  waste;
    struct finder finder = { .waste = &waste };
    uint32_t      program = NO_ID;
    bool          is_inference = false;
    size_t        count = ledger->study->profile->ops.count + 1;

    finder.of = arena_new_array(ledger->scratch, uint8_t, count);
    finder.made = arena_new_array(ledger->scratch, bool, count);
    if (!finder.of || !finder.made || !waste_open(&waste, ledger))
        return false;
    if (!waste.graph || !spread(&finder))
        return true;
    find_made(&finder);
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++) {
        if (!finder.made[op] || !compiled_works(waste.compiled, op))
            continue;
        if (waste.profile->ops.items[op].program != program) {
            program = waste.profile->ops.items[op].program;
            is_inference = infers(&finder, program);
        }
        if (is_inference)
            waste_mark(&waste, op, 1);
    }
    return waste_claim(&waste, self, LEAST_SHARE, "made of weights and constants alone");
}

const struct detector detector_weights_alone = { "weights-alone", CAUSE_REPEAT, GRADE_SIZES, find };
