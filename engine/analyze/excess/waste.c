#include "analyze/excess/waste.h"
#include "analyze/path/path.h"

/* What a reduction calls may be shared with others: then what it was made from tells. */
static bool find_sums(struct waste *waste)
{
    bool *adds = arena_new_array(waste->ledger->scratch, bool, waste->profile->ops.count + 1);

    for (uint32_t op = 0; adds && op < waste->graph->vertex_count; op++) {
        uint32_t   caller = waste->profile->ops.items[op].caller;
        struct str origin = profile_str(waste->profile, waste->profile->ops.items[op].origin);

        if (caller && compiled_is_type(waste->compiled, caller - 1, "reduce") &&
            compiled_is_type(waste->compiled, op, "add"))
            adds[caller - 1] = true;
        if (compiled_is_type(waste->compiled, op, "reduce") && str_ends(origin, STR("/reduce_sum")))
            adds[op] = true;
    }
    waste->ledger->adds = adds;
    return adds != NULL;
}

bool waste_open(struct waste *waste, struct ledger *ledger)
{
    const struct profile *profile = ledger->study->profile;
    size_t                count = profile->ops.count + 1;

    *waste = (struct waste) { .ledger = ledger,
                              .compiled = &ledger->compiled,
                              .profile = profile,
                              .graph = profile->format == FORMAT_XSPACE ? profile->graph : NULL };
    if (!waste->graph)
        return true;
    waste->share = arena_new_array(ledger->scratch, double, count);
    waste->calls = arena_new_array(ledger->scratch, double, count);
    waste->ns = arena_new_array(ledger->scratch, double, count);
    if (!waste->share || !waste->calls || !waste->ns || (!ledger->adds && !find_sums(waste)))
        return false;
    waste->adds = ledger->adds;
    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op == NO_ID)
            continue;
        waste->calls[unit->op]++;
        waste->ns[unit->op] += unit->left_ns;
    }
    return true;
}

bool waste_is(const struct waste *waste, uint32_t op, const char *types)
{
    return compiled_is_type(waste->compiled, op, types);
}

bool waste_is_constant(const struct waste *waste, uint32_t op)
{
    return op != NO_ID && !waste->compiled->from[op];
}

void waste_mark(struct waste *waste, uint32_t op, double share)
{
    if (share > waste->share[op])
        waste->share[op] = share < 1 ? share : 1;
}

double waste_calls(const struct waste *waste, uint32_t op)
{
    return waste->calls[compiled_timed(waste->compiled, op)];
}

/* By op with time of its own: what part of its work the marked instructions in it are. */
static double *sum_shares(struct waste *waste)
{
    const struct compiled *compiled = waste->compiled;
    size_t                 count = waste->profile->ops.count;
    double                *sums = arena_new_array(waste->ledger->scratch, double, count + 1);

    for (uint32_t op = 0; sums && op < count; op++) {
        uint32_t timed;

        if (waste->share[op] <= 0 || (compiled->root[op] != NO_ID && compiled_holds(compiled, op)))
            continue;
        timed = compiled_timed(compiled, op);
        if (timed == op)
            sums[op] = waste->share[op];
        else if (compiled_works(compiled, op) && compiled->weight[timed] > 0)
            sums[timed] += waste->share[op] * compiled->weight[op] / compiled->weight[timed];
        else if (compiled->weight[timed] <= 0 && compiled->root[timed] == op) /* it only spreads */
            sums[timed] = waste->share[op];
    }
    return sums;
}

/* Between the instructions lies what starting and waiting for them takes: it goes with them. */
static bool is_between(const struct work_unit *unit)
{
    return unit->kind != UNIT_OP && unit->part == PART_COMPUTE;
}

bool waste_claim(struct waste *waste, const struct detector *self, double least_share,
                 const char *detail)
{
    struct ledger *ledger = waste->ledger;
    double        *shares = sum_shares(waste), ns = 0, all_ns = 0, most_ns = 0;
    uint32_t       cell, most = 0;

    if (!shares)
        return false;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        all_ns += unit->kind == UNIT_OP ? unit->left_ns : 0;
        if (unit->kind != UNIT_OP || unit->op == NO_ID || shares[unit->op] <= 0)
            continue;
        ns += unit->left_ns * shares[unit->op];
        if (unit->left_ns * shares[unit->op] > most_ns)
            most_ns = unit->left_ns * shares[unit->op], most = u;
    }
    if (ns <= 0 || ns < least_share * ledger->total_ns)
        return true;
    cell = ledger_cell(ledger, self, &ledger->units.items[most]);
    if (cell == NO_ID || !ledger_tell(ledger, cell, "%s", detail))
        return false;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP && unit->op != NO_ID)
            ledger_claim(ledger, cell, unit, shares[unit->op] < 1 ? shares[unit->op] : 1);
        else if (is_between(unit))
            ledger_claim(ledger, cell, unit, ns / all_ns);
    }
    return true;
}
