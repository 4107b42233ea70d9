/* properties: what recorders write of machines and events, as peaks of memories, use of units and
 * counters, in their own words. */
#include "analyze/analysis.h"
#include "analyze/emit.h"

enum property_column { HOST, DEVICE, NAME, TEXT, NUMBER };
static const struct column_spec columns[] = {
    [HOST] = { "host", UNIT_NAME, "host" },
    [DEVICE] = { "device", UNIT_NAME, "its device; none: the host itself" },
    [NAME] = { "name", UNIT_NAME, "as the recorder calls it; units stand there or nowhere" },
    [TEXT] = { "text", UNIT_NAME, "what is written, where it is a text" },
    [NUMBER] = { "number", UNIT_NONE, "what is written, where it is a number" },
};
enum event_stat_column {
    STAT,
    COUNT,
    SUM,
    LEAST,
    MOST,
    WRITTEN,
    OF_DEVICE,
    OF_HOST,
    IS_FIXED,
    EVENT
};
static const struct column_spec stat_columns[] = {
    [STAT] = { "stat", UNIT_NAME, "as the recorder calls it; units stand there or nowhere" },
    [COUNT] = { "count", UNIT_COUNT, "how often it is written in the recording" },
    [SUM] = { "sum", UNIT_NONE, "of all that is written, where it is numbers" },
    [LEAST] = { "least", UNIT_NONE, "least of them" },
    [MOST] = { "most", UNIT_NONE, "greatest of them" },
    [WRITTEN] = { "text", UNIT_NAME, "what is written first, where it is a text" },
    [OF_DEVICE] = { "device", UNIT_NAME, "its device; none: the host itself" },
    [OF_HOST] = { "host", UNIT_NAME, "host" },
    [IS_FIXED] = { "is_fixed", UNIT_BOOL, "written once, of all events of the name" },
    [EVENT] = { "event", UNIT_NAME, "events of this name" },
};
static const struct table_spec tables[] = {
    { "properties", "what is recorded of hosts and devices, in the recorder's words", columns,
      ARRAY_COUNT(columns) },
    { "event_stats",
      "what is recorded of events and stands in no other table, in the recorder's words",
      stat_columns, ARRAY_COUNT(stat_columns) },
};

static bool add(struct study *study, struct table *table, const struct property *property)
{
    const struct profile *profile = study->profile;
    size_t                row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_name(table, HOST, row, profile->hosts.items[property->host].name);
    if (property->device != NO_ID)
        emit_name(table, DEVICE, row, profile->devices.items[property->device].name);
    emit_name(table, NAME, row, property->name);
    if (property->text)
        emit_name(table, TEXT, row, property->text);
    else
        emit_number(table, NUMBER, row, property->number);
    return true;
}

static bool add_stat(struct study *study, struct table *table, const struct event_stat *stat)
{
    const struct profile *profile = study->profile;
    size_t                row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_name(table, OF_HOST, row, profile->hosts.items[stat->host].name);
    if (stat->device != NO_ID)
        emit_name(table, OF_DEVICE, row, profile->devices.items[stat->device].name);
    emit_name(table, EVENT, row, stat->event);
    emit_name(table, STAT, row, stat->stat);
    emit_number(table, COUNT, row, (double)stat->count);
    emit_number(table, IS_FIXED, row, stat->is_fixed);
    if (stat->text) {
        emit_name(table, WRITTEN, row, stat->text);
        return true;
    }
    emit_number(table, SUM, row, stat->sum);
    emit_number(table, LEAST, row, stat->least);
    emit_number(table, MOST, row, stat->most);
    return true;
}

static bool write_properties(struct study *study)
{
    const struct profile *profile = study->profile;
    struct table         *table;

    if (profile->properties.count == 0)
        return facts_absent(&study->facts, "properties", NULL,
                            "the recording says nothing of its machines");
    table = facts_table(&study->facts, &tables[0]);
    for (size_t i = 0; table && i < profile->properties.count; i++)
        if (!add(study, table, &profile->properties.items[i]))
            return false;
    return table != NULL;
}

static bool write_stats(struct study *study)
{
    const struct profile *profile = study->profile;
    struct table         *table;

    if (profile->event_stats.count == 0)
        return facts_absent(&study->facts, "event_stats", NULL,
                            "all that is recorded of events stands in other tables");
    table = facts_table(&study->facts, &tables[1]);
    for (size_t i = 0; table && i < profile->event_stats.count; i++)
        if (!add_stat(study, table, &profile->event_stats.items[i]))
            return false;
    return table != NULL;
}

static bool run(struct study *study, struct err *err)
{
    return (write_properties(study) && write_stats(study)) || emit_limit("properties", err);
}

const struct analysis analysis_properties = {
    .name = "properties",
    .summary = "what is recorded of hosts, devices and events",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
