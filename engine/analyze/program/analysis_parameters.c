/* parameters: how many elements the model's variables have, and which variables hold them. */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "base/sort.h"

#include <stdlib.h>

enum parameters_fact { TOTAL, TOTAL_BYTES, VARIABLES, FACT_COUNT };
static const struct fact_spec produces[] = {
    [TOTAL] = { "parameters.total", UNIT_COUNT, "elements of all variables" },
    [TOTAL_BYTES] = { "parameters.bytes", UNIT_BYTES, "memory of those whose type is known" },
    [VARIABLES] = { "parameters.variables", UNIT_COUNT, "variables with a known shape" },
};
enum parameter_column { VARIABLE, COUNT, BYTES, SHARE };
static const struct column_spec columns[] = {
    [VARIABLE] = { "variable", UNIT_NAME, "full name" },
    [COUNT] = { "count", UNIT_COUNT, "elements" },
    [BYTES] = { "bytes", UNIT_BYTES, "memory" },
    [SHARE] = { "share", UNIT_SHARE, "of all elements" },
};
static const struct table_spec tables[] = {
    { "parameters", "variables, largest first", columns, ARRAY_COUNT(columns) },
};

struct variable {
    uint32_t op;
    double   count, bytes; /* bytes 0: unknown */
};

static int compare(const void *left, const void *right)
{
    const struct variable *a = left, *b = right;

    return IN_ORDER(COMPARE(b->count, a->count), COMPARE(a->op, b->op));
}

static double bytes_of(const struct profile *profile, const struct op *op)
{
    const struct tensor *result =
        op->output_count ? &profile->tensors.items[op->first_output] : NULL;

    return result ? (double)op->parameters * dtype_bits(result->dtype) / 8 : 0;
}

static bool fill(struct study *study, const struct variable *variables, size_t count)
{
    const struct profile *profile = study->profile;
    struct table         *table = facts_table(&study->facts, &tables[0]);
    double                total = 0, bytes = 0;

    for (size_t i = 0; i < count; i++) {
        total += variables[i].count;
        bytes += variables[i].bytes;
    }
    for (size_t i = 0; table && i < count; i++) {
        size_t row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, VARIABLE, row, profile->ops.items[variables[i].op].name);
        emit_number(table, COUNT, row, variables[i].count);
        if (variables[i].bytes > 0)
            emit_number(table, BYTES, row, variables[i].bytes);
        if (total > 0)
            emit_number(table, SHARE, row, variables[i].count / total);
    }
    return table && facts_set(&study->facts, &produces[TOTAL], total) &&
           facts_set(&study->facts, &produces[VARIABLES], (double)count) &&
           (bytes <= 0 || facts_set(&study->facts, &produces[TOTAL_BYTES], bytes));
}

static bool run(struct study *study, struct err *err)
{
    const struct profile *profile = study->profile;
    struct arena          scratch = { .budget_bytes = study->arena->budget_bytes };
    VEC(struct variable) variables = { 0 };
    bool is_done = true;

    for (uint32_t op = 0; op < profile->ops.count && is_done; op++) {
        const struct op *row = &profile->ops.items[op];

        if (row->parameters >= 0)
            is_done =
                vec_push(&variables, &scratch,
                         (struct variable) { op, (double)row->parameters, bytes_of(profile, row) });
    }
    if (is_done && variables.count) {
        qsort(variables.items, variables.count, sizeof *variables.items, compare);
        is_done = fill(study, variables.items, variables.count);
    } else if (is_done) {
        is_done = facts_absent(&study->facts, "parameters|parameters.", "the graph, with shapes",
                               "no variables with shapes in the profile");
    }
    arena_free(&scratch);
    return is_done || emit_limit("parameters", err);
}

const struct analysis analysis_parameters = {
    .name = "parameters",
    .summary = "elements and bytes of the model's variables",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
