/*
 * excess: runs the detectors over the ledger and writes its tables: what was done (`work`) and what
 * of it is in excess, by cause and place (`excess`). Both add up to the step.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/excess/ledger.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static const struct detector *const detectors[] = {
#define DETECTOR(name) &detector_##name,
#include "analyze/excess/detectors.def"
#undef DETECTOR
};

enum { STEP_NS, NECESSARY_NS, CLAIMED_NS, FACT_START_NS };
static const struct fact_spec produces[] = {
    [STEP_NS] = { "excess.step_ns", UNIT_NS, "the step that the tables work and excess add up to" },
    [NECESSARY_NS] = { "excess.necessary_ns", UNIT_NS, "of it, what no cell claims" },
    [CLAIMED_NS] = { "excess.claimed_ns", UNIT_NS, "of it, all cells" },
    [FACT_START_NS] = { "excess.start_ns", UNIT_NS, "what starting a small op costs here" },
};
enum excess_column {
    CELL,
    FLAW,
    CAUSE,
    GRADE,
    REGION,
    SOURCE_FILE,
    SOURCE_LINE,
    OP,
    DETAIL,
    CALLS,
    NS,
    SHARE,
    FACTOR
};
static const struct column_spec excess_columns[] = {
    [CELL] = { "cell", UNIT_COUNT, "number of the cell, for the select `cell` of edits" },
    [FLAW] = { "flaw", UNIT_NAME, "the structure that shows it" },
    [CAUSE] = { "cause", UNIT_NAME, "why it is in excess" },
    [GRADE] = { "grade", UNIT_NAME,
                "A: structure or identities, B: sizes and times, C: names, an upper bound" },
    [REGION] = { "region", UNIT_NAME, "where: the user's line, a range, or the ops around it" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
    [OP] = { "op", UNIT_NAME, "type of the op that takes most of it" },
    [DETAIL] = { "detail", UNIT_NAME, "what shows it" },
    [CALLS] = { "calls", UNIT_COUNT, "ops and pauses in it a step" },
    [NS] = { "ns", UNIT_NS, "time in excess a step" },
    [SHARE] = { "share", UNIT_SHARE, "of the step" },
    [FACTOR] = { "factor", UNIT_RATIO, "what is left of the time of its ops without the excess" },
};
enum work_column {
    W_CLASS,
    W_TYPE,
    W_PHASE,
    W_PART,
    W_SHAPES,
    W_DTYPE,
    W_MODULE,
    W_FILE,
    W_LINE,
    W_CALLS,
    W_NS,
    W_SHARE,
    W_NECESSARY_NS,
    W_FLOPS,
    W_BYTES
};
static const struct column_spec work_columns[] = {
    [W_CLASS] = { "class", UNIT_NAME, "what the op does: product, sort, copy, …" },
    [W_TYPE] = { "type", UNIT_NAME, "type of the op; none: the thread outside of ops" },
    [W_PHASE] = { "phase", UNIT_NAME, "forward, backward, update or input" },
    [W_PART] = { "part", UNIT_NAME, "part of the step it is charged to" },
    [W_SHAPES] = { "shapes", UNIT_NAME, "operands and results" },
    [W_DTYPE] = { "dtype", UNIT_NAME, "of the first operand" },
    [W_MODULE] = { "module", UNIT_NAME, "program or function it belongs to" },
    [W_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [W_LINE] = { "source_line", UNIT_COUNT, "line in it" },
    [W_CALLS] = { "calls", UNIT_COUNT, "calls a step" },
    [W_NS] = { "ns", UNIT_NS, "time on the path a step" },
    [W_SHARE] = { "share", UNIT_SHARE, "of the step" },
    [W_NECESSARY_NS] = { "necessary_ns", UNIT_NS, "of it, what no cell claims" },
    [W_FLOPS] = { "flops", UNIT_FLOPS, "floating point operations of one call" },
    [W_BYTES] = { "bytes", UNIT_BYTES, "memory traffic of one call" },
};
static const struct table_spec tables[] = {
    { "excess", "time that the step's work does not need, by cause and place", excess_columns,
      ARRAY_COUNT(excess_columns) },
    { "work", "what the path of a step is made of; the last row holds the rest", work_columns,
      ARRAY_COUNT(work_columns) },
};

struct sum { /* of the units that one row of `work` stands for */
    uint32_t unit;
    double   calls, ns, left_ns;
};
struct writer {
    struct ledger *ledger;
    struct study  *study;
    double         steps;
};

