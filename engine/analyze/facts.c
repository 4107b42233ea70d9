/* facts: keeps the list of facts sorted by name, so that finding one is a binary search at any
 * time. */
#include "analyze/facts.h"

#include "base/macros.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void facts_init(struct facts *facts, struct arena *arena, struct intern *names)
{
    *facts = (struct facts) { .arena = arena, .names = names };
}

/* Row of `name`, or where it belongs when it is not there. */
static size_t fact_position(const struct facts *facts, const char *name, bool *is_there)
{
    const struct fact *list = facts->list.items;
    size_t row = LOWER_BOUND(facts->list.count, i, strcmp(list[i].spec->name, name) < 0);

    *is_there = row < facts->list.count && strcmp(list[row].spec->name, name) == 0;
    return row;
}

bool facts_set(struct facts *facts, const struct fact_spec *spec, double value)
{
    bool   is_there;
    size_t row = fact_position(facts, spec->name, &is_there);

    assert(isfinite(value));
    if (is_there) {
        facts->list.items[row] = (struct fact) { .spec = spec, .value = value };
        return true;
    }
    if (!vec_reserve(&facts->list, facts->arena, 1))
        return false;
    memmove(&facts->list.items[row + 1], &facts->list.items[row],
            (facts->list.count - row) * sizeof *facts->list.items);
    facts->list.items[row] = (struct fact) { .spec = spec, .value = value };
    facts->list.count++;
    return true;
}

bool facts_set_text(struct facts *facts, const struct fact_spec *spec, struct str text)
{
    uint32_t name = facts_name(facts, text);

    return name != NO_ID && facts_set(facts, spec, name);
}

struct table *facts_table(struct facts *facts, const struct table_spec *spec)
{
    struct table *table = arena_new(facts->arena, struct table);

    if (!table)
        return NULL;
    table->spec = spec;
    table->columns = arena_new_array(facts->arena, double *, spec->column_count);
    if (!table->columns || !vec_push(&facts->tables, facts->arena, table))
        return NULL;
    return table;
}

static bool table_reserve(struct table *table, struct arena *arena)
{
    size_t capacity = table->capacity ? table->capacity * 2 : 16;

    for (size_t i = 0; i < table->spec->column_count; i++) {
        double *column = arena_grow(arena, table->columns[i], table->capacity * sizeof *column,
                                    capacity * sizeof *column);

        if (!column)
            return false;
        table->columns[i] = column;
    }
    table->capacity = capacity;
    return true;
}

size_t table_add(struct table *table, struct arena *arena)
{
    if (table->row_count == table->capacity && !table_reserve(table, arena))
        return SIZE_MAX;
    for (size_t i = 0; i < table->spec->column_count; i++)
        table->columns[i][table->row_count] = NAN;
    return table->row_count++;
}

