/*
 * fusions: kernels that follow each other on a stream though a library has one for both
 * (fusions.def). One reads what the other wrote, so that the shorter of two is what their fusion
 * saves at most.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "analyze/kernel/kernel_times.h"
#include "base/macros.h"

#include <math.h>

enum station {
#define STATION(id, category, words) STATION_##id,
#include "analyze/kernel/fusions.def"
    STATION_COUNT
};
static const struct {
    enum kernel_category category; /* KERNEL_OTHER: any */
    const char          *words;
} stations[] = {
#define STATION(id, category, words) { KERNEL_##category, words },
#include "analyze/kernel/fusions.def"
};
enum where { ANY, AMD, HOPPER };
static const struct fusion {
    const char  *what;
    enum station first, second;
    enum where   where;
    const char  *by, *version, *source, *code;
} fusions[] = {
#define FUSION(what, first, second, where, by, version, source, code)                              \
    { what, STATION_##first, STATION_##second, where, by, version, source, code },
#include "analyze/kernel/fusions.def"
};

enum column { WHAT, COUNT, NS, SAVED_NS, BY, VERSION, SOURCE, CODE, FIRST, SECOND };
static const struct column_spec columns[] = {
    [WHAT] = { "fusion", UNIT_NAME, "what a known fusion puts together" },
    [COUNT] = { "count", UNIT_COUNT, "such pairs a step" },
    [NS] = { "ns", UNIT_NS, "time of both a step" },
    [SAVED_NS] = { "saved_ns", UNIT_NS, "of that the shorter ones: the most that it saves" },
    [BY] = { "by", UNIT_NAME, "library that has it, and its name there" },
    [VERSION] = { "version", UNIT_NAME, "version whose documentation was read" },
    [SOURCE] = { "documentation", UNIT_NAME, "where that is" },
    [CODE] = { "code", UNIT_NAME, "what asks for it" },
    [FIRST] = { "first", UNIT_NAME, "first kernel" },
    [SECOND] = { "second", UNIT_NAME, "second kernel" },
};
static const struct table_spec tables[] = {
    { "fusions", "pairs of kernels that a known fusion replaces", columns, ARRAY_COUNT(columns) },
};

struct found {
    double   count, ns, saved_ns;
    uint32_t first, second; /* names of the first pair */
};
struct searching {
    struct study       *study;
    struct windows      windows;
    struct kernel_times kernels;
    uint32_t           *stations_of; /* by activity: bits, and one behind all once they are known */
    struct found        found[ARRAY_COUNT(fusions)];
};

static bool is_there(const struct device *device, enum where where)
{
    return where == ANY ||
           (where == AMD ? device->is_amd : !device->is_amd && device->compute_major >= 9);
}

static uint32_t stations_at(struct searching *searching, uint32_t event)
{
    const struct profile *profile = searching->study->profile;
    uint32_t              activity = event_activity_id(profile, event);
    uint8_t               kind = profile->activities.items[activity].kind;
    uint32_t             *bits = &searching->stations_of[activity];
    struct str            name;

    if (*bits || (kind != ACTIVITY_KERNEL && kind != ACTIVITY_COLLECTIVE))
        return *bits;
    name = profile_str(profile, profile->activities.items[activity].name);
    *bits = 1u << STATION_COUNT;
    for (int i = 0; i < STATION_COUNT; i++)
        if ((stations[i].category == KERNEL_OTHER ||
             stations[i].category == searching->kernels.names[activity].category) &&
            searching->kernels.names[activity].category != KERNEL_GEMM &&
            str_fits(name, stations[i].words))
            *bits |= 1u << i;
    return *bits;
}

static void add(struct searching *searching, size_t fusion, uint32_t first, uint32_t second)
{
    const struct profile *profile = searching->study->profile;
    struct found         *found = &searching->found[fusion];
    double                a = (double)event_duration_ns(profile, first);
    double                b = (double)event_duration_ns(profile, second);

    if (found->count++ == 0) {
        found->first = event_activity(profile, first)->name;
        found->second = event_activity(profile, second)->name;
    }
    found->ns += a + b;
    found->saved_ns += fmin(a, b);
}

/* A kernel goes into one fusion. */
static void walk(struct searching *searching, const struct timeline *timeline)
{
    const struct profile *profile = searching->study->profile;
    uint32_t              end = timeline->first_event + timeline->event_count;

    for (uint32_t event = timeline->first_event; event + 1 < end; event++) {
        uint32_t first = stations_at(searching, event);

        if (!(first & ~(1u << STATION_COUNT)) ||
            windows_find(&searching->windows, event_start_ns(profile, event)) == SIZE_MAX)
            continue;
        for (size_t i = 0; i < ARRAY_COUNT(fusions); i++)
            if (first >> fusions[i].first & 1 &&
                stations_at(searching, event + 1) >> fusions[i].second & 1 &&
                is_there(&profile->devices.items[timeline->device], fusions[i].where)) {
                add(searching, i, event, event + 1);
                event++;
                break;
            }
    }
}

static bool fill(struct searching *searching)
{
    struct facts *facts = &searching->study->facts;
    struct table *table = facts_table(facts, &tables[0]);
    double        devices = device_activity_count(searching->study, &searching->windows);
    double        steps = (double)searching->windows.count * fmax(1, devices);

    for (size_t i = 0; table && i < ARRAY_COUNT(fusions); i++) {
        const struct found *found = &searching->found[i];
        size_t              row;

        if (found->count <= 0)
            continue;
        row = table_add(table, searching->study->arena);
        if (row == SIZE_MAX)
            return false;
        emit_name(table, WHAT, row, facts_name(facts, str_from(fusions[i].what)));
        emit_number(table, COUNT, row, found->count / steps);
        emit_number(table, NS, row, found->ns / steps);
        emit_number(table, SAVED_NS, row, found->saved_ns / steps);
        emit_name(table, BY, row, facts_name(facts, str_from(fusions[i].by)));
        emit_name(table, VERSION, row, facts_name(facts, str_from(fusions[i].version)));
        emit_name(table, SOURCE, row, facts_name(facts, str_from(fusions[i].source)));
        emit_name(table, CODE, row, facts_name(facts, str_from(fusions[i].code)));
        emit_name(table, FIRST, row, found->first);
        emit_name(table, SECOND, row, found->second);
    }
    return table != NULL;
}

static bool run(struct study *study, struct err *err)
{
    struct arena          scratch = { 0 };
    struct searching      searching = { .study = study };
    const struct profile *profile = study->profile;
    bool                  is_done;

    if (!study->devices || !study->devices->launch_of)
        return facts_absent(&study->facts, "fusions", NULL,
                            "no accelerator's work is in the recording");
    searching.stations_of = arena_new_array(&scratch, uint32_t, profile->activities.count + 1);
    is_done = searching.stations_of && windows_make(study, &scratch, &searching.windows) &&
              kernel_times_get(study, &scratch, &searching.kernels);
    for (size_t i = 0; is_done && i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_STREAM &&
            profile->timelines.items[i].device != NO_ID &&
            profile->timelines.items[i].host == searching.windows.host)
            walk(&searching, &profile->timelines.items[i]);
    is_done = is_done && fill(&searching);
    arena_free(&scratch);
    return is_done || emit_limit("kernels that a known fusion replaces", err);
}

const struct analysis analysis_fusions = {
    .name = "fusions",
    .summary = "kernels that a known fusion replaces",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
