/* table: the tables behind advice, for people, spreadsheets and programs. */
#include "cli/table_answer.h"

#include "analyze/analysis.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/result.h"
#include "cli/table_hosts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct table_values {
    struct input_values  input;
    struct result_values result;
    struct option_list   columns, where;
    const char          *sort;
    int64_t              top;
    bool                 is_wide, is_of_all;
};

#define INPUT(field) offsetof(struct table_values, input.field)
#define RESULT(field) offsetof(struct table_values, result.field)
#define RESULT_FORMATS "text|json|csv|arrow"
/* clang-format off */
static const struct option options[] = {
    { .name = "columns", .kind = OPTION_LIST, .offset = offsetof(struct table_values, columns),
      .choices = "NAME,...", .help = "these columns, in this order" },
    { .name = "where", .kind = OPTION_REPEAT, .offset = offsetof(struct table_values, where),
      .choices = "CONDITION", .help = "rows that fit, as 'total_ns>1ms' or 'name~gemm'; all of several" },
    { .name = "sort", .kind = OPTION_TEXT, .offset = offsetof(struct table_values, sort),
      .choices = "COLUMN", .help = "largest number or first text first; -COLUMN turns it" },
    { .name = "top", .kind = OPTION_INTEGER, .offset = offsetof(struct table_values, top),
      .preset = "-1", .choices = "N", .help = "that many rows; 0: all; text shows 30 otherwise" },
    { .name = "wide", .kind = OPTION_FLAG, .offset = offsetof(struct table_values, is_wide),
      .help = "text: every column, however wide the terminal is" },
    { .name = "all-hosts", .kind = OPTION_FLAG, .offset = offsetof(struct table_values, is_of_all),
      .help = "sums over all hosts instead of the one that holds the job up" },
#include "cli/result_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

enum { TEXT_ROWS = 30 };

static int compare_specs(const void *left, const void *right)
{
    const struct table_spec *const *a = left, *const *b = right;

    return strcmp((*a)->name, (*b)->name);
}

/* All tables that analyses know, by name. */
static size_t all_specs(struct arena *arena, const struct table_spec ***specs)
{
    size_t count = 0;

    for (size_t i = 0; i < analysis_count; i++)
        count += analyses[i]->table_count;
    *specs = arena_new_array(arena, const struct table_spec *, count);
    count = 0;
    for (size_t i = 0; *specs && i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->table_count; j++)
            (*specs)[count++] = &analyses[i]->tables[j];
    if (count)
        qsort(*specs, count, sizeof **specs, compare_specs);
    return count;
}

/* Without a table's name. */
static bool list_tables(struct call *call, struct err *err)
{
    const struct table_values *values = call->values;
    struct text                text = { .arena = call->arena };
    const struct table_spec  **specs;
    size_t                     count = all_specs(call->arena, &specs);

    for (size_t i = 0; i < count; i++)
        text_print(&text, "%-22s %s\n", specs[i]->name, specs[i]->help);
    text_print(&text, "\ntfprof table NAME says what a table's columns are, tfprof table NAME "
                      "PROFILE shows it.\n");
    return result_write(&values->result, &text, err);
}

static bool list_columns(struct call *call, const struct table_spec *spec, struct err *err)
{
    const struct table_values *values = call->values;
    struct text                text = { .arena = call->arena };

    text_print(&text, "%s: %s\n\n", spec->name, spec->help);
    for (size_t i = 0; i < spec->column_count; i++)
        text_print(&text, "%-22s %-9s %s\n", spec->columns[i].name,
                   unit_name(spec->columns[i].unit), spec->columns[i].help);
    return result_write(&values->result, &text, err);
}

static bool is_unknown(const char *name, struct arena *arena, struct err *err)
{
    const struct table_spec **specs;
    size_t                    count = all_specs(arena, &specs);
    const char              **names = arena_new_array(arena, const char *, count);
    const char               *near;

    for (size_t i = 0; names && i < count; i++)
        names[i] = specs[i]->name;
    near = names ? option_nearest(name, names, count) : NULL;
    err_set(err, ERR_USAGE, "there is no table '%s'", name);
    return near ? err_advise(err, "did you mean %s?", near)
                : err_advise(err, "tfprof table lists them");
}

static bool is_absent(const struct facts *facts, const char *name, struct err *err)
{
    const struct absence *absence = facts_why_absent(facts, name);

    err_set(err, ERR_INCONCLUSIVE, "the recording has no table %s: %s", name,
            absence ? absence->reason : "nothing to put into it");
    return absence && absence->capture && err_advise(err, "record %s", absence->capture);
}

static bool prepare(struct call *call, struct err *err)
{
    return analysis_table(call->subject) || is_unknown(call->subject, call->arena, err);
}

/* Rows that were added up are in no order of their own. */
static const char *largest_first(const struct table *table)
{
    static const char *const names[] = { "self_ns", "total_ns", "ns", "bytes", "calls", "count" };

    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (table_column(table, names[i]) >= 0)
            return names[i];
    return NULL;
}

bool table_answer_view(struct call *call, struct table_view *view, struct err *err)
{
    const struct table_values *values = call->values;
    const struct facts        *facts = &call->inputs[0]->study.facts;
    const struct table        *table = facts_find_table(facts, call->subject);
    struct table_query query = { values->columns, values->where, values->sort, values->top };

    if (!table)
        return is_absent(facts, call->subject, err);
    if (values->is_of_all) {
        table = table_hosts_sum(call, &values->input, table, err);
        if (!table)
            return false;
        if (!query.sort)
            query.sort = largest_first(table);
    } else {
        table = table_hosts_one(call, table);
    }
    if (query.top < 0)
        query.top = strcmp(values->result.format, "text") == 0 ? TEXT_ROWS : 0;
    return table_view_make(view, facts, table, &query, call->text.arena, err);
}

static bool make(struct call *call, struct err *err)
{
    const struct table_values *values = call->values;
    struct table_view          view;

    if (!table_answer_view(call, &view, err))
        return false;
    call->shape.is_complete = values->is_wide;
    call->output->table(&view, &call->shape, &call->text);
    return true;
}

static bool run(struct call *call, struct err *err)
{
    const struct table_values *values = call->values;
    struct option_list        *paths = &call->operands;

    if (paths->values.count == 0)
        return list_tables(call, err);
    call->subject = *paths->values.items++;
    paths->values.count--;
    if (!prepare(call, err))
        return false;
    if (strcmp(values->result.format, "arrow") == 0 && !values->result.path &&
        isatty(STDOUT_FILENO))
        return err_set(err, ERR_USAGE, "an Arrow file is no text: give --output FILE");
    if (!values->input.is_list && paths->values.count == 0 && !input_has_paths(&values->input))
        return list_columns(call, analysis_table(call->subject), err);
    return answer_run(call, err);
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct table_values, input),
    .result_offset = offsetof(struct table_values, result),
    .prepare = prepare,
    .make = make,
};

const struct command command_table = {
    .name = "table",
    .summary = "print a table of facts: kernels, ops, iterators, memory, steps and more",
    .operands = "[TABLE [PROFILE...]]",
    .description =
        "Prints one of the tables that rules see (docs/facts.md lists them and their columns), "
        "with rows and columns of your choice. CSV and JSON hold every row, whole names and "
        "exact numbers in the units that names and JSON's \"columns\" tell: times in "
        "nanoseconds, sizes in bytes, shares from 0 to 1. Without a name it lists the tables, "
        "without a profile a table's columns.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct table_values),
    .run = run,
    .answer = &answer,
};
