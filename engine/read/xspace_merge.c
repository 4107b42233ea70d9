#include "read/xspace_merge.h"

#include <string.h>

/* One sink being put into the profile. */
struct merge {
    struct profile *profile;
    struct sink    *sink;
    struct merged  *merged;
    struct arena   *scratch;
    struct id_map  *config_rows;   /* text -> row of profile->kernel_configs */
    uint32_t       *names;         /* local name -> interned */
    uint32_t       *configs;       /* row of the sink's -> row of the profile's */
    uint32_t        first_variant; /* of the sink's, among all */
    uint32_t        shift;         /* rows by which its events move down */
};

static uint32_t global_name(const struct merge *merge, uint32_t name)
{
    return name & LOCAL_NAME ? merge->names[name & ~LOCAL_NAME] : name;
}

static bool merge_names(struct merge *merge)
{
    const struct intern *names = &merge->sink->names;

    merge->names = arena_new_array(merge->scratch, uint32_t, names->count);
    for (uint32_t i = 0; merge->names && i < names->count; i++) {
        merge->names[i] = profile_intern(merge->profile, intern_str(names, i));
        if (merge->names[i] == NO_ID)
            return false;
    }
    return merge->names != NULL;
}

static bool merge_variants(struct merge *merge)
{
    struct sink *sink = merge->sink;

    merge->first_variant = (uint32_t)merge->merged->variants.count;
    for (size_t i = 0; i < sink->variants.count; i++) {
        struct variant variant = sink->variants.items[i];

        variant.module = global_name(merge, variant.module);
        variant.hlo_op = global_name(merge, variant.hlo_op);
        variant.tf_op = global_name(merge, variant.tf_op);
        if (!vec_push(&merge->merged->variants, merge->scratch, variant))
            return false;
    }
    return merge->merged->variants.count < VARIANT_BIT;
}

/* Rows are shared by equal texts. */
static bool merge_configs(struct merge *merge)
{
    struct sink    *sink = merge->sink;
    struct profile *profile = merge->profile;

    merge->configs = arena_new_array(merge->scratch, uint32_t, sink->configs.count);
    for (size_t i = 0; merge->configs && i < sink->configs.count; i++) {
        uint32_t text = global_name(merge, sink->config_texts.items[i]);
        uint32_t row = id_map_get(merge->config_rows, text);

        if (row == NO_ID) {
            row = (uint32_t)profile->kernel_configs.count;
            if (!vec_push(&profile->kernel_configs, profile->arena, sink->configs.items[i]) ||
                !id_map_put(merge->config_rows, text, row))
                return false;
        }
        merge->configs[i] = row;
    }
    return merge->configs != NULL;
}

static bool merge_rows(struct merge *merge)
{
    struct sink    *sink = merge->sink;
    struct profile *profile = merge->profile;

    for (size_t i = 0; i < sink->longs.count; i++) {
        struct long_duration item = sink->longs.items[i];

        item.event -= merge->shift;
        if (!vec_push(&profile->long_durations, profile->arena, item))
            return false;
    }
    for (size_t i = 0; i < sink->memory_events.count; i++) {
        struct memory_event event = sink->memory_events.items[i];

        event.event -= merge->shift;
        event.allocator = global_name(merge, event.allocator);
        event.region = global_name(merge, event.region);
        event.op_name = global_name(merge, event.op_name);
        if (!vec_push(&profile->memory_events, profile->arena, event))
            return false;
    }
    return true;
}

/* Values that count inside the sink, and rows behind a gap. */
static void settle_column(const struct merge *merge, unsigned key)
{
    struct stat_buffer *column = &merge->sink->columns[key];

    if (merge->sink->has_local_names && xspace_stat_is_name(key))
        for (size_t i = 0; i < column->count; i++)
            column->values[i] = global_name(merge, (uint32_t)column->values[i]);
    if (key == STAT_KERNEL_CONFIG)
        for (size_t i = 0; i < column->count; i++)
            column->values[i] = merge->configs[column->values[i]];
    for (size_t i = 0; merge->shift && i < column->count; i++)
        column->events[i] -= merge->shift;
}

static void settle_events(const struct merge *merge)
{
    const struct sink *sink = merge->sink;
    struct profile    *profile = merge->profile;
    uint32_t           from = sink->first_event, to = from - merge->shift;
    size_t             count = sink->next_event - from;

    if (merge->first_variant)
        for (size_t i = from; i < from + count; i++)
            if (profile->event_activity[i] >= VARIANT_BIT && profile->event_activity[i] != NO_TYPE)
                profile->event_activity[i] += merge->first_variant;
    if (merge->shift == 0)
        return;
    memmove(profile->event_start_ns + to, profile->event_start_ns + from,
            count * sizeof *profile->event_start_ns);
    memmove(profile->event_duration_ + to, profile->event_duration_ + from,
            count * sizeof *profile->event_duration_);
    memmove(profile->event_activity + to, profile->event_activity + from,
            count * sizeof *profile->event_activity);
}

