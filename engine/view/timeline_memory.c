/* Counters of a device's memory in the graph view's timeline: in use, and by the ops that hold it.
 */
#include "base/sort.h"
#include "view/timeline_step.h"

#include <inttypes.h>
#include <stdlib.h>

enum { COUNTER_GAP_MICROS = 100, TOP_COUNT = 10 };

struct point { /* what is in use at some time */
    int64_t  time_micros, bytes;
    uint32_t sequence;
};
struct points {
    VEC(struct point) items;
};

static int compare_points(const void *left, const void *right)
{
    const struct point *a = left, *b = right;

    return IN_ORDER(COMPARE(a->time_micros, b->time_micros), COMPARE(a->sequence, b->sequence));
}

/* Of points at one time the last stays. */
static bool collect(const struct step_timeline *timeline, uint32_t device, struct points *points)
{
    const struct classic *classic = timeline->call->classic;
    size_t                kept = 0;

    points->items.count = 0;
    for (size_t i = 0; i < timeline->tracked.count; i++) {
        uint32_t                   node = timeline->tracked.items[i];
        const struct classic_exec *exec =
            classic_exec_of(classic, node, timeline->call->options->step);

        if (classic->nodes.items[node].device != device)
            continue;
        for (uint32_t n = 0; n < exec->memory_count; n++) {
            const struct classic_memory *memory = &classic->memory.items[exec->first_memory + n];
            struct point                 point = { memory->time_micros, memory->in_use_bytes,
                                                   (uint32_t)points->items.count };

            /* Ops that no allocator of the device served told of none: the original shows 0. */
            if (point.bytes == 0 && !timeline->call->options->is_compat)
                continue;
            if (point.time_micros > 0 && !vec_push(&points->items, timeline->call->arena, point))
                return false;
        }
    }
    if (points->items.count)
        qsort(points->items.items, points->items.count, sizeof(struct point), compare_points);
    for (size_t i = 0; i < points->items.count; i++) {
        kept -=
            kept && points->items.items[kept - 1].time_micros == points->items.items[i].time_micros;
        points->items.items[kept++] = points->items.items[i];
    }
    points->items.count = kept;
    return true;
}

struct holder { /* an op and the bytes that it holds */
    int64_t    bytes;
    struct str name;
};

static int compare_holders(const void *left, const void *right)
{
    const struct holder *a = left, *b = right;

    return IN_ORDER(COMPARE(b->bytes, a->bytes), str_compare(a->name, b->name));
}

/* What an op held right before that time. */
static int64_t held_bytes(const struct classic *classic, uint32_t node, int64_t time_micros)
{
    const struct classic_node *row = &classic->nodes.items[node];
    int64_t                    bytes = 0;

    for (uint32_t i = 0; i < row->exec_count; i++) {
        int64_t kept = classic->execs.items[row->first_exec + i].accelerator_persistent_bytes;

        bytes = kept > bytes ? kept : bytes;
    }
    for (uint32_t i = 0; i < row->allocation_count; i++) {
        const struct classic_allocation *allocation =
            &classic->allocations.items[row->first_allocation + i];

        if (allocation->time_micros < time_micros)
            bytes += allocation->bytes;
    }
    return bytes;
}

static void begin_counter(struct timeline_json *events)
{
    if (events->has_events)
        text_add_byte(events->text, ',');
    events->has_events = true;
    text_add(events->text, STR("{\"args\":{"));
}

static void end_counter(const char *name, int64_t process, int64_t time_micros,
                        struct timeline_json *events)
{
    text_print(events->text,
               "},\"cat\":\"Memory\",\"name\":\"%s\",\"ph\":\"C\",\"pid\":%" PRId64
               ",\"tid\":0,\"ts\":%" PRId64 "}",
               name, process, time_micros);
}

static void print_holders(const struct holder *holders, size_t count, int64_t bytes,
                          struct timeline_json *events)
{
    int64_t left = bytes;
    size_t  placed = 0;

    while (placed < count && placed < TOP_COUNT && holders[placed].bytes <= left)
        left -= holders[placed++].bytes;
    text_print(events->text, "\"Not Displayed\":\"%.2f MB\"", (double)left / 1e6);
    for (size_t i = 0; i < TOP_COUNT; i++) {
        struct text held = { .arena = events->text->arena };

        if (i >= placed && i == 0)
            continue;
        text_print(events->text, ",\"Top Allocation %02zu\":", i);
        if (i < placed)
            text_print(&held, "%g MB from %.*s", (double)holders[i].bytes / 1e6,
                       STR_ARG(holders[i].name));
        else
            text_add(&held, STR("N/A"));
        timeline_string(events->text, text_str(&held));
    }
}

static bool print_point(const struct step_timeline *timeline, uint32_t device,
                        const struct point *point, int64_t process, struct timeline_json *events)
{
    const struct classic *classic = timeline->call->classic;
    struct holder        *holders =
        arena_new_array(timeline->call->arena, struct holder, timeline->tracked.count);
    size_t count = 0;

    if (!holders)
        return false;
    for (size_t i = 0; i < timeline->tracked.count; i++) {
        uint32_t      node = timeline->tracked.items[i];
        struct holder holder = { .name = classic_name(classic, node) };

        if (classic->nodes.items[node].device != device)
            continue;
        holder.bytes = held_bytes(classic, node, point->time_micros);
        if (holder.bytes > 0)
            holders[count++] = holder;
    }
    if (count)
        qsort(holders, count, sizeof *holders, compare_holders);
    begin_counter(events);
    text_print(events->text, "\"Allocator Bytes in Use\":%" PRId64, point->bytes);
    end_counter("Allocated Bytes", process, point->time_micros, events);
    begin_counter(events);
    print_holders(holders, count, point->bytes, events);
    end_counter("Top Allocations", process + 1, point->time_micros, events);
    return true;
}

static bool print_device(struct step_timeline *timeline, uint32_t device, struct points *points,
                         struct timeline_json *meta, struct timeline_json *events)
{
    struct str  name = profile_str(timeline->call->classic->profile, device);
    int64_t     process = timeline->process_count, last_micros = 0, most_bytes = 0;
    struct text second = { .arena = timeline->call->arena };

    timeline->process_count += 2;
    text_print(&second, "%.*s allocations", STR_ARG(name));
    timeline_process(meta, "mem usage on:", name, process);
    timeline_process(meta, "mem usage on:", text_str(&second), process + 1);
    if (!collect(timeline, device, points))
        return false;
    for (size_t i = 0; i < points->items.count; i++) {
        const struct point *point = &points->items.items[i];

        most_bytes = point->bytes > most_bytes ? point->bytes : most_bytes;
        if (point->time_micros - last_micros < COUNTER_GAP_MICROS)
            continue;
        last_micros = point->time_micros;
        if (!print_point(timeline, device, point, process, events))
            return false;
    }
    if (str_contains(name, STR("gpu")))
        text_print(timeline->call->text, "%.*s peak memory: %.2f MB\n", STR_ARG(name),
                   (double)most_bytes / 1e6);
    return true;
}

bool step_memory_print(struct step_timeline *timeline, struct timeline_json *meta,
                       struct timeline_json *events)
{
    const struct classic *classic = timeline->call->classic;
    struct points         points = { 0 };

    for (size_t d = 0; d < timeline->devices.count; d++) {
        struct str name = timeline->devices.items[timeline->by_name[d]].name;

        if (!classic_is_canonical(name) || str_contains(name, STR("cpu")))
            continue;
        if (!print_device(timeline, intern_find(&classic->profile->names, name), &points, meta,
                          events))
            return false;
    }
    return true;
}
