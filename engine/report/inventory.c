/* inventory: counting for `tfprof info`. */
#include "report/inventory.h"

#include "base/sort.h"

#include <stdlib.h>

static size_t keep_filled(struct inventory_row *rows, const struct inventory_row *all, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count && kept < INVENTORY_ROWS; i++) {
        if (all[i].count > 0)
            rows[kept++] = all[i];
    }
    return kept;
}

size_t inventory_counts(const struct profile *profile, struct inventory_row *rows)
{
    const struct inventory_row all[] = {
        { "timelines", "timelines", profile->timelines.count },
        { "events", "events", profile->event_count },
        { "activities", "distinct activities", profile->activities.count },
        { "ops", "ops", profile->ops.count },
        { "op_runs", "op executions", profile->op_runs.count },
        { "op_memory", "op memory records", profile->op_memory.count },
        { "source_lines", "source lines", profile->sources.count },
        { "flows", "flows", profile->flows.count },
        { "recorded_steps", "recorded steps", profile->recorded_steps.count },
        { "memory_events", "memory events", profile->memory_events.count },
        { "collectives", "collectives", profile->collectives.count },
        { "counter_samples", "counter samples", profile->counters.count },
        { "kernel_configs", "kernel configurations", profile->kernel_configs.count },
    };

    return keep_filled(rows, all, sizeof all / sizeof *all);
}

void inventory_kinds(const struct profile *profile, uint64_t counts[ACTIVITY_KIND_COUNT])
{
    for (int kind = 0; kind < ACTIVITY_KIND_COUNT; kind++)
        counts[kind] = 0;
    for (uint32_t event = 0; event < profile->event_count; event++)
        counts[event_activity(profile, event)->kind]++;
}

static bool is_found(const struct study *study, const struct analysis *analysis, size_t index)
{
    if (index < analysis->produces_count)
        return facts_find(&study->facts, analysis->produces[index].name) != NULL;
    return facts_find_table(&study->facts,
                            analysis->tables[index - analysis->produces_count].name) != NULL;
}

static const char *product_name(const struct analysis *analysis, size_t index)
{
    return index < analysis->produces_count
               ? analysis->produces[index].name
               : analysis->tables[index - analysis->produces_count].name;
}

static int compare_unknowns(const void *left, const void *right)
{
    const struct unknown *a = *(const struct unknown *const *)left;
    const struct unknown *b = *(const struct unknown *const *)right;

    return IN_ORDER(COMPARE(b->count, a->count), COMPARE(a->kind, b->kind),
                    COMPARE(a->name, b->name));
}

const struct unknown **inventory_unknowns(const struct profile *profile, struct arena *arena)
{
    const struct unknown **rows =
        arena_new_array(arena, const struct unknown *, profile->unknowns.count + 1);

    for (size_t i = 0; rows && i < profile->unknowns.count; i++)
        rows[i] = &profile->unknowns.items[i];
    if (rows && profile->unknowns.count > 1)
        qsort(rows, profile->unknowns.count, sizeof *rows, compare_unknowns);
    return rows;
}

struct yield inventory_yield(const struct study *study, const struct analysis *analysis)
{
    size_t       count = analysis->produces_count + analysis->table_count;
    struct yield yield = { .of = (uint32_t)count };

    for (size_t i = 0; i < count; i++)
        yield.found += is_found(study, analysis, i);
    return yield;
}

static bool is_told(const struct study *study, const struct analysis *analysis, size_t before,
                    const struct absence *absence)
{
    for (size_t i = 0; i < before; i++) {
        if (!is_found(study, analysis, i) &&
            facts_why_absent(&study->facts, product_name(analysis, i)) == absence)
            return true;
    }
    return false;
}

bool inventory_missing(const struct study *study, const struct analysis *analysis, size_t *cursor,
                       struct missing *missing)
{
    size_t count = analysis->produces_count + analysis->table_count;

    while (*cursor < count) {
        size_t                at = (*cursor)++;
        const struct absence *absence;

        if (is_found(study, analysis, at))
            continue;
        absence = facts_why_absent(&study->facts, product_name(analysis, at));
        if (!absence || is_told(study, analysis, at, absence))
            continue;
        *missing = (struct missing) { .name = absence->name,
                                      .reason = absence->reason,
                                      .capture = absence->capture };
        return true;
    }
    return false;
}
