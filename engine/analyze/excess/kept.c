#include "analyze/excess/kept.h"

bool kept_is_argument(const struct waste *waste, uint32_t op)
{
    return op != NO_ID && waste_is(waste, op, "parameter") && !waste->profile->ops.items[op].caller;
}

/* The argument that a result is, or whose rows it has; NO_ID: it is another array. */
static bool look_at(const struct waste *waste, struct kept *kept, uint32_t result)
{
    uint32_t maker = compiled_maker(waste->compiled, result), table;

    if (kept_is_argument(waste, maker)) {
        kept->is[maker] |= KEPT_AS_IS;
        return true;
    }
    if (!waste_is(waste, maker, "gather") ||
        (table = op_graph_operand(waste->graph, maker, 0)) == NO_ID)
        return true;
    table = compiled_maker(waste->compiled, table);
    if (!kept_is_argument(waste, table) ||
        compiled_elements(waste->compiled, table) != compiled_elements(waste->compiled, maker))
        return true;
    kept->is[table] |= KEPT_MOVED;
    return vec_push(&kept->moves, waste->ledger->scratch,
                    ((struct kept_move) { table, maker, result }));
}

bool kept_find(const struct waste *waste, struct kept *kept)
{
    *kept = (struct kept) { .is = arena_new_array(waste->ledger->scratch, uint8_t,
                                                  waste->profile->ops.count + 1) };
    for (uint32_t op = 0; kept->is && op < waste->graph->vertex_count; op++) {
        struct op_ids results = op_graph_producers(waste->graph, op);

        if (waste->profile->ops.items[op].caller || !compiled_is_root(waste->compiled, op))
            continue;
        for (size_t i = 0; i < results.count; i++)
            if (!look_at(waste, kept, results.ids[i]))
                return false;
    }
    return kept->is != NULL;
}