static int compare_cells(const void *a, const void *b)
{
    const struct cell *const *left = a, *const *right = b;

    return IN_ORDER(COMPARE((*right)->ns, (*left)->ns), COMPARE(*left, *right));
}

static void emit_line(struct study *study, struct table *table, size_t row, int column,
                      uint32_t source)
{
    const struct profile *profile = study->profile;

    if (profile_is_user_source(profile, source))
        emit_source(profile, table, column, row, source);
}

static bool write_cell(struct writer *writer, struct table *table, const struct cell *cell)
{
    struct study *study = writer->study;
    size_t        row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_number(table, CELL, row, (double)(cell - writer->ledger->cells.items + 1));
    emit_name(table, FLAW, row, facts_name(&study->facts, str_from(cell->detector->flaw)));
    emit_name(table, CAUSE, row,
              facts_name(&study->facts, str_from(excess_cause_name(cell->detector->cause))));
    emit_name(table, GRADE, row,
              facts_name(&study->facts, str_from(excess_grade_name(cell->detector->grade))));
    emit_name(table, REGION, row, cell->region);
    emit_line(study, table, row, SOURCE_FILE, cell->source);
    emit_name(table, OP, row, cell->type);
    emit_name(table, DETAIL, row, cell->detail);
    emit_number(table, CALLS, row, cell->calls / writer->steps);
    emit_number(table, NS, row, cell->ns / writer->steps);
    emit_number(table, SHARE, row, cell->ns / writer->ledger->total_ns);
    emit_number(table, FACTOR, row, cell_factor(cell));
    return true;
}

static bool write_cells(struct writer *writer)
{
    struct ledger      *ledger = writer->ledger;
    struct table       *table = facts_table(&writer->study->facts, &tables[0]);
    const struct cell **order =
        arena_new_array(ledger->scratch, const struct cell *, ledger->cells.count + 1);
    size_t count = 0;

    if (!table || !order)
        return false;
    for (size_t i = 0; i < ledger->cells.count; i++)
        if (ledger->cells.items[i].ns > 0)
            order[count++] = &ledger->cells.items[i];
    if (count > 1)
        qsort(order, count, sizeof *order, compare_cells);
    for (size_t i = 0; i < count; i++)
        if (!write_cell(writer, table, order[i]))
            return false;
    return true;
}

static int compare_sums(const void *a, const void *b)
{
    const struct sum *left = a, *right = b;

    return IN_ORDER(COMPARE(right->ns, left->ns), COMPARE(left->unit, right->unit));
}

static void write_op(struct writer *writer, struct table *table, size_t row,
                     const struct work_unit *unit)
{
    struct study    *study = writer->study;
    const struct op *op = &study->profile->ops.items[unit->op];

    emit_name(table, W_SHAPES, row, emit_shapes(study, op));
    emit_name(table, W_MODULE, row, op->module);
    if (op->input_count)
        emit_name(
            table, W_DTYPE, row,
            facts_name(&study->facts,
                       str_from(dtype_name(
                           (enum dtype)study->profile->tensors.items[op->first_input].dtype))));
    if (op->flops >= 0)
        emit_number(table, W_FLOPS, row, (double)op->flops);
    if (op->bytes >= 0)
        emit_number(table, W_BYTES, row, (double)op->bytes);
}

static bool write_work_row(struct writer *writer, struct table *table, const struct sum *sum)
{
    static const char *const phases[] = { "forward", "backward", "update", "input" };
    struct study            *study = writer->study;
    const struct work_unit  *unit = &writer->ledger->units.items[sum->unit];
    size_t                   row = table_add(table, study->arena);
    uint32_t                 source = NO_ID;

    if (row == SIZE_MAX)
        return false;
    if (unit->kind == UNIT_OP) {
        emit_name(table, W_TYPE, row, unit->type);
        emit_name(
            table, W_CLASS, row,
            facts_name(&study->facts, str_from(op_class_name((enum op_class)unit->op_class))));
    }
    if (unit->op != NO_ID)
        write_op(writer, table, row, unit);
    if (ledger_region(writer->ledger, unit, &source) == NO_ID)
        return false;
    emit_line(study, table, row, W_FILE, source);
    emit_name(table, W_PHASE, row, facts_name(&study->facts, str_from(phases[unit->phase])));
    emit_name(table, W_PART, row,
              facts_name(&study->facts, str_from(part_name((enum part)unit->part))));
    emit_number(table, W_CALLS, row, sum->calls / writer->steps);
    emit_number(table, W_NS, row, sum->ns / writer->steps);
    emit_number(table, W_SHARE, row, sum->ns / writer->ledger->total_ns);
    emit_number(table, W_NECESSARY_NS, row, sum->left_ns / writer->steps);
    return true;
}

