/* both_branches: a condition, or a choice of several functions, mapped over a batch computes all
 * sides for all items and takes one. Where a side is what was there before, few need the other one.
 */
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "model/names.h"
#include "model/op_graph.h"

static const double RARE_SHARE = 0.95;  /* of a side that few need */
static const double LEAST_SHARE = 0.03; /* of the step */

struct branches {
    struct ledger         *ledger;
    const struct profile  *profile;
    const struct op_graph *graph;
    bool                  *is_choice; /* by op: a mapped condition's */
    bool                  *keeps;     /* by op: one that mostly keeps what was there */
    uint8_t               *given; /* by op: the place of a side that the other is made of; 0 none */
    uint32_t              *within; /* by op: the choice that takes a choice as a side; NO_ID */
    uint8_t               *count;  /* by op: of a choice, and of what is for its sides: how many */
    uint64_t *sides[2]; /* by op: of a choice, those that its operands are for, a bit a side */
    uint64_t *needed;   /* by op: those that it is for; 0: something else takes it, too */
    double   *share;    /* by op: of its work, not needed */
};

static bool is_flag(const struct profile *profile, uint32_t op)
{
    const struct op *row = &profile->ops.items[op];

    return row->output_count && profile->tensors.items[row->first_output].dtype == DTYPE_BOOL;
}

/* What is handed on as it came: a parameter of the program or of a loop, or a constant. */
static bool is_there_before(const struct branches *branches, uint32_t op)
{
    static const char through[] =
        "parameter|get-tuple-element|bitcast|copy|broadcast|reshape|convert";
    enum { FARTHEST = 32 };

    for (int steps = 0; steps < FARTHEST; steps++) {
        struct op_ids producers = op_graph_producers(branches->graph, op);

        if (compiled_is_type(&branches->ledger->compiled, op, "constant"))
            return true;
        if (compiled_is_type(&branches->ledger->compiled, op, "parameter") && !producers.count)
            return true;
        if (!compiled_is_type(&branches->ledger->compiled, op, through) || producers.count != 1)
            return false;
        op = producers.ids[0];
    }
    return false;
}

/* "…/vmap()/select_n": what a condition becomes when it is mapped. So do gradients of activations,
 * which are nothing where the activation was cut off. Those inside of draws of random numbers,
 * which reject some, are the library's: nobody can take them out. */
static bool is_mapped_choice(const struct branches *branches, uint32_t op)
{
    struct str origin = profile_str(branches->profile, branches->profile->ops.items[op].origin);

    return compiled_is_type(&branches->ledger->compiled, op, "select") &&
           str_contains(origin, STR("vmap(")) && str_ends(origin, STR("/select_n")) &&
           !str_contains(origin, STR("_where")) && !str_contains(origin, STR("transpose(")) &&
           !name_is(origin, NAMES_JAX_RANDOM) && !is_flag(branches->profile, op);
}

/* Inside of a fusion there is the parameter that stands for the operand. */
static bool is_passed_inside(const struct branches *branches, uint32_t op, uint32_t consumer)
{
    return compiled_holds(&branches->ledger->compiled, consumer) &&
           branches->profile->ops.items[op].caller != consumer + 1;
}

/* The one op that takes a result in the end, through what hands it on; NO_ID: there are others. */
static uint32_t only_taker(const struct branches *branches, uint32_t op)
{
    const struct compiled *compiled = &branches->ledger->compiled;
    enum { FARTHEST = 16 };

    for (int steps = 0; steps < FARTHEST; steps++) {
        struct op_ids consumers = op_graph_consumers(branches->graph, op);
        uint32_t      taker = NO_ID;

        for (size_t i = 0; i < consumers.count; i++) {
            if (is_passed_inside(branches, op, consumers.ids[i]))
                continue;
            if (taker != NO_ID)
                return NO_ID;
            taker = consumers.ids[i];
        }
        if (taker == NO_ID || (!compiled_hands_on(compiled, taker) && compiled->root[taker] != op))
            return taker;
        op = taker;
    }
    return NO_ID;
}

/* Both make the same, as far as is looked: fusions each make again what they need of another. */
static bool makes_same(const struct branches *branches, uint32_t a, uint32_t b, int depth)
{
    const struct op *ops = branches->profile->ops.items;
    struct op_ids    of_a, of_b;

    a = compiled_maker(&branches->ledger->compiled, a);
    b = compiled_maker(&branches->ledger->compiled, b);
    of_a = op_graph_producers(branches->graph, a);
    of_b = op_graph_producers(branches->graph, b);
    if (a == b)
        return true;
    if (ops[a].type != ops[b].type || ops[a].origin != ops[b].origin ||
        ops[a].program != ops[b].program || of_a.count != of_b.count || !ops[a].output_count ||
        !ops[b].output_count ||
        compiled_is_type(&branches->ledger->compiled, a, "parameter|get-tuple-element") ||
        !compiled_same_shape(&branches->profile->tensors.items[ops[a].first_output],
                             &branches->profile->tensors.items[ops[b].first_output]))
        return false;
    for (size_t i = 0; depth > 0 && i < of_a.count; i++)
        if (!makes_same(branches, of_a.ids[i], of_b.ids[i], depth - 1))
            return false;
    return true;
}

