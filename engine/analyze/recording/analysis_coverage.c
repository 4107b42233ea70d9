/* coverage: which signals the recording has at all, so that a rule can say why it could not look.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "model/names.h"

#include <math.h>

enum coverage_fact {
    EVENTS,
    HOSTS,
    PROCESSES,
    ACCELERATORS,
    KERNELS,
    LAUNCHES,
    OPS,
    DEVICE_OPS,
    LACKS_DEVICE,
    IDLE_ACCELERATORS,
    OPS_WITH_SHAPES,
    MEMORY_EVENTS,
    OP_MEMORY,
    FLOWS,
    COLLECTIVES,
    SOURCES,
    PYTHON,
    HAS_STACKS,
    HAS_SHAPES,
    UNKNOWN_FIELDS,
    UNKNOWN_STATS,
    NOTES,
    OVERHEAD_NS,
    WORLD_SIZE,
    CAPTURE_ERROR,
    CLOCK_CHECKS,
    CLOCK_MEETINGS,
    CLOCK_SHIFT_NS,
    CLOCK_DEVIATION_NS,
    CLOCK_EARLY_SHARE,
    FACT_COUNT
};

static const struct fact_spec produces[] = {
    [EVENTS] = { "coverage.events", UNIT_COUNT, "events on all timelines" },
    [HOSTS] = { "coverage.hosts", UNIT_COUNT, "hosts (or ranks) recorded" },
    [PROCESSES] = { "coverage.processes", UNIT_COUNT,
                    "processes that launch work on accelerators, a host's own counted for each" },
    [ACCELERATORS] = { "coverage.accelerators", UNIT_COUNT,
                       "devices that are not CPUs, nor units of one" },
    [KERNELS] = { "coverage.kernels", UNIT_COUNT, "device computations recorded" },
    [LAUNCHES] = { "coverage.launches", UNIT_COUNT, "host calls that enqueue device work" },
    [OPS] = { "coverage.ops", UNIT_COUNT, "distinct ops" },
    [DEVICE_OPS] = { "coverage.device_ops", UNIT_COUNT,
                     "names of host events that only programs on an accelerator have" },
    [LACKS_DEVICE] = { "coverage.lacks_device", UNIT_BOOL,
                       "an accelerator was given work, or may have been, and no kernel was "
                       "recorded" },
    [IDLE_ACCELERATORS] = { "coverage.idle_accelerators", UNIT_COUNT,
                            "accelerators that the recording names, without anything that they "
                            "did" },
    [OPS_WITH_SHAPES] = { "coverage.ops_with_shapes", UNIT_COUNT, "distinct ops of known shapes" },
    [MEMORY_EVENTS] = { "coverage.memory_events", UNIT_COUNT, "recorded allocations" },
    [OP_MEMORY] = { "coverage.op_memory", UNIT_COUNT, "memory records of ops" },
    [FLOWS] = { "coverage.flows", UNIT_COUNT, "recorded links between events" },
    [COLLECTIVES] = { "coverage.collectives", UNIT_COUNT, "collectives with their arguments" },
    [SOURCES] = { "coverage.sources", UNIT_COUNT, "known lines of the user's program" },
    [PYTHON] = { "coverage.python_events", UNIT_COUNT, "Python functions on timelines" },
    [HAS_STACKS] = { "coverage.has_stacks", UNIT_BOOL, "call stacks were recorded" },
    [HAS_SHAPES] = { "coverage.has_shapes", UNIT_BOOL, "shapes were recorded" },
    [UNKNOWN_FIELDS] = { "coverage.unknown_fields", UNIT_COUNT, "fields read past" },
    [UNKNOWN_STATS] = { "coverage.unknown_stats", UNIT_COUNT, "statistics read past" },
    [NOTES] = { "coverage.notes", UNIT_COUNT, "kinds of damage or oddity noted while reading" },
    [OVERHEAD_NS] = { "coverage.overhead_ns", UNIT_NS,
                      "the profiler's own work, all of the trace" },
    [WORLD_SIZE] = { "coverage.world_size", UNIT_COUNT, "ranks the job had" },
    [CAPTURE_ERROR] = { "coverage.capture_error", UNIT_NAME,
                        "the first error that the profiler wrote into the recording" },
    [CLOCK_CHECKS] = { "clock.checked_count", UNIT_COUNT,
                       "launches and collectives that tell whether clocks agree" },
    [CLOCK_MEETINGS] = { "clock.collective_count", UNIT_COUNT,
                         "of these the collectives that a host shares with the first one" },
    [CLOCK_SHIFT_NS] = { "clock.shift_ns", UNIT_NS,
                         "the most that a host was moved by, so that collectives end together" },
    [CLOCK_DEVIATION_NS] = { "clock.deviation_ns", UNIT_NS,
                             "what their ends then differ by mostly, of the worst host" },
    [CLOCK_EARLY_SHARE] = { "clock.early_share", UNIT_SHARE,
                            "share of them that end before a host has come, of the worst host" },
};

static const struct column_spec note_columns[] = {
    { "what", UNIT_NAME, "what was damaged, lost, repaired or assumed" },
    { "where", UNIT_NAME, "file; empty: the recording" },
    { "count", UNIT_COUNT, "how often" },
};
static const struct table_spec tables[] = {
    { "notes", "oddities met while reading", note_columns, ARRAY_COUNT(note_columns) },
};

struct kind_sums {
    uint64_t count[ACTIVITY_KIND_COUNT];
    double   ns[ACTIVITY_KIND_COUNT];
};

static bool sum_kinds(const struct profile *profile, struct kind_sums *sums)
{
    struct arena scratch = { 0 };
    uint8_t     *kinds = profile_label_kinds(profile, &scratch);
    int64_t      labels[EVENT_BATCH], durations_ns[EVENT_BATCH];
    uint32_t     count;

    for (uint32_t first = 0; kinds && first < profile->event_count; first += count) {
        count = profile->event_count - first;
        count = count < EVENT_BATCH ? count : EVENT_BATCH;
        packed_read(&profile->event_labels, first, count, labels);
        packed_read(&profile->event_durations_ns, first, count, durations_ns);
        for (uint32_t i = 0; i < count; i++) {
            sums->count[kinds[labels[i]]]++;
            sums->ns[kinds[labels[i]]] += (double)durations_ns[i];
        }
    }
    arena_free(&scratch);
    return kinds != NULL;
}

static size_t count_shaped(const struct profile *profile)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->ops.count; i++)
        count += profile->ops.items[i].input_count + profile->ops.items[i].output_count > 0;
    return count;
}

static size_t count_named(const struct profile *profile, enum name_list list)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->activities.count; i++)
        count += name_is(profile_str(profile, profile->activities.items[i].name), list);
    return count;
}

static size_t count_accelerators(const struct profile *profile)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->devices.count; i++)
        count += profile->devices.items[i].kind != DEVICE_CPU && !profile->devices.items[i].unit_of;
    return count;
}

/* An op that only hands its work over takes some microseconds of the host. */
static bool only_launches(const struct kind_sums *sums)
{
    enum { LAUNCH_NS = 100000 };

    return sums->count[ACTIVITY_OP] > 0 &&
           sums->ns[ACTIVITY_OP] < (double)LAUNCH_NS * (double)sums->count[ACTIVITY_OP];
}

