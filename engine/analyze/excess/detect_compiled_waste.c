/* Waste that shows in the instructions of compiled programs. fixed_work: decompositions of matrices
 * that the program's state does not change. both_branches: a condition mapped over a batch computes
 * both sides for all and keeps what was there for most. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "model/op_graph.h"

static const double RARE_SHARE = 0.95;  /* of a side that few need */
static const double LEAST_SHARE = 0.03; /* of the step */

/* A program that gives nothing back has no state that could change what is decomposed. */
static bool has_state(const struct ledger *ledger, uint32_t module)
{
    const struct profile *profile = ledger->study->profile;

    for (uint32_t op = 0; op < profile->ops.count; op++)
        if (profile->ops.items[op].module == module && !profile->ops.items[op].caller &&
            ledger->compiled.from[op] & FROM_STATE)
            return true;
    return false;
}

static bool is_fixed(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->op != NO_ID && unit->op_class == OP_DECOMPOSITION &&
           !(ledger->compiled.from[unit->op] & (FROM_STATE | FROM_LOOP));
}

static bool find_fixed(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    uint32_t              cell = NO_ID, module = NO_ID;
    bool                  is_stateful = false;

    if (!profile->graph || profile->format != FORMAT_XSPACE)
        return true;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (!is_fixed(ledger, unit))
            continue;
        if (profile->ops.items[unit->op].module != module) {
            module = profile->ops.items[unit->op].module;
            is_stateful = has_state(ledger, module);
        }
        if (!is_stateful)
            continue;
        if (cell == NO_ID) {
            cell = ledger_cell(ledger, self, unit);
            if (cell == NO_ID ||
                !ledger_tell(ledger, cell,
                             "made of arguments alone, of nothing that the step changes"))
                return false;
        }
        ledger_claim(ledger, cell, unit, 1);
    }
    return true;
}

struct branches {
    struct ledger         *ledger;
    const struct profile  *profile;
    const struct op_graph *graph;
    bool                  *kept; /* by op: a select that mostly keeps what was there */
    bool                  *rare; /* by op: only such selects take its result, as a side */
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
 * which are nothing where the activation was cut off. */
static bool is_mapped_choice(const struct branches *branches, uint32_t op)
{
    struct str origin = profile_str(branches->profile, branches->profile->ops.items[op].origin);

    return compiled_is_type(&branches->ledger->compiled, op, "select") &&
           str_contains(origin, STR("vmap(")) && str_ends(origin, STR("/select_n")) &&
           !str_contains(origin, STR("_where")) && !str_contains(origin, STR("transpose(")) &&
           !is_flag(branches->profile, op);
}

/* One of the two sides was there before, the other is made. */
static bool keeps(const struct branches *branches, uint32_t op)
{
    struct op_ids producers = op_graph_producers(branches->graph, op);
    size_t        sides = 0, old = 0;

    for (size_t i = 0; i < producers.count; i++) {
        if (is_flag(branches->profile, producers.ids[i]))
            continue;
        sides++;
        old += is_there_before(branches, producers.ids[i]);
    }
    return sides == 2 && old == 1;
}

/* Inside of a fusion there is the parameter that stands for the operand. */
static bool is_passed_inside(const struct branches *branches, uint32_t op, uint32_t consumer)
{
    return compiled_holds(&branches->ledger->compiled, consumer) &&
           branches->profile->ops.items[op].caller != consumer + 1;
}

static bool only_rare_take(const struct branches *branches, uint32_t op)
{
    struct op_ids consumers = op_graph_consumers(branches->graph, op);
    size_t        takers = 0;

    for (size_t i = 0; i < consumers.count; i++) {
        uint32_t consumer = consumers.ids[i];

        if (is_passed_inside(branches, op, consumer))
            continue;
        takers++;
        if (!branches->rare[consumer] &&
            (!branches->kept[consumer] || is_flag(branches->profile, op)))
            return false;
    }
    return takers > 0;
}

static bool mark(struct branches *branches)
{
    enum { MOST_ROUNDS = 16 };
    bool has_any = false, has_changed = true;

    for (uint32_t op = 0; op < branches->graph->vertex_count; op++)
        has_any |= branches->kept[op] = is_mapped_choice(branches, op) && keeps(branches, op);
    for (int round = 0; has_any && has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = branches->graph->vertex_count; op-- > 0;)
            if (!branches->rare[op] && only_rare_take(branches, op))
                branches->rare[op] = has_changed = true;
    }
    return has_any;
}

/* Loops and calls that are rare hold rare work; of a fusion, what its rare instructions weigh. */
static double rare_share(const struct branches *branches, uint32_t op, double rare_weight)
{
    const struct compiled *compiled = &branches->ledger->compiled;

    for (uint32_t at = op + 1; at; at = branches->profile->ops.items[at - 1].caller)
        if (branches->rare[at - 1])
            return RARE_SHARE;
    if (!compiled_holds(compiled, op) || compiled->weight[op] <= 0)
        return 0;
    return RARE_SHARE *
           (rare_weight < compiled->weight[op] ? rare_weight / compiled->weight[op] : 1);
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
    if (cell == NO_ID ||
        !ledger_tell(ledger, cell, "a mapped condition takes it or keeps what was there"))
        return false;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP && unit->op != NO_ID)
            ledger_claim(ledger, cell, unit, share[unit->op]);
    }
    return true;
}

static bool find_branches(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct branches       branches = { ledger, profile, profile->graph, NULL, NULL };
    double               *weight = arena_new_array(ledger->scratch, double, profile->ops.count + 1);
    double               *share = arena_new_array(ledger->scratch, double, profile->ops.count + 1);

    branches.kept = arena_new_array(ledger->scratch, bool, profile->ops.count + 1);
    branches.rare = arena_new_array(ledger->scratch, bool, profile->ops.count + 1);
    if (!weight || !share || !branches.kept || !branches.rare)
        return false;
    if (!profile->graph || profile->format != FORMAT_XSPACE || !mark(&branches))
        return true;
    for (uint32_t op = 0; op < profile->ops.count; op++)
        if (branches.rare[op] && profile->ops.items[op].caller &&
            compiled_works(&ledger->compiled, op) && !compiled_holds(&ledger->compiled, op))
            weight[profile->ops.items[op].caller - 1] += ledger->compiled.weight[op];
    for (uint32_t op = 0; op < profile->ops.count; op++)
        share[op] = rare_share(&branches, op, weight[op]);
    return claim(&branches, self, share);
}

const struct detector detector_fixed_work = { "fixed-work", CAUSE_REPEAT, GRADE_SIZES, find_fixed };
const struct detector detector_both_branches = { "both-branches", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                 find_branches };
