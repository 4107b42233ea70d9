/*
 * step_classes: each moment of a step charged to the first of a list of classes (step_classes.def)
 * that any thread of the host, or the device, is at, by step and device; of hosts without
 * accelerators by step and host. Where the path (path.h) asks what a step waits for, this asks what
 * went on, as the overview, the input pipeline analyzer and the pod viewer of TensorFlow's profiler
 * do.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "base/sample.h"
#include "base/sort.h"
#include "model/interval.h"

#include <stdlib.h>

enum moment {
#define MOMENT(id, name, help) MOMENT_##id,
#include "analyze/path/step_classes.def"
    MOMENT_COUNT
};
static const char *const moment_names[MOMENT_COUNT] = {
#define MOMENT(id, name, help) name,
#include "analyze/path/step_classes.def"
};

static const struct fact_spec produces[] = {
#define MOMENT(id, name, help)                                                                     \
    { "classes." name "_ns", UNIT_NS, "a step's time, mean over devices: " help },
#include "analyze/path/step_classes.def"
    { "classes.bottleneck", UNIT_NAME, "the class with most of them" },
    { "classes.input_least_share", UNIT_SHARE,
      "input's share of the step with least of it, of the accelerator or host with most" },
    { "classes.input_most_share", UNIT_SHARE, "the same of the step with most" },
    { "classes.input_mean_share", UNIT_SHARE, "the same, mean over steps" },
    { "classes.input_deviation", UNIT_SHARE, "standard deviation of these shares over steps" },
};
enum { FACT_BOTTLENECK = MOMENT_COUNT, FACT_LEAST, FACT_MOST, FACT_MEAN, FACT_DEVIATION };

enum {
    C_NUMBER,
    C_HOST,
    C_DEVICE,
    C_DURATION,
    C_MOMENTS,
    C_BOTTLENECK = C_MOMENTS + MOMENT_COUNT,
    C_IDLE
};
static const struct column_spec class_columns[] = {
    [C_NUMBER] = { "number", UNIT_COUNT, "step number as recorded" },
    [C_HOST] = { "host", UNIT_NAME, "host" },
    [C_DEVICE] = { "device", UNIT_NAME, "accelerator; none: the host has none" },
    [C_DURATION] = { "duration_ns", UNIT_NS, "to the start of the next step" },
#define MOMENT(id, name, help) [C_MOMENTS + MOMENT_##id] = { name "_ns", UNIT_NS, help },
#include "analyze/path/step_classes.def"
    [C_BOTTLENECK] = { "bottleneck", UNIT_NAME, "the class with most of the step" },
    [C_IDLE] = { "idle_ns", UNIT_NS, "the accelerator does nothing" },
};
enum { I_NUMBER, I_CORES, I_SHARE, I_LEAST, I_MOST, I_WHERE };
static const struct column_spec input_columns[] = {
    [I_NUMBER] = { "number", UNIT_COUNT, "step number as recorded" },
    [I_CORES] = { "cores", UNIT_COUNT, "accelerators, or hosts without, that have the step" },
    [I_SHARE] = { "input_share", UNIT_SHARE, "input_ns and h2d_ns of the step, mean over them" },
    [I_LEAST] = { "least_share", UNIT_SHARE, "of the one with least" },
    [I_MOST] = { "most_share", UNIT_SHARE, "of the one with most" },
    [I_WHERE] = { "where", UNIT_NAME, "which that is" },
};
static const struct table_spec tables[] = {
    { "step_classes", "what goes on in each step, by host and accelerator", class_columns,
      ARRAY_COUNT(class_columns) },
    { "step_input", "range of the input's share of each step over accelerators", input_columns,
      ARRAY_COUNT(input_columns) },
};

struct core_step { /* of one accelerator, or of a host without */
    int64_t  number, duration_ns, idle_ns;
    uint32_t host, device; /* rows; device NO_ID: none */
    int64_t  moment_ns[MOMENT_COUNT];
};
struct moments { /* when each class goes on; of one host, or of one device */
    struct intervals of[MOMENT_COUNT];
};
struct classes {
    const struct study *study;
    struct arena       *scratch;
    struct intervals   *steps; /* by host: its used steps */
    VEC(struct core_step) rows;
};

