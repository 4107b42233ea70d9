#include "gate/counts.h"

#include "analyze/device/device_activity.h"
#include "analyze/ops/op_times.h"
#include "analyze/step/window.h"
#include "analyze/study.h"
#include "base/macros.h"
#include "base/sample.h"

#include <math.h>

const struct count_spec count_specs[] = {
#define COUNT(id, name, unit, source, fact, title, cost) { name, title, unit, source, fact, cost },
#include "gate/counts.def"
#undef COUNT
};
const size_t count_spec_count = ARRAY_COUNT(count_specs);

/* This many of the steps must agree for a count to be exact. */
static const double STEADY_SHARE = 0.9;

struct counter {
    const struct study *study;
    struct windows      windows, called; /* of the steps, and where the host made their calls */
    size_t              step_count;
    uint32_t           *step_of_run; /* by row of recorded_steps: its step; NO_ID: in none */
    double             *by_step[COUNT_ID_COUNT]; /* [count][step] */
    bool                is_shown[COUNT_ID_COUNT];
};

static void add(struct counter *counter, enum count_id id, size_t step, double amount)
{
    counter->is_shown[id] = true;
    counter->by_step[id][step] += amount;
}

/* Which count an event adds one to; COUNT_ID_COUNT: none. An op that prepares output is an op. */
static enum count_id count_of(const struct activity *activity, bool on_device)
{
    static const uint8_t ids[ACTIVITY_KIND_COUNT] = {
        [ACTIVITY_KERNEL] = COUNT_KERNELS + 1,         [ACTIVITY_MEMCPY] = COUNT_COPIES + 1,
        [ACTIVITY_LAUNCH] = COUNT_LAUNCHES + 1,        [ACTIVITY_SYNC] = COUNT_SYNCS + 1,
        [ACTIVITY_COMPILE] = COUNT_COMPILES + 1,       [ACTIVITY_CALLBACK] = COUNT_CALLBACKS + 1,
        [ACTIVITY_TRANSFER] = COUNT_TRANSFERS + 1,     [ACTIVITY_OP] = COUNT_OPS + 1,
        [ACTIVITY_COLLECTIVE] = COUNT_COLLECTIVES + 1,
    };
    unsigned id = activity->kind == ACTIVITY_OUTPUT && activity->op != NO_ID ? COUNT_OPS + 1
                                                                             : ids[activity->kind];

    if (id == 0 || (on_device && id == COUNT_OPS + 1) ||
        (!on_device && (id == COUNT_KERNELS + 1 || id == COUNT_COPIES + 1)))
        return COUNT_ID_COUNT;
    return (enum count_id)(id - 1);
}

static void add_payload(struct counter *counter, enum count_id id, size_t step, uint32_t event)
{
    const struct profile *profile = counter->study->profile;
    int64_t               value;

    if (id == COUNT_COPIES && profile_stat(profile, STAT_BYTES, event, &value) && value > 0)
        add(counter, COUNT_COPY_BYTES, step, (double)value);
    if (id == COUNT_COLLECTIVES && profile_stat(profile, STAT_COLLECTIVE, event, &value) &&
        value >= 0 && (uint64_t)value < profile->collectives.count &&
        profile->collectives.items[value].bytes_in > 0)
        add(counter, COUNT_COLLECTIVE_BYTES, step,
            (double)profile->collectives.items[value].bytes_in);
}

/* Eager executions are ops, though no event is named after the op itself. */
static enum count_id count_of_call(const struct profile *profile, uint32_t event)
{
    return op_times_eager_name(profile, event) != NO_ID
               ? COUNT_OPS
               : count_of(event_activity(profile, event), false);
}

