/* gathered_items: a batch put together from many small tensors, one a sample: stack or cat of
 * dozens of operands, with the small ops that make or look at each of them just before. */
#include "analyze/excess/ledger.h"

enum { FEWEST_ITEMS = 32 };
static const double GATHER_SHARE = 0.9; /* of the op: a copy of one tensor remains */
static const double SMALL_OP = 6;       /* times the cost of starting one */

/* Long lists are recorded without shapes: the ops inside, one an operand, tell how many. */
static uint32_t operand_count(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct path    *path = ledger->path;
    const struct profile *profile = ledger->study->profile;
    uint32_t              recorded =
        unit->op == NO_ID ? 0 : ledger->study->profile->ops.items[unit->op].input_count;
    uint32_t inside = 0, first;

    if (unit->frame + 1 >= path->frames.count)
        return recorded;
    first = event_activity_id(profile, path->frames.items[unit->frame + 1].event);

    for (uint32_t f = unit->frame + 1; f < path->frames.count; f++) {
        if (event_start_ns(profile, path->frames.items[f].event) >= unit->end_ns)
            break;
        inside += path->frames.items[f].parent == unit->frame &&
                  event_activity_id(profile, path->frames.items[f].event) == first;
    }
    return inside > recorded ? inside : recorded;
}

/* Small ops of one type in a row, other than products: looked at one by one. */
static uint32_t equal_run(const struct ledger *ledger, uint32_t at, uint32_t end)
{
    const struct work_unit *first = &ledger->units.items[at];
    uint32_t                u = at, count = 0;

    for (; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP)
            continue;
        if (unit->type != first->type || unit->phase != UNIT_FORWARD ||
            unit->ns > SMALL_OP * ledger->start_ns)
            break;
        count++;
    }
    return count >= FEWEST_ITEMS ? u : at;
}

static bool open_cell(struct ledger *ledger, const struct detector *self,
                      const struct work_unit *unit, uint32_t items, uint32_t *cell)
{
    if (*cell != NO_ID)
        return true;
    *cell = ledger_cell(ledger, self, unit);
    return *cell != NO_ID && ledger_tell(ledger, *cell, "%s of %u small tensors",
                                         unit_type(ledger, unit).data, items);
}

static bool look_at_step(struct ledger *ledger, const struct detector *self, uint32_t first,
                         uint32_t end, uint32_t *cell)
{
    bool gathers = false;

    for (uint32_t u = first; u < end; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        uint32_t          count;

        if (unit->kind != UNIT_OP || unit->phase != UNIT_FORWARD || unit->op_class != OP_CONCAT)
            continue;
        count = operand_count(ledger, unit);
        if (count < FEWEST_ITEMS)
            continue;
        if (!open_cell(ledger, self, unit, count, cell))
            return false;
        ledger_claim(ledger, *cell, unit, GATHER_SHARE);
        gathers = true;
    }
    for (uint32_t u = first; gathers && u < end; u++) {
        uint32_t behind = ledger->units.items[u].kind == UNIT_OP ? equal_run(ledger, u, end) : u;

        for (uint32_t i = u; i < behind; i++)
            ledger_claim(ledger, *cell, &ledger->units.items[i], 1 - 1.0 / (behind - u));
        if (behind > u)
            u = behind - 1;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    for (size_t step = 0; ledger->is_torch && step < ledger->step_count; step++)
        if (!look_at_step(ledger, self, ledger->first_unit[step], ledger->first_unit[step + 1],
                          &cell))
            return false;
    return true;
}

const struct detector detector_gathered_items = { "gathered-items", CAUSE_DISPATCH, GRADE_STRUCTURE,
                                                  find };
