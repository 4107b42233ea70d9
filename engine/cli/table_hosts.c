#include "cli/table_hosts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum column_role { IS_KEY, IS_SUM, IS_LEAST, IS_MOST, IS_MEAN, IS_SAME };

struct summing {
    const struct table_spec *spec;
    struct table            *table;
    struct facts            *facts; /* whose names its texts have */
    struct arena            *arena;
    enum column_role        *roles; /* by column */
    int          *totals; /* by column of means: what they are the quotient of; -1: weighted */
    int           calls;  /* column of how often; -1: none */
    struct intern keys;
    struct id_map rows; /* by key */
};

static const char *const sums[] = { "calls",     "count",      "events",       "total_ns",
                                    "self_ns",   "ns",         "wait_ns",      "cpu_ns",
                                    "python_ns", "path_ns",    "path_self_ns", "exposed_ns",
                                    "hidden_ns", "solo_count", "slow_calls" };

static bool is_any(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static enum column_role role_of(const struct table *table, size_t column)
{
    const char *name = table->spec->columns[column].name;

    if (table->spec->columns[column].unit == UNIT_NAME || strcmp(name, "source_line") == 0 ||
        strcmp(name, "line") == 0)
        return IS_KEY;
    if (is_any(name, sums, ARRAY_COUNT(sums)) ||
        (strcmp(name, "bytes") == 0 && table_column(table, "mean_bytes") >= 0))
        return IS_SUM;
    if (strncmp(name, "min_", 4) == 0)
        return IS_LEAST;
    if (strncmp(name, "max_", 4) == 0)
        return IS_MOST;
    return strncmp(name, "mean_", 5) == 0 || strcmp(name, "call_ns") == 0 ? IS_MEAN : IS_SAME;
}

/* mean_ns is of total_ns, else of ns; mean_bytes of bytes. */
static int total_of(const struct table *table, const char *name)
{
    int total;

    if (strcmp(name, "mean_bytes") == 0)
        return table_column(table, "bytes");
    if (strcmp(name, "mean_ns") != 0)
        return -1;
    total = table_column(table, "total_ns");
    return total < 0 ? table_column(table, "ns") : total;
}

static bool prepare(struct summing *summing, const struct table *table, const char *help)
{
    struct table_spec *spec = arena_new(summing->arena, struct table_spec);
    size_t             columns = table->spec->column_count;

    summing->table = arena_new(summing->arena, struct table);
    summing->roles = arena_new_array(summing->arena, enum column_role, columns);
    summing->totals = arena_new_array(summing->arena, int, columns);
    if (!spec || !help || !summing->table || !summing->roles || !summing->totals ||
        !intern_init(&summing->keys, summing->arena))
        return false;
    *spec = *table->spec;
    spec->help = help;
    summing->spec = spec;
    summing->table->spec = spec;
    summing->table->columns = arena_new_array(summing->arena, double *, columns);
    summing->calls = table_column(table, "calls");
    if (summing->calls < 0)
        summing->calls = table_column(table, "count");
    for (size_t i = 0; i < columns; i++) {
        summing->roles[i] = role_of(table, i);
        summing->totals[i] = total_of(table, spec->columns[i].name);
    }
    return summing->table->columns != NULL;
}

/* What tells rows apart: all texts and lines. */
static uint32_t key_of(struct summing *summing, const struct facts *facts,
                       const struct table *table, size_t row, struct text *key)
{
    key->len = 0;
    for (size_t i = 0; i < table->spec->column_count; i++) {
        double value = table->columns[i][row];

        if (summing->roles[i] != IS_KEY)
            continue;
        if (!isnan(value) && table->spec->columns[i].unit == UNIT_NAME)
            text_add(key, intern_str(facts->names, (uint32_t)value));
        else if (!isnan(value))
            text_print(key, "%.0f", value);
        text_add_byte(key, '\n');
    }
    return key->is_cut ? NO_ID : intern_add(&summing->keys, text_str(key));
}

static double merged(const struct summing *summing, size_t column, double had, double more,
                     double had_calls, double more_calls)
{
    if (isnan(had) || isnan(more))
        return summing->roles[column] == IS_SAME ? NAN : isnan(had) ? more : had;
    switch (summing->roles[column]) {
    case IS_SUM:
        return had + more;
    case IS_LEAST:
        return fmin(had, more);
    case IS_MOST:
        return fmax(had, more);
    case IS_MEAN:
        return had_calls + more_calls > 0
                   ? (had * had_calls + more * more_calls) / (had_calls + more_calls)
                   : NAN;
    case IS_SAME:
        return had == more ? had : NAN;
    default:
        return had;
    }
}

static double calls_of(const struct summing *summing, const struct table *table, size_t row)
{
    double calls = summing->calls < 0 ? 1 : table->columns[summing->calls][row];

    return isnan(calls) ? 0 : calls;
}

/* A text of another host's facts, by the name that it has here. */
static double own_value(const struct summing *summing, const struct facts *facts,
                        const struct column_spec *column, double value)
{
    uint32_t name;

    if (column->unit != UNIT_NAME || isnan(value))
        return value;
    name = facts_name(summing->facts, intern_str(facts->names, (uint32_t)value));
    return name == NO_ID ? (double)NAN : (double)name;
}

static bool add_row(struct summing *summing, const struct facts *facts, const struct table *table,
                    size_t row, struct text *key)
{
    uint32_t id = key_of(summing, facts, table, row, key);
    uint32_t at = id == NO_ID ? NO_ID : id_map_get(&summing->rows, id);
    bool     is_new = at == NO_ID;
    double   had_calls, more_calls = calls_of(summing, table, row);

    if (id == NO_ID)
        return false;
    if (is_new) {
        size_t fresh = table_add(summing->table, summing->arena);

        at = (uint32_t)fresh;
        if (fresh == SIZE_MAX || !id_map_put(&summing->rows, id, at))
            return false;
    }
    had_calls = is_new ? 0 : calls_of(summing, summing->table, at);
    for (size_t i = 0; i < table->spec->column_count; i++) {
        double *cell = &summing->table->columns[i][at];
        double  value = own_value(summing, facts, &table->spec->columns[i], table->columns[i][row]);

        *cell = is_new ? value : merged(summing, i, *cell, value, had_calls, more_calls);
    }
    return true;
}

/* Means that are the quotient of two sums are that exactly. */
static void divide(const struct summing *summing)
{
    for (size_t i = 0; summing->calls >= 0 && i < summing->spec->column_count; i++)
        for (size_t row = 0; summing->totals[i] >= 0 && row < summing->table->row_count; row++)
            if (summing->table->columns[summing->calls][row] > 0)
                summing->table->columns[i][row] = summing->table->columns[summing->totals[i]][row] /
                                                  summing->table->columns[summing->calls][row];
}

/* The host's files, where each of the recording is of one host and is there by its name: they are
 * read alone then, so that the time of all does not grow with the square of the number of hosts. */
static bool find_files(struct option_list *files, struct call *call,
                       const struct input_values *values, uint32_t host)
{
    const struct profile *profile = &call->inputs[0]->profile;

    if (input_has_paths(values))
        return false;
    for (size_t i = 0; i < profile->files.count; i++) {
        const struct source_file *file = &profile->files.items[i];

        if (file->host == NO_ID || access(file->name, R_OK) != 0)
            return false;
        if (file->host == host && !vec_push(&files->values, call->arena, file->name))
            return false;
    }
    return files->values.count > 0;
}

/* A host that lacks the table adds nothing. */
static bool add_host(struct summing *summing, struct call *call, const struct input_values *values,
                     uint32_t row_of_host, struct err *err)
{
    struct input_values   one = *values;
    const struct profile *profile = &call->inputs[0]->profile;
    const struct host    *host = &profile->hosts.items[row_of_host];
    struct option_list    files = { 0 };
    bool                  is_alone = find_files(&files, call, values, row_of_host);
    struct text           key = { .arena = call->arena };
    struct input          input;
    const struct table   *table;
    bool                  is_done = true;

    one.notes = NOTES_KEEP;
    one.is_strict = false;
    one.host = host->rank >= 0
                   ? arena_text(call->arena, "%d", host->rank)
                   : arena_text(call->arena, "%.*s", STR_ARG(profile_str(profile, host->name)));
    if (!one.host)
        return err_memory(err, "the table");
    if (is_alone)
        one.host = NULL;
    if (!input_load(&input, &one, is_alone ? &files : &call->operands, err))
        return false;
    table = facts_find_table(&input.study.facts, call->subject);
    for (size_t row = 0; table && row < table->row_count && is_done; row++)
        is_done = add_row(summing, &input.study.facts, table, row, &key);
    input_free(&input);
    return is_done || err_set(err, ERR_LIMIT, "the table does not fit the memory limit");
}

/* "; of rank 1, --all-hosts sums over all", where there are several hosts and the table is of one.
 */
static void print_host(struct text *help, const struct input *input, const struct table *table)
{
    const struct profile *profile = &input->profile;
    uint32_t              row = input->study.steps.host;
    const struct host    *host;

    if (profile->hosts.count < 2 || row >= profile->hosts.count || table_column(table, "host") >= 0)
        return;
    host = &profile->hosts.items[row];
    if (host->rank >= 0)
        text_print(help, "; of rank %d, --all-hosts sums over all", host->rank);
    else
        text_print(help, "; of host %.*s, --all-hosts sums over all",
                   STR_ARG(profile_str(profile, host->name)));
}

/* "; the mean of 4 devices", where devices that do the same share its rows. */
static void print_devices(struct text *help, const struct input *input, const struct table *table)
{
    static const char *const means[] = { "kernels",     "ops",    "op_profile", "roofline",
                                         "collectives", "copies", "async_ops",  "fusions" };
    double                   devices;

    if (is_any(table->spec->name, means, ARRAY_COUNT(means)) &&
        facts_get(&input->study.facts, "device.count", &devices) && devices > 1)
        text_print(help, "; the mean of %.0f devices", devices);
}

const struct table *table_hosts_one(struct call *call, const struct table *table)
{
    const struct input *input = call->inputs[0];
    struct table       *named = arena_new(call->text.arena, struct table);
    struct table_spec  *spec = arena_new(call->text.arena, struct table_spec);
    struct text         help = { .arena = call->text.arena };

    text_print(&help, "%s", table->spec->help);
    if (!input->is_of_summaries) {
        print_devices(&help, input, table);
        print_host(&help, input, table);
    }
    if (!named || !spec || help.is_cut)
        return table;
    *named = *table;
    *spec = *table->spec;
    named->spec = spec;
    spec->help = help.data;
    return named;
}

const struct table *table_hosts_sum(struct call *call, const struct input_values *values,
                                    const struct table *table, struct err *err)
{
    struct input         *input = call->inputs[0];
    const struct profile *profile = &input->profile;
    struct summing        summing = { .facts = &input->study.facts,
                                      .arena = call->text.arena,
                                      .rows.arena = call->text.arena };
    const char           *help = arena_text(call->text.arena,
                                            "%s; summed over %zu hosts, of a host's devices "
                                                      "the mean",
                                            table->spec->help, profile->hosts.count);

    if (values->host || input->is_of_summaries) {
        err_set(err, ERR_USAGE, "--all-hosts needs the recordings of all hosts");
        return NULL;
    }
    if (table_column(table, "host") >= 0 || profile->hosts.count < 2)
        return table;
    if (!prepare(&summing, table, help)) {
        err_memory(err, "the table");
        return NULL;
    }
    for (size_t i = 0; i < profile->hosts.count; i++)
        if (!add_host(&summing, call, values, (uint32_t)i, err))
            return NULL;
    divide(&summing);
    return summing.table;
}