/* Units of one op with its shapes, phase and part are one row. */
static bool sum_units(struct ledger *ledger, struct sum **sums, size_t *count)
{
    struct intern keys;

    *count = 0;
    *sums = arena_new_array(ledger->scratch, struct sum, ledger->units.count + 1);
    if (!*sums || !intern_init(&keys, ledger->scratch))
        return false;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        uint32_t                key[] = { unit->type, unit->op,
                                          (uint32_t)unit->kind << 16 | (uint32_t)unit->phase << 8 | unit->part };
        uint32_t                before = keys.count;
        uint32_t id = intern_add(&keys, (struct str) { (const char *)key, sizeof key });

        if (id == NO_ID)
            return false;
        if (keys.count > before)
            (*sums)[(*count)++] = (struct sum) { .unit = u };
        struct sum *sum = &(*sums)[id - 1];

        sum->calls++;
        sum->ns += unit->ns;
        sum->left_ns += unit->left_ns;
    }
    return true;
}

static bool write_work(struct writer *writer)
{
    enum { MOST_ROWS = 200 };
    struct table *table = facts_table(&writer->study->facts, &tables[1]);
    struct sum   *sums, rest = { 0 };
    size_t        count, row;

    if (!table || !sum_units(writer->ledger, &sums, &count))
        return false;
    if (count > 1)
        qsort(sums, count, sizeof *sums, compare_sums);
    for (size_t i = 0; i < count; i++) {
        if (i < MOST_ROWS && !write_work_row(writer, table, &sums[i]))
            return false;
        if (i >= MOST_ROWS) {
            rest.calls += sums[i].calls;
            rest.ns += sums[i].ns;
            rest.left_ns += sums[i].left_ns;
        }
    }
    if (count <= MOST_ROWS)
        return true;
    row = table_add(table, writer->study->arena);
    if (row == SIZE_MAX)
        return false;
    emit_number(table, W_CALLS, row, rest.calls / writer->steps);
    emit_number(table, W_NS, row, rest.ns / writer->steps);
    emit_number(table, W_SHARE, row, rest.ns / writer->ledger->total_ns);
    emit_number(table, W_NECESSARY_NS, row, rest.left_ns / writer->steps);
    return true;
}

/* Edits select cells by what segments of the path belong to. */
static void mark_segments(struct study *study, const struct ledger *ledger)
{
    for (size_t s = 0; s < study->path.segments.count; s++) {
        uint32_t cell = ledger->units.items[ledger->unit_of_segment[s]].cell;

        study->path.segments.items[s].cell = cell == NO_ID ? 0 : cell + 1;
    }
}

static bool explain(struct study *study, struct arena *scratch)
{
    struct ledger ledger;
    struct writer writer = { .ledger = &ledger, .study = study };
    double        claimed_ns = 0;

    if (!ledger_open(&ledger, study, scratch))
        return false;
    writer.steps = (double)ledger.step_count;
    for (size_t i = 0; i < ARRAY_COUNT(detectors); i++)
        if (!detectors[i]->find(&ledger, detectors[i]))
            return false;
    for (size_t i = 0; i < ledger.cells.count; i++)
        claimed_ns += ledger.cells.items[i].ns;
    mark_segments(study, &ledger);
    return facts_set(&study->facts, &produces[STEP_NS], ledger.total_ns / writer.steps) &&
           facts_set(&study->facts, &produces[CLAIMED_NS], claimed_ns / writer.steps) &&
           facts_set(&study->facts, &produces[NECESSARY_NS],
                     (ledger.total_ns - claimed_ns) / writer.steps) &&
           facts_set(&study->facts, &produces[FACT_START_NS], ledger.start_ns) &&
           write_cells(&writer) && write_work(&writer);
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { .budget_bytes = study->arena->budget_bytes };
    bool         ok;

    if (study->path.segments.count)
        ok = explain(study, &scratch);
    else
        ok = facts_absent(&study->facts, "excess.|excess|work", "at least one whole step",
                          "no step with a timeline of events");
    arena_free(&scratch);
    return ok || err_set(err, ERR_LIMIT, "the ledger of the step does not fit the memory budget");
}

const struct analysis analysis_excess = {
    .name = "excess",
    .summary = "what the path of a step is made of, and what of it its work does not need",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
