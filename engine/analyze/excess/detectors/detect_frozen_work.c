/* frozen_work: a program that trains multiplies arrays that it never changes with each other, layer
 * by layer, before anything that it trains has a part in it: features of frozen weights, made again
 * in each step. Where the data come again, so do they. frozen_teacher: what is made so meets no
 * weights that are trained, but what comes of them: targets that another network gives. */
#include "analyze/excess/linear.h"

static const double LEAST_SHARE = 0.05; /* of the steps */

struct finder {
    struct waste *waste;
    bool         *is_frozen; /* by op: made by such a product, or of what is */
};

/* Arguments that no step changes, alone. */
static bool is_given(const struct finder *finder, uint32_t op)
{
    return finder->waste->compiled->from[op] == FROM_INPUT;
}

static bool is_product(const struct finder *finder, uint32_t op)
{
    return compiled_is_type(finder->waste->compiled, op, "dot|convolution");
}

static bool is_frozen(const struct finder *finder, uint32_t op)
{
    struct op_ids producers = op_graph_producers(finder->waste->graph, op);
    size_t        given = 0;

    if (!is_given(finder, op))
        return false;
    for (size_t i = 0; i < producers.count; i++) {
        if (finder->is_frozen[producers.ids[i]])
            return true;
        given += is_given(finder, producers.ids[i]);
    }
    return given > 1 && is_product(finder, op);
}

/* Gradients are made in it. */
static bool trains(const struct finder *finder, uint32_t program)
{
    const struct profile *profile = finder->waste->profile;

    for (uint32_t op = 0; op < profile->ops.count; op++)
        if (profile->ops.items[op].program == program &&
            str_contains(profile_str(profile, profile->ops.items[op].origin), STR("transpose(jvp")))
            return true;
    return false;
}

static void spread(struct finder *finder)
{
    enum { MOST_ROUNDS = 24 };
    bool has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++)
            if (!finder->is_frozen[op] && is_frozen(finder, op))
                finder->is_frozen[op] = has_changed = true;
    }
}

/* Weights that are trained multiply what is frozen. */
static bool feeds_trained(const struct finder *finder, uint32_t program)
{
    const struct waste *waste = finder->waste;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        struct op_ids producers = op_graph_producers(waste->graph, op);
        bool          has_frozen = false, has_weights = false;

        if (waste->profile->ops.items[op].program != program || !is_product(finder, op))
            continue;
        for (size_t i = 0; i < producers.count; i++) {
            has_frozen |= finder->is_frozen[producers.ids[i]];
            has_weights |= waste->compiled->from[producers.ids[i]] == FROM_STATE;
        }
        if (has_frozen && has_weights)
            return true;
    }
    return false;
}

/* In programs where trained weights multiply what is frozen, or in the others. */
static bool find_frozen(struct ledger *ledger, const struct detector *self, bool is_fed,
                        const char *detail)
{
    struct waste  waste;
    struct finder finder = { .waste = &waste };
    uint32_t      program = NO_ID;
    bool          is_trained = false;

    finder.is_frozen =
        arena_new_array(ledger->scratch, bool, ledger->study->profile->ops.count + 1);
    if (!finder.is_frozen || !waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    spread(&finder);
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++) {
        if (!finder.is_frozen[op])
            continue;
        if (waste.profile->ops.items[op].program != program) {
            program = waste.profile->ops.items[op].program;
            is_trained = trains(&finder, program) && feeds_trained(&finder, program) == is_fed;
        }
        if (is_trained)
            waste_mark(&waste, op, 1);
    }
    return waste_claim(&waste, self, LEAST_SHARE, detail);
}

static bool find_features(struct ledger *ledger, const struct detector *self)
{
    return find_frozen(ledger, self, true,
                       "made of arguments alone that no step changes, before what is trained");
}

static bool find_teacher(struct ledger *ledger, const struct detector *self)
{
    return find_frozen(ledger, self, false,
                       "made of arguments alone that no step changes, beside what is trained");
}

const struct detector detector_frozen_work = { "frozen-work", CAUSE_REPEAT, GRADE_SIZES,
                                               find_features };
const struct detector detector_frozen_teacher = { "frozen-teacher", CAUSE_REPEAT, GRADE_SIZES,
                                                  find_teacher };