/* One side is made of the other by an op that is no pass over it: a function that is taken now and
 * then, else what it was given. */
static bool is_made_of(const struct branches *branches, uint32_t side, uint32_t given)
{
    enum { FARTHEST = 24, DEEPEST = 3 };
    bool is_far = false;

    for (int steps = 0; steps < FARTHEST; steps++) {
        uint32_t      maker = compiled_maker(&branches->ledger->compiled, side);
        struct op_ids producers = op_graph_producers(branches->graph, maker);

        if (is_far && makes_same(branches, maker, given, DEEPEST))
            return true;
        if (branches->is_choice[maker] || !producers.count)
            return false;
        is_far |=
            compiled_is_type(&branches->ledger->compiled, maker, "custom-call|dot|sort|while|fft");
        side = producers.ids[0];
    }
    return false;
}

/* The side that the other one is made of: an operand's place; 0: neither. */
static uint8_t given_side(const struct branches *branches, uint32_t op)
{
    uint32_t a = op_graph_operand(branches->graph, op, 1);
    uint32_t b = op_graph_operand(branches->graph, op, 2);

    if (is_made_of(branches, b, a))
        return 1;
    return is_made_of(branches, a, b) ? 2 : 0;
}

/* One of the two sides was there before, the other is made. */
static bool keeps_one(const struct branches *branches, uint32_t op)
{
    uint32_t a = op_graph_operand(branches->graph, op, 1);
    uint32_t b = op_graph_operand(branches->graph, op, 2);

    return is_there_before(branches, a) != is_there_before(branches, b);
}

/* Gives each side of a choice, and of choices that are its sides, a bit. */
static uint64_t number_sides(struct branches *branches, uint32_t choice, uint8_t *count)
{
    enum { MOST_SIDES = 64 };

    for (uint32_t i = 0; i < ARRAY_COUNT(branches->sides); i++) {
        uint32_t side = op_graph_operand(branches->graph, choice, i + 1);
        uint32_t maker = compiled_maker(&branches->ledger->compiled, side);

        if (branches->is_choice[maker] && branches->within[maker] == choice)
            branches->sides[i][choice] = number_sides(branches, maker, count);
        else
            branches->sides[i][choice] = *count < MOST_SIDES ? 1ULL << (*count)++ : 0;
    }
    return branches->sides[0][choice] | branches->sides[1][choice];
}

static void set_count(struct branches *branches, uint32_t choice, uint8_t count)
{
    branches->count[choice] = count;
    for (uint32_t i = 0; i < ARRAY_COUNT(branches->sides); i++) {
        uint32_t maker = compiled_maker(&branches->ledger->compiled,
                                        op_graph_operand(branches->graph, choice, i + 1));

        if (branches->is_choice[maker] && branches->within[maker] == choice)
            set_count(branches, maker, count);
    }
}

static bool find_choices(struct branches *branches)
{
    bool has_any = false;

    for (uint32_t op = 0; op < branches->graph->vertex_count; op++) {
        branches->within[op] = NO_ID;
        branches->is_choice[op] = is_mapped_choice(branches, op) &&
                                  op_graph_operand(branches->graph, op, 1) != NO_ID &&
                                  op_graph_operand(branches->graph, op, 2) != NO_ID;
        has_any |= branches->is_choice[op];
    }
    for (uint32_t op = 0; has_any && op < branches->graph->vertex_count; op++) {
        uint32_t taker = branches->is_choice[op] ? only_taker(branches, op) : NO_ID;

        branches->within[op] = taker != NO_ID && branches->is_choice[taker] ? taker : NO_ID;
        if (!branches->is_choice[op])
            continue;
        branches->keeps[op] = keeps_one(branches, op);
        branches->given[op] = branches->keeps[op] ? 0 : given_side(branches, op);
    }
    for (uint32_t op = 0; has_any && op < branches->graph->vertex_count; op++) {
        uint8_t count = 0;

        if (!branches->is_choice[op] || branches->within[op] != NO_ID)
            continue;
        (void)number_sides(branches, op, &count);
        set_count(branches, op, count);
    }
    return has_any;
}

struct need { /* what the takers of a result need it for */
    uint64_t sides;
    uint8_t  count;
    bool     is_rare; /* only for sides that few need */
};

static bool add_need(const struct branches *branches, uint32_t op, uint32_t taker,
                     struct need *need)
{
    bool     is_choice = branches->is_choice[taker];
    uint64_t sides = is_choice ? 0 : branches->needed[taker];

