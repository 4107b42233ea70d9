#include "analyze/step/runs.h"

#include "analyze/step/queue_runs.h"
#include "base/macros.h"
#include "base/sort.h"
#include "model/names.h"

#include <stdlib.h>

/* Host of each timeline's events: events of a timeline are consecutive, so walk both in step. */
struct host_cursor {
    const struct profile *profile;
    size_t                timeline;
};

static const struct timeline *timeline_of(struct host_cursor *cursor, uint32_t event)
{
    const struct timeline *lines = cursor->profile->timelines.items;

    while (cursor->timeline < cursor->profile->timelines.count &&
           event >= lines[cursor->timeline].first_event + lines[cursor->timeline].event_count)
        cursor->timeline++;
    return cursor->timeline < cursor->profile->timelines.count ? &lines[cursor->timeline] : NULL;
}

bool runs_input_steps(const struct profile *profile, struct id_map *input_steps)
{
    const struct stat_column *column = &profile->stats[STAT_EXECUTOR_STEP];
    bool *is_captured = arena_new_array(input_steps->arena, bool, profile->labels.count);

    for (size_t i = 0; is_captured && i < profile->labels.count; i++)
        is_captured[i] = str_starts(
            profile_str(profile, profile->activities.items[profile->labels.items[i]].name),
            STR("InstantiatedCapturedFunction::"));
    for (size_t i = 0; is_captured && i < stat_count(column); i++)
        if (is_captured[packed_get(&profile->event_labels, stat_event(column, i))] &&
            !id_map_put(input_steps, (uint64_t)stat_value(column, i), 1))
            return false;
    return is_captured && queue_runs_find(profile, input_steps);
}

static const uint64_t PLACE_FACTOR = UINT64_C(0xc2b2ae3d27d4eb4f);

struct run_search {
    const struct profile *profile;
    struct arena         *arena, *scratch;
    struct runs          *runs;
    struct id_map         by_key;
};

/* As stats say. On a line of programs an event is one: where no stat tells, its name does. */
static int64_t program_of(const struct profile *profile, const struct timeline *line,
                          uint32_t event)
{
    int64_t program = 0;

    if (!profile_stat(profile, STAT_PROGRAM, event, &program) &&
        !profile_stat(profile, STAT_MODULE_NAME, event, &program) && line &&
        line->kind == TIMELINE_MODULES)
        program = event_activity(profile, event)->name;
    return program;
}

/* A TPU numbers its own runs: the same number on another one, or on the host, is another run. */
static bool counts_by_itself(const struct timeline *line)
{
    return line->device != NO_ID && (line->kind == TIMELINE_MODULES || line->kind == TIMELINE_OPS);
}

static bool add_piece(struct run_search *search, uint32_t event, const struct timeline *line,
                      uint64_t id)
{
    const struct profile *profile = search->profile;
    uint32_t              device = counts_by_itself(line) ? line->device : NO_ID;
    int64_t               program = program_of(profile, line, event);
    int64_t               start_ns = event_start_ns(profile, event);
    int64_t               end_ns = event_end_ns(profile, event);
    uint64_t              place = (uint64_t)device << 32 | line->host;
    uint64_t              key = (id * UINT64_C(0x9e3779b97f4a7c15)) ^ (place * PLACE_FACTOR);
    uint32_t              row = id_map_get(&search->by_key, key);

    if (row == NO_ID) {
        row = (uint32_t)search->runs->list.count;
        return vec_push(&search->runs->list, search->arena,
                        (struct run) { .start_ns = start_ns,
                                       .end_ns = end_ns,
                                       .program = program,
                                       .host = line->host,
                                       .device = device,
                                       .event = event }) &&
               id_map_put(&search->by_key, key, row);
    }
    struct run *run = &search->runs->list.items[row];

    if (start_ns < run->start_ns)
        run->start_ns = start_ns, run->event = event;
    if (end_ns > run->end_ns)
        run->end_ns = end_ns;
    if (!run->program)
        run->program = program;
    return true;
}

static bool is_work(enum activity_kind kind)
{
    return kind == ACTIVITY_OP || kind == ACTIVITY_RUN || kind == ACTIVITY_EXECUTOR ||
           kind == ACTIVITY_KERNEL;
}

static bool add_column(struct run_search *search, enum stat_key key,
                       const struct id_map *input_steps)
{
    const struct profile     *profile = search->profile;
    const struct stat_column *column = &profile->stats[key];
    struct host_cursor        cursor = { profile, 0 };

    for (size_t i = 0; i < stat_count(column); i++) {
        uint32_t               event = stat_event(column, i);
        const struct timeline *line = timeline_of(&cursor, event);

        if (!line || line->kind == TIMELINE_DERIVED || event_duration_ns(profile, event) == 0 ||
            !is_work(event_activity(profile, event)->kind) ||
            (input_steps && id_map_get(input_steps, (uint64_t)stat_value(column, i)) != NO_ID))
            continue;
        if (!add_piece(search, event, line, (uint64_t)stat_value(column, i)))
            return false;
    }
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    return IN_ORDER(COMPARE(x->start_ns, y->start_ns), COMPARE(x->event, y->event));
}

struct device_time {
    uint32_t host, device;
    int64_t  total_ns;
};
struct device_times {
    VEC(struct device_time) list;
};

static bool time_devices(const struct runs *runs, struct arena *scratch, struct device_times *times)
{
    for (size_t i = 0; i < runs->list.count; i++) {
        const struct run *run = &runs->list.items[i];
        size_t            d = 0;

        if (run->device == NO_ID)
            continue;
        while (d < times->list.count && times->list.items[d].device != run->device)
            d++;
        if (d == times->list.count &&
            !vec_push(&times->list, scratch,
                      (struct device_time) { .host = run->host, .device = run->device }))
            return false;
        times->list.items[d].total_ns += run->end_ns - run->start_ns;
    }
    return true;
}

