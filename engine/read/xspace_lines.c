#include "read/xspace_lines.h"

#include <stdlib.h>

enum { PS_IN_NS = 1000, MAX_TEXT_BYTES = (1 << TEXT_LENGTH_BITS) - 1 };
#define MAX_PS INT64_MAX / 4

struct event {
    int64_t  start_ns, duration_ns;
    uint32_t type; /* index in the plane, NO_TYPE */
    int64_t  offset_ps, duration_ps;
    bool     is_aggregate;
};

static int64_t floor_ns(int64_t ps)
{
    return ps / PS_IN_NS - (ps % PS_IN_NS < 0);
}

/* Times in whole ns, both ends rounded down, so that nesting survives. */
static void event_times(struct line_task *task, struct event *event)
{
    int64_t end_ns;

    if (event->duration_ps < 0) {
        task->negative_count++;
        event->duration_ps = 0;
    }
    if (event->offset_ps > MAX_PS || event->offset_ps < -MAX_PS || event->duration_ps > MAX_PS) {
        task->overflow_count++;
        event->offset_ps = 0;
        event->duration_ps = 0;
    }
    event->start_ns = floor_ns(event->offset_ps);
    end_ns = floor_ns(event->offset_ps + event->duration_ps);
    event->duration_ns = end_ns - event->start_ns;
    event->start_ns += task->base_ns;
}

static void keep_stat(struct line_task *task, const struct event *event, unsigned key,
                      const struct xstat *stat)
{
    const struct plane_tables *tables = task->tables;
    struct kept_stat           kept = { .event = task->event_count, .key = (uint8_t)key };

    if (stat->field == XSTAT_REF) {
        uint32_t index = id_map_get(&tables->plane->stat_type_of, stat->number);

        kept.form = FORM_NAME;
        kept.value = index == NO_ID ? 0 : tables->stat_name[index];
    } else if (stat->field == XSTAT_STR || stat->field == XSTAT_BYTES) {
        size_t length = stat->text.len < MAX_TEXT_BYTES ? stat->text.len : MAX_TEXT_BYTES;

        kept.form = FORM_TEXT;
        kept.value =
            (int64_t)((uint64_t)(stat->text.data - tables->file.data) << TEXT_LENGTH_BITS | length);
    } else {
        kept.form = FORM_NUMBER;
        kept.value = (int64_t)stat->number;
        if (stat->field == XSTAT_DOUBLE && key != EXTRA_FRAGMENTATION) {
            double number = xstat_number(stat);

            kept.value = number > -9e18 && number < 9e18 ? (int64_t)number : 0;
        }
    }
    (void)event;
    if (!vec_push(&task->stats, &task->arena, kept))
        task->is_full = true;
}

/* The column of stats whose name means different things on different events. */
static unsigned stat_key_for(const struct plane_tables *tables, const struct event *event,
                             unsigned key)
{
    bool has_type = event->type != NO_TYPE;
    bool is_iterator = has_type && tables->is_iterator[event->type];
    bool is_memory = has_type && tables->is_memory[event->type];

    if (key == EXTRA_ID)
        return is_iterator ? STAT_ITERATOR : STAT_EXECUTOR_STEP;
    if (key == EXTRA_NAME)
        return is_iterator ? STAT_DATASET : EXTRA_NONE;
    if (key >= EXTRA_ALLOCATOR && key <= EXTRA_REGION && !is_memory)
        return EXTRA_NONE;
    return key;
}

static void decode_stat(struct line_task *task, const struct event *event, struct str bytes)
{
    const struct plane_tables *tables = task->tables;
    struct xstat               stat = xstat_read(bytes);
    uint32_t index = id_map_get(&tables->plane->stat_type_of, (uint64_t)stat.type_id);
    unsigned key;

    if (index == NO_ID) {
        task->unknown_stats++;
        return;
    }
    if (tables->stat_seen[index] && event->type != NO_TYPE) {
        atomic_uint *seen = &tables->seen[event->type];

        if ((atomic_load_explicit(seen, memory_order_relaxed) & tables->stat_seen[index]) !=
            tables->stat_seen[index])
            atomic_fetch_or_explicit(seen, tables->stat_seen[index], memory_order_relaxed);
    }
    key = tables->stat_key[index];
    if (key == UINT8_MAX) {
        task->unknown_stats++;
        return;
    }
    if (key != EXTRA_NONE)
        key = stat_key_for(tables, event, key);
    if (key != EXTRA_NONE && stat.field)
        keep_stat(task, event, key, &stat);
}