/* A call inside another of its kind is part of it, but ops inside of ops count. */
static void walk_thread(struct counter *counter, const struct timeline *timeline)
{
    const struct profile *profile = counter->study->profile;
    int64_t               open_until_ns[COUNT_ID_COUNT];

    for (int id = 0; id < COUNT_ID_COUNT; id++)
        open_until_ns[id] = INT64_MIN;
    for (uint32_t i = 0; i < timeline->event_count; i++) {
        uint32_t      event = timeline->first_event + i;
        int64_t       start_ns = event_start_ns(profile, event);
        enum count_id id = count_of_call(profile, event);
        size_t        step;

        if (id == COUNT_ID_COUNT || start_ns < open_until_ns[id])
            continue;
        if (id != COUNT_OPS)
            open_until_ns[id] = event_end_ns(profile, event);
        if ((step = windows_find(&counter->called, start_ns)) == SIZE_MAX)
            continue;
        add(counter, id, step, 1);
        add_payload(counter, id, step, event);
    }
}

/* Work of a device belongs to the step that launched it. */
static void walk_stream(struct counter *counter, const struct timeline *timeline)
{
    const struct profile         *profile = counter->study->profile;
    const struct device_activity *devices = counter->study->devices;
    const uint32_t               *launch_of = devices ? devices->launch_of : NULL;

    for (uint32_t i = 0; i < timeline->event_count; i++) {
        uint32_t      event = timeline->first_event + i;
        uint32_t      launch = launch_of ? launch_of[event] : NO_ID;
        enum count_id id = count_of(event_activity(profile, event), true);
        size_t        step = launch == NO_ID
                                 ? windows_find(&counter->windows, event_start_ns(profile, event))
                                 : windows_find(&counter->called, event_start_ns(profile, launch));

        if (id == COUNT_ID_COUNT || step == SIZE_MAX)
            continue;
        add(counter, id, step, 1);
        add_payload(counter, id, step, event);
    }
}

static void walk_retraces(struct counter *counter)
{
    const struct profile     *profile = counter->study->profile;
    const struct stat_column *calls = &profile->stats[STAT_FUNCTION_CALL];

    for (size_t i = 0; i < stat_count(calls); i++) {
        struct str kind = profile_str(profile, (uint32_t)stat_value(calls, i));
        size_t step = windows_find(&counter->called, event_start_ns(profile, stat_event(calls, i)));

        if (step != SIZE_MAX && str_starts(kind, STR("traced")))
            add(counter, COUNT_RETRACES, step, 1);
    }
}

static void walk_memory(struct counter *counter)
{
    const struct profile *profile = counter->study->profile;

    for (size_t i = 0; i < profile->memory_events.count; i++) {
        const struct memory_event *event = &profile->memory_events.items[i];
        size_t                     step = windows_find(&counter->called, event->time_ns);

        if (event->kind != MEMORY_ALLOCATE || step == SIZE_MAX)
            continue;
        add(counter, COUNT_ALLOCATIONS, step, 1);
        if (event->bytes > 0)
            add(counter, COUNT_ALLOCATED_BYTES, step, (double)event->bytes);
    }
}

/* Formats whose times come by step: an op's runs in each. What it ran on a device is its kernels.
 */
static void walk_op_runs(struct counter *counter)
{
    const struct profile *profile = counter->study->profile;

    for (size_t i = 0; i < profile->op_runs.count; i++) {
        const struct op_run *run = &profile->op_runs.items[i];

        if (!run->is_accelerator && run->step < profile->recorded_steps.count &&
            counter->step_of_run[run->step] != NO_ID)
            add(counter, COUNT_OPS, counter->step_of_run[run->step], 1);
    }
}

/* Nothing seen is a count of 0 where the recording would show it. */
static void mark_shown(struct counter *counter, enum timeline_kind kind)
{
    static const enum count_id by_thread[] = { COUNT_LAUNCHES, COUNT_SYNCS,      COUNT_COMPILES,
                                               COUNT_RETRACES, COUNT_CALLBACKS,  COUNT_TRANSFERS,
                                               COUNT_OPS,      COUNT_COLLECTIVES };
    static const enum count_id by_stream[] = { COUNT_KERNELS, COUNT_COPIES };

    for (size_t i = 0; kind == TIMELINE_THREAD && i < ARRAY_COUNT(by_thread); i++)
        counter->is_shown[by_thread[i]] = true;
    for (size_t i = 0; kind == TIMELINE_STREAM && i < ARRAY_COUNT(by_stream); i++)
        counter->is_shown[by_stream[i]] = true;
}