    if (is_choice && (op_graph_operand(branches->graph, taker, 0) == op ||
                      (branches->given[taker] &&
                       op_graph_operand(branches->graph, taker, branches->given[taker]) == op)))
        return false;
    for (uint32_t i = 0; is_choice && i < ARRAY_COUNT(branches->sides); i++)
        if (op_graph_operand(branches->graph, taker, i + 1) == op)
            sides |= branches->sides[i][taker];
    if (!sides || (need->count && need->count != branches->count[taker]))
        return false;
    need->sides |= sides;
    need->count = branches->count[taker];
    need->is_rare &= is_choice ? branches->keeps[taker] || branches->given[taker]
                               : branches->share[taker] >= RARE_SHARE;
    return true;
}

static bool find_need(const struct branches *branches, uint32_t op, struct need *need)
{
    struct op_ids consumers = op_graph_consumers(branches->graph, op);

    *need = (struct need) { .is_rare = true };
    for (size_t i = 0; i < consumers.count; i++)
        if (!is_passed_inside(branches, op, consumers.ids[i]) &&
            !add_need(branches, op, consumers.ids[i], need))
            return false;
    return need->sides != 0;
}

static bool mark(struct branches *branches)
{
    enum { MOST_ROUNDS = 16 };
    bool has_any = find_choices(branches), has_changed = true;

    for (int round = 0; has_any && has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = branches->graph->vertex_count; op-- > 0;) {
            struct need need;

            if (branches->needed[op] || !find_need(branches, op, &need))
                continue;
            branches->needed[op] = need.sides;
            branches->count[op] = branches->is_choice[op] ? branches->count[op] : need.count;
            branches->share[op] = need.is_rare
                                      ? RARE_SHARE
                                      : 1 - (double)__builtin_popcountll(need.sides) / need.count;
            has_changed = true;
        }
    }
    return has_any;
}

/* Loops and calls that few need hold such work; of a fusion, what such instructions weigh. */
static double claimed_share(const struct branches *branches, uint32_t op, double weight)
{
    const struct compiled *compiled = &branches->ledger->compiled;

    for (uint32_t at = op + 1; at; at = branches->profile->ops.items[at - 1].caller)
        if (branches->share[at - 1] > 0)
            return branches->share[at - 1];
    if (!compiled_holds(compiled, op) || compiled->weight[op] <= 0)
        return 0;
    return weight < compiled->weight[op] ? weight / compiled->weight[op] : 1;
}

static bool claim(struct branches *branches, const struct detector *self, const double *share)
{
    struct ledger *ledger = branches->ledger;
    uint32_t       cell, most = NO_ID;
    double         ns = 0;

    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op == NO_ID || share[unit->op] <= 0)
            continue;
        ns += unit->left_ns * share[unit->op];
        if (most == NO_ID || unit->ns > ledger->units.items[most].ns)
            most = u;
    }
    if (ns < LEAST_SHARE * ledger->total_ns)
        return true;
    cell = ledger_cell(ledger, self, &ledger->units.items[most]);
    if (cell == NO_ID || !ledger_tell(ledger, cell, "a mapped condition takes one of its sides"))
        return false;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP && unit->op != NO_ID)
            ledger_claim(ledger, cell, unit, share[unit->op]);
    }
    return true;
}

static bool branches_open(struct branches *branches, struct ledger *ledger)
{
    const struct profile *profile = ledger->study->profile;
    size_t                count = profile->ops.count + 1;

    *branches = (struct branches) { .ledger = ledger,
                                    .profile = profile,
                                    .graph = profile->graph,
                                    .is_choice = arena_new_array(ledger->scratch, bool, count),
                                    .keeps = arena_new_array(ledger->scratch, bool, count),
                                    .within = arena_new_array(ledger->scratch, uint32_t, count),
                                    .given = arena_new_array(ledger->scratch, uint8_t, count),
                                    .count = arena_new_array(ledger->scratch, uint8_t, count),
                                    .needed = arena_new_array(ledger->scratch, uint64_t, count),
                                    .share = arena_new_array(ledger->scratch, double, count) };
    for (size_t i = 0; i < ARRAY_COUNT(branches->sides); i++) {
        branches->sides[i] = arena_new_array(ledger->scratch, uint64_t, count);
        if (!branches->sides[i])
            return false;
    }
    return branches->is_choice && branches->keeps && branches->given && branches->within &&
           branches->count && branches->needed && branches->share;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct branches       branches;
    double               *weight = arena_new_array(ledger->scratch, double, profile->ops.count + 1);
    double               *share = arena_new_array(ledger->scratch, double, profile->ops.count + 1);

    if (!profile->graph || profile->format != FORMAT_XSPACE)
        return true;
    if (!weight || !share || !branches_open(&branches, ledger))
        return false;
    if (!mark(&branches))
        return true;
    for (uint32_t op = 0; op < profile->ops.count; op++)
        if (branches.share[op] > 0 && profile->ops.items[op].caller &&
            compiled_works(&ledger->compiled, op) && !compiled_holds(&ledger->compiled, op))
            weight[profile->ops.items[op].caller - 1] +=
                branches.share[op] * ledger->compiled.weight[op];
    for (uint32_t op = 0; op < profile->ops.count; op++)
        share[op] = claimed_share(&branches, op, weight[op]);
    return claim(&branches, self, share);
}

const struct detector detector_both_branches = { "both-branches", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                 find };
