#include "read/xspace_merge.h"

#include <stdlib.h>

enum { KEY_DROPPED = UINT8_MAX };

/* The number behind "name:" in a details text ("size:4096 dest:0"), or -1. */
static int64_t detail(struct str details, struct str name)
{
    size_t     at = str_search(details, name);
    struct str rest = str_slice(details, at + name.len, details.len);
    size_t     end = 0;
    int64_t    number;

    if (at >= details.len)
        return -1;
    while (end < rest.len && rest.data[end] >= '0' && rest.data[end] <= '9')
        end++;
    return str_to_int64(str_slice(rest, 0, end), &number) ? number : -1;
}

static uint32_t detail_count(struct str details, struct str name)
{
    int64_t number = detail(details, name);

    return number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* "grid:4,64,1": three counts. */
static void detail_extent(struct str details, struct str name, uint32_t extent[3])
{
    size_t     at = str_search(details, name);
    struct str rest = str_slice(details, at + name.len, details.len);

    for (int i = 0; i < 3; i++) {
        size_t  end = 0;
        int64_t number = 1;

        while (end < rest.len && rest.data[end] >= '0' && rest.data[end] <= '9')
            end++;
        if (at >= details.len || !str_to_int64(str_slice(rest, 0, end), &number) ||
            number > UINT32_MAX)
            number = 1;
        extent[i] = (uint32_t)number;
        rest =
            str_slice(rest, end < rest.len && rest.data[end] == ',' ? end + 1 : rest.len, rest.len);
    }
}

/* Rows are shared by equal texts. NO_ID past the budget. */
static uint32_t kernel_config_row(struct profile *profile, struct id_map *rows, uint32_t text)
{
    struct str           details = profile_str(profile, text);
    struct kernel_config config = { .occupancy_pct = -1 };
    uint32_t             row = id_map_get(rows, text);
    int64_t              occupancy = detail(details, STR("occ_pct:"));

    if (row != NO_ID)
        return row;
    config.registers = detail_count(details, STR("regs:"));
    config.static_shared_bytes = detail_count(details, STR("static_shared:"));
    config.dynamic_shared_bytes = detail_count(details, STR("dynamic_shared:"));
    if (occupancy >= 0)
        config.occupancy_pct = (float)occupancy;
    detail_extent(details, STR("grid:"), config.grid);
    detail_extent(details, STR("block:"), config.block);
    row = (uint32_t)profile->kernel_configs.count;
    return vec_push(&profile->kernel_configs, profile->arena, config) && id_map_put(rows, text, row)
               ? row
               : NO_ID;
}

struct merge {
    struct profile *profile;
    struct id_map   config_rows;
    size_t          counts[STAT_KEY_COUNT];
    bool            is_full;
};

/* Details are a kernel's launch configuration, or the size of a copy, a set or an allocation. */
static void resolve_details(struct merge *merge, struct kept_stat *stat)
{
    struct str details = profile_str(merge->profile, (uint32_t)stat->value);
    int64_t    bytes = detail(details, STR("size:"));

    if (bytes < 0)
        bytes = detail(details, STR("num_bytes:"));
    if (str_contains(details, STR("grid:"))) {
        uint32_t row =
            kernel_config_row(merge->profile, &merge->config_rows, (uint32_t)stat->value);

        merge->is_full |= row == NO_ID;
        stat->key = STAT_KERNEL_CONFIG;
        stat->value = row;
    } else if (bytes >= 0) {
        stat->key = STAT_BYTES;
        stat->value = bytes;
    } else {
        stat->key = KEY_DROPPED;
    }
}

/* Texts where a column holds numbers: "true", "12"; others ("unavailable") are dropped. */
static void resolve_number(struct kept_stat *stat, struct str text)
{
    int64_t number;

    if (str_equal(text, STR("true")))
        number = 1;
    else if (str_equal(text, STR("false")))
        number = 0;
    else if (!str_to_int64(text, &number)) {
        stat->key = KEY_DROPPED;
        return;
    }
    stat->value = number;
}

static void resolve(struct merge *merge, const struct plane_tables *tables, struct kept_stat *stat)
{
    struct str text = { "", 0 };

    if (stat->form == FORM_TEXT) {
        uint64_t place = (uint64_t)stat->value;

        text = (struct str) { tables->file.data + (place >> TEXT_LENGTH_BITS),
                              place & ((1U << TEXT_LENGTH_BITS) - 1) };
    } else if (stat->form == FORM_NAME) {
        text = profile_str(merge->profile, (uint32_t)stat->value);
    }
    if (xspace_stat_is_name(stat->key)) {
        if (stat->form == FORM_NUMBER) {
            stat->key = KEY_DROPPED;
            return;
        }
        if (stat->form == FORM_TEXT) {
            uint32_t name = profile_intern(merge->profile, text);

            merge->is_full |= name == NO_ID;
            stat->value = name;
        }
        if (stat->key == EXTRA_DETAILS)
            resolve_details(merge, stat);
    } else if (stat->form != FORM_NUMBER) {
        resolve_number(stat, text);
    } else if (stat->key == STAT_IDLE_NS) {
        stat->value /= 1000;
    }
    stat->form = FORM_NUMBER;
}

static int64_t extra(const struct kept_stat *stats, size_t count, unsigned key)
{
    for (size_t i = 0; i < count; i++)
        if (stats[i].key == key)
            return stats[i].value;
    return -1;
}

/* One allocation or release, from all stats of its event. */
static void add_memory_event(struct merge *merge, const struct line_task *task,
                             const struct kept_stat *stats, size_t count)
{
    struct profile     *profile = merge->profile;
    uint32_t            row = task->first_event + stats[0].event;
    uint32_t            type = profile->event_activity[row];
    int64_t             allocator = extra(stats, count, EXTRA_ALLOCATOR);
    int64_t             fragmentation = extra(stats, count, EXTRA_FRAGMENTATION);
    struct memory_event event = { .event = row,
                                  .device = NO_ID,
                                  .time_ns = profile->event_start_ns[row] };

    if (type == NO_TYPE || !task->tables->is_memory[type - task->tables->first_type])
        return;
    event.allocator = allocator > 0 ? (uint32_t)allocator : 0;
    event.bytes = extra(stats, count, EXTRA_ALLOCATION_BYTES);
    event.in_use_bytes = extra(stats, count, EXTRA_ALLOCATED);
    event.reserved_bytes = extra(stats, count, EXTRA_RESERVED);
    event.available_bytes = extra(stats, count, EXTRA_AVAILABLE);
    event.peak_bytes = extra(stats, count, EXTRA_PEAK);
    event.fragmentation = fragmentation == -1 ? -1 : stat_to_double(fragmentation);
    event.address = (uint64_t)extra(stats, count, EXTRA_ADDRESS);
    event.op_name =
        extra(stats, count, EXTRA_TF_OP) > 0 ? (uint32_t)extra(stats, count, EXTRA_TF_OP) : 0;
    event.region =
        extra(stats, count, EXTRA_REGION) > 0 ? (uint32_t)extra(stats, count, EXTRA_REGION) : 0;
    if (event.bytes < 0)
        event.bytes = extra(stats, count, STAT_BYTES);
    event.kind =
        str_contains(task->tables->plane->event_types.items[type - task->tables->first_type].name,
                     STR("Deallocation"))
            ? MEMORY_FREE
            : MEMORY_ALLOCATE;
    merge->is_full |= !vec_push(&profile->memory_events, profile->arena, event);
}

static void resolve_task(struct merge *merge, struct line_task *task)
{
    for (size_t i = 0, end; i < task->stats.count; i = end) {
        bool is_memory = false;

        for (end = i;
             end < task->stats.count && task->stats.items[end].event == task->stats.items[i].event;
             end++) {
            resolve(merge, task->tables, &task->stats.items[end]);
            is_memory |= task->stats.items[end].key >= EXTRA_ALLOCATOR &&
                         task->stats.items[end].key <= EXTRA_REGION;
        }
        if (is_memory)
            add_memory_event(merge, task, &task->stats.items[i], end - i);
    }
    for (size_t i = 0; i < task->stats.count; i++)
        if (task->stats.items[i].key < STAT_KEY_COUNT)
            merge->counts[task->stats.items[i].key]++;
}

static void fill_columns(struct profile *profile, const struct line_task *task)
{
    for (size_t i = 0; i < task->stats.count; i++) {
        const struct kept_stat *stat = &task->stats.items[i];
        struct stat_column     *column;
        uint32_t                event = task->first_event + stat->event;

        if (stat->key >= STAT_KEY_COUNT)
            continue;
        column = &profile->stats[stat->key];
        if (column->count && column->events[column->count - 1] == event)
            column->count--; /* said twice: the last one counts */
        column->events[column->count] = event;
        column->values[column->count++] = stat->value;
    }
}

bool xspace_merge(struct xspace_tasks *tasks, struct profile *profile, struct arena *scratch)
{
    struct merge merge = { .profile = profile, .config_rows.arena = scratch };

    for (size_t i = 0; i < tasks->list.count; i++)
        resolve_task(&merge, &tasks->list.items[i]);
    for (int key = 0; key < STAT_KEY_COUNT && !merge.is_full; key++) {
        struct stat_column *column = &profile->stats[key];

        column->events = arena_new_array(profile->arena, uint32_t, merge.counts[key]);
        column->values = arena_new_array(profile->arena, int64_t, merge.counts[key]);
        merge.is_full = !column->events || !column->values;
    }
    for (size_t i = 0; i < tasks->list.count && !merge.is_full; i++) {
        struct line_task *task = &tasks->list.items[i];

        fill_columns(profile, task);
        for (size_t n = 0; n < task->longs.count; n++) {
            struct long_duration item = task->longs.items[n];

            item.event += task->first_event;
            merge.is_full |= !vec_push(&profile->long_durations, profile->arena, item);
        }
    }
    return !merge.is_full;
}
