/* normed_gradients: a compiled program that trains makes gradients of weights that it leaves as
 * they are, because a norm over all gradients takes them, and nothing else: of what nothing takes
 * the compiler would have made none. */
#include "analyze/excess/linear.h"

static const double LEAST_SHARE = 0.05; /* of the steps */

struct finder {
    struct waste *waste;
    uint32_t      entry, root; /* interned names of attributes */
    bool         *is_summed;   /* by op: all that takes it makes single numbers of it */
};

static bool has_attr(const struct finder *finder, uint32_t op, uint32_t name)
{
    const struct profile *profile = finder->waste->profile;
    const struct op      *row = &profile->ops.items[op];

    for (uint32_t i = 0; i < row->attr_count; i++)
        if (profile->attrs.items[row->first_attr + i].name == name)
            return true;
    return false;
}

static bool ends_in_sums(const struct finder *finder, uint32_t op)
{
    static const char   bundles[] = "tuple|while|conditional|call|custom-call|all-*";
    const struct waste *waste = finder->waste;
    struct op_ids       takers = op_graph_consumers(waste->graph, op);

    if (waste->profile->ops.items[op].output_count != 1 || waste_is(waste, op, bundles))
        return false;
    if (compiled_elements(waste->compiled, op) == 1)
        return true;
    for (size_t i = 0; i < takers.count; i++) {
        uint32_t taker = takers.ids[i];

        /* Its contents take it, but for its own result. */
        if (compiled_holds(waste->compiled, taker) && waste->compiled->root[taker] != op)
            continue;
        if (!finder->is_summed[taker])
            return false;
    }
    return takers.count > 0;
}

static void spread(struct finder *finder)
{
    enum { MOST_ROUNDS = 32 };
    bool has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = finder->waste->graph->vertex_count; op-- > 0;)
            if (!finder->is_summed[op] && ends_in_sums(finder, op))
                finder->is_summed[op] = has_changed = true;
    }
}

static bool is_backward(const struct finder *finder, uint32_t op)
{
    const struct profile *profile = finder->waste->profile;
    struct str            origin = profile_str(profile, profile->ops.items[op].origin);

    return str_contains(origin, STR("transpose("));
}

/* The program gives it back as it came. */
static bool is_handed_back(const struct finder *finder, uint32_t parameter)
{
    const struct waste *waste = finder->waste;
    uint32_t            program = waste->profile->ops.items[parameter].program;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        struct op_ids given = op_graph_producers(waste->graph, op);

        if (waste->profile->ops.items[op].program != program || !has_attr(finder, op, finder->root))
            continue;
        for (size_t i = 0; i < given.count; i++)
            if (compiled_maker(waste->compiled, given.ids[i]) == parameter)
                return true;
    }
    return false;
}

/* A gradient has the elements of its weights. */
static bool is_of_frozen(const struct finder *finder, uint32_t gradient)
{
    const struct waste   *waste = finder->waste;
    const struct profile *profile = waste->profile;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        const struct op *row = &profile->ops.items[op];

        if (row->program == profile->ops.items[gradient].program &&
            has_attr(finder, op, finder->entry) && row->output_count == 1 &&
            profile->tensors.items[row->first_output].rank > 1 &&
            compiled_elements(waste->compiled, op) ==
                compiled_elements(waste->compiled, gradient) &&
            (waste->compiled->from[op] == FROM_INPUT || is_handed_back(finder, op)))
            return true;
    }
    return false;
}

/* And what its operands were put in order for, which has no origin. */
static void mark_program(struct finder *finder, uint32_t program)
{
    struct waste *waste = finder->waste;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (waste->profile->ops.items[op].program == program && finder->is_summed[op] &&
            compiled_elements(waste->compiled, op) > 1 &&
            (is_backward(finder, op) || !waste->profile->ops.items[op].origin))
            waste_mark(waste, op, 1);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct intern *names = &ledger->study->profile->names;
    struct waste         waste;
    struct finder        finder = { .waste = &waste,
                                    .entry = intern_find(names, STR("entry")),
                                    .root = intern_find(names, STR("root")) };

    finder.is_summed =
        arena_new_array(ledger->scratch, bool, ledger->study->profile->ops.count + 1);
    if (!finder.is_summed || !waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    spread(&finder);
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (finder.is_summed[op] && waste.share[op] <= 0 && waste_calls(&waste, op) > 0 &&
            waste_is(&waste, op, "dot|convolution") && is_backward(&finder, op) &&
            is_of_frozen(&finder, op))
            mark_program(&finder, waste.profile->ops.items[op].program);
    return waste_claim(
        &waste, self, LEAST_SHARE,
        "gradients of weights that stay as they are, of which a norm alone is taken");
}

const struct detector detector_normed_gradients = { "unused-gradients", CAUSE_UNUSED,
                                                    GRADE_STRUCTURE, find };