int table_column(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->spec->column_count; i++)
        if (strcmp(table->spec->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

bool facts_absent(struct facts *facts, const char *names, const char *capture,
                  const char *reason_format, ...)
{
    struct str     rest = str_from(names);
    struct text    reason = { .arena = facts->arena };
    struct absence absence = { 0 };
    va_list        arguments;

    va_start(arguments, reason_format);
    text_vprint(&reason, reason_format, arguments);
    va_end(arguments);
    absence.reason = reason.data;
    if (capture)
        absence.capture = arena_text(facts->arena, "%s", capture);
    if (!absence.reason || (capture && !absence.capture))
        return false;
    while (rest.len) {
        absence.name = arena_str(facts->arena, str_cut(&rest, '|')).data;
        if (!absence.name || !vec_push(&facts->absences, facts->arena, absence))
            return false;
    }
    return true;
}

bool fact_is_of_step(const struct fact_spec *spec)
{
    static const struct str words = STR_INIT("a step");
    struct str              help = str_from(spec->help);

    for (size_t at; (at = str_search(help, words)) < help.len;) {
        bool begins = at == 0 || help.data[at - 1] == ' ';

        help = str_slice(help, at + words.len, help.len);
        if (begins && (!help.len || help.data[0] < 'a' || help.data[0] > 'z'))
            return true;
    }
    return false;
}

bool facts_drop_step(struct facts *facts)
{
    const struct absence *why = facts_why_absent(facts, "step.ns");
    struct absence        absence = why ? *why : (struct absence) { 0 };
    size_t                kept = 0;

    for (size_t i = 0; i < facts->list.count; i++) {
        const struct fact *fact = &facts->list.items[i];

        absence.name = fact->spec->name;
        if (!why || !fact_is_of_step(fact->spec))
            facts->list.items[kept++] = *fact;
        else if (!vec_push(&facts->absences, facts->arena, absence))
            return false;
    }
    facts->list.count = kept;
    return true;
}

const struct fact *facts_find(const struct facts *facts, const char *name)
{
    bool   is_there;
    size_t row = fact_position(facts, name, &is_there);

    return is_there ? &facts->list.items[row] : NULL;
}

bool facts_get(const struct facts *facts, const char *name, double *value)
{
    const struct fact *fact = facts_find(facts, name);

    if (fact)
        *value = fact->value;
    return fact != NULL;
}

const struct table *facts_find_table(const struct facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->tables.count; i++)
        if (strcmp(facts->tables.items[i]->spec->name, name) == 0)
            return facts->tables.items[i];
    return NULL;
}

/* Whether an absence recorded under `prefix` speaks about `name`: the same, or a dotted parent. */
static bool is_covered(const char *prefix, const char *name)
{
    size_t len = strlen(prefix);

    if (strncmp(prefix, name, len) != 0)
        return false;
    return name[len] == '\0' || (len > 0 && prefix[len - 1] == '.') || name[len] == '.';
}

const struct absence *facts_why_absent(const struct facts *facts, const char *name)
{
    const struct absence *best = NULL;

    for (size_t i = 0; i < facts->absences.count; i++) {
        const struct absence *absence = &facts->absences.items[i];

        if (is_covered(absence->name, name) &&
            (!best || strlen(absence->name) > strlen(best->name)))
            best = absence;
    }
    return best;
}

uint32_t facts_name(struct facts *facts, struct str text)
{
    return intern_add(facts->names, text);
}

/* The value as facts->names has it, where it is a name. */
static double joined_value(const struct facts *facts, const struct facts *from,
                           const uint32_t *names, enum unit unit, double value)
{
    uint32_t first = from->names->first;

    if (unit != UNIT_NAME || !(value >= first && value < NO_ID) || from->names == facts->names)
        return value;
    return names[(uint32_t)value - first];
}

static void join_table(const struct facts *facts, const struct facts *from, const uint32_t *names,
                       struct table *table)
{
    for (size_t c = 0; c < table->spec->column_count; c++)
        for (size_t row = 0; row < table->row_count; row++)
            table->columns[c][row] = joined_value(facts, from, names, table->spec->columns[c].unit,
                                                  table->columns[c][row]);
}

bool facts_join(struct facts *facts, const struct facts *from)
{
    uint32_t *names = arena_new_array(facts->arena, uint32_t, from->names->count);

    for (uint32_t i = 0; names && i < from->names->count; i++) {
        names[i] = facts_name(facts, from->names->names[i]);
        if (names[i] == NO_ID)
            return false;
    }
    for (size_t i = 0; names && i < from->list.count; i++) {
        const struct fact *fact = &from->list.items[i];

        if (!facts_set(facts, fact->spec,
                       joined_value(facts, from, names, fact->spec->unit, fact->value)))
            return false;
    }
    for (size_t i = 0; names && i < from->tables.count; i++) {
        join_table(facts, from, names, from->tables.items[i]);
        if (!vec_push(&facts->tables, facts->arena, from->tables.items[i]))
            return false;
    }
    for (size_t i = 0; names && i < from->absences.count; i++)
        if (!vec_push(&facts->absences, facts->arena, from->absences.items[i]))
            return false;
    return names != NULL;
}

static int compare_tables(const void *a, const void *b)
{
    const struct table *const *left = a, *const *right = b;

    return strcmp((*left)->spec->name, (*right)->spec->name);
}

void facts_settle(struct facts *facts)
{
    if (facts->tables.count > 1)
        qsort(facts->tables.items, facts->tables.count, sizeof *facts->tables.items,
              compare_tables);
}
