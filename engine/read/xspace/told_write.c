/* Upstream: tsl/profiler/protobuf/xplane.proto */
#include "base/sort.h"
#include "base/wire_out.h"
#include "read/xspace/told_events.h"

#include <stdlib.h>

enum { SPACE_PLANE = 1, PLANE_ID = 1, PLANE_NAME = 2, PLANE_LINE = 3, PLANE_TYPES = 4 };
enum { PLANE_STAT_NAMES = 5, LINE_ID = 1, LINE_NAME = 2, LINE_EVENT = 4 };
enum { EVENT_TYPE = 1, EVENT_OFFSET_PS = 2, EVENT_PS = 3, EVENT_STAT = 4 };
enum { STAT_NAME = 1, STAT_UINT = 3, STAT_INT = 4, STAT_TEXT = 5 };
enum { TYPE_ID = 1, TYPE_NAME = 2, TYPE_DISPLAY = 4, STAT_NAME_ID = 1, STAT_NAME_NAME = 2 };

/* What a plane tells of its events, by id: types are pairs of names, the long one first. */
struct plane {
    struct text   text, line, item, entry;
    struct id_map types, stats;
    uint32_t      type_count;
};

static int by_place(const void *a, const void *b)
{
    const struct told_event *x = a, *y = b;

    return IN_ORDER(COMPARE(x->process, y->process), COMPARE(x->thread, y->thread),
                    COMPARE(x->start_ps, y->start_ps), COMPARE(y->ps, x->ps),
                    COMPARE(x->first_stat, y->first_stat), COMPARE(x->name, y->name));
}

/* Names of processes before those of threads. */
static int by_owner(const void *a, const void *b)
{
    const struct told_name *x = a, *y = b;

    return IN_ORDER(COMPARE(y->is_process, x->is_process), COMPARE(x->process, y->process),
                    COMPARE(x->thread, y->thread), COMPARE(x->row, y->row));
}

static struct str label_of(const struct told *told, const struct told_event *event, bool is_process)
{
    const struct told_name *items = told->labels.items;
    struct told_name        wanted = { .process = event->process,
                                       .thread = is_process ? INT64_MIN : event->thread,
                                       .is_process = is_process };
    size_t row = LOWER_BOUND(told->labels.count, i, by_owner(&items[i], &wanted) < 0);

    return row < told->labels.count && items[row].is_process == is_process &&
                   items[row].process == event->process &&
                   (is_process || items[row].thread == event->thread)
               ? items[row].name
               : (struct str) { "", 0 };
}

/* The id of an event's type, which is added to the plane where it is new. */
static uint32_t type_of(struct told *told, struct plane *plane, const struct told_event *event)
{
    uint32_t name = event->long_name == NO_ID ? event->name : event->long_name;
    uint64_t key = (uint64_t)name << 32 | event->name;
    uint32_t id = id_map_get(&plane->types, key);

    if (id != NO_ID)
        return id;
    id = ++plane->type_count;
    told->is_full |= !id_map_put(&plane->types, key, id);
    plane->entry.len = 0;
    wire_out_number(&plane->entry, TYPE_ID, id);
    wire_out_bytes(&plane->entry, TYPE_NAME, intern_str(&told->names, name));
    if (name != event->name)
        wire_out_bytes(&plane->entry, TYPE_DISPLAY, intern_str(&told->names, event->name));
    wire_out_entry(&plane->text, PLANE_TYPES, id, text_str(&plane->entry));
    return id;
}

static uint32_t stat_of(struct told *told, struct plane *plane, uint32_t name)
{
    uint32_t id = id_map_get(&plane->stats, name);

    if (id != NO_ID)
        return id;
    id = (uint32_t)plane->stats.count + 1;
    told->is_full |= !id_map_put(&plane->stats, name, id);
    plane->entry.len = 0;
    wire_out_number(&plane->entry, STAT_NAME_ID, id);
    wire_out_bytes(&plane->entry, STAT_NAME_NAME, intern_str(&told->names, name));
    wire_out_entry(&plane->text, PLANE_STAT_NAMES, id, text_str(&plane->entry));
    return id;
}

static void add_stat(struct told *told, struct plane *plane, const struct told_stat *stat)
{
    uint32_t id = stat_of(told, plane, stat->key);
    int64_t  number;
    uint64_t large;

    plane->entry.len = 0;
    wire_out_number(&plane->entry, STAT_NAME, id);
    if (str_to_int64(stat->value, &number))
        wire_out_number(&plane->entry, STAT_INT, (uint64_t)number);
    else if (str_to_uint64(stat->value, &large))
        wire_out_number(&plane->entry, STAT_UINT, large);
    else
        wire_out_bytes(&plane->entry, STAT_TEXT, stat->value);
    wire_out_bytes(&plane->item, EVENT_STAT, text_str(&plane->entry));
}

static void add_event(struct told *told, struct plane *plane, const struct told_event *event)
{
    uint32_t type = type_of(told, plane, event);

    plane->item.len = 0;
    wire_out_number(&plane->item, EVENT_TYPE, type);
    wire_out_number(&plane->item, EVENT_OFFSET_PS, (uint64_t)event->start_ps);
    wire_out_number(&plane->item, EVENT_PS, (uint64_t)event->ps);
    for (uint32_t i = 0; i < event->stat_count; i++)
        add_stat(told, plane, &told->stats.items[event->first_stat + i]);
    wire_out_bytes(&plane->line, LINE_EVENT, text_str(&plane->item));
}

/* The line of the events from row `from` on; gives the row behind it. */
static size_t add_line(struct told *told, struct plane *plane, size_t from)
{
    const struct told_event *first = &told->events.items[from];
    size_t                   at = from;

    plane->line.len = 0;
    wire_out_number(&plane->line, LINE_ID, (uint64_t)first->thread);
    wire_out_bytes(&plane->line, LINE_NAME, label_of(told, first, false));
    for (; at < told->events.count; at++) {
        const struct told_event *event = &told->events.items[at];

        if (event->process != first->process || event->thread != first->thread)
            break;
        add_event(told, plane, event);
    }
    wire_out_bytes(&plane->text, PLANE_LINE, text_str(&plane->line));
    return at;
}

static size_t add_plane(struct told *told, size_t from, struct text *out)
{
    int64_t      process = told->events.items[from].process;
    struct plane plane = { .text.arena = told->arena,
                           .line.arena = told->arena,
                           .item.arena = told->arena,
                           .entry.arena = told->arena,
                           .types.arena = told->arena,
                           .stats.arena = told->arena };

    wire_out_number(&plane.text, PLANE_ID, (uint64_t)process);
    wire_out_bytes(&plane.text, PLANE_NAME, label_of(told, &told->events.items[from], true));
    while (from < told->events.count && told->events.items[from].process == process)
        from = add_line(told, &plane, from);
    wire_out_bytes(out, SPACE_PLANE, text_str(&plane.text));
    told->is_full |=
        plane.text.is_cut || plane.line.is_cut || plane.item.is_cut || plane.entry.is_cut;
    return from;
}

void told_write(struct told *told, struct text *out)
{
    size_t at = 0;

    for (size_t i = 0; i < told->labels.count; i++)
        told->labels.items[i].row = i;
    if (told->labels.count)
        qsort(told->labels.items, told->labels.count, sizeof *told->labels.items, by_owner);
    if (told->events.count)
        qsort(told->events.items, told->events.count, sizeof *told->events.items, by_place);
    while (at < told->events.count && !told->is_full)
        at = add_plane(told, at, out);
}
