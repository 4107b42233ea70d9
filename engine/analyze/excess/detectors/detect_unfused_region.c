/* unfused_region: ops of compiled code that ran one by one, because the backend that it was
 * compiled for runs the graph as it is. One that fuses leaves products and its own kernels there:
 * of a row of ops which pass over their operands one after the other, one pass remains, the
 * longest.
 */
#include "analyze/excess/ledger.h"

enum { FEWEST_OPS = 8 }; /* a step; a few have no form that can be fused */
enum { NAME_UNKNOWN, NAME_PLAIN, NAME_COMPILED, NAME_REGION, NAME_GRAPH };

struct finder {
    struct ledger         *ledger;
    const struct detector *self;
    uint8_t               *role;      /* by name of the profile: NAME_… */
    uint32_t               cell, ops; /* in rows */
};
struct row {
    uint32_t first, last, longest, ops; /* units */
    uint32_t region;                    /* frame; NO_ID: no row is open */
    double   ns;
};

static uint8_t role_of(struct finder *finder, uint32_t name)
{
    struct str text;

    if (finder->role[name] != NAME_UNKNOWN)
        return finder->role[name];
    text = profile_str(finder->ledger->study->profile, name);
    finder->role[name] = str_fits(text, "CompiledFunction|CompiledFunctionBackward") ? NAME_COMPILED
                         : str_starts(text, STR("Torch-Compiled Region"))            ? NAME_REGION
                         : str_starts(text, STR("<eval_with_key>"))                  ? NAME_GRAPH
                                                                                     : NAME_PLAIN;
    return finder->role[name];
}

/* The frame of the compiled function that an op ran in; without gradients there is none, and stacks
 * of Python tell: Dynamo's graph, called by code that it compiled. NO_ID: in neither. */
static uint32_t region_of(struct finder *finder, const struct work_unit *unit)
{
    const struct path *path = finder->ledger->path;
    uint32_t           graph = NO_ID;

    for (uint32_t f = unit->frame; f != NO_ID; f = path->frames.items[f].parent) {
        uint32_t event = path->frames.items[f].event;
        uint8_t role = role_of(finder, event_activity(finder->ledger->study->profile, event)->name);

        if (role == NAME_COMPILED || (role == NAME_REGION && graph != NO_ID))
            return role == NAME_COMPILED ? f : graph;
        if (role == NAME_GRAPH)
            graph = f;
    }
    return NO_ID;
}

static bool is_pass(const struct work_unit *unit)
{
    switch (unit->op_class) {
    case OP_ELEMENTWISE:
    case OP_ACTIVATION:
    case OP_REDUCE:
    case OP_SOFTMAX:
    case OP_CAST:
        return true;
    default:
        return false;
    }
}

static bool close_row(struct finder *finder, struct row *row, bool is_claimed)
{
    struct ledger          *ledger = finder->ledger;
    const struct work_unit *longest = &ledger->units.items[row->longest];
    uint32_t                region = row->region;

    row->region = NO_ID;
    if (region == NO_ID || row->ops < 2 || row->ns <= longest->ns)
        return true;
    if (!is_claimed) {
        finder->ops += row->ops;
        return true;
    }
    if (!ledger_cell_once(ledger, finder->self, longest, &finder->cell,
                          "%zu ops of compiled code a step ran one by one, and pass over what "
                          "the one before made",
                          finder->ops / ledger->step_count))
        return false;
    ledger_claim_ops(ledger, finder->cell, row->first, row->last, 1 - longest->ns / row->ns);
    return true;
}

static void open_row(struct row *row, uint32_t unit, uint32_t region)
{
    *row = (struct row) { .first = unit, .longest = unit, .region = region };
}

static bool look_at_rows(struct finder *finder, bool is_claimed)
{
    const struct ledger *ledger = finder->ledger;
    struct row           row = { .region = NO_ID };

    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        uint32_t                region;

        if (unit->kind != UNIT_OP || unit->op_class == OP_VIEW)
            continue;
        region = is_pass(unit) ? region_of(finder, unit) : NO_ID;
        if (region != row.region && !close_row(finder, &row, is_claimed))
            return false;
        if (region == NO_ID)
            continue;
        if (row.region == NO_ID)
            open_row(&row, u, region);
        row.last = u;
        row.ops++;
        row.ns += unit->ns;
        if (unit->ns > ledger->units.items[row.longest].ns)
            row.longest = u;
    }
    return close_row(finder, &row, is_claimed);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .self = self, .cell = NO_ID };

    if (!ledger->is_torch || ledger->is_of_device)
        return true;
    finder.role =
        arena_new_array(ledger->scratch, uint8_t, (size_t)ledger->study->profile->names.count + 1);
    if (!finder.role || !look_at_rows(&finder, false))
        return false;
    return finder.ops < FEWEST_OPS * ledger->step_count || look_at_rows(&finder, true);
}

const struct detector detector_unfused_region = { "unfused-region", CAUSE_BYTES, GRADE_STRUCTURE,
                                                  find };
