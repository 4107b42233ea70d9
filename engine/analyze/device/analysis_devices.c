/* devices: how busy each accelerator was in the used steps, and what its idle time is down to. */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "model/hardware.h"

#include <math.h>
#include <stdlib.h>

enum device_fact {
    COUNT,
    MODEL,
    BUSY_NS,
    BUSY_SHARE,
    COMPUTE_NS,
    COMPUTE_SHARE,
    COPY_NS,
    IDLE_NS,
    IDLE_SHARE,
    BOUNDARY_IDLE_NS,
    LONGEST_GAP_NS,
    GAP_COUNT,
    CAUSES, /* ns and share of each cause follow */
    HALF_TYPE = CAUSES + 2 * GAP_CAUSE_COUNT,
    TF32_PEAK,
    F8_PEAK,
    TF32_RATIO,
    HALF_RATIO,
    DOUBLE_RATIO,
    FACT_COUNT
};
/* clang-format off */
static const struct fact_spec produces[] = {
    [COUNT] = { "device.count", UNIT_COUNT, "accelerators that did something in the used steps" },
    [MODEL] = { "device.model", UNIT_NAME, "model of the first accelerator" },
    [BUSY_NS] = { "device.busy_ns", UNIT_NS, "time a step with work on the device, mean over devices" },
    [BUSY_SHARE] = { "device.busy_share", UNIT_SHARE, "share of the step with work on the device" },
    [COMPUTE_NS] = { "device.compute_ns", UNIT_NS, "time a step with computation on the device" },
    [COMPUTE_SHARE] = { "device.compute_share", UNIT_SHARE, "share of the step with computation" },
    [COPY_NS] = { "device.copy_ns", UNIT_NS, "time a step with copies and sets on the device" },
    [IDLE_NS] = { "device.idle_ns", UNIT_NS, "time a step without work on the device" },
    [IDLE_SHARE] = { "device.idle_share", UNIT_SHARE, "share of the step without work" },
    [BOUNDARY_IDLE_NS] = { "device.idle_boundary_ns", UNIT_NS, "idle time a step over its ends" },
    [LONGEST_GAP_NS] = { "device.longest_gap_ns", UNIT_NS, "longest single idle range" },
    [GAP_COUNT] = { "device.gap_count", UNIT_COUNT, "idle ranges a step" },
#define GAP(id, name, fact, title, help)                                                           \
    [CAUSES + 2 * GAP_##id] = { "device.idle_" fact "_ns", UNIT_NS, "idle time a step: " help },   \
    [CAUSES + 2 * GAP_##id + 1] = { "device.idle_" fact "_share", UNIT_SHARE, "idle share: " help },
#include "analyze/device/gap_causes.def"
    [HALF_TYPE] = { "device.half_type", UNIT_NAME, "type of 16 bits that it multiplies at its full rate: float16, or bfloat16 where it can" },
    [TF32_PEAK] = { "device.tf32_flops_per_s", UNIT_FLOPS_PER_S, "peak of products of float32 in TF32; 0: it has none" },
    [F8_PEAK] = { "device.f8_flops_per_s", UNIT_FLOPS_PER_S, "peak of products of 8 bit floats; 0: it has none" },
    [TF32_RATIO] = { "device.tf32_of_f32", UNIT_RATIO, "peak in TF32 over that in float32, by data sheets" },
    [HALF_RATIO] = { "device.half_of_f32", UNIT_RATIO, "peak in 16 bits with sums in float32 over that in float32, by data sheets" },
    [DOUBLE_RATIO] = { "device.f32_of_f64", UNIT_RATIO, "peak in float32 or TF32, the higher one, over that in float64, by data sheets" },
};
/* clang-format on */

enum devices_column {
    D_DEVICE,
    D_MODEL,
    D_HOST,
    D_BUSY_NS,
    D_BUSY_SHARE,
    D_COMPUTE_NS,
    D_COMM_NS,
    D_COPY_NS,
    D_IDLE_NS,
    D_IDLE_SHARE,
    D_KERNELS,
    D_CAUSES,
    D_UNIT_OF = D_CAUSES + GAP_CAUSE_COUNT
};
static const struct column_spec device_columns[] = {
    [D_DEVICE] = { "device", UNIT_NAME, "device" },
    [D_MODEL] = { "model", UNIT_NAME, "its model" },
    [D_HOST] = { "host", UNIT_NAME, "host it belongs to" },
    [D_BUSY_NS] = { "busy_ns", UNIT_NS, "time a step with work" },
    [D_BUSY_SHARE] = { "busy_share", UNIT_SHARE, "share of the step with work" },
    [D_COMPUTE_NS] = { "compute_ns", UNIT_NS, "time a step with computation" },
    [D_COMM_NS] = { "comm_ns", UNIT_NS, "time a step with collectives" },
    [D_COPY_NS] = { "copy_ns", UNIT_NS, "time a step with copies and sets" },
    [D_IDLE_NS] = { "idle_ns", UNIT_NS, "time a step without work" },
    [D_IDLE_SHARE] = { "idle_share", UNIT_SHARE, "share of the step without work" },
    [D_KERNELS] = { "kernels", UNIT_COUNT, "kernels a step" },
    [D_UNIT_OF] = { "unit_of", UNIT_NAME, "the device that it is a unit of; facts leave it out" },
#define GAP(id, name, fact, title, help)                                                           \
    [D_CAUSES + GAP_##id] = { "idle_" fact "_ns", UNIT_NS, "idle: " title },
#include "analyze/device/gap_causes.def"
};
enum gaps_column {
    G_DEVICE,
    G_CAUSE,
    G_NS,
    G_START_NS,
    G_WINDOW,
    G_BEFORE,
    G_AFTER,
    G_HOST_ACTIVITY,
    G_SOURCE_FILE,
    G_SOURCE_LINE,
    G_IS_BOUNDARY
};
static const struct column_spec gap_columns[] = {
    [G_DEVICE] = { "device", UNIT_NAME, "device" },
    [G_CAUSE] = { "cause", UNIT_NAME, "input, sync, compile, host-late, launch, dependency, …" },
    [G_NS] = { "ns", UNIT_NS, "length" },
    [G_START_NS] = { "start_ns", UNIT_NS, "when, on the clock of the steps" },
    [G_WINDOW] = { "window", UNIT_COUNT, "which used step, from 0" },
    [G_BEFORE] = { "before", UNIT_NAME, "what ran before it" },
    [G_AFTER] = { "after", UNIT_NAME, "what ran after it" },
    [G_HOST_ACTIVITY] = { "host_activity", UNIT_NAME, "what the launching thread did meanwhile" },
    [G_SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [G_SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
    [G_IS_BOUNDARY] = { "is_boundary", UNIT_BOOL, "goes over the end of a step" },
};
static const struct table_spec tables[] = {
    { "devices", "accelerators", device_columns, ARRAY_COUNT(device_columns) },
    { "gaps", "longest idle ranges of accelerators", gap_columns, ARRAY_COUNT(gap_columns) },
};

static bool add_device(struct study *study, const struct windows *windows, struct table *table,
                       const struct device_row *from)
{
    const struct profile *profile = study->profile;
    const struct device  *device = &profile->devices.items[from->device];
    double                steps = (double)windows->count, total_ns = (double)windows->total_ns;
    size_t                row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_name(table, D_DEVICE, row, device->name);
    emit_name(table, D_MODEL, row, device->model);
    emit_name(table, D_HOST, row, profile->hosts.items[device->host].name);
    if (device->unit_of)
        emit_name(table, D_UNIT_OF, row, profile->devices.items[device->unit_of - 1].name);
    emit_number(table, D_BUSY_NS, row, from->busy_ns / steps);
    emit_number(table, D_BUSY_SHARE, row, from->busy_ns / total_ns);
    emit_number(table, D_COMPUTE_NS, row, from->compute_ns / steps);
    emit_number(table, D_COMM_NS, row, from->collective_ns / steps);
    emit_number(table, D_COPY_NS, row, from->copy_ns / steps);
    emit_number(table, D_IDLE_NS, row, from->idle_ns / steps);
    emit_number(table, D_IDLE_SHARE, row, from->idle_ns / total_ns);
    emit_number(table, D_KERNELS, row, (double)from->kernel_count / steps);
    for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
        emit_number(table, D_CAUSES + cause, row, from->cause_ns[cause] / steps);
    return true;
}

static bool fill_devices(struct study *study, const struct windows *windows)
{
    const struct device_activity *devices = study->devices;
    struct table                 *table = facts_table(&study->facts, &tables[0]);

    for (size_t i = 0; table && i < devices->rows.count; i++)
        if (!add_device(study, windows, table, &devices->rows.items[i]))
            return false;
    for (size_t i = 0; table && i < devices->units.count; i++)
        if (!add_device(study, windows, table, &devices->units.items[i]))
            return false;
    return table != NULL;
}

enum { MOST_GAPS = 20 };
struct top_gap {
    struct device_gap gap;
    uint32_t          device;
    uint32_t          thread;     /* timeline of the launch, or NO_ID */
    uint32_t          host_event; /* what it did, or NO_ID */
    int64_t           score;
};

static int64_t gap_ns(const struct device_gap *gap)
{
    return gap->end_ns - gap->start_ns;
}

/* The longest gaps of all devices of the reference host, by length. */
static size_t find_top(const struct study *study, const struct windows *windows,
                       struct top_gap top[MOST_GAPS])
{
    size_t count = 0;

    for (size_t i = 0; i < study->devices->rows.count; i++) {
        const struct device_row *row = &study->devices->rows.items[i];

        if (study->profile->devices.items[row->device].host != windows->host)
            continue;
        for (size_t j = 0; j < row->gaps.count; j++) {
            const struct device_gap *gap = &row->gaps.items[j];
            size_t                   place = count;

            while (place > 0 && gap_ns(&top[place - 1].gap) < gap_ns(gap))
                place--;
            if (place == MOST_GAPS)
                continue;
            count += count < MOST_GAPS;
            for (size_t k = count - 1; k > place; k--)
                top[k] = top[k - 1];
            top[place] = (struct top_gap) { *gap, row->device, NO_ID, NO_ID, 0 };
        }
    }
    return count;
}

/* The most telling event of the launching thread: the shortest that covers half of the gap. */
static void take_host_event(const struct profile *profile, struct top_gap *top, uint32_t event,
                            int64_t start_ns, int64_t end_ns)
{
    int64_t duration_ns = end_ns - start_ns;

    start_ns = start_ns > top->gap.start_ns ? start_ns : top->gap.start_ns;
    end_ns = end_ns < top->gap.end_ns ? end_ns : top->gap.end_ns;
    if ((end_ns - start_ns) * 2 >= gap_ns(&top->gap) &&
        (top->host_event == NO_ID || duration_ns <= event_duration_ns(profile, top->host_event)))
        top->host_event = event;
}

/* All gaps of a thread in one pass over it. */
static void find_on_thread(const struct profile *profile, uint32_t thread, struct top_gap *top,
                           size_t count)
{
    const struct timeline *timeline = &profile->timelines.items[thread];

    for (uint32_t j = 0; j < timeline->event_count; j++) {
        uint32_t event = timeline->first_event + j;
        int64_t  start_ns = event_start_ns(profile, event);
        int64_t  end_ns = start_ns + event_duration_ns(profile, event);

        for (size_t i = 0; i < count; i++)
            if (start_ns < top[i].gap.end_ns && end_ns > top[i].gap.start_ns &&
                top[i].thread == thread)
                take_host_event(profile, &top[i], event, start_ns, end_ns);
    }
}

static void find_host_events(const struct profile *profile, struct top_gap *top, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_done = top[i].thread == NO_ID;

        for (size_t before = 0; before < i && !is_done; before++)
            is_done = top[before].thread == top[i].thread;
        if (!is_done)
            find_on_thread(profile, top[i].thread, top, count);
    }
}

static void fill_gap(const struct study *study, struct table *table, size_t row,
                     const struct top_gap *top)
{
    const struct profile *profile = study->profile;
    uint32_t              source = NO_ID;

    emit_name(table, G_DEVICE, row, profile->devices.items[top->device].name);
    emit_number(table, G_NS, row, (double)gap_ns(&top->gap));
    emit_number(table, G_START_NS, row, (double)top->gap.start_ns);
    emit_number(table, G_WINDOW, row, top->gap.window);
    emit_number(table, G_IS_BOUNDARY, row, top->gap.is_boundary);
    if (top->gap.before != NO_ID)
        emit_name(table, G_BEFORE, row, event_activity(profile, top->gap.before)->name);
    if (top->gap.after != NO_ID)
        emit_name(table, G_AFTER, row, event_activity(profile, top->gap.after)->name);
    if (top->host_event == NO_ID)
        return;
    emit_name(table, G_HOST_ACTIVITY, row, event_activity(profile, top->host_event)->name);
    source = event_activity(profile, top->host_event)->source;
    emit_source(profile, table, G_SOURCE_FILE, row, source);
}

static bool fill_gaps(struct study *study, const struct windows *windows, struct arena *scratch)
{
    struct table         *table = facts_table(&study->facts, &tables[1]);
    struct timeline_index index;
    struct top_gap        top[MOST_GAPS];
    size_t                count;

    if (!table || !timeline_index_make(study->profile, scratch, &index))
        return false;
    count = find_top(study, windows, top);
    for (size_t i = 0; i < count; i++)
        if (top[i].gap.launch != NO_ID)
            top[i].thread = timeline_index_find(study->profile, &index, top[i].gap.launch);
    find_host_events(study->profile, top, count);
    for (size_t i = 0; i < count; i++) {
        size_t row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        fill_gap(study, table, row, &top[i]);
        emit_name(table, G_CAUSE, row,
                  facts_name(&study->facts, str_from(gap_cause_name(top[i].gap.cause))));
    }
    return true;
}

static void sum_row(const struct device_row *row, double steps, double values[FACT_COUNT])
{
    values[BUSY_NS] += row->busy_ns / steps;
    values[COMPUTE_NS] += row->compute_ns / steps;
    values[COPY_NS] += row->copy_ns / steps;
    values[IDLE_NS] += row->idle_ns / steps;
    values[GAP_COUNT] += (double)row->gaps.count / steps;
    for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
        values[CAUSES + 2 * cause] += row->cause_ns[cause] / steps;
    for (size_t i = 0; i < row->gaps.count; i++) {
        double length_ns = (double)gap_ns(&row->gaps.items[i]);

        if (row->gaps.items[i].is_boundary)
            values[BOUNDARY_IDLE_NS] += length_ns / steps;
        if (length_ns > values[LONGEST_GAP_NS])
            values[LONGEST_GAP_NS] = length_ns;
    }
}

static bool set_ratio(struct facts *facts, int id, double peak, double of)
{
    if (peak <= 0 || of <= 0)
        return facts_absent(facts, produces[id].name, NULL, "its data sheet has no such peak");
    return facts_set(facts, &produces[id], peak / of);
}

/* Types that the device multiplies. */
static bool set_types(struct study *study, const struct device *device)
{
    static const char      unknown[] = "nothing tells what this device is";
    struct facts          *facts = &study->facts;
    enum dtype             half = hardware_half_type(study->profile, device);
    struct hardware        made;
    const struct hardware *known = hardware_of(study->profile, device, &made);
    bool                   is_set;

    is_set = half == DTYPE_UNKNOWN ? facts_absent(facts, produces[HALF_TYPE].name, NULL, unknown)
                                   : facts_set(facts, &produces[HALF_TYPE],
                                               facts_name(facts, str_from(dtype_name(half))));
    for (int i = TF32_PEAK; !known && i <= DOUBLE_RATIO; i++)
        is_set = is_set && facts_absent(facts, produces[i].name, NULL, unknown);
    if (!known || !is_set)
        return is_set;
    return facts_set(facts, &produces[TF32_PEAK], known->tf32_flops_per_s) &&
           facts_set(facts, &produces[F8_PEAK], known->f8_flops_per_s) &&
           set_ratio(facts, TF32_RATIO, known->tf32_flops_per_s, known->f32_flops_per_s) &&
           set_ratio(facts, HALF_RATIO, hardware_peak_flops_per_s(known, half),
                     known->f32_flops_per_s) &&
           set_ratio(facts, DOUBLE_RATIO, fmax(known->f32_flops_per_s, known->tf32_flops_per_s),
                     known->f64_flops_per_s);
}

static bool set_facts(struct study *study, const struct windows *windows)
{
    const struct profile *profile = study->profile;
    double                values[FACT_COUNT] = { 0 };
    double                mean_ns = (double)windows->total_ns / (double)windows->count;
    double                count = 0;
    bool                  is_set = true;

    for (size_t i = 0; i < study->devices->rows.count; i++) {
        const struct device_row *row = &study->devices->rows.items[i];

        if (profile->devices.items[row->device].host != windows->host || row->busy_ns <= 0)
            continue;
        sum_row(row, (double)windows->count, values);
        count++;
    }
    if (count == 0)
        return facts_absent(&study->facts, "device.", NULL,
                            "the accelerators of the reference host did nothing");
    for (size_t i = BUSY_NS; i < FACT_COUNT; i++)
        if (i != LONGEST_GAP_NS)
            values[i] /= count;
    values[COUNT] = count;
    values[MODEL] = profile->devices.items[study->devices->rows.items[0].device].model;
    values[BUSY_SHARE] = values[BUSY_NS] / mean_ns;
    values[COMPUTE_SHARE] = values[COMPUTE_NS] / mean_ns;
    values[IDLE_SHARE] = values[IDLE_NS] / mean_ns;
    for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
        values[CAUSES + 2 * cause + 1] = values[CAUSES + 2 * cause] / mean_ns;
    for (size_t i = 0; i < HALF_TYPE; i++)
        if (i != MODEL || values[i] != 0)
            is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    return is_set &&
           set_types(study, &profile->devices.items[study->devices->rows.items[0].device]);
}

static bool say_absent(struct study *study)
{
    const struct profile *profile = study->profile;
    const char           *reason = "the program ran on the CPU: there is no accelerator";
    const char           *capture = NULL;
    double                idle = 0;

    (void)facts_get(&study->facts, "coverage.idle_accelerators", &idle);
    for (size_t i = 0; i < profile->devices.count && idle <= 0; i++)
        if (profile->devices.items[i].kind != DEVICE_CPU) {
            reason = "accelerators are named, but what ran on them was not recorded";
            capture = "device tracing (full trace level, CUPTI permissions)";
        }
    if (idle > 0)
        reason = "the program ran on the CPU: the accelerator that is there did nothing";
    return facts_absent(&study->facts, "device.|devices|gaps", capture, "%s", reason);
}

static bool run(struct study *study, struct err *err)
{
    struct arena   scratch = { 0 };
    struct windows windows;
    bool           is_done;

    study->devices = arena_new(study->arena, struct device_activity);
    is_done = study->devices && windows_make(study, &scratch, &windows) &&
              device_activity_make(study, &windows, study->arena, &scratch, study->devices);
    if (is_done && study->devices->rows.count == 0)
        is_done = say_absent(study);
    else if (is_done)
        is_done = fill_devices(study, &windows) && fill_gaps(study, &windows, &scratch) &&
                  set_facts(study, &windows);
    arena_free(&scratch);
    return is_done || emit_limit("device activity", err);
}

const struct analysis analysis_devices = {
    .name = "devices",
    .summary = "how busy accelerators were and why they were not",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