static void walk(struct counter *counter)
{
    const struct profile *profile = counter->study->profile;

    if (profile->op_runs.count > 0) {
        walk_op_runs(counter);
        return;
    }
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (timeline->host != counter->windows.host || timeline->event_count == 0)
            continue;
        mark_shown(counter, timeline->kind);
        if (timeline->kind == TIMELINE_THREAD)
            walk_thread(counter, timeline);
        else if (timeline->kind == TIMELINE_STREAM || timeline->kind == TIMELINE_OPS)
            walk_stream(counter, timeline);
    }
    walk_retraces(counter);
    walk_memory(counter);
}

/* What nearly every step does, which a few steps that noise or the profiler disturbed do not move;
 * where steps differ there is no such number, and the mean is what the facts say, too. */
static struct count_value settle(double *values, size_t count)
{
    struct count_value value = { .low = values[0], .high = values[0] };
    double             sum = 0;
    size_t             same = 0;

    for (size_t i = 0; i < count; i++) {
        value.low = fmin(value.low, values[i]);
        value.high = fmax(value.high, values[i]);
        sum += values[i];
    }
    value.value = sample_median(values, count);
    for (size_t i = 0; i < count; i++)
        same += values[i] == value.value;
    value.is_steady = (double)same >= STEADY_SHARE * (double)count;
    if (!value.is_steady)
        value.value = sum / (double)count;
    return value;
}

static struct count_value from_fact(const struct study *study, const char *fact)
{
    struct count_value value = { .value = NAN, .is_steady = true };

    facts_get(&study->facts, fact, &value.value);
    value.low = value.high = value.value;
    return value;
}

/* Of several runs of a session that make a step; runs of which no time is known are steps. */
static bool place_runs(struct counter *counter, struct arena *scratch)
{
    const struct profile *profile = counter->study->profile;
    size_t                count = profile->recorded_steps.count, placed = 0;

    counter->step_of_run = arena_new_array(scratch, uint32_t, count + 1);
    if (!counter->step_of_run)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct recorded_step *run = &profile->recorded_steps.items[i];
        size_t                      step =
            run->duration_ns > 0 ? windows_find(&counter->windows, run->start_ns) : SIZE_MAX;

        counter->step_of_run[i] = step == SIZE_MAX ? NO_ID : (uint32_t)step;
        placed += step != SIZE_MAX;
    }
    if (placed)
        return true;
    counter->step_count = count;
    for (size_t i = 0; i < count; i++)
        counter->step_of_run[i] = (uint32_t)i;
    return true;
}

static bool counter_start(struct counter *counter, struct arena *scratch)
{
    if (!windows_make(counter->study, scratch, &counter->windows) ||
        !windows_make_called(counter->study, scratch, &counter->called))
        return false;
    counter->step_count = counter->windows.count;
    if (counter->study->profile->op_runs.count > 0 &&
        counter->study->profile->recorded_steps.count > 0 && !place_runs(counter, scratch))
        return false;
    for (int id = 0; id < COUNT_ID_COUNT; id++) {
        counter->by_step[id] = arena_new_array(scratch, double, counter->step_count);
        if (!counter->by_step[id])
            return false;
    }
    return true;
}

struct count_value *counts_make(const struct study *study, struct arena *arena)
{
    struct arena        scratch = { 0 };
    struct counter      counter = { .study = study };
    struct count_value *values = arena_new_array(arena, struct count_value, COUNT_ID_COUNT);

    if (values && counter_start(&counter, &scratch)) {
        bool has_steps = study->steps.source != STEPS_WHOLE_TRACE;

        walk(&counter);
        for (int id = 0; id < COUNT_ID_COUNT; id++)
            values[id] = count_specs[id].source == COUNT_FACT
                             ? from_fact(study, count_specs[id].fact)
                         : counter.is_shown[id] && has_steps
                             ? settle(counter.by_step[id], counter.step_count)
                             : (struct count_value) { .value = NAN, .low = NAN, .high = NAN };
    } else {
        values = NULL;
    }
    arena_free(&scratch);
    return values;
}
