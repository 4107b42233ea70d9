/* weights_alone: a program without gradients makes arrays of its weights and of constants alone, in
 * each call: a table of places that is resized, a table of items that is normalised, a product of
 * two weights. The weights multiply what comes of the other arguments. */
#include "analyze/excess/weight_trees.h"

static const double LEAST_SHARE = 0.1; /* of the steps: less is how weights are put in order */
enum { OF_WEIGHTS = 1, OF_OTHERS = 2 };

struct finder {
    struct waste       *waste;
    struct weight_trees trees;
    uint8_t            *of;        /* by op: OF_…; 0: constants alone */
    bool               *made;      /* by op: by more than another order or type of weights */
    bool               *has_layer; /* by program, a name of the profile */
};

/* false: out of memory. */
static bool find_makers(struct finder *finder)
{
    for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++)
        if (weight_trees_is_argument(&finder->trees, op))
            finder->of[op] = weight_trees_is_weight(&finder->trees, op) ? OF_WEIGHTS : OF_OTHERS;
    return weight_trees_spread(&finder->trees, finder->of, OF_OTHERS);
}

static bool is_product(const struct finder *finder, uint32_t op)
{
    return waste_is(finder->waste, op, "dot|convolution");
}

static void find_layers(struct finder *finder)
{
    for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++)
        if (weight_trees_is_layer(&finder->trees, op, finder->of, OF_WEIGHTS, OF_OTHERS))
            finder->has_layer[finder->waste->profile->ops.items[op].program] = true;
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
    struct finder         finder = { .waste = &waste };

    finder.of = arena_new_array(ledger->scratch, uint8_t, profile->ops.count + 1);
    finder.made = arena_new_array(ledger->scratch, bool, profile->ops.count + 1);
    finder.has_layer = arena_new_array(ledger->scratch, bool, (size_t)profile->names.count + 1);
    if (!finder.of || !finder.made || !finder.has_layer || !waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    if (!weight_trees_open(&finder.trees, &waste))
        return false;
    if (!finder.trees.trees.count)
        return true;
    if (!find_makers(&finder))
        return false;
    find_layers(&finder);
    find_made(&finder);
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (finder.made[op] && finder.has_layer[profile->ops.items[op].program] &&
            compiled_works(waste.compiled, op))
            waste_mark(&waste, op, 1);
    return waste_claim(&waste, self, LEAST_SHARE, "made of weights and constants alone");
}

const struct detector detector_weights_alone = { "weights-alone", CAUSE_REPEAT, GRADE_SIZES, find };
