/* held_arguments: a program without gradients refines its result: it gives back nothing but what it
 * takes again, is told by a number which round it is, and runs several times a step. What it makes
 * of weights and of the other arguments alone, as of the text that steers a diffusion, is the same
 * in all rounds, if these arguments are. */
#include "analyze/excess/weight_trees.h"

static const double LEAST_SHARE = 0.1; /* of the steps */
static const double FEWEST_ROUNDS = 3; /* a step: two may be a prediction and its correction */
enum { OF_WEIGHTS = 1, OF_HELD = 2, OF_ROUND = 4 };

struct program {   /* by its name */
    double rounds; /* a step */
    bool   has_number, has_held, has_state, gives_more, has_layer;
};
struct finder {
    struct waste       *waste;
    struct weight_trees trees;
    uint8_t            *of; /* by op: OF_…; 0: constants alone */
    struct program     *programs;
};

static struct program *program_of(const struct finder *finder, uint32_t op)
{
    return &finder->programs[finder->waste->profile->ops.items[op].program];
}

static bool is_argument(const struct finder *finder, uint32_t op)
{
    return weight_trees_is_argument(&finder->trees, op);
}

/* Given back in the shape in which it was taken. */
static bool is_state(const struct finder *finder, uint32_t op)
{
    return finder->waste->compiled->from[op] == FROM_STATE;
}

/* An argument of the result's program has its shape. */
static bool is_taken_again(const struct finder *finder, uint32_t root, const struct tensor *result)
{
    const struct profile *profile = finder->waste->profile;

    for (uint32_t op = 0; op < finder->waste->graph->vertex_count; op++) {
        const struct op *row = &profile->ops.items[op];

        if (row->program == profile->ops.items[root].program && is_argument(finder, op) &&
            row->output_count &&
            compiled_same_shape(result, &profile->tensors.items[row->first_output]))
            return true;
    }
    return false;
}

static void see_results(struct finder *finder, uint32_t root)
{
    const struct profile *profile = finder->waste->profile;
    const struct op      *row = &profile->ops.items[root];

    for (uint32_t i = 0; i < row->output_count && !program_of(finder, root)->gives_more; i++)
        program_of(finder, root)->gives_more =
            !is_taken_again(finder, root, &profile->tensors.items[row->first_output + i]);
}

static void see_argument(struct finder *finder, uint32_t op)
{
    struct program *program = program_of(finder, op);
    bool            is_number = compiled_elements(finder->waste->compiled, op) <= 1;

    finder->of[op] = OF_ROUND;
    if (weight_trees_is_weight(&finder->trees, op))
        finder->of[op] = OF_WEIGHTS;
    else if (is_state(finder, op))
        program->has_state |= !is_number;
    else if (is_number)
        program->has_number = true;
    else
        finder->of[op] = OF_HELD, program->has_held = true;
}

static void see_programs(struct finder *finder)
{
    const struct waste *waste = finder->waste;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        struct program *program = program_of(finder, op);

        if (is_argument(finder, op))
            see_argument(finder, op);
        if (waste->profile->ops.items[op].caller)
            continue;
        if (compiled_is_root(waste->compiled, op) &&
            !finder->trees.has_gradients[waste->profile->ops.items[op].program])
            see_results(finder, op);
        if (waste->calls[op] > program->rounds * (double)waste->ledger->step_count)
            program->rounds = waste->calls[op] / (double)waste->ledger->step_count;
    }
}

static bool refines(const struct finder *finder, uint32_t op)
{
    const struct program *program = program_of(finder, op);

    return program->has_number && program->has_held && program->has_state && !program->gives_more &&
           program->has_layer && program->rounds >= FEWEST_ROUNDS &&
           !finder->trees.has_gradients[finder->waste->profile->ops.items[op].program];
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct waste          waste;
    struct finder         finder = { .waste = &waste };

    finder.of = arena_new_array(ledger->scratch, uint8_t, profile->ops.count + 1);
    finder.programs =
        arena_new_array(ledger->scratch, struct program, (size_t)profile->names.count + 1);
    if (!finder.of || !finder.programs || !waste_open(&waste, ledger))
        return false;
    if (!waste.graph)
        return true;
    if (!weight_trees_open(&finder.trees, &waste))
        return false;
    if (!finder.trees.trees.count)
        return true;
    see_programs(&finder);
    if (!weight_trees_spread(&finder.trees, finder.of, OF_ROUND))
        return false;
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        program_of(&finder, op)->has_layer |=
            weight_trees_is_layer(&finder.trees, op, finder.of, OF_WEIGHTS, OF_ROUND);
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if ((finder.of[op] & (OF_HELD | OF_ROUND)) == OF_HELD && refines(&finder, op) &&
            compiled_works(waste.compiled, op))
            waste_mark(&waste, op, 1 - 1 / program_of(&finder, op)->rounds);
    return waste_claim(&waste, self, LEAST_SHARE,
                       "made of weights and of arguments that no round gives back");
}

const struct detector detector_held_arguments = { "held-arguments", CAUSE_REPEAT, GRADE_SIZES,
                                                  find };
