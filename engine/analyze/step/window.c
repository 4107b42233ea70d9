#include "analyze/step/window.h"

#include "base/macros.h"

#include <stdlib.h>

/* Steps that overlap (nested markers of several loops) are cut where the next one starts. */
static void settle(struct windows *windows)
{
    size_t count = 0;

    if (windows->count > 1)
        qsort(windows->items, windows->count, sizeof *windows->items, interval_compare);
    for (size_t i = 0; i < windows->count; i++) {
        struct interval item = windows->items[i];

        if (count > 0 && item.start_ns < windows->items[count - 1].end_ns)
            item.start_ns = windows->items[count - 1].end_ns;
        if (item.end_ns <= item.start_ns)
            continue;
        windows->items[count++] = item;
        windows->total_ns += item.end_ns - item.start_ns;
    }
    windows->count = count;
}

bool windows_make(const struct study *study, struct arena *scratch, struct windows *windows)
{
    const struct steps *steps = &study->steps;

    *windows = (struct windows) { .host = steps->host };
    windows->items = arena_new_array(scratch, struct interval, steps->list.count + 1);
    if (!windows->items)
        return false;
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        if (step->is_sampled && step->host == steps->host)
            windows->items[windows->count++] = (struct interval) { step->start_ns, step->end_ns };
    }
    settle(windows);
    if (windows->count == 0) {
        windows->items[0] = (struct interval) { study->profile->start_ns, study->profile->end_ns };
        windows->count = 1;
        windows->total_ns = study->profile->end_ns - study->profile->start_ns;
    }
    if (windows->total_ns < 1)
        windows->total_ns = 1;
    windows->step_ns =
        steps_ns(steps) > 0 ? steps_ns(steps) : (double)windows->total_ns / (double)windows->count;
    return true;
}

bool windows_make_called(const struct study *study, struct arena *scratch, struct windows *windows)
{
    const struct steps *steps = &study->steps;
    struct windows      called = { 0 };

    if (!windows_make(study, scratch, windows))
        return false;
    called.items = arena_new_array(scratch, struct interval, steps->list.count + 1);
    if (!called.items)
        return false;
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        if (!step->is_sampled || step->host != steps->host)
            continue;
        called.items[called.count++] =
            step->called_end_ns > step->called_start_ns
                ? (struct interval) { step->called_start_ns, step->called_end_ns }
                : (struct interval) { step->start_ns, step->end_ns };
    }
    settle(&called);
    if (called.count == windows->count)
        windows->items = called.items;
    return true;
}

/* First window that ends behind `time_ns`. */
static size_t first_behind(const struct windows *windows, int64_t time_ns)
{
    return LOWER_BOUND(windows->count, i, windows->items[i].end_ns <= time_ns);
}

size_t windows_find(const struct windows *windows, int64_t time_ns)
{
    size_t row = first_behind(windows, time_ns);

    return row < windows->count && windows->items[row].start_ns <= time_ns ? row : SIZE_MAX;
}

int64_t windows_overlap_ns(const struct windows *windows, int64_t start_ns, int64_t end_ns)
{
    int64_t total_ns = 0;

    for (size_t row = first_behind(windows, start_ns); row < windows->count; row++) {
        int64_t from_ns = windows->items[row].start_ns, to_ns = windows->items[row].end_ns;

        if (from_ns >= end_ns)
            break;
        from_ns = from_ns > start_ns ? from_ns : start_ns;
        to_ns = to_ns < end_ns ? to_ns : end_ns;
        total_ns += to_ns - from_ns;
    }
    return total_ns;
}

/* Several runs can make a step: it has the number of the first. */
static bool lies_in_used(const struct steps *steps, const struct recorded_step *run)
{
    for (size_t i = 0; i < steps->list.count; i++)
        if (steps->list.items[i].is_used && run->duration_ns > 0 &&
            steps->list.items[i].start_ns <= run->start_ns &&
            run->start_ns + run->duration_ns <= steps->list.items[i].end_ns)
            return true;
    return false;
}

bool *windows_recorded(const struct study *study, struct arena *scratch, size_t *count)
{
    const struct profile *profile = study->profile;
    const struct steps   *steps = &study->steps;
    bool         *is_used = arena_new_array(scratch, bool, profile->recorded_steps.count + 1);
    struct id_map used_numbers = { .arena = scratch };

    if (!is_used)
        return NULL;
    for (size_t i = 0; i < steps->list.count; i++)
        if (steps->list.items[i].is_used &&
            !id_map_put(&used_numbers, (uint64_t)steps->list.items[i].number, 1))
            return NULL;
    *count = 0;
    for (size_t i = 0; i < profile->recorded_steps.count; i++) {
        const struct recorded_step *run = &profile->recorded_steps.items[i];
        bool                        is_first =
            used_numbers.count == 0 || id_map_get(&used_numbers, (uint64_t)run->number) != NO_ID;

        is_used[i] = is_first || lies_in_used(steps, run);
        *count += is_first;
    }
    if (*count == 0) {
        for (size_t i = 0; i < profile->recorded_steps.count; i++)
            is_used[i] = true;
        *count = profile->recorded_steps.count > 0 ? profile->recorded_steps.count : 1;
    }
    return is_used;
}

const char *step_source_name(enum step_source source)
{
    static const char *const names[] = { [STEPS_MARKER] = "marker",
                                         [STEPS_SESSION] = "session",
                                         [STEPS_INFERRED] = "inferred",
                                         [STEPS_WHOLE_TRACE] = "whole-trace" };

    return names[source];
}