/* A single sink's columns are the profile's already; several are put behind each other. */
static bool reserve_columns(const struct xspace_tasks *tasks, struct profile *profile)
{
    for (unsigned key = 0; key < STAT_KEY_COUNT; key++) {
        struct stat_column *column = &profile->stats[key];
        size_t              count = 0;

        for (size_t i = 0; i < tasks->sinks.count; i++)
            count += tasks->sinks.items[i].columns[key].count;
        column->events = arena_new_array(profile->arena, uint32_t, count);
        column->values = arena_new_array(profile->arena, int64_t, count);
        if (!column->events || !column->values)
            return false;
    }
    return true;
}

static void take_column(struct profile *profile, const struct stat_buffer *from, unsigned key,
                        bool is_single)
{
    struct stat_column *column = &profile->stats[key];

    if (from->count == 0)
        return;
    if (is_single) {
        column->events =
            arena_shrink(profile->arena, from->events, from->capacity * sizeof *from->events,
                         from->count * sizeof *from->events);
        column->values =
            arena_shrink(profile->arena, from->values, from->capacity * sizeof *from->values,
                         from->count * sizeof *from->values);
    } else {
        memcpy(column->events + column->count, from->events, from->count * sizeof *from->events);
        memcpy(column->values + column->count, from->values, from->count * sizeof *from->values);
    }
    column->count += from->count;
}

static bool merge_sink(struct merge *merge, const struct xspace_tasks *tasks, uint32_t *next_event)
{
    struct sink *sink = merge->sink;

    merge->shift = sink->first_event - *next_event;
    if (!merge_names(merge) || !merge_variants(merge) || !merge_configs(merge) ||
        !merge_rows(merge))
        return false;
    for (unsigned key = 0; key < STAT_KEY_COUNT; key++) {
        settle_column(merge, key);
        take_column(merge->profile, &sink->columns[key], key, tasks->sinks.count == 1);
    }
    settle_events(merge);
    for (uint32_t i = 0; i < tasks->type_count; i++)
        tasks->seen[i] |= sink->seen[i];
    for (size_t i = sink->first_task; i < sink->end_task; i++)
        tasks->list.items[i].first_event -= merge->shift;
    *next_event += sink->next_event - sink->first_event;
    merge->profile->unknown_stats += sink->unknown_stats;
    sink_free(sink);
    return true;
}

/* Tells timelines where their events are, and tasks whether the line they begin is in order. */
static void settle_timelines(struct xspace_tasks *tasks, struct profile *profile)
{
    struct line_task *first = NULL, *last = NULL; /* of the line; last with events */

    for (size_t i = 0; i < tasks->list.count; i++) {
        struct line_task *task = &tasks->list.items[i];
        struct timeline  *timeline = &profile->timelines.items[task->timeline];

        if (!first || first->timeline != task->timeline) {
            first = task;
            last = NULL;
            timeline->first_event = task->first_event;
        }
        if (task->event_count == 0)
            continue;
        if (last && (task->first_start_ns < last->last_start_ns ||
                     (task->first_start_ns == last->last_start_ns &&
                      task->first_duration_ns > last->last_duration_ns)))
            first->is_unsorted = true;
        first->is_unsorted |= task->is_unsorted;
        timeline->event_count += task->event_count;
        last = task;
    }
}

bool xspace_merge(struct xspace_tasks *tasks, struct profile *profile, struct merged *merged,
                  struct arena *scratch)
{
    struct id_map config_rows = { .arena = scratch };
    uint32_t      next_event = 0, sorted = NO_ID;

    tasks->seen = arena_new_array(scratch, uint16_t, tasks->type_count);
    if (!tasks->seen || (tasks->sinks.count > 1 && !reserve_columns(tasks, profile)))
        return false;
    for (size_t i = 0; i < tasks->sinks.count; i++) {
        struct merge merge = { .profile = profile,
                               .sink = &tasks->sinks.items[i],
                               .merged = merged,
                               .scratch = scratch,
                               .config_rows = &config_rows };

        if (!merge_sink(&merge, tasks, &next_event))
            return false;
    }
    profile->event_count = next_event;
    settle_timelines(tasks, profile);
    for (size_t i = 0; i < tasks->list.count; i++) {
        const struct line_task *task = &tasks->list.items[i];

        if (task->timeline == sorted || !task->is_unsorted)
            continue;
        sorted = task->timeline;
        if (!xspace_sort(profile, &profile->timelines.items[sorted]))
            return false;
    }
    return true;
}
