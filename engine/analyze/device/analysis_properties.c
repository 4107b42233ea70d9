/* properties: what recorders write of machines, as peaks of memories and use of units, in their own
 * words. */
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
static const struct table_spec tables[] = {
    { "properties", "what is recorded of hosts and devices, in the recorder's words", columns,
      ARRAY_COUNT(columns) },
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

static bool run(struct study *study, struct err *err)
{
    const struct profile *profile = study->profile;
    struct table         *table;

    if (profile->properties.count == 0)
        return facts_absent(&study->facts, "properties", NULL,
                            "the recording says nothing of its machines") ||
               emit_limit("properties", err);
    table = facts_table(&study->facts, &tables[0]);
    for (size_t i = 0; table && i < profile->properties.count; i++)
        if (!add(study, table, &profile->properties.items[i]))
            return emit_limit("properties", err);
    return table || emit_limit("properties", err);
}

const struct analysis analysis_properties = {
    .name = "properties",
    .summary = "what is recorded of hosts and devices",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
