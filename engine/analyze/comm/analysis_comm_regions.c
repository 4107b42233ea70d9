/*
 * comm_regions: collectives by the range of the user's program (record_function) that they are
 * called in. Ranges that frameworks put around their own work tell nothing of the program: the one
 * around them counts.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "analyze/step/window.h"
#include "base/sort.h"
#include "model/names.h"
#include "model/nesting.h"

#include <stdlib.h>
#include <string.h>

enum region_column { REGION, COUNT, NS, SHARE };
static const struct column_spec columns[] = {
    [REGION] = { "region", UNIT_NAME, "range, as recorded" },
    [COUNT] = { "count", UNIT_COUNT, "collectives a step that are called in it" },
    [NS] = { "ns", UNIT_NS, "their time a step" },
    [SHARE] = { "share", UNIT_SHARE, "of the time of all collectives" },
};
static const struct table_spec tables[] = {
    { "comm_regions", "ranges of the user's program by the collectives in them", columns,
      ARRAY_COUNT(columns) },
};

struct region {
    uint32_t name;
    double   count, ns; /* over all windows */
};
struct regions {
    struct study  *study;
    struct windows windows;
    struct arena  *scratch;
    uint32_t      *range_of; /* by event of a thread: activity of the range, or NO_ID */
    struct id_map  rows_by_name;
    VEC(struct region) rows;
    double total_ns; /* of all collectives, in a range or not */
};
static bool is_users(const struct profile *profile, const struct activity *activity)
{
    struct str name = profile_str(profile, activity->name);

    return activity->kind == ACTIVITY_ANNOTATION && !name_is(name, NAMES_TORCH_RANGE);
}

static bool add_collective(struct regions *regions, uint32_t event)
{
    const struct profile *profile = regions->study->profile;
    uint32_t              launch = regions->study->devices->launch_of[event];
    uint32_t              range = launch == NO_ID ? NO_ID : regions->range_of[launch], name, row;

    regions->total_ns += (double)event_duration_ns(profile, event);
    if (range == NO_ID)
        return true;
    name = profile->activities.items[range].name;
    row = id_map_get(&regions->rows_by_name, name);
    if (row == NO_ID) {
        struct region fresh = { .name = name };

        row = (uint32_t)regions->rows.count;
        if (!vec_push(&regions->rows, regions->scratch, fresh) ||
            !id_map_put(&regions->rows_by_name, name, row))
            return false;
    }
    regions->rows.items[row].count++;
    regions->rows.items[row].ns += (double)event_duration_ns(profile, event);
    return true;
}

static bool sum_regions(struct regions *regions)
{
    const struct profile *profile = regions->study->profile;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];
        uint32_t               end = timeline->first_event + timeline->event_count;

        if (timeline->kind != TIMELINE_STREAM || timeline->host != regions->windows.host)
            continue;
        for (uint32_t event = timeline->first_event; event < end; event++)
            if (event_activity(profile, event)->kind == ACTIVITY_COLLECTIVE &&
                windows_find(&regions->windows, event_start_ns(profile, event)) != SIZE_MAX &&
                !add_collective(regions, event))
                return false;
    }
    return true;
}

static int compare_regions(const void *a, const void *b)
{
    const struct region *left = a, *right = b;

    return IN_ORDER(COMPARE(right->ns, left->ns), COMPARE(left->name, right->name));
}

static bool fill(struct regions *regions)
{
    struct table *table = facts_table(&regions->study->facts, &tables[0]);
    double        steps = (double)regions->windows.count;

    if (regions->rows.count > 1)
        qsort(regions->rows.items, regions->rows.count, sizeof *regions->rows.items,
              compare_regions);
    for (size_t i = 0; table && i < regions->rows.count; i++) {
        const struct region *region = &regions->rows.items[i];
        size_t               row = table_add(table, regions->study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, REGION, row, region->name);
        emit_number(table, COUNT, row, region->count / steps);
        emit_number(table, NS, row, region->ns / steps);
        if (regions->total_ns > 0)
            emit_number(table, SHARE, row, region->ns / regions->total_ns);
    }
    return table != NULL;
}

/* Whether an activity is there at all, to be done at once with recordings that have none. */
static bool has_work(const struct profile *profile)
{
    bool has_ranges = false, has_collectives = false;

    for (size_t i = 0; i < profile->activities.count; i++) {
        has_ranges |= is_users(profile, &profile->activities.items[i]);
        has_collectives |= profile->activities.items[i].kind == ACTIVITY_COLLECTIVE;
    }
    return has_ranges && has_collectives;
}

static bool make(struct study *study, struct arena *scratch)
{
    struct regions regions = { .study = study,
                               .scratch = scratch,
                               .rows_by_name = { .arena = scratch } };

    if (study->devices && study->devices->launch_of && has_work(study->profile)) {
        regions.range_of = nesting_innermost(study->profile, study->around, is_users, scratch);
        if (!regions.range_of || !windows_make(study, scratch, &regions.windows) ||
            !sum_regions(&regions))
            return false;
    }
    if (regions.rows.count == 0)
        return facts_absent(&study->facts, tables[0].name,
                            "record_function ranges around parts of the model",
                            "no collective of an accelerator is called in a range of the program");
    return fill(&regions);
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { 0 };
    bool         is_done = make(study, &scratch);

    arena_free(&scratch);
    return is_done || emit_limit("the ranges around collectives", err);
}

const struct analysis analysis_comm_regions = {
    .name = "comm_regions",
    .summary = "collectives by the range of the user's program around them",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
