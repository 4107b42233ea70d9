/* gathered_weights: for each row of a batch a matrix is copied out of a table of few, and the copy
 * multiplied with that one row. Rows that are put together by the matrix they need take each matrix
 * once, as it lies in the table, and multiply it with all of their rows; the gradients of the
 * copies, which are added up in a table again, go with them. */
#include "analyze/excess/waste.h"
#include "base/macros.h"

static const double LEAST_SHARE = 0.03; /* of the steps */
static const double LEAST_COPIES = 2;   /* of each matrix */
static const double MOST_ROWS = 4;      /* that a copy is multiplied with */
static const double LEAST_KEPT = 0.1;   /* of the products: what they take when put together */

struct copies {
    uint32_t             gather;
    const struct tensor *table;
    double               count, matrices; /* copies, and matrices in the table */
};

/* The last two axes of both are the same. */
static bool same_matrices(const struct tensor *a, const struct tensor *b)
{
    return a->rank >= 2 && b->rank >= 2 && a->dims[a->rank - 1] == b->dims[b->rank - 1] &&
           a->dims[a->rank - 2] == b->dims[b->rank - 2];
}

/* Whether an operand is whole matrices picked from a table that is there before the step. */
static bool read_copies(const struct waste *waste, uint32_t operand, struct copies *copies)
{
    uint32_t             gather = compiled_maker(waste->compiled, operand);
    struct op_ids        producers = op_graph_producers(waste->graph, gather);
    const struct tensor *made = compiled_result(waste->compiled, gather), *table;

    if (!waste_is(waste, gather, "gather") || !producers.count || !made)
        return false;
    table = compiled_result(waste->compiled, compiled_maker(waste->compiled, producers.ids[0]));
    if (!waste_is(waste, compiled_maker(waste->compiled, producers.ids[0]), "parameter") ||
        !table || table->rank != 3 || table->dims[0] < 2 || table->dims[1] < 2 ||
        table->dims[2] < 2 || !same_matrices(table, made))
        return false;
    *copies =
        (struct copies) { gather, table,
                          tensor_elements(made) / ((double)table->dims[1] * (double)table->dims[2]),
                          (double)table->dims[0] };
    return copies->count >= LEAST_COPIES * copies->matrices;
}

static double kept_of(const struct copies *copies)
{
    double kept = copies->matrices / copies->count;

    return kept > LEAST_KEPT ? kept : LEAST_KEPT;
}

/* A product of each copy with a few rows of its own: numbers of it over what a row gives. */
static bool is_of_few_rows(const struct waste *waste, uint32_t dot, uint32_t operand,
                           const struct copies *copies)
{
    double made = compiled_elements(waste->compiled, dot);
    double inner = made > 0 ? (double)waste->profile->ops.items[dot].flops / 2 / made : 0;
    double of_copy = compiled_elements(waste->compiled, operand) / copies->count;
    double columns = inner > 0 ? of_copy / inner : 0;

    return columns > 0 && made <= MOST_ROWS * columns * copies->count;
}

/* Gradients of the copies, a product of a row with a row each, that are added up in a table. */
static void mark_gradients(struct waste *waste, const struct copies *copies)
{
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        struct op_ids        producers;
        const struct tensor *shape;
        uint32_t             made;

        if (waste->profile->ops.items[op].program !=
                waste->profile->ops.items[copies->gather].program ||
            !waste_is(waste, op, "scatter"))
            continue;
        producers = op_graph_producers(waste->graph, op);
        shape = compiled_result(waste->compiled, op);
        if (producers.count != 3 || !shape || !same_dims(shape, copies->table))
            continue;
        made = compiled_maker(waste->compiled, producers.ids[2]);
        if (!waste_is(waste, made, "dot|multiply"))
            continue;
        waste_mark(waste, op, 1);
        waste_mark(waste, made, 1 - kept_of(copies));
    }
}

static void look(struct waste *waste, uint32_t dot)
{
    struct op_ids producers = op_graph_producers(waste->graph, dot);
    struct copies copies;

    for (size_t i = 0; i < producers.count; i++) {
        if (!read_copies(waste, producers.ids[i], &copies) ||
            !is_of_few_rows(waste, dot, producers.ids[i], &copies))
            continue;
        waste_mark(waste, copies.gather, 1);
        waste_mark(waste, dot, 1 - kept_of(&copies));
        mark_gradients(waste, &copies);
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;

    if (!waste_open(&waste, ledger))
        return false;
    for (uint32_t op = 0; waste.graph && op < waste.graph->vertex_count; op++)
        if (waste_is(&waste, op, "dot") && waste_calls(&waste, op) > 0)
            look(&waste, op);
    return !waste.graph || waste_claim(&waste, self, LEAST_SHARE,
                                       "a matrix copied for each row that is multiplied with it");
}

const struct detector detector_gathered_weights = { "gathered-weights", CAUSE_BYTES,
                                                    GRADE_STRUCTURE, find };
