/* batch_work: what a step that trains makes of its batch alone, before any weight is taken: graphs
 * of neighbours, distances, transforms, features. Where the same examples come again it is made
 * again of each. */
#include "analyze/excess/waste.h"

static const double LEAST_SHARE =
    0.15; /* of the steps: a little is what any step does to a batch */

struct finder {
    struct waste waste;
    bool        *trains;  /* by name of the profile: a program that goes back to its weights */
    bool        *is_else; /* by op: drawn, or made by products, which others look at */
};

static bool is_other_work(const struct finder *finder, uint32_t op)
{
    switch (finder->waste.compiled->op_class[op]) {
    case OP_RANDOM:
    case OP_PRODUCT:
    case OP_CONVOLUTION:
    case OP_COLLECTIVE:
    case OP_CALLBACK:
        return true;
    default:
        return false;
    }
}

/* Until nothing changes. */
static void spread(struct finder *finder)
{
    enum { MOST_ROUNDS = 32 };
    const struct waste *waste = &finder->waste;
    bool                has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
            struct op_ids from = op_graph_producers(waste->graph, op);
            uint32_t      root = waste->compiled->root[op];
            bool          is_else = finder->is_else[op] || is_other_work(finder, op) ||
                           (root != NO_ID && finder->is_else[root]);

            for (size_t i = 0; i < from.count; i++)
                is_else |= finder->is_else[from.ids[i]];
            has_changed |= is_else != finder->is_else[op];
            finder->is_else[op] = is_else;
        }
    }
}

static void find_training(struct finder *finder)
{
    const struct profile *profile = finder->waste.profile;

    for (uint32_t op = 0; op < profile->ops.count; op++)
        if (str_contains(profile_str(profile, profile->ops.items[op].origin),
                         STR("transpose(jvp(")))
            finder->trains[profile->ops.items[op].program] = true;
}

/* By unit: whether its op is such work. */
static double mark(const struct finder *finder, bool *marks)
{
    const struct ledger  *ledger = finder->waste.ledger;
    const struct profile *profile = ledger->study->profile;
    double                ns = 0;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op == NO_ID || finder->is_else[unit->op] ||
            finder->waste.compiled->from[unit->op] != FROM_INPUT)
            continue;
        marks[u] = finder->trains[profile->ops.items[unit->op].program];
        ns += marks[u] ? unit->left_ns : 0;
    }
    return ns;
}

static bool claim(const struct finder *finder, const struct detector *self, const bool *marks)
{
    struct ledger    *ledger = finder->waste.ledger;
    struct work_unit *largest = NULL;
    uint32_t          cell;

    for (size_t u = 0; u < ledger->units.count; u++)
        if (marks[u] && (!largest || ledger->units.items[u].left_ns > largest->left_ns))
            largest = &ledger->units.items[u];
    cell = largest ? ledger_cell(ledger, self, largest) : NO_ID;
    if (cell == NO_ID ||
        !ledger_tell(ledger, cell, "made of the batch alone, before any weight is taken"))
        return false;
    for (size_t u = 0; u < ledger->units.count; u++)
        if (marks[u])
            ledger_claim(ledger, cell, &ledger->units.items[u], 1);
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { 0 };
    bool         *marks;

    if (!ledger_is_jax(ledger))
        return true;
    if (!waste_open(&finder.waste, ledger))
        return false;
    if (!finder.waste.graph)
        return true;
    finder.is_else = arena_new_array(ledger->scratch, bool, ledger->study->profile->ops.count + 1);
    finder.trains = arena_new_array(ledger->scratch, bool, ledger->study->profile->names.count + 1);
    marks = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    if (!finder.is_else || !finder.trains || !marks)
        return false;
    find_training(&finder);
    spread(&finder);
    return mark(&finder, marks) < LEAST_SHARE * ledger->total_ns || claim(&finder, self, marks);
}

const struct detector detector_batch_work = { "batch-work", CAUSE_REPEAT, GRADE_SIZES, find };