/* Whether the accelerators did nothing, as the ops that processors alone have tell, too long to be
 * a loader's beside a network that only hands over its own. */
static bool runs_on_host(const struct profile *profile, const struct kind_sums *sums)
{
    return count_named(profile, NAMES_TORCH_HOST_OP) > 0 && !only_launches(sums);
}

/* The host's launches or ops tell of an accelerator, or one is there and not a single call of it
 * was recorded, which a profiler that looked at it makes itself when it stops,
 * unless ops tell that processors do all the work; and no kernel. */
static bool lacks_device(const struct profile *profile, const double *values,
                         const struct kind_sums *sums)
{
    uint64_t calls =
        sums->count[ACTIVITY_LAUNCH] + sums->count[ACTIVITY_SYNC] + sums->count[ACTIVITY_TRANSFER];

    return values[KERNELS] == 0 &&
           (values[LAUNCHES] > 0 || values[DEVICE_OPS] > 0 ||
            (values[ACCELERATORS] > 0 && calls == 0 &&
             (values[OPS] > 0 || sums->count[ACTIVITY_PYTHON] > 0) &&
             !runs_on_host(profile, sums)) ||
            (values[ACCELERATORS] == 0 && values[IDLE_ACCELERATORS] > 0 && only_launches(sums)));
}

/* PyTorch names the machine's accelerators, whether they do anything or not. */
static double count_idle(const struct profile *profile, const double *values,
                         const struct kind_sums *sums)
{
    bool is_idle = profile->format == FORMAT_KINETO && values[LACKS_DEVICE] == 0 &&
                   values[OPS] > 0 && values[KERNELS] == 0 && !sums->count[ACTIVITY_TRANSFER];

    return is_idle ? values[ACCELERATORS] : profile->idle_accelerators;
}

static bool launches_work(const struct profile *profile, const struct timeline *line)
{
    for (uint32_t i = 0; line->kind == TIMELINE_THREAD && i < line->event_count; i++)
        if (event_activity(profile, line->first_event + i)->kind == ACTIVITY_LAUNCH)
            return true;
    return false;
}

/* A profiler records its own process; a file with two was put together. */
static double count_processes(const struct profile *profile)
{
    double count = 0;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];
        bool                   is_new = launches_work(profile, line);

        for (size_t j = 0; j < i && is_new; j++) {
            const struct timeline *other = &profile->timelines.items[j];

            is_new = other->process != line->process || other->host != line->host ||
                     !launches_work(profile, other);
        }
        count += is_new;
    }
    return count;
}

