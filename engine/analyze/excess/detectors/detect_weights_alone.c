/* weights_alone: a program without gradients makes arrays of its weights and of constants alone, in
 * each call: a table of places that is resized, a table of items that is normalised, a product of
 * two weights. Weights are told by how JAX names arguments: several arrays of one tree, none of
 * which the program gives back, that multiply what comes of the other arguments. */
#include "analyze/excess/waste.h"

static const double LEAST_SHARE = 0.1; /* of the steps: less is how weights are put in order */
enum { FEWEST_LEAVES = 4 };            /* of a tree: fewer may be a batch with its labels */
enum { OF_WEIGHTS = 1, OF_OTHERS = 2 };
enum { HAS_LAYER = 1, HAS_GRADIENTS = 2 };

struct tree { /* arguments of a program whose names begin alike */
    uint32_t leaves;
    bool     is_other; /* one of them is given back, or is no float */
};
struct finder {
    struct waste *waste;
    struct intern names;   /* of trees */
    struct id_map tree_of; /* by program and name: row of trees */
    VEC(struct tree) trees;
    uint8_t *of;   /* by op: OF_…; 0: constants alone */
    bool    *made; /* by op: by more than another order or type of weights */
    uint8_t *has;  /* by program, a name of the profile: HAS_… */
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
static struct str tree_name(const struct finder *finder, uint32_t op)
{
    struct str origin = origin_of(finder, op);
    size_t     key = str_search(origin, STR("['")), field = str_find(origin, '.');
    struct str tree = str_slice(origin, 0, key < field ? key : field);

    return tree.len == origin.len || str_starts(tree, STR("dynamic_")) ||
                   str_contains(tree, STR("grad"))
               ? STR("")
               : tree;
}

static uint64_t tree_key(const struct finder *finder, uint32_t op, uint32_t name)
{
    return (uint64_t)finder->waste->profile->ops.items[op].program << 32 | name;
}

static bool is_float(const struct finder *finder, uint32_t op)
{
    const struct profile *profile = finder->waste->profile;
    const struct op      *row = &profile->ops.items[op];
    uint8_t dtype = row->output_count ? profile->tensors.items[row->first_output].dtype
                                      : (uint8_t)DTYPE_UNKNOWN;

    return dtype == DTYPE_F32 || dtype == DTYPE_BF16 || dtype == DTYPE_F16 || dtype == DTYPE_F64;
}

/* NO_ID: it is of no tree. */
static uint32_t tree_row(const struct finder *finder, uint32_t op)
{
    uint32_t name = intern_find(&finder->names, tree_name(finder, op));

    return name == NO_ID || !intern_str(&finder->names, name).len
               ? NO_ID
               : id_map_get(&finder->tree_of, tree_key(finder, op, name));
}

static void find_gradients(struct finder *finder)
{
    for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++)
        if (str_contains(origin_of(finder, op), STR("transpose(jvp")))
            finder->has[finder->waste->profile->ops.items[op].program] |= HAS_GRADIENTS;
}

/* Of programs without gradients. */
static bool list_trees(struct finder *finder)
{
    struct arena *scratch = finder->waste->ledger->scratch;

    for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++) {
        bool       is_left_out = finder->has[finder->waste->profile->ops.items[op].program] != 0;
        struct str text = is_left_out || !is_argument(finder, op) ? STR("") : tree_name(finder, op);
        uint32_t   name = text.len ? intern_add(&finder->names, text) : NO_ID, row;
        struct tree *tree;

        if (!text.len)
            continue;
        row = name == NO_ID ? NO_ID : tree_row(finder, op);
        if (row == NO_ID) {
            row = (uint32_t)finder->trees.count;
            if (name == NO_ID || !vec_push(&finder->trees, scratch, (struct tree) { 0 }) ||
                !id_map_put(&finder->tree_of, tree_key(finder, op, name), row))
                return false;
        }
        tree = &finder->trees.items[row];
        tree->leaves++;
        tree->is_other |= finder->waste->compiled->from[op] != FROM_INPUT || !is_float(finder, op);
    }
    return true;
}

/* Enough arguments of its tree, all of floats that no call changes; integers may be weights of few
 * bits, which are meant to be made wider in each call. */
static bool is_weight(const struct finder *finder, uint32_t op)
{
    uint32_t row = tree_row(finder, op);

    return row != NO_ID && !finder->trees.items[row].is_other &&
           finder->trees.items[row].leaves >= FEWEST_LEAVES;
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

static void find_layers(struct finder *finder)
{
    for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++)
        if (is_layer(finder, op))
            finder->has[finder->waste->profile->ops.items[op].program] |= HAS_LAYER;
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

/* Layers, and no gradients: what the weights are does not change from call to call. */
static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct waste          waste;
    struct finder         finder = { .waste = &waste, .tree_of.arena = ledger->scratch };

    finder.of = arena_new_array(ledger->scratch, uint8_t, profile->ops.count + 1);
    finder.made = arena_new_array(ledger->scratch, bool, profile->ops.count + 1);
    finder.has = arena_new_array(ledger->scratch, uint8_t, (size_t)profile->names.count + 1);
    if (!finder.of || !finder.made || !finder.has || !intern_init(&finder.names, ledger->scratch) ||
        !waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    find_gradients(&finder);
    if (!list_trees(&finder))
        return false;
    if (!finder.trees.count || !spread(&finder))
        return true;
    find_layers(&finder);
    find_made(&finder);
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (finder.made[op] && finder.has[profile->ops.items[op].program] == HAS_LAYER &&
            compiled_works(waste.compiled, op))
            waste_mark(&waste, op, 1);
    return waste_claim(&waste, self, LEAST_SHARE, "made of weights and constants alone");
}

const struct detector detector_weights_alone = { "weights-alone", CAUSE_REPEAT, GRADE_SIZES, find };
