/* fixed_targets: what a session's graph computes in each run of what no run changes. Of variables
 * that nothing assigns: always the same. Of what is fed: the same where the data meet what is
 * trained in no layer, but are compared with it alone, since then it is a picture or a point that
 * is trained and not a model, as for the targets of a style. Edges of the graph tell both. */
#include "analyze/excess/graph_names.h"
#include "analyze/excess/ledger.h"
#include "model/op_graph.h"

static const double LEAST_SHARE = 0.05; /* of the steps */

/* What an op's result is made of. */
enum { FROM_KEPT = 1, FROM_FED = 2, FROM_TRAINED = 4, FROM_NEW = 8 };

struct finder {
    struct ledger         *ledger;
    const struct profile  *profile;
    const struct op_graph *graph;
    uint8_t               *from; /* by row of profile->ops */
};

static struct str type_of(const struct finder *finder, uint32_t op)
{
    return profile_str(finder->profile, finder->profile->ops.items[op].type);
}

static struct str name_of(const struct finder *finder, uint32_t op)
{
    return profile_str(finder->profile, finder->profile->ops.items[op].name);
}

/* Changes the variable that it takes; what gives one its first value does not run in a step. */
static bool changes(const struct finder *finder, uint32_t op)
{
    struct str name = name_of(finder, op);

    return str_fits(type_of(finder, op), "*Apply*|*Assign*|*Scatter*") &&
           !str_fits(name, "*/Assign") && !str_fits(name, "*/Initializer*");
}

static uint8_t source_of(const struct finder *finder, uint32_t op)
{
    struct str type = type_of(finder, op);

    if (str_fits(type, "Placeholder*"))
        return FROM_FED;
    if (str_fits(type, "VarHandleOp|Variable|VariableV2")) {
        struct op_ids takers = op_graph_consumers(finder->graph, op);

        for (size_t i = 0; i < takers.count; i++)
            if (changes(finder, takers.ids[i]))
                return FROM_TRAINED;
        return FROM_KEPT;
    }
    /* What neither computes nor is a constant gives something else each time. */
    if (str_fits(type, "*Iterator*|*Dequeue*|*Reader*|*PyFunc*|*Random*|Multinomial|Enter|*While*"))
        return FROM_NEW;
    return 0;
}

static void spread(struct finder *finder, const struct op_ids *order)
{
    for (size_t i = 0; i < order->count; i++) {
        uint32_t      op = order->ids[i];
        struct op_ids producers = op_graph_producers(finder->graph, op);
        size_t        first = finder->graph->first_producer[op];

        finder->from[op] = source_of(finder, op);
        for (size_t j = 0; j < producers.count; j++)
            if (!finder->graph->producer_is_control[first + j])
                finder->from[op] |= finder->from[producers.ids[j]];
    }
}

/* Data that go in there are data of the model, not what its results are compared with. */
static bool is_layer(const struct finder *finder, uint32_t op)
{
    switch (op_class_of(type_of(finder, op))) {
    case OP_PRODUCT:
    case OP_CONVOLUTION:
    case OP_ATTENTION:
    case OP_CELL:
    case OP_GATHER:
    case OP_EMBEDDING:
    case OP_SCATTER:
    case OP_SLICE:
    case OP_ONE_HOT:
    case OP_SORT:
    case OP_DECOMPOSITION:
        return true;
    default:
        return false;
    }
}

/* What is fed is only compared with what is trained, which goes through layers of its own. */
static bool are_compared(const struct finder *finder)
{
    bool has_layers = false;

    for (uint32_t op = 0; op < finder->graph->vertex_count; op++) {
        if (!is_layer(finder, op) || graph_name_is_gradient(name_of(finder, op)))
            continue;
        if ((finder->from[op] & FROM_TRAINED) && (finder->from[op] & FROM_FED))
            return false;
        has_layers |= finder->from[op] & FROM_TRAINED;
    }
    return has_layers;
}

static bool is_found(const struct finder *finder, uint32_t op, bool is_target)
{
    enum op_class class = op_class_of(type_of(finder, op));
    uint8_t from = finder->from[op];

    if (class == OP_VARIABLE || class == OP_VIEW || class == OP_UPDATE || class == OP_LOG ||
        graph_name_is_gradient(name_of(finder, op)))
        return false;
    return from == FROM_KEPT || (is_target && (from & ~FROM_KEPT) == FROM_FED);
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    bool           is_target = are_compared(finder);
    double         found_ns = 0;
    uint32_t       cell = NO_ID;

    for (int round = 0; round < 2; round++) {
        for (size_t u = 0; u < ledger->units.count; u++) {
            struct work_unit *unit = &ledger->units.items[u];

            if (unit->kind != UNIT_OP || unit->op >= finder->graph->vertex_count ||
                !is_found(finder, unit->op, is_target))
                continue;
            found_ns += round == 0 ? unit->left_ns : 0;
            if (round == 0)
                continue;
            if (!ledger_cell_once(ledger, self, unit, &cell, "%s",
                                  is_target
                                      ? "of what is fed, and meets what is trained in no layer"
                                      : "of variables that nothing changes"))
                return false;
            ledger_claim(ledger, cell, unit, 1);
        }
        if (found_ns < LEAST_SHARE * ledger->total_ns)
            return true;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger,
                             .profile = ledger->study->profile,
                             .graph = ledger->study->profile->graph };
    struct op_ids order = { 0 };
    struct err    ignored = { 0 };
    bool          is_acyclic;

    if (!finder.graph ||
        (finder.profile->format != FORMAT_GRAPH && finder.profile->format != FORMAT_PROFILE))
        return true;
    finder.from = arena_new_array(ledger->scratch, uint8_t, finder.profile->ops.count + 1);
    if (!finder.from ||
        !op_graph_sort(finder.graph, ledger->scratch, &order, &is_acyclic, &ignored))
        return false;
    if (!is_acyclic) /* a loop: what goes round is not told from what stays */
        return true;
    spread(&finder, &order);
    return claim(&finder, self);
}

const struct detector detector_fixed_targets = { "fixed-targets", CAUSE_REPEAT, GRADE_SIZES, find };