static bool list_notes(struct study *study)
{
    const struct profile *profile = study->profile;
    struct table         *table = facts_table(&study->facts, &tables[0]);

    for (size_t i = 0; table && i < profile->notes.count; i++) {
        const struct note *note = &profile->notes.items[i];
        size_t             row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        table->columns[0][row] = facts_name(&study->facts, str_from(note->what));
        table->columns[1][row] =
            facts_name(&study->facts, str_from(note->where ? note->where : ""));
        table->columns[2][row] = (double)note->count;
    }
    return table != NULL;
}

/* How far clocks could be compared, and what came of it. */
static bool set_clocks(struct study *study)
{
    const struct profile *profile = study->profile;
    double                values[FACT_COUNT] = { 0 };
    bool                  is_set = true;

    for (size_t i = 0; i < profile->flows.count; i++)
        values[CLOCK_CHECKS] += profile->flows.items[i].kind == FLOW_LAUNCH;
    for (size_t i = 0; i < profile->hosts.count; i++) {
        const struct host *host = &profile->hosts.items[i];
        double             shift_ns = fabs((double)host->clock_shift_ns);

        if (!host->clock_meetings)
            continue;
        values[CLOCK_MEETINGS] += host->clock_meetings;
        values[CLOCK_SHIFT_NS] = fmax(values[CLOCK_SHIFT_NS], shift_ns);
        values[CLOCK_DEVIATION_NS] =
            fmax(values[CLOCK_DEVIATION_NS], (double)host->clock_deviation_ns);
        values[CLOCK_EARLY_SHARE] =
            fmax(values[CLOCK_EARLY_SHARE], (double)host->clock_early / host->clock_meetings);
    }
    values[CLOCK_CHECKS] += values[CLOCK_MEETINGS];
    if (values[CLOCK_MEETINGS] <= 0)
        is_set = facts_absent(&study->facts, "clock.", NULL,
                              "no collectives that two hosts share were recorded");
    for (int i = CLOCK_CHECKS; i <= CLOCK_EARLY_SHARE && is_set; i++)
        if (i == CLOCK_CHECKS ? values[i] > 0 : values[CLOCK_MEETINGS] > 0)
            is_set = facts_set(&study->facts, &produces[i], values[i]);
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    const struct profile *profile = study->profile;
    struct kind_sums      sums = { 0 };
    double                values[FACT_COUNT];

    if (!sum_kinds(profile, &sums))
        return emit_limit("what the recording covers", err);
    values[EVENTS] = profile->event_count;
    values[HOSTS] = (double)profile->hosts.count;
    values[PROCESSES] = count_processes(profile);
    values[ACCELERATORS] = (double)count_accelerators(profile);
    values[KERNELS] = (double)sums.count[ACTIVITY_KERNEL];
    values[LAUNCHES] = (double)sums.count[ACTIVITY_LAUNCH];
    values[OPS] = (double)profile->ops.count;
    values[DEVICE_OPS] = (double)count_named(profile, NAMES_TORCH_ACCELERATOR_OP);
    values[IDLE_ACCELERATORS] = profile->idle_accelerators;
    values[LACKS_DEVICE] = lacks_device(profile, values, &sums);
    values[IDLE_ACCELERATORS] = count_idle(profile, values, &sums);
    values[OPS_WITH_SHAPES] = (double)count_shaped(profile);
    values[MEMORY_EVENTS] = (double)profile->memory_events.count;
    values[OP_MEMORY] = (double)profile->op_memory.count;
    values[FLOWS] = (double)profile->flows.count;
    values[COLLECTIVES] = (double)profile->collectives.count;
    values[SOURCES] = (double)profile->sources.count;
    values[PYTHON] = (double)sums.count[ACTIVITY_PYTHON];
    values[HAS_STACKS] = profile->has_stacks;
    values[HAS_SHAPES] = profile->has_shapes;
    values[UNKNOWN_FIELDS] = (double)profile->unknown_fields;
    values[UNKNOWN_STATS] = (double)profile->unknown_stats;
    values[NOTES] = (double)profile->notes.count;
    values[OVERHEAD_NS] = sums.ns[ACTIVITY_OVERHEAD];
    values[WORLD_SIZE] = profile->world_size;
    for (size_t i = 0; i <= WORLD_SIZE; i++) {
        if (i == WORLD_SIZE && profile->world_size < 0)
            continue;
        if (!facts_set(&study->facts, &produces[i], values[i]))
            return err_memory(err, "facts");
    }
    if (profile->capture_error
            ? !facts_set(&study->facts, &produces[CAPTURE_ERROR], profile->capture_error)
            : !facts_absent(&study->facts, produces[CAPTURE_ERROR].name, NULL,
                            "the profiler wrote down no error"))
        return err_memory(err, "facts");
    if (profile->world_size < 0 &&
        !facts_absent(&study->facts, produces[WORLD_SIZE].name, NULL,
                      "the recording does not say how many ranks the job had"))
        return err_memory(err, "facts");
    return (list_notes(study) && set_clocks(study)) || err_memory(err, "facts");
}

const struct analysis analysis_coverage = {
    .name = "coverage",
    .summary = "which signals the recording has",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
