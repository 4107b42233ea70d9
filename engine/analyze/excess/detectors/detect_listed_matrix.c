/* listed_matrix: rows are looked up for each entry of a matrix that is listed one by one (its row,
 * its column and a number), scaled and added up to where they go, though a good part of all entries
 * is listed: a product with the whole matrix, zeros and all, is a few times quicker for each. So do
 * sparse formats of matrices that are hardly sparse, and graphs in which most nodes meet. */
#include "analyze/excess/linear.h"

#include <stdio.h>

static const double LEAST_SHARE = 0.05; /* of the steps */
static const double LEAST_FULL = 0.08;  /* of the matrix, listed */
static const double DENSE_COST = 0.04; /* an entry of a product, over a listed one's three passes */
static const double MOST_ENTRIES = 2e7; /* of a matrix that is made whole */
static const double LEAST_NUMBERS = 8;  /* of a row: less is no work for a product */

enum { DEEPEST = 12 };
struct finder {
    struct waste *waste;
    uint32_t      between[DEEPEST]; /* what is done to each row on its way */
    size_t        count;
    double        listed, entries; /* of the matrix that is multiplied most */
};

static const struct tensor *table_of(const struct waste *waste, uint32_t gather)
{
    const struct op *row = &waste->profile->ops.items[gather];

    return row->input_count ? &waste->profile->tensors.items[row->first_input] : NULL;
}

/* How many rows an array has of which one for each of `listed` numbers makes `elements`; 0: they
 * are no whole rows. */
static int64_t rows_of(const struct tensor *array, double listed, double elements)
{
    for (int axis = 0; array && axis < array->rank; axis++)
        if (array->dims[axis] > 1 && listed >= (double)array->dims[axis] &&
            tensor_elements(array) / (double)array->dims[axis] * listed == elements)
            return array->dims[axis];
    return 0;
}

/* The lookup that the rows come from, each times numbers of its own at most; NO_ID: they do not. */
static uint32_t looked_up(struct finder *finder, uint32_t op)
{
    const struct waste *waste = finder->waste;

    for (finder->count = 0; op != NO_ID && finder->count < DEEPEST;) {
        struct op_ids makers;
        uint32_t      from = NO_ID;

        op = compiled_maker(waste->compiled, op);
        if (op == NO_ID || waste_is(waste, op, "gather"))
            return op;
        if (!waste_is(waste, op, "multiply|select|convert|negate"))
            return NO_ID;
        makers = op_graph_producers(waste->graph, op);
        for (size_t i = 0; i < makers.count; i++) {
            if (linear_is_thin(waste, makers.ids[i]))
                continue;
            if (from != NO_ID && from != makers.ids[i])
                return NO_ID;
            from = makers.ids[i];
        }
        finder->between[finder->count++] = op;
        op = from;
    }
    return NO_ID;
}

/* Entries of the matrix; 0: it is no such matrix, or sparse. */
static double entries_of(const struct waste *waste, uint32_t gather, uint32_t scatter)
{
    const struct compiled *compiled = waste->compiled;
    double                 listed = compiled_operand(compiled, scatter, 1);
    double                 elements = compiled_operand(compiled, scatter, 2);
    int64_t                to = rows_of(compiled_result(compiled, scatter), listed, elements);
    int64_t                from = rows_of(table_of(waste, gather), listed, elements);
    double                 entries = (double)to * (double)from;

    return entries <= MOST_ENTRIES && listed >= LEAST_FULL * entries &&
                   elements >= LEAST_NUMBERS * listed &&
                   compiled_operand(compiled, gather, 1) == listed
               ? entries
               : 0;
}

static void look_at(struct finder *finder, uint32_t scatter)
{
    struct waste *waste = finder->waste;
    struct str    origin = profile_str(waste->profile, waste->profile->ops.items[scatter].origin);
    uint32_t      rows = op_graph_operand(waste->graph, scatter, 2), gather;
    double        entries, listed, share;

    if (rows == NO_ID || !str_ends(origin, STR("scatter-add")))
        return;
    gather = looked_up(finder, rows);
    entries = gather == NO_ID ? 0 : entries_of(waste, gather, scatter);
    if (entries <= 0)
        return;
    listed = compiled_operand(waste->compiled, scatter, 1);
    share = 1 - DENSE_COST * (listed < entries ? entries / listed : 1);
    if (listed > finder->listed)
        finder->listed = listed, finder->entries = entries;
    waste_mark(waste, scatter, share);
    waste_mark(waste, gather, share);
    for (size_t i = 0; i < finder->count; i++)
        waste_mark(waste, finder->between[i], share);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste  waste;
    struct finder finder = { .waste = &waste };
    char          detail[96];

    if (!waste_open(&waste, ledger))
        return false;
    for (uint32_t op = 0; waste.graph && op < waste.graph->vertex_count; op++)
        if (waste_is(&waste, op, "scatter"))
            look_at(&finder, op);
    snprintf(detail, sizeof detail, "%.0f entries of a matrix of %.0f are listed", finder.listed,
             finder.entries);
    return !waste.graph || waste_claim(&waste, self, LEAST_SHARE, detail);
}

const struct detector detector_listed_matrix = { "listed-matrix", CAUSE_BYTES, GRADE_SIZES, find };
