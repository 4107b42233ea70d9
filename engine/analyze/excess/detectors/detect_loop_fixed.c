/* loop_fixed: ops in the body of a graph's loop that take nothing which a round changes: what
 * enters the loop, constants, and variables that it does not write. Their results are the same in
 * all rounds. So are products of such a result with gradients that are summed over the rounds: the
 * sum can be multiplied once. Where a graph tells which op takes which result. */
#include "analyze/excess/ledger.h"
#include "base/intern.h"
#include "base/macros.h"
#include "model/op_graph.h"

static const double LEAST_SHARE = 0.03; /* of the steps */
enum { MOST_STEPS = 64 /* along a chain of ops */ };

struct finder {
    struct ledger        *ledger;
    const struct profile *profile;
    bool                 *varies; /* by op */
    uint32_t             *units;  /* calls in the looked-at steps, by op */
    uint32_t             *queue;  /* of ops that vary, whose consumers were not told yet */
    struct id_map         op_of_name;
};

static struct str type_of(const struct finder *finder, uint32_t op)
{
    return op == NO_ID ? STR("")
                       : profile_str(finder->profile, finder->profile->ops.items[op].type);
}

static bool is_type(const struct finder *finder, uint32_t op, const char *pattern)
{
    return op != NO_ID && str_fits(type_of(finder, op), pattern);
}

static uint32_t operand(const struct finder *finder, uint32_t op, uint32_t place)
{
    return op == NO_ID ? NO_ID : op_graph_operand(finder->profile->graph, op, place);
}

/* What hands on its operand as it is, but for its shape. */
static uint32_t behind_views(const struct finder *finder, uint32_t op)
{
    for (int i = 0; i < MOST_STEPS && is_type(finder, op, "Identity|Reshape|ExpandDims|Squeeze");
         i++)
        op = operand(finder, op, 0);
    return op;
}

/* The op that brings the next round's value to a Merge: its second operand, or as a run told it. */
static uint32_t next_round(const struct finder *finder, uint32_t merge)
{
    const struct profile *profile = finder->profile;
    const struct op      *op = &profile->ops.items[merge];

    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *attr = &profile->attrs.items[op->first_attr + i];

        if (str_equal(profile_str(profile, attr->name), STR("next_round")))
            return id_map_get(&finder->op_of_name, attr->value);
    }
    return operand(finder, merge, 1);
}

/* A variable of the loop that each round hands on as it got it. */
static bool is_handed_on(const struct finder *finder, uint32_t merge)
{
    uint32_t next = next_round(finder, merge);

    next = is_type(finder, next, "NextIteration") ? behind_views(finder, operand(finder, next, 0))
                                                  : NO_ID;
    return is_type(finder, next, "Switch") && operand(finder, next, 0) == merge;
}

static uint32_t data_operands(const struct finder *finder, uint32_t op)
{
    const struct op_graph *graph = finder->profile->graph;
    uint32_t               count = 0;

    for (uint32_t i = graph->first_producer[op]; i < graph->first_producer[op + 1]; i++)
        count += !graph->producer_is_control[i];
    return count;
}

/* An operand that is no op of the recording may be anything. */
static bool all_known(const struct finder *finder, uint32_t op)
{
    for (uint32_t place = 0; place < finder->profile->ops.items[op].input_count; place++)
        if (operand(finder, op, place) == NO_ID)
            return false;
    return true;
}

/* Types whose results depend on more than their operands. */
static const char HAS_STATE[] =
    "*Random*|*Iterator*|TensorList*|TensorArray*|Stack*|*Queue*|*PyFunc*|*Table*|Assign*|Scatter*|"
    "Resource*|*Send|*Recv|Placeholder*|Variable*|LoopCond|NextIteration|Exit|*Switch|*Stateful*";

/* Gives no fixed result, whatever its operands are. */
static bool varies_itself(const struct finder *finder, uint32_t op)
{
    if (is_type(finder, op, "Const|Enter|RefEnter"))
        return false;
    if (is_type(finder, op, "Merge"))
        return !is_handed_on(finder, op);
    if (is_type(finder, op, "ReadVariableOp"))
        return !is_type(finder, behind_views(finder, operand(finder, op, 0)), "Enter");
    if (is_type(finder, op, "Switch"))
        return !is_type(finder, operand(finder, op, 0), "Merge");
    return is_type(finder, op, HAS_STATE) || !data_operands(finder, op) || !all_known(finder, op);
}

static void tell(struct finder *finder, size_t *count, uint32_t op)
{
    if (finder->varies[op])
        return;
    finder->varies[op] = true;
    finder->queue[(*count)++] = op;
}

/* Does `op` take the results of `from` as data? What is in a loop does not see that what enters it
 * varies outside. */
static bool takes(const struct finder *finder, uint32_t op, uint32_t from)
{
    const struct op_graph *graph = finder->profile->graph;

    if (is_type(finder, op, "Enter|RefEnter") ||
        (is_type(finder, op, "Merge") && is_handed_on(finder, op)))
        return false;
    if (is_type(finder, op, "Switch")) /* the condition picks a side, it makes no value */
        return operand(finder, op, 0) == from;
    for (uint32_t i = graph->first_producer[op]; i < graph->first_producer[op + 1]; i++)
        if (graph->producers[i] == from && !graph->producer_is_control[i])
            return true;
    return false;
}

