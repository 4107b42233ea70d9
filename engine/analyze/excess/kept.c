#include "analyze/excess/kept.h"

bool kept_is_argument(const struct waste *waste, uint32_t op)
{
    return op != NO_ID && waste_is(waste, op, "parameter") && !waste->profile->ops.items[op].caller;
}

/* What makes a result that is only copied, or laid out anew, on its way: in the same order. */
static uint32_t made_by(const struct waste *waste, uint32_t op)
{
    enum { FARTHEST = 32 };

    for (int i = 0; i < FARTHEST; i++) {
        struct op_ids from = op_graph_producers(waste->graph, op);

        if (waste->compiled->root[op] != NO_ID)
            op = waste->compiled->root[op];
        else if (from.count == 1 && waste_is(waste, op, "copy|bitcast|parameter"))
            op = from.ids[0];
        else
            break;
    }
    return op;
}

static bool have_same_shape(const struct waste *waste, uint32_t a, uint32_t b)
{
    const struct op *of_a = &waste->profile->ops.items[a], *of_b = &waste->profile->ops.items[b];
    const struct tensor *tensors = waste->profile->tensors.items;

    return of_a->output_count == 1 && of_b->output_count == 1 &&
           compiled_same_shape(&tensors[of_a->first_output], &tensors[of_b->first_output]);
}

/* The argument that a result is, or whose rows it has. false: out of memory. */
static bool look_at(const struct waste *waste, struct kept *kept, uint32_t result)
{
    uint32_t maker = made_by(waste, result), table = maker;

    if (waste_is(waste, maker, "gather")) {
        table = op_graph_operand(waste->graph, maker, 0);
        table = table == NO_ID ? NO_ID : made_by(waste, table);
    }
    if (!kept_is_argument(waste, table) || !have_same_shape(waste, table, result))
        return true;
    kept->is[table] |= table == maker ? KEPT_AS_IS : KEPT_MOVED;
    return table == maker || vec_push(&kept->moves, waste->ledger->scratch,
                                      ((struct kept_move) { table, maker, result }));
}

bool kept_find(const struct waste *waste, struct kept *kept)
{
    *kept = (struct kept) { .is = arena_new_array(waste->ledger->scratch, uint8_t,
                                                  waste->profile->ops.count + 1) };
    for (uint32_t op = 0; kept->is && op < waste->graph->vertex_count; op++) {
        struct op_ids results = { .ids = &op, .count = 1 };

        if (waste->profile->ops.items[op].caller || !compiled_is_root(waste->compiled, op))
            continue;
        if (waste_is(waste, op, "tuple"))
            results = op_graph_producers(waste->graph, op);
        for (size_t i = 0; i < results.count; i++)
            if (!look_at(waste, kept, results.ids[i]))
                return false;
    }
    return kept->is != NULL;
}