static enum moment of_copy(enum copy_direction copy)
{
    return copy == COPY_H2D ? MOMENT_H2D : copy == COPY_D2H ? MOMENT_D2H : MOMENT_COPY;
}

/* What an event on a line of an accelerator is; MOMENT_OTHER: nothing that counts. Instructions
 * that copy move what their program keeps elsewhere, which is no input. */
static enum moment on_device(const struct activity *activity, bool is_instruction)
{
    switch (activity->kind) {
    case ACTIVITY_KERNEL:
    case ACTIVITY_OP:
    case ACTIVITY_CALLBACK:
    case ACTIVITY_MEMSET:
        return MOMENT_COMPUTE;
    case ACTIVITY_MEMCPY:
        return is_instruction ? MOMENT_COPY : of_copy(activity->copy);
    case ACTIVITY_COLLECTIVE:
        return MOMENT_COLLECTIVE;
    case ACTIVITY_INPUT_WAIT:
        return MOMENT_INPUT;
    case ACTIVITY_OUTPUT:
        return MOMENT_OUTPUT;
    default:
        return MOMENT_OTHER;
    }
}

/* What an event on a host's thread is. Calls that hold whole programs say nothing of what goes on.
 */
static enum moment on_host(const struct activity *activity, bool has_device)
{
    switch (activity->kind) {
    case ACTIVITY_INPUT_WAIT:
        return MOMENT_INPUT;
    case ACTIVITY_LAUNCH:
        return MOMENT_LAUNCH;
    case ACTIVITY_EXECUTOR:
        return has_device ? MOMENT_LAUNCH : MOMENT_HOST;
    case ACTIVITY_TRANSFER:
        return activity->copy == COPY_D2H ? MOMENT_HOST : MOMENT_H2D;
    case ACTIVITY_COMPILE:
    case ACTIVITY_TRACING:
        return MOMENT_COMPILE;
    case ACTIVITY_OUTPUT:
        return MOMENT_OUTPUT;
    case ACTIVITY_COLLECTIVE:
        return has_device ? MOMENT_HOST : MOMENT_COLLECTIVE;
    case ACTIVITY_RUN:
    case ACTIVITY_DISPATCH:
    case ACTIVITY_SYNC:
        return MOMENT_OTHER;
    default:
        return activity_kind_class(activity->kind) == CLASS_MARK ||
                       activity_kind_class(activity->kind) == CLASS_WAIT
                   ? MOMENT_OTHER
                   : MOMENT_HOST;
    }
}

/* Adds the events of a line that reach into the steps. */
static bool add_line(const struct classes *classes, const struct timeline *line, bool has_device,
                     struct moments *moments)
{
    const struct profile   *profile = classes->study->profile;
    const struct intervals *steps = &classes->steps[line->host];
    size_t                  step = 0;

    for (uint32_t i = 0; i < line->event_count && step < steps->list.count; i++) {
        uint32_t               event = line->first_event + i;
        const struct activity *activity = event_activity(profile, event);
        int64_t start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);
        enum moment moment = line->device == NO_ID
                                 ? on_host(activity, has_device)
                                 : on_device(activity, line->kind == TIMELINE_OPS);

        while (step < steps->list.count && steps->list.items[step].end_ns <= start_ns)
            step++;
        if (moment != MOMENT_OTHER && step < steps->list.count &&
            end_ns > steps->list.items[step].start_ns &&
            !intervals_add(&moments->of[moment], classes->scratch, start_ns, end_ns))
            return false;
    }
    return true;
}

/* On a line of instructions, loops hold what runs in them: that they compute is said of the rest.
 */
static bool take_from_compute(struct moments *line, struct arena *scratch)
{
    for (int moment = MOMENT_COMPUTE + 1; moment < MOMENT_COUNT; moment++) {
        struct intervals left = { 0 };

        intervals_settle(&line->of[moment]);
        if (!line->of[moment].list.count)
            continue;
        intervals_settle(&line->of[MOMENT_COMPUTE]);
        if (!intervals_subtract(&line->of[MOMENT_COMPUTE], &line->of[moment], scratch, &left))
            return false;
        line->of[MOMENT_COMPUTE] = left;
    }
    return true;
}