/* The device that stands for all of a host, or NO_ID where its runs are on threads. */
static uint32_t leading_device(const struct device_times *times, uint32_t host)
{
    const struct device_time *best = NULL;

    for (size_t d = 0; d < times->list.count; d++)
        if (times->list.items[d].host == host &&
            (!best || times->list.items[d].total_ns > best->total_ns))
            best = &times->list.items[d];
    return best ? best->device : NO_ID;
}

/* One device of each host: what it runs, the others run beside it. */
static bool keep_leading(struct runs *runs, struct arena *scratch)
{
    struct device_times times = { 0 };
    size_t              kept = 0;

    if (!time_devices(runs, scratch, &times))
        return false;
    for (size_t i = 0; times.list.count && i < runs->list.count; i++) {
        struct run run = runs->list.items[i];

        if (run.device == leading_device(&times, run.host))
            runs->list.items[kept++] = run;
    }
    if (times.list.count)
        runs->list.count = kept;
    return true;
}

bool runs_find(const struct profile *profile, struct arena *arena, struct runs *runs)
{
    struct arena      scratch = { .budget_bytes = arena->budget_bytes };
    struct id_map     input_steps = { .arena = &scratch };
    struct run_search search = { .profile = profile,
                                 .arena = arena,
                                 .scratch = &scratch,
                                 .runs = runs,
                                 .by_key = { .arena = &scratch } };
    bool ok = runs_input_steps(profile, &input_steps) && add_column(&search, STAT_RUN_ID, NULL) &&
              add_column(&search, STAT_EXECUTOR_STEP, &input_steps) && keep_leading(runs, &scratch);

    if (ok && runs->list.count)
        qsort(runs->list.items, runs->list.count, sizeof *runs->list.items, by_start);
    arena_free(&scratch);
    return ok;
}

struct launched { /* device work by its launch */
    int64_t  launch_ns;
    uint32_t event;
};

static int by_launch(const void *a, const void *b)
{
    const struct launched *x = a, *y = b;

    return IN_ORDER(COMPARE(x->launch_ns, y->launch_ns), COMPARE(x->event, y->event));
}

/* Calls that stand in no other call, by thread. */
static bool add_calls(const struct profile *profile, struct arena *arena, struct runs *runs)
{
    bool *is_call = arena_new_array(arena, bool, profile->activities.count + 1);

    for (size_t i = 0; is_call && i < profile->activities.count; i++)
        is_call[i] =
            name_is(profile_str(profile, profile->activities.items[i].name), NAMES_JIT_CALL);
    for (size_t i = 0; is_call && i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];
        int64_t                end_ns = INT64_MIN;

        for (uint32_t event = line->first_event;
             line->kind == TIMELINE_THREAD && event < line->first_event + line->event_count;
             event++) {
            uint32_t   activity = event_activity_id(profile, event);
            struct run run = { .start_ns = event_start_ns(profile, event),
                               .end_ns = event_end_ns(profile, event),
                               .program = profile->activities.items[activity].name,
                               .host = line->host,
                               .device = NO_ID,
                               .event = event,
                               .caller = (uint32_t)i };

            if (!is_call[activity] || run.start_ns < end_ns)
                continue;
            run.called_start_ns = run.start_ns;
            run.called_end_ns = end_ns = run.end_ns;
            if (!vec_push(&runs->list, arena, run))
                return false;
        }
    }
    return is_call != NULL;
}

/* The call was when its work was. */
static void take_work(const struct profile *profile, const struct launched *works, size_t count,
                      struct run *run)
{
    size_t low = LOWER_BOUND(count, i, works[i].launch_ns < run->called_start_ns);
    bool   is_first = true, is_named = false;

    for (; low < count && works[low].launch_ns < run->called_end_ns; low++) {
        uint32_t event = works[low].event;
        int64_t  start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);
        int64_t  program = program_of(profile, NULL, event);

        run->start_ns = is_first || start_ns < run->start_ns ? start_ns : run->start_ns;
        run->end_ns = is_first || end_ns > run->end_ns ? end_ns : run->end_ns;
        if (!is_named && program) {
            run->program = program;
            run->event = event;
        }
        is_first = false;
        is_named = is_named || program;
    }
}

bool runs_dispatched(const struct profile *profile, struct arena *arena, struct runs *runs)
{
    VEC(struct launched) works = { 0 };

    if (!add_calls(profile, arena, runs))
        return false;
    for (size_t i = 0; runs->list.count && i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];
        struct launched    work = { .event = flow->to };

        if (flow->kind != FLOW_LAUNCH || flow->from >= profile->event_count ||
            flow->to >= profile->event_count)
            continue;
        work.launch_ns = event_start_ns(profile, flow->from);
        if (!vec_push(&works, arena, work))
            return false;
    }
    if (works.count)
        qsort(works.items, works.count, sizeof *works.items, by_launch);
    for (size_t i = 0; i < runs->list.count; i++)
        take_work(profile, works.items, works.count, &runs->list.items[i]);
    if (runs->list.count)
        qsort(runs->list.items, runs->list.count, sizeof *runs->list.items, by_start);
    return true;
}

bool runs_is_call(struct str name)
{
    return str_starts(name, STR("EagerLocalExecute: __"));
}

struct str runs_called(struct str name)
{
    static const struct str call = STR_INIT("EagerLocalExecute: "), made = STR_INIT("__inference_");

    if (str_starts(name, call))
        name = str_slice(name, call.len, name.len);
    return str_starts(name, made) ? str_slice(name, made.len, name.len) : name;
}
