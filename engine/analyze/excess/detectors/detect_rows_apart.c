/* rows_apart: rows of a table are looked up, or added to it, along its last axis: the numbers of a
 * row lie as far from each other as the table has rows, each in a line of memory of its own. Which
 * axis has its numbers side by side is known of what a program is given, the last one, and is taken
 * to be the same for arrays as large, as its gradient; others the compiler lays out as it likes. */
#include "analyze/excess/waste.h"

static const double LEAST_SHARE = 0.05;   /* of the steps */
static const double SPARED = 0.6;         /* of the time, with a row's numbers side by side */
static const double LEAST_ELEMENTS = 5e5; /* what is smaller lies in a cache */
enum { FEWEST_NUMBERS = 8 /* of a row */, FEWEST_ROWS = 1024 };

static const struct tensor *operand_of(const struct waste *waste, uint32_t op, uint32_t place)
{
    const struct op *row = &waste->profile->ops.items[op];

    return place < row->input_count ? &waste->profile->tensors.items[row->first_input + place]
                                    : NULL;
}

/* What a gather gives and a scatter takes: a row for each number, behind their axes. */
static const struct tensor *rows_of(const struct waste *waste, uint32_t op)
{
    const struct op *row = &waste->profile->ops.items[op];

    if (waste_is(waste, op, "scatter"))
        return row->input_count == 3 ? operand_of(waste, op, 2) : NULL;
    return waste_is(waste, op, "gather") ? compiled_result(waste->compiled, op) : NULL;
}

/* Numbers of a row that lie apart; 0: it is no such row. Rows have all axes of the table, those
 * that they were looked up by with one number, or have these left out. */
static int64_t numbers_apart(const struct tensor *table, const struct tensor *rows)
{
    int8_t  last = (int8_t)(table->rank - 1), from = (int8_t)(rows->rank - table->rank);
    int64_t numbers = 1;

    if (table->rank < 2 || table->dims[last] < FEWEST_ROWS)
        return 0;
    if (table->rank == 2 && rows->rank >= 2 && rows->dims[rows->rank - 1] == table->dims[0] &&
        table->dims[0] != table->dims[1])
        return table->dims[0];
    if (from < 1 || rows->dims[rows->rank - 1] != 1)
        return 0;
    for (int8_t d = 0; d < last; d++) {
        if (rows->dims[from + d] != 1 && rows->dims[from + d] != table->dims[d])
            return 0;
        numbers *= rows->dims[from + d];
    }
    return numbers;
}

static bool is_apart(const struct waste *waste, uint32_t op)
{
    const struct tensor *table = operand_of(waste, op, 0), *rows = rows_of(waste, op);

    return table && rows && compiled_operand(waste->compiled, op, 0) >= LEAST_ELEMENTS &&
           numbers_apart(table, rows) >= FEWEST_NUMBERS;
}

static bool is_given(const struct waste *waste, uint32_t op)
{
    uint32_t table = op_graph_operand(waste->graph, op, 0);
    uint32_t maker = table == NO_ID ? NO_ID : compiled_maker(waste->compiled, table);

    return maker != NO_ID && waste_is(waste, maker, "parameter") &&
           !waste->profile->ops.items[maker].caller;
}

/* Of the table that `op` looks up rows in, all that looks up or adds rows, there or in one alike.
 */
static void mark_table(struct waste *waste, uint32_t op)
{
    for (uint32_t other = 0; other < waste->graph->vertex_count; other++)
        if (waste->profile->ops.items[other].program == waste->profile->ops.items[op].program &&
            waste_is(waste, other, "gather|scatter") && is_apart(waste, other) &&
            compiled_same_shape(operand_of(waste, other, 0), operand_of(waste, op, 0)))
            waste_mark(waste, other, SPARED);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;

    if (!waste_open(&waste, ledger))
        return false;
    if (!waste.graph || ledger->is_of_device)
        return true;
    for (uint32_t op = 0; op < waste.graph->vertex_count; op++)
        if (waste_is(&waste, op, "gather|scatter") && is_apart(&waste, op) && is_given(&waste, op))
            mark_table(&waste, op);
    return waste_claim(&waste, self, LEAST_SHARE, "rows are looked up along a table's last axis");
}

const struct detector detector_rows_apart = { "rows-apart", CAUSE_BYTES, GRADE_SIZES, find };