static bool add_all(struct moments *to, const struct moments *from, struct arena *scratch)
{
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        for (size_t i = 0; i < from->of[moment].list.count; i++)
            if (!intervals_add(&to->of[moment], scratch, from->of[moment].list.items[i].start_ns,
                               from->of[moment].list.items[i].end_ns))
                return false;
    return true;
}

static bool is_device_line(const struct timeline *line)
{
    return line->device != NO_ID && (line->kind == TIMELINE_STREAM || line->kind == TIMELINE_OPS);
}

/* One device's, or, with NO_ID, those of a host's threads. */
static bool collect(const struct classes *classes, uint32_t host, uint32_t device, bool has_device,
                    struct moments *moments)
{
    const struct profile *profile = classes->study->profile;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];
        struct moments         own = { 0 };

        if (line->host != host || line->device != device ||
            !(device == NO_ID ? line->kind == TIMELINE_THREAD : is_device_line(line)))
            continue;
        if (line->kind != TIMELINE_OPS) {
            if (!add_line(classes, line, has_device, moments))
                return false;
        } else if (!add_line(classes, line, has_device, &own) ||
                   !take_from_compute(&own, classes->scratch) ||
                   !add_all(moments, &own, classes->scratch)) {
            return false;
        }
    }
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        intervals_settle(&moments->of[moment]);
    return true;
}

/* Gives each moment of the steps to the first class that has it. */
static bool resolve(const struct classes *classes, uint32_t host, const struct moments *of_host,
                    const struct moments *of_device, struct moments *result)
{
    struct arena    *scratch = classes->scratch;
    struct intervals rest = classes->steps[host];

    for (int moment = 0; moment < MOMENT_OTHER; moment++) {
        const struct intervals *sets[] = { &of_device->of[moment], &of_host->of[moment] };

        for (size_t i = 0; i < ARRAY_COUNT(sets); i++) {
            struct intervals part = { 0 }, left = { 0 };

            if (!sets[i]->list.count)
                continue;
            if (!intervals_intersect(&rest, sets[i], scratch, &part) ||
                !intervals_subtract(&rest, sets[i], scratch, &left))
                return false;
            rest = left;
            for (size_t j = 0; j < part.list.count; j++)
                if (!intervals_add(&result->of[moment], scratch, part.list.items[j].start_ns,
                                   part.list.items[j].end_ns))
                    return false;
        }
        intervals_settle(&result->of[moment]);
    }
    result->of[MOMENT_OTHER] = rest;
    return true;
}

static bool add_steps(struct classes *classes, uint32_t host, const struct device_row *device,
                      const struct moments *moments)
{
    const struct steps *steps = &classes->study->steps;

    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];
        struct core_step   row = { .number = step->number,
                                   .duration_ns = step->end_ns - step->start_ns,
                                   .host = host,
                                   .device = device ? device->device : NO_ID };

        if (step->host != host || !step->is_sampled)
            continue;
        for (int moment = 0; moment < MOMENT_COUNT; moment++)
            row.moment_ns[moment] =
                intervals_overlap_ns(&moments->of[moment], step->start_ns, step->end_ns);
        if (device)
            row.idle_ns =
                row.duration_ns - intervals_overlap_ns(&device->busy, step->start_ns, step->end_ns);
        if (!vec_push(&classes->rows, classes->scratch, row))
            return false;
    }
    return true;
}

static bool has_worked(const struct classes *classes, const struct device_row *device)
{
    const struct intervals *steps =
        &classes->steps[classes->study->profile->devices.items[device->device].host];

    for (size_t i = 0; i < steps->list.count; i++)
        if (intervals_overlap_ns(&device->busy, steps->list.items[i].start_ns,
                                 steps->list.items[i].end_ns) > 0)
            return true;
    return false;
}

