/* turned_cache: a program writes a part of an array that comes in and goes out again, or gives it
 * back as it was, and turns all of it round before something reads it, in each call: a cache that
 * does not lie in the order in which its product reads it. So do programs that hand a state on to
 * their next call, without gradients, with what they are called with besides, as the keys of a
 * source. What turns it is not needed where it is kept in that order. */
#include "analyze/excess/kept.h"

static const double LEAST_SHARE = 0.05; /* of the steps */

struct finder {
    struct waste waste;
    struct kept  kept;
    bool        *hands_on, *goes_back; /* by name of a program */
};

/* A state is more than a counter. */
static void see_programs(struct finder *finder)
{
    const struct waste *waste = &finder->waste;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        const struct op *row = &waste->profile->ops.items[op];

        finder->hands_on[row->program] |= kept_is_argument(waste, op) &&
                                          waste->compiled->from[op] == FROM_STATE &&
                                          compiled_elements(waste->compiled, op) > 1;
        finder->goes_back[row->program] |=
            str_contains(profile_str(waste->profile, row->origin), STR("transpose(jvp"));
    }
}

/* Heads and rows, or more: what has fewer axes is a table or a weight. */
static bool is_held(const struct finder *finder, uint32_t op)
{
    enum { FEWEST_AXES = 4 };
    const struct profile *profile = finder->waste.profile;
    const struct op      *row = &profile->ops.items[op];

    return kept_is_argument(&finder->waste, op) && row->output_count == 1 &&
           finder->waste.compiled->from[op] == FROM_INPUT &&
           profile->tensors.items[row->first_output].rank >= FEWEST_AXES &&
           finder->hands_on[row->program] && !finder->goes_back[row->program];
}

/* Writes a part of what comes into the program, and is no copy of another shape; or comes in and
 * goes out, the same. Where rows are moved on the way out, too, moving takes as long in any order.
 */
static bool is_cache(const struct finder *finder, uint32_t op)
{
    const struct waste *waste = &finder->waste;
    uint32_t            before;

    if (finder->kept.is[op] == KEPT_AS_IS || is_held(finder, op))
        return true;
    if (!waste_is(waste, op, "dynamic-update-slice|scatter"))
        return false;
    before = op_graph_operand(waste->graph, op, 0);
    return before != UINT32_MAX &&
           waste_is(waste, compiled_maker(waste->compiled, before), "parameter") &&
           compiled_elements(waste->compiled, op) == compiled_elements(waste->compiled, before);
}

/* With the copy that puts the numbers where the transpose says. */
static void mark_turn(struct waste *waste, uint32_t turn)
{
    struct op_ids behind = op_graph_consumers(waste->graph, turn);

    waste_mark(waste, turn, 1);
    for (size_t i = 0; i < behind.count; i++)
        if (waste_is(waste, behind.ids[i], "copy"))
            waste_mark(waste, behind.ids[i], 1);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    size_t        names = ledger->study->profile->names.count + 1;
    struct finder finder = { .hands_on = arena_new_array(ledger->scratch, bool, names),
                             .goes_back = arena_new_array(ledger->scratch, bool, names) };
    struct waste *waste = &finder.waste;

    if (!finder.hands_on || !finder.goes_back || !waste_open(waste, ledger))
        return false;
    if (!waste->graph)
        return true;
    if (!kept_find(waste, &finder.kept))
        return false;
    see_programs(&finder);
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        uint32_t operand =
            waste_is(waste, op, "transpose") ? op_graph_operand(waste->graph, op, 0) : UINT32_MAX;

        if (operand != UINT32_MAX && waste_calls(waste, op) > 0 &&
            is_cache(&finder, compiled_maker(waste->compiled, operand)))
            mark_turn(waste, op);
    }
    return waste_claim(waste, self, LEAST_SHARE, "a cache that is turned round before it is read");
}

const struct detector detector_turned_cache = { "turned-cache", CAUSE_BYTES, GRADE_STRUCTURE,
                                                find };
