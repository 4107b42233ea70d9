/* looped_items: tensors that are made one by one with a few small ops each, and then stacked: the
 * same ops on the stack would be started once. A network's layers are no items: they multiply, and
 * are trained where anything is; what blurs a picture or makes a spectrum multiplies as well, but
 * by no dense layer. A policy that is asked in rounds has those: what it sees next comes of what it
 * did. */
#include "analyze/excess/constants.h"

enum { FEWEST_ITEMS = 8, FEWEST_OPS = 3 /* for each item */ };
static const double SMALL_OP = 6; /* times the cost of starting one: the rest of it is work */

struct finder {
    struct ledger *ledger;
    uint32_t      *calls, *first; /* by row of profile->ops: since the last stack, and the first */
    bool          *is_constant;   /* by unit: makes what is the same for each item */
    bool          *is_way_back;   /* by unit: of the items at hand; all false in between */
};

static bool is_stack(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && unit->op != NO_ID &&
           str_equal(unit_type(ledger, unit), STR("aten::stack"));
}

/* A layer of a network, or what comes behind one. */
static bool is_network(const struct ledger *ledger, const struct work_unit *unit)
{
    if (unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION)
        return unit->is_trained || !ledger->has_backward ||
               str_fits(unit_type(ledger, unit), "*::linear|*::addmm");
    return unit->phase == UNIT_BACKWARD || unit->phase == UNIT_UPDATE ||
           unit->op_class == OP_ATTENTION || unit->op_class == OP_CELL ||
           unit->op_class == OP_NORMALISATION;
}

static void count_calls(struct finder *finder, uint32_t from, uint32_t end, bool is_undone)
{
    for (uint32_t u = from; u < end; u++) {
        uint32_t op = finder->ledger->units.items[u].op;

        if (finder->ledger->units.items[u].kind != UNIT_OP || op == NO_ID)
            continue;
        if (is_undone)
            finder->calls[op] = 0;
        else if (finder->calls[op]++ == 0)
            finder->first[op] = u;
    }
}

/* The first call of an op that comes once for each of the items. NO_ID: none does. */
static uint32_t loop_start(const struct finder *finder, uint32_t from, uint32_t end, uint32_t items)
{
    uint32_t ops = 0;

    for (uint32_t u = from; u < end; u++) {
        const struct work_unit *unit = &finder->ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op == NO_ID)
            continue;
        if (finder->calls[unit->op] != items || finder->first[unit->op] != u)
            continue;
        for (uint32_t i = u; i < end; i++)
            ops += finder->ledger->units.items[i].kind == UNIT_OP;
        return ops >= FEWEST_OPS * items ? u : NO_ID;
    }
    return NO_ID;
}

/* How many tensors a stack takes; where their shapes were not recorded, and Kineto leaves them out
 * of lists over 30, as often as the op right before it came since the last one. */
static uint32_t items_of(const struct finder *finder, uint32_t stack)
{
    const struct profile *profile = finder->ledger->study->profile;
    uint32_t known = profile->ops.items[finder->ledger->units.items[stack].op].input_count;

    if (known > 0)
        return known;
    for (uint32_t u = stack; u-- > 0;) {
        const struct work_unit *unit = &finder->ledger->units.items[u];

        if (unit->kind == UNIT_OP && unit->op != NO_ID && unit->op_class != OP_VIEW)
            return finder->calls[unit->op];
    }
    return 0;
}

/* Once for all items each op is still to be started, and a large one to be computed, but for what
 * is the same for all. */
static double share_of(const struct finder *finder, uint32_t u, uint32_t items)
{
    const struct ledger    *ledger = finder->ledger;
    const struct work_unit *unit = &ledger->units.items[u];
    double                  share = 1 - 1.0 / items;

    if (finder->is_constant[u])
        return share;
    if (unit->kind == UNIT_OP && unit->ns > SMALL_OP * ledger->start_ns)
        return share * SMALL_OP * ledger->start_ns / unit->ns;
    return unit->kind == UNIT_OTHER ? 0 : share;
}

/* Each item has nodes of its own in the backward pass, too. */
static bool claim_way_back(struct finder *finder, uint32_t cell, uint32_t from, uint32_t end,
                           uint32_t items)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       step_end = ledger->first_unit[ledger->units.items[from].step + 1];

    if (!units_mark_backward(ledger, from, end - 1, finder->is_way_back))
        return false;
    for (uint32_t u = end; u < step_end; u++) {
        if (finder->is_way_back[u])
            ledger_claim(ledger, cell, &ledger->units.items[u], share_of(finder, u, items));
        finder->is_way_back[u] = false;
    }
    return true;
}

static bool claim(struct finder *finder, const struct detector *self, uint32_t from, uint32_t end,
                  uint32_t items, uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    if (!ledger_cell_once(ledger, self, &ledger->units.items[from], cell,
                          "%u tensors are made one by one and stacked", items))
        return false;
    for (uint32_t u = from; u < end; u++)
        ledger_claim(ledger, *cell, &ledger->units.items[u], share_of(finder, u, items));
    return !ledger->has_backward || claim_way_back(finder, *cell, from, end, items);
}

static bool look_at_step(struct finder *finder, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       from = ledger->first_unit[step];

    for (uint32_t u = from; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        uint32_t                items, start;

        if (is_network(ledger, unit))
            from = u + 1;
        if (!is_stack(ledger, unit))
            continue;
        count_calls(finder, from, u, false);
        items = items_of(finder, u);
        start = items < FEWEST_ITEMS ? NO_ID : loop_start(finder, from, u, items);
        count_calls(finder, from, u, true);
        if (start != NO_ID && !claim(finder, self, start, u, items, cell))
            return false;
        from = u + 1;
    }
    return true;
}

static bool mark_constants(struct finder *finder)
{
    struct ledger   *ledger = finder->ledger;
    struct constants constants;

    finder->is_constant = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    if (!finder->is_constant || !constants_find(ledger, &constants))
        return false;
    for (size_t i = 0; i < constants.rows.count; i++)
        for (uint32_t u = constants.rows.items[i].first; u < constants.rows.items[i].end; u++)
            finder->is_constant[u] = ledger->units.items[u].kind == UNIT_OP;
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    size_t        ops = ledger->study->profile->ops.count;
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch)
        return true;
    finder.calls = arena_new_array(ledger->scratch, uint32_t, ops + 1);
    finder.first = arena_new_array(ledger->scratch, uint32_t, ops + 1);
    finder.is_way_back = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    if (!finder.calls || !finder.first || !finder.is_way_back || !mark_constants(&finder))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(&finder, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_looped_items = { "gathered-items", CAUSE_DISPATCH, GRADE_STRUCTURE,
                                                find };