static bool add_host(struct classes *classes, uint32_t host)
{
    static const struct moments   none;
    const struct device_activity *devices = classes->study->devices;
    struct moments                of_host = { 0 };
    size_t                        count = 0;

    for (size_t i = 0; i < devices->rows.count; i++)
        count +=
            classes->study->profile->devices.items[devices->rows.items[i].device].host == host &&
            has_worked(classes, &devices->rows.items[i]);
    if (!collect(classes, host, NO_ID, count > 0, &of_host))
        return false;
    for (size_t i = 0; count && i < devices->rows.count; i++) {
        const struct device_row *device = &devices->rows.items[i];
        struct moments           own = { 0 }, result = { 0 };

        if (classes->study->profile->devices.items[device->device].host != host ||
            !has_worked(classes, device))
            continue;
        if (!collect(classes, host, device->device, true, &own) ||
            !resolve(classes, host, &of_host, &own, &result) ||
            !add_steps(classes, host, device, &result))
            return false;
    }
    if (!count) {
        struct moments result = { 0 };

        return resolve(classes, host, &of_host, &none, &result) &&
               add_steps(classes, host, NULL, &result);
    }
    return true;
}

static enum moment most_of(const int64_t moment_ns[MOMENT_COUNT])
{
    enum moment most = MOMENT_COMPUTE;

    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        if (moment_ns[moment] > moment_ns[most])
            most = (enum moment)moment;
    return most;
}

static uint32_t where_name(const struct profile *profile, const struct core_step *row)
{
    return row->device == NO_ID ? profile->hosts.items[row->host].name
                                : profile->devices.items[row->device].name;
}

static bool fill_classes(struct study *study, const struct classes *classes)
{
    const struct profile *profile = study->profile;
    struct table         *table = facts_table(&study->facts, &tables[0]);

    for (size_t i = 0; table && i < classes->rows.count; i++) {
        const struct core_step *from = &classes->rows.items[i];
        size_t                  row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_number(table, C_NUMBER, row, (double)from->number);
        emit_name(table, C_HOST, row, profile->hosts.items[from->host].name);
        emit_number(table, C_DURATION, row, (double)from->duration_ns);
        for (int moment = 0; moment < MOMENT_COUNT; moment++)
            emit_number(table, C_MOMENTS + moment, row, (double)from->moment_ns[moment]);
        emit_name(table, C_BOTTLENECK, row,
                  facts_name(&study->facts, str_from(moment_names[most_of(from->moment_ns)])));
        if (from->device == NO_ID)
            continue;
        emit_name(table, C_DEVICE, row, profile->devices.items[from->device].name);
        emit_number(table, C_IDLE, row, (double)from->idle_ns);
    }
    return table != NULL;
}

static int by_number(const void *a, const void *b)
{
    const struct core_step *left = a, *right = b;

    return IN_ORDER(COMPARE(left->number, right->number), COMPARE(left->host, right->host),
                    COMPARE(left->device, right->device));
}

static double input_share(const struct core_step *row)
{
    return (double)(row->moment_ns[MOMENT_INPUT] + row->moment_ns[MOMENT_H2D]) /
           (double)(row->duration_ns > 0 ? row->duration_ns : 1);
}

static bool set_range(struct facts *facts, double *shares, size_t steps)
{
    double mean = sample_mean(shares, steps), deviation = sample_deviation(shares, steps);

    return facts_set(facts, &produces[FACT_LEAST], sample_quantile(shares, steps, 0)) &&
           facts_set(facts, &produces[FACT_MOST], sample_quantile(shares, steps, 1)) &&
           facts_set(facts, &produces[FACT_MEAN], mean) &&
           facts_set(facts, &produces[FACT_DEVIATION], deviation);
}