static void spread(struct finder *finder)
{
    size_t count = 0;

    for (uint32_t op = 0; op < finder->profile->ops.count; op++)
        if (varies_itself(finder, op))
            tell(finder, &count, op);
    for (size_t i = 0; i < count; i++) {
        struct op_ids consumers = op_graph_consumers(finder->profile->graph, finder->queue[i]);

        for (size_t c = 0; c < consumers.count; c++)
            if (takes(finder, consumers.ids[c], finder->queue[i]))
                tell(finder, &count, consumers.ids[c]);
    }
}

/* A value that the forward loop kept for each round and that is the same in all of them: it is
 * taken from a list that left that loop. */
static bool is_kept_fixed(const struct finder *finder, uint32_t pop)
{
    uint32_t      list = operand(finder, pop, 0);
    struct op_ids consumers;

    if (!is_type(finder, pop, "TensorListPopBack") || !is_type(finder, list, "Switch"))
        return false;
    list = operand(finder, operand(finder, list, 0), 0); /* Merge, Enter */
    list = operand(finder, list, 0);
    list = is_type(finder, list, "Exit") ? operand(finder, list, 0) : NO_ID;
    if (list == NO_ID)
        return false;
    consumers = op_graph_consumers(finder->profile->graph, list);
    for (size_t c = 0; c < consumers.count; c++)
        if (is_type(finder, consumers.ids[c], "TensorListPushBack")) {
            uint32_t value = operand(finder, consumers.ids[c], 1);

            return value != NO_ID && !finder->varies[value];
        }
    return false;
}

/* Is what the op makes added up over the rounds, and nothing else? */
static bool is_summed(const struct finder *finder, uint32_t op)
{
    for (int i = 0; i < MOST_STEPS; i++) {
        struct op_ids consumers = op_graph_consumers(finder->profile->graph, op);

        if (consumers.count != 1)
            return false;
        op = consumers.ids[0];
        if (is_type(finder, op, "AddN|Add|AddV2"))
            break;
        if (!is_type(finder, op, "Identity|Reshape|ExpandDims|Squeeze"))
            return false;
    }
    for (uint32_t i = 0; i < data_operands(finder, op); i++)
        if (is_type(finder, operand(finder, op, i), "Switch"))
            return true;
    return false;
}

/* A product with one factor that is the same in all rounds, summed over them. */
static bool is_summed_product(const struct finder *finder, const struct work_unit *unit)
{
    bool has_fixed = false;

    if (unit->op_class != OP_PRODUCT || !is_summed(finder, unit->op))
        return false;
    for (uint32_t place = 0; place < 2; place++) {
        uint32_t factor = behind_views(finder, operand(finder, unit->op, place));

        has_fixed |= factor != NO_ID && (!finder->varies[factor] || is_kept_fixed(finder, factor));
    }
    return has_fixed;
}

static bool is_work(const struct finder *finder, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->op != NO_ID &&
           !is_type(finder, unit->op, "Const|Enter|RefEnter|Merge|Switch|ReadVariableOp");
}

/* The share of an op's calls that one before the loop, or behind it, makes needless. */
static double excess_of(const struct finder *finder, const struct work_unit *unit)
{
    double rounds;

    if (!is_work(finder, unit))
        return 0;
    rounds = (double)finder->units[unit->op] / (double)finder->ledger->step_count;
    if (rounds < 2 || (finder->varies[unit->op] && !is_summed_product(finder, unit)))
        return 0;
    return 1 - 1 / rounds;
}

static bool prepare(struct finder *finder)
{
    struct ledger        *ledger = finder->ledger;
    const struct profile *profile = finder->profile;
    size_t                count = profile->ops.count;

    finder->varies = arena_new_array(ledger->scratch, bool, count);
    finder->units = arena_new_array(ledger->scratch, uint32_t, count);
    finder->queue = arena_new_array(ledger->scratch, uint32_t, count);
    if (!finder->varies || !finder->units || !finder->queue)
        return false;
    for (uint32_t op = 0; op < count; op++)
        if (!profile->ops.items[op].module &&
            !id_map_put(&finder->op_of_name, profile->ops.items[op].name, op))
            return false;
    for (size_t u = 0; u < ledger->units.count; u++)
        if (ledger->units.items[u].kind == UNIT_OP && ledger->units.items[u].op != NO_ID)
            finder->units[ledger->units.items[u].op]++;
    spread(finder);
    return true;
}

static bool has_loop(const struct finder *finder)
{
    for (uint32_t op = 0; op < finder->profile->ops.count; op++)
        if (is_type(finder, op, "Enter|RefEnter"))
            return true;
    return false;
}

static bool find_fixed(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger,
                             .profile = ledger->study->profile,
                             .op_of_name = { .arena = ledger->scratch } };
    double        ns = 0;
    uint32_t      cell = NO_ID;

    if (finder.profile->format != FORMAT_GRAPH || !finder.profile->graph || !has_loop(&finder))
        return true;
    if (!prepare(&finder))
        return false;
    for (size_t u = 0; u < ledger->units.count; u++)
        ns += ledger->units.items[u].left_ns * excess_of(&finder, &ledger->units.items[u]);
    for (size_t u = 0; u < ledger->units.count && ns >= LEAST_SHARE * ledger->total_ns; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        double            share = excess_of(&finder, unit);

        if (share <= 0)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "%.0f rounds of a loop make it of the same", 1 / (1 - share)))
            return false;
        ledger_claim(ledger, cell, unit, share);
    }
    return true;
}

const struct detector detector_loop_fixed = { "loop-fixed", CAUSE_REPEAT, GRADE_STRUCTURE,
                                              find_fixed };
