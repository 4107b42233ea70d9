#include "analyze/excess/weight_trees.h"
#include "model/op_graph.h"

enum { FEWEST_LEAVES = 4 }; /* of a tree: fewer may be a batch with its labels */

static struct str origin_of(const struct weight_trees *trees, uint32_t op)
{
    return profile_str(trees->waste->profile, trees->waste->profile->ops.items[op].origin);
}

bool weight_trees_is_argument(const struct weight_trees *trees, uint32_t op)
{
    return !trees->waste->profile->ops.items[op].caller && waste_is(trees->waste, op, "parameter");
}

/* "params" of "params['dense']['kernel']" or "params.dense.kernel"; empty: it is of no tree, of
 * gradients, or of the tree that Equinox makes of all arguments. */
static struct str tree_name(const struct weight_trees *trees, uint32_t op)
{
    struct str origin = origin_of(trees, op);
    size_t     key = str_search(origin, STR("['")), field = str_find(origin, '.');
    struct str tree = str_slice(origin, 0, key < field ? key : field);

    return tree.len == origin.len || str_starts(tree, STR("dynamic_")) ||
                   str_contains(tree, STR("grad"))
               ? STR("")
               : tree;
}

static uint64_t tree_key(const struct weight_trees *trees, uint32_t op, uint32_t name)
{
    return (uint64_t)trees->waste->profile->ops.items[op].program << 32 | name;
}

static bool is_float(const struct weight_trees *trees, uint32_t op)
{
    const struct profile *profile = trees->waste->profile;
    const struct op      *row = &profile->ops.items[op];
    uint8_t dtype = row->output_count ? profile->tensors.items[row->first_output].dtype
                                      : (uint8_t)DTYPE_UNKNOWN;

    return dtype == DTYPE_F32 || dtype == DTYPE_BF16 || dtype == DTYPE_F16 || dtype == DTYPE_F64;
}

/* NO_ID: it is of no tree. */
static uint32_t tree_row(const struct weight_trees *trees, uint32_t op)
{
    uint32_t name = intern_find(&trees->names, tree_name(trees, op));

    return name == NO_ID || !intern_str(&trees->names, name).len
               ? NO_ID
               : id_map_get(&trees->tree_of, tree_key(trees, op, name));
}

static void find_gradients(struct weight_trees *trees)
{
    const struct profile *profile = trees->waste->profile;

    for (uint32_t op = 0; op < profile->graph->vertex_count; op++)
        if (str_contains(origin_of(trees, op), STR("transpose(jvp")))
            trees->has_gradients[profile->ops.items[op].program] = true;
}

bool weight_trees_open(struct weight_trees *trees, const struct waste *waste)
{
    struct arena *scratch = waste->ledger->scratch;

    *trees = (struct weight_trees) { .waste = waste, .tree_of.arena = scratch };
    trees->has_gradients = arena_new_array(scratch, bool, (size_t)waste->profile->names.count + 1);
    if (!trees->has_gradients || !intern_init(&trees->names, scratch))
        return false;
    find_gradients(trees);
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        bool       is_left_out = trees->has_gradients[waste->profile->ops.items[op].program];
        struct str text =
            is_left_out || !weight_trees_is_argument(trees, op) ? STR("") : tree_name(trees, op);
        uint32_t            name = text.len ? intern_add(&trees->names, text) : NO_ID, row;
        struct weight_tree *tree;

        if (!text.len)
            continue;
        row = name == NO_ID ? NO_ID : tree_row(trees, op);
        if (row == NO_ID) {
            row = (uint32_t)trees->trees.count;
            if (name == NO_ID || !vec_push(&trees->trees, scratch, (struct weight_tree) { 0 }) ||
                !id_map_put(&trees->tree_of, tree_key(trees, op, name), row))
                return false;
        }
        tree = &trees->trees.items[row];
        tree->leaves++;
        tree->is_other |= waste->compiled->from[op] != FROM_INPUT || !is_float(trees, op);
    }
    return true;
}

/* Enough arguments of its tree, all of floats that no call changes; integers may be weights of few
 * bits, which are meant to be made wider in each call. */
bool weight_trees_is_weight(const struct weight_trees *trees, uint32_t op)
{
    uint32_t row = tree_row(trees, op);

    return row != NO_ID && !trees->trees.items[row].is_other &&
           trees->trees.items[row].leaves >= FEWEST_LEAVES;
}

/* Of what an instruction is made, as far as it is known. */
static uint8_t of_what(const struct weight_trees *trees, const uint8_t *of, uint32_t op,
                       uint8_t others)
{
    struct op_ids producers = op_graph_producers(trees->waste->graph, op);
    uint32_t      root = trees->waste->compiled->root[op];
    uint8_t       of_all = of[op];

    if (weight_trees_is_argument(trees, op))
        return of_all;
    if (root != NO_ID)
        return of_all | of[root];
    for (size_t i = 0; i < producers.count; i++)
        of_all |= of[producers.ids[i]];
    return producers.count || waste_is(trees->waste, op, "constant|iota") ? of_all : others;
}

/* What an instruction holds stands before it, and takes what stands before it: in order of rows,
 * each fusion behind another one would take a round of its own. */
bool weight_trees_spread(const struct weight_trees *trees, uint8_t *of, uint8_t others)
{
    const struct op_graph *graph = trees->waste->graph;
    struct arena          *scratch = trees->waste->ledger->scratch;
    uint32_t               count = graph->vertex_count, at = 0, waiting = count;
    uint32_t              *queue = arena_new_array(scratch, uint32_t, (size_t)count + 1);
    bool                  *waits = arena_new_array(scratch, bool, (size_t)count + 1);

    if (!queue || !waits)
        return false;
    for (uint32_t op = 0; op < count; op++)
        queue[op] = op, waits[op] = true;
    for (; waiting; at = (at + 1) % count) {
        uint32_t      op = queue[at];
        uint8_t       now = of_what(trees, of, op, others);
        struct op_ids takers = op_graph_consumers(graph, op);
        bool          is_new = now != of[op];

        waiting--;
        waits[op] = false;
        of[op] = now;
        for (size_t i = 0; is_new && i < takers.count; i++) {
            uint32_t taker = takers.ids[i];

            if (waits[taker])
                continue;
            queue[(at + 1 + waiting++) % count] = taker;
            waits[taker] = true;
        }
    }
    return true;
}

bool weight_trees_is_layer(const struct weight_trees *trees, uint32_t op, const uint8_t *of,
                           uint8_t weights, uint8_t others)
{
    struct op_ids producers = op_graph_producers(trees->waste->graph, op);
    bool          has_weights = false, has_others = false;

    if (!waste_is(trees->waste, op, "dot|convolution"))
        return false;
    for (size_t i = 0; i < producers.count; i++) {
        has_weights |= of[producers.ids[i]] == weights;
        has_others |= (of[producers.ids[i]] & others) != 0;
    }
    return has_weights && has_others;
}