/* A row for rows [first, end), which are of one number; *share: of the one with most. */
static bool add_input(struct study *study, struct table *table, const struct core_step *first,
                      const struct core_step *end, double *share_of_most)
{
    const struct core_step *most = first;
    double                  sum = 0, least = 1;
    size_t                  row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    for (const struct core_step *at = first; at < end; at++) {
        double share = input_share(at);

        sum += share;
        least = share < least ? share : least;
        most = share > input_share(most) ? at : most;
    }
    emit_number(table, I_NUMBER, row, (double)first->number);
    emit_number(table, I_CORES, row, (double)(end - first));
    emit_number(table, I_SHARE, row, sum / (double)(end - first));
    emit_number(table, I_LEAST, row, least);
    *share_of_most = input_share(most);
    emit_number(table, I_MOST, row, *share_of_most);
    emit_name(table, I_WHERE, row, where_name(study->profile, most));
    return true;
}

static bool fill_input(struct study *study, struct classes *classes)
{
    struct table     *table = facts_table(&study->facts, &tables[1]);
    struct core_step *rows = classes->rows.items;
    size_t            first = 0, steps = 0;
    double           *shares = arena_new_array(classes->scratch, double, classes->rows.count);

    if (!shares)
        return false;
    qsort(rows, classes->rows.count, sizeof *rows, by_number);
    for (size_t i = 1; table && i <= classes->rows.count; i++) {
        if (i < classes->rows.count && rows[i].number == rows[first].number)
            continue;
        if (!add_input(study, table, rows + first, rows + i, &shares[steps++]))
            return false;
        first = i;
    }
    return table && set_range(&study->facts, shares, steps);
}

/* Means over the steps and devices of the reference host. */
static bool set_facts(struct study *study, const struct classes *classes)
{
    int64_t sum_ns[MOMENT_COUNT] = { 0 };
    double  count = 0;
    bool    ok = true;

    for (size_t i = 0; i < classes->rows.count; i++) {
        if (classes->rows.items[i].host != study->steps.host)
            continue;
        for (int moment = 0; moment < MOMENT_COUNT; moment++)
            sum_ns[moment] += classes->rows.items[i].moment_ns[moment];
        count++;
    }
    for (int moment = 0; ok && count > 0 && moment < MOMENT_COUNT; moment++)
        ok = facts_set(&study->facts, &produces[moment], (double)sum_ns[moment] / count);
    return ok && (count == 0 || facts_set_text(&study->facts, &produces[FACT_BOTTLENECK],
                                               str_from(moment_names[most_of(sum_ns)])));
}

static bool find_steps(struct classes *classes)
{
    const struct steps *steps = &classes->study->steps;
    size_t              hosts = classes->study->profile->hosts.count;

    classes->steps = arena_new_array(classes->scratch, struct intervals, hosts + 1);
    for (size_t i = 0; classes->steps && i < hosts; i++)
        classes->steps[i] = (struct intervals) { 0 };
    for (size_t i = 0; classes->steps && i < steps->list.count; i++)
        if (steps->list.items[i].is_sampled &&
            !intervals_add(&classes->steps[steps->list.items[i].host], classes->scratch,
                           steps->list.items[i].start_ns, steps->list.items[i].end_ns))
            return false;
    for (size_t i = 0; classes->steps && i < hosts; i++)
        intervals_settle(&classes->steps[i]);
    return classes->steps != NULL;
}

static bool make(struct study *study, struct classes *classes)
{
    if (!find_steps(classes))
        return false;
    for (uint32_t host = 0; study->profile->event_count && host < study->profile->hosts.count;
         host++)
        if (classes->steps[host].list.count && !add_host(classes, host))
            return false;
    if (classes->rows.count)
        return set_facts(study, classes) && fill_classes(study, classes) &&
               fill_input(study, classes);
    return facts_absent(&study->facts, "classes.|step_classes|step_input",
                        "at least one whole step", "no step with a timeline of events");
}

static bool run(struct study *study, struct err *err)
{
    struct arena   scratch = { .budget_bytes = study->arena->budget_bytes };
    struct classes classes = { .study = study, .scratch = &scratch };
    bool           is_done = make(study, &classes);

    arena_free(&scratch);
    return is_done || emit_limit("the classes of steps", err);
}

const struct analysis analysis_step_classes = {
    .name = "step_classes",
    .summary = "what went on in each step, by host and accelerator",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
