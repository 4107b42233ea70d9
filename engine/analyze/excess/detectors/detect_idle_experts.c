/* idle_experts: for each row a few of several experts are picked, and yet each expert works on all
 * rows: the weights of the others are zeros. */
#include "analyze/excess/ledger.h"

enum { FEWEST_EXPERTS = 3, NEAR = 24 /* units from picking to where the weights are put */ };

struct routing {
    uint32_t at, last; /* units: where the weights are put, and the last product of an expert */
    int64_t  rows, experts, picked;
};

/* The largest of each row, put back among zeros, or made one-hot. */
static bool find_routing(const struct ledger *ledger, uint32_t top, uint32_t end,
                         struct routing *routing)
{
    const struct work_unit *units = ledger->units.items;
    const struct tensor    *from = unit_input(ledger, &units[top], 0);

    if (units[top].op_class != OP_SORT || !from || from->rank < 2 || tensor_count(from) <= 0)
        return false;
    *routing = (struct routing) { .experts = from->dims[from->rank - 1] };
    routing->rows = tensor_count(from) / routing->experts;
    for (uint32_t u = top + 1; u < end && u <= top + NEAR; u++) {
        bool                 is_one_hot = units[u].op_class == OP_ONE_HOT;
        const struct tensor *ids;

        if (!is_one_hot && units[u].op_class != OP_SCATTER)
            continue;
        ids = unit_input(ledger, &units[u], is_one_hot ? 0 : 1);
        for (uint32_t row = 2; !is_one_hot && ids && ids->rank < 2; row++)
            ids = unit_input(ledger, &units[u], row);
        routing->at = u;
        routing->picked = ids && ids->rank ? tensor_count(ids) / routing->rows : 0;
        return routing->picked > 0 && routing->picked * routing->rows == tensor_count(ids) &&
               routing->picked < routing->experts;
    }
    return false;
}

/* As many products alike as there are experts, each over all rows. */
static bool find_experts(const struct ledger *ledger, uint32_t end, struct routing *routing)
{
    const struct work_unit *units = ledger->units.items;

    for (uint32_t u = routing->at + 1; u < end; u++) {
        const struct tensor *rows = unit_left(ledger, &units[u]);
        int64_t              alike = 0;

        if (units[u].op_class == OP_SORT && u > routing->at + 1)
            break;
        if (!unit_is_forward_product(&units[u]) || !rows || rows->rank < 2 ||
            tensor_count(rows) != routing->rows * rows->dims[rows->rank - 1])
            continue;
        for (uint32_t other = u; other < end && alike < routing->experts; other++) {
            if (units[other].op_class == OP_SORT || units[other].phase != UNIT_FORWARD)
                break;
            if (!unit_is_forward_product(&units[other]) || units[other].op != units[u].op)
                continue;
            alike++;
            routing->last = other > routing->last ? other : routing->last;
        }
        if (alike < routing->experts)
            break;
    }
    return routing->last > routing->at;
}

static bool claim(struct ledger *ledger, const struct detector *self, const struct routing *routing,
                  uint32_t *cell)
{
    bool    *marks = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    uint32_t end = ledger->first_unit[ledger->units.items[routing->at].step + 1];

    if (!marks || !units_mark_backward(ledger, routing->at + 1, routing->last, marks))
        return false;
    for (uint32_t u = routing->at + 1; u <= routing->last; u++)
        marks[u] = ledger->units.items[u].kind == UNIT_OP;
    if (!ledger_cell_once(ledger, self, &ledger->units.items[routing->last], cell,
                          "%lld of %lld experts are picked, and all work on all rows",
                          (long long)routing->picked, (long long)routing->experts))
        return false;
    for (uint32_t u = routing->at + 1; u < end; u++)
        if (marks[u])
            ledger_claim(ledger, *cell, &ledger->units.items[u],
                         1 - (double)routing->picked / (double)routing->experts);
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        struct routing routing;
        uint32_t       end = ledger->first_unit[ledger->units.items[u].step + 1];

        if (ledger->units.items[u].kind == UNIT_OP && find_routing(ledger, u, end, &routing) &&
            routing.experts >= FEWEST_EXPERTS && find_experts(ledger, end, &routing) &&
            !claim(ledger, self, &routing, &cell))
            return false;
    }
    return true;
}

const struct detector detector_idle_experts = { "idle-experts", CAUSE_UNUSED, GRADE_SIZES, find };
