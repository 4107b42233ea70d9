/* kept_graph: ops of the backward pass that are recorded for another one, which never comes: what
 * create_graph=True asks for, and nothing differentiates the gradients. An op that autograd records
 * has a number, and the node that goes back through it has the same. Recorded, formulas that have
 * an op of their own are spelled out in several, so that each can be differentiated.
 */
#include "analyze/excess/ledger.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

static const double RECORD_NS = 4e3; /* making the node, keeping its inputs, freeing both */
static const double MOST_OF_OP = 0.35;
enum { FEWEST_RECORDED = 8 }; /* a step; and of all ops of the pass, at least half */

struct finder {
    struct ledger *ledger;
    VEC(int64_t) recorded; /* numbers of ops below nodes, in order */
    uint32_t ops;          /* below nodes */
};

static bool is_recorded(const struct ledger *ledger, const struct work_unit *unit, int64_t *number)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_BACKWARD && unit->node != NO_ID &&
           unit->frame != NO_ID &&
           ledger_sequence(ledger, ledger->path->frames.items[unit->frame].event, number);
}

static bool list_recorded(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;
    int64_t        number;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        finder->ops += unit->kind == UNIT_OP && unit->phase == UNIT_BACKWARD && unit->node != NO_ID;
        if (is_recorded(ledger, unit, &number) &&
            !vec_push(&finder->recorded, ledger->scratch, number))
            return false;
    }
    if (finder->recorded.count)
        qsort(finder->recorded.items, finder->recorded.count, sizeof *finder->recorded.items,
              sort_by_int64);
    return true;
}

/* A node has the number of an op below a node: gradients of gradients are taken. */
static bool is_walked(const struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;
    uint32_t             last = NO_ID;
    int64_t              number;

    for (size_t u = 0; u < ledger->units.count; u++) {
        uint32_t node = ledger->units.items[u].node;

        if (node == NO_ID || node == last)
            continue;
        last = node;
        if (finder->recorded.count && ledger_sequence(ledger, node, &number) &&
            bsearch(&number, finder->recorded.items, finder->recorded.count, sizeof number,
                    sort_by_int64))
            return true;
    }
    return false;
}

/* "autograd::engine::evaluate_function: SiluBackward0" */
static bool is_of_activation(const struct ledger *ledger, uint32_t node)
{
    const struct profile *profile = ledger->study->profile;
    struct str            name = profile_str(profile, event_activity(profile, node)->name);
    size_t                space = str_find_last(name, ' ');

    name = str_slice(name, space < name.len ? space + 1 : 0, name.len);
    for (size_t end = 1; end < name.len; end++)
        if (str_starts(str_slice(name, end, name.len), STR("Backward")))
            return op_class_of(str_slice(name, 0, end)) == OP_ACTIVATION;
    return false;
}

/* The longest op of units [first, end), which are of one node, that is recorded. NO_ID: none is. */
static uint32_t longest_of(const struct ledger *ledger, uint32_t first, uint32_t end)
{
    uint32_t longest = NO_ID;
    int64_t  number;

    for (uint32_t u = first; u < end; u++)
        if (is_recorded(ledger, &ledger->units.items[u], &number) &&
            (longest == NO_ID || ledger->units.items[u].ns > ledger->units.items[longest].ns))
            longest = u;
    return longest;
}

/* Of a formula that is spelled out the longest op stays: one pass over the tensor. */
static void claim_node(struct ledger *ledger, uint32_t first, uint32_t end, uint32_t longest,
                       uint32_t cell)
{
    bool    is_spelled_out = is_of_activation(ledger, ledger->units.items[longest].node);
    int64_t number;

    for (uint32_t u = first; u < end; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (is_spelled_out && u != longest && unit_goes_with_ops(unit))
            ledger_claim(ledger, cell, unit, 1);
        else if (is_recorded(ledger, unit, &number) && unit->ns > 0)
            ledger_claim(ledger, cell, unit, fmin(MOST_OF_OP, RECORD_NS / unit->ns));
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID, end;

    if (!ledger->is_torch || !ledger->has_backward || ledger->is_of_device)
        return true;
    if (!list_recorded(&finder))
        return false;
    if (finder.recorded.count < FEWEST_RECORDED * ledger->step_count ||
        2 * finder.recorded.count < finder.ops || is_walked(&finder))
        return true;
    for (uint32_t u = 0; u < ledger->units.count; u = end) {
        uint32_t node = ledger->units.items[u].node, longest;

        end = u + 1;
        if (node == NO_ID)
            continue;
        while (end < ledger->units.count && ledger->units.items[end].node == node)
            end++;
        longest = longest_of(ledger, u, end);
        if (longest == NO_ID)
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[longest], &cell,
                              "%zu ops of the backward pass are recorded for another one, and no "
                              "node goes back through them",
                              finder.recorded.count))
            return false;
        claim_node(ledger, u, end, longest, cell);
    }
    return true;
}

const struct detector detector_kept_graph = { "kept-graph", CAUSE_UNUSED, GRADE_STRUCTURE, find };