static bool read_event(struct line_task *task, struct str bytes, struct event *event)
{
    struct wire field = wire_start(bytes);
    int64_t     type_id = 0;

    *event = (struct event) { .type = NO_TYPE };
    while (wire_next(&field)) {
        if (field.type != WIRE_VARINT)
            continue;
        if (field.number == XEVENT_METADATA_ID)
            type_id = (int64_t)field.value;
        else if (field.number == XEVENT_OFFSET_PS)
            event->offset_ps = (int64_t)field.value;
        else if (field.number == XEVENT_DURATION_PS)
            event->duration_ps = (int64_t)field.value;
        else if (field.number == XEVENT_NUM_OCCURRENCES)
            event->is_aggregate = true;
    }
    event->type = id_map_get(&task->tables->plane->event_type_of, (uint64_t)type_id);
    return !field.is_broken;
}

static void store_event(struct line_task *task, struct profile *profile, const struct event *event)
{
    uint32_t row = task->first_event + task->event_count;

    profile->event_start_ns[row] = event->start_ns;
    profile->event_activity[row] =
        event->type == NO_TYPE ? NO_TYPE : task->tables->first_type + event->type;
    if (event->duration_ns < EVENT_DURATION_LONG) {
        profile->event_duration_[row] = (uint32_t)event->duration_ns;
    } else {
        struct long_duration item = { task->event_count, event->duration_ns };

        profile->event_duration_[row] = EVENT_DURATION_LONG;
        if (!vec_push(&task->longs, &task->arena, item))
            task->is_full = true;
    }
}

static bool decode_event(struct line_task *task, struct profile *profile, struct str bytes,
                         int64_t *last_start_ns, int64_t *last_duration_ns)
{
    struct event event;

    if (!read_event(task, bytes, &event))
        return false;
    if (event.is_aggregate) {
        task->aggregate_count++;
        return true;
    }
    task->nameless_count += event.type == NO_TYPE;
    event_times(task, &event);
    store_event(task, profile, &event);
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == XEVENT_STATS && field.type == WIRE_BYTES)
            decode_stat(task, &event, field.bytes);
    if (task->event_count > 0 &&
        (event.start_ns < *last_start_ns ||
         (event.start_ns == *last_start_ns && event.duration_ns > *last_duration_ns)))
        task->is_unsorted = true;
    *last_start_ns = event.start_ns;
    *last_duration_ns = event.duration_ns;
    task->event_count++;
    return true;
}

struct order {
    int64_t  start_ns, duration_ns;
    uint32_t index, activity;
};

static int by_start(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_event(const void *a, const void *b)
{
    const struct kept_stat *x = a, *y = b;

    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static int64_t duration_of(const struct line_task *task, const struct profile *profile,
                           uint32_t event, size_t *next_long)
{
    uint32_t short_ns = profile->event_duration_[task->first_event + event];

    return short_ns != EVENT_DURATION_LONG ? short_ns
                                           : task->longs.items[(*next_long)++].duration_ns;
}

/* Brings a line's events into order; rare, so it may cost memory. */
static void sort_events(struct line_task *task, struct profile *profile)
{
    struct order *orders = arena_new_array(&task->arena, struct order, task->event_count);
    uint32_t     *moved = arena_new_array(&task->arena, uint32_t, task->event_count);
    size_t        next_long = 0;

    if (!orders || !moved) {
        task->is_full = true;
        return;
    }
    for (uint32_t i = 0; i < task->event_count; i++)
        orders[i] = (struct order) { profile->event_start_ns[task->first_event + i],
                                     duration_of(task, profile, i, &next_long), i,
                                     profile->event_activity[task->first_event + i] };
    qsort(orders, task->event_count, sizeof *orders, by_start);
    task->longs.count = 0;
    for (uint32_t i = 0; i < task->event_count; i++) {
        uint32_t row = task->first_event + i;
        bool     is_long = orders[i].duration_ns >= EVENT_DURATION_LONG;

        moved[orders[i].index] = i;
        profile->event_start_ns[row] = orders[i].start_ns;
        profile->event_activity[row] = orders[i].activity;
        profile->event_duration_[row] =
            is_long ? EVENT_DURATION_LONG : (uint32_t)orders[i].duration_ns;
        if (is_long)
            task->longs.items[task->longs.count++] =
                (struct long_duration) { i, orders[i].duration_ns };
    }
    for (size_t i = 0; i < task->stats.count; i++)
        task->stats.items[i].event = moved[task->stats.items[i].event];
    if (task->stats.count)
        qsort(task->stats.items, task->stats.count, sizeof *task->stats.items, by_event);
}

void xspace_line_decode(struct line_task *task, struct profile *profile)
{
    struct wire field = wire_start(task->line->bytes);
    int64_t     last_start_ns = 0, last_duration_ns = 0;
    uint32_t    seen_count = 0;

    while (wire_next(&field) && !task->is_full) {
        if (field.number != XLINE_EVENTS || field.type != WIRE_BYTES)
            continue;
        if (seen_count++ == task->line->event_count)
            break;
        if (!decode_event(task, profile, field.bytes, &last_start_ns, &last_duration_ns)) {
            task->is_cut = true;
            break;
        }
    }
    if (task->is_unsorted && !task->is_full)
        sort_events(task, profile);
}
