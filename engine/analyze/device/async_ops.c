#include "analyze/device/async_ops.h"

#include "base/text.h"
#include "model/op_graph.h"

enum { WAYS = COPY_H2H + 1 };

struct finder {
    const struct profile *profile;
    struct arena         *arena;
    struct async_ops     *ops;
    struct id_map         start_of; /* op that ends -> name of the one that begins; 0: none */
    struct id_map         open;     /* name and program of an op that begins -> its last event */
};

static struct str type_of(const struct finder *finder, uint32_t op)
{
    return profile_str(finder->profile, finder->profile->ops.items[op].type);
}

static bool may_begin(struct str type)
{
    return str_fits(type, "*-start|send|recv");
}

static bool is_end(struct str type)
{
    return str_ends(type, STR("-done"));
}

/* "copy-start" begins what "copy-done" ends, "send" what "send-done" ends. */
static bool begins(struct str type, struct str end)
{
    struct str stem = str_slice(end, 0, end.len - STR("-done").len);

    return str_starts(type, stem) &&
           (type.len == stem.len || str_equal(str_slice(type, stem.len, type.len), STR("-start")));
}

/* Hosts may have an op each for one instruction. */
static uint64_t name_key(uint32_t name, uint32_t module)
{
    return (uint64_t)name << 32 | module;
}

/* "copy-done.2" ends "copy-start.2" of the same program. */
static uint32_t start_by_name(const struct finder *finder, uint32_t end)
{
    const struct profile *profile = finder->profile;
    struct str            name = profile_str(profile, profile->ops.items[end].name);
    size_t                at = str_search(name, STR("-done"));
    struct text           text = { .arena = finder->arena };
    uint32_t              found;

    if (at >= name.len)
        return 0;
    text_print(&text, "%.*s-start%.*s", STR_ARG(str_slice(name, 0, at)),
               STR_ARG(str_slice(name, at + 5, name.len)));
    found = intern_find(&profile->names, text_str(&text));
    return found == NO_ID ? 0 : found;
}

/* Name of the op whose result the end takes in, where the program is known. NO_ID: out of memory.
 */
static uint32_t find_start(struct finder *finder, uint32_t end)
{
    const struct profile *profile = finder->profile;
    uint32_t              start = id_map_get(&finder->start_of, end);
    struct op_ids         from = { 0 };

    if (start != NO_ID)
        return start;
    if (profile->graph && profile->ops.items[end].graph_node != NO_ID)
        from = op_graph_producers(profile->graph, profile->ops.items[end].graph_node);
    for (size_t i = 0; i < from.count && start == NO_ID; i++)
        if (begins(type_of(finder, from.ids[i]), type_of(finder, end)))
            start = profile->ops.items[from.ids[i]].name;
    if (start == NO_ID)
        start = start_by_name(finder, end);
    return id_map_put(&finder->start_of, end, start) ? start : NO_ID;
}

static bool add_op(struct finder *finder, uint32_t device, uint32_t start, uint32_t end)
{
    const struct profile *profile = finder->profile;
    int64_t               bytes = profile->ops.items[event_activity(profile, start)->op].bytes;
    struct async_op       op = { .device = device,
                                 .start_event = start,
                                 .end_event = end,
                                 .start_ns = event_start_ns(profile, start),
                                 .end_ns = event_end_ns(profile, end),
                                 .bytes = bytes > 0 ? (double)bytes : 0 };

    op.blocked_ns = (double)(event_duration_ns(profile, start) + event_duration_ns(profile, end));
    op.own_ns = (double)(op.end_ns - op.start_ns);
    finder->ops->is_part[start] = finder->ops->is_part[end] = true;
    return vec_push(&finder->ops->list, finder->arena, op);
}

static uint8_t way_of(const struct profile *profile, const struct async_op *op)
{
    return event_activity(profile, op->start_event)->copy;
}

/* The time of those of one way in [first, last], during which there always was one, by their bytes.
 */
static void share_time(struct finder *finder, size_t first, size_t last, unsigned way)
{
    struct async_op *items = finder->ops->list.items;
    int64_t          start_ns = items[first].start_ns;
    double           bytes = 0, count = 0;

    for (size_t i = first; i <= last; i++) {
        if (way_of(finder->profile, &items[i]) != way)
            continue;
        start_ns = items[i].start_ns < start_ns ? items[i].start_ns : start_ns;
        bytes += items[i].bytes;
        count++;
    }
    for (size_t i = first; i <= last; i++) {
        double part = bytes > 0 ? items[i].bytes / bytes : 1 / count;

        if (way_of(finder->profile, &items[i]) != way)
            continue;
        items[i].own_ns = part * (double)(items[last].end_ns - start_ns);
        if (items[i].own_ns < items[i].blocked_ns)
            items[i].own_ns = items[i].blocked_ns;
    }
}

/* Those of a line from `first` on, by their ends. */
static void share_links(struct finder *finder, size_t first)
{
    const struct async_op *items = finder->ops->list.items;

    for (unsigned way = COPY_H2D; way < WAYS; way++) {
        size_t from = SIZE_MAX, last = SIZE_MAX;

        for (size_t i = first; i < finder->ops->list.count; i++) {
            if (way_of(finder->profile, &items[i]) != way)
                continue;
            if (from != SIZE_MAX && items[i].start_ns >= items[last].end_ns) {
                share_time(finder, from, last, way);
                from = SIZE_MAX;
            }
            from = from == SIZE_MAX ? i : from;
            last = i;
        }
        if (from != SIZE_MAX)
            share_time(finder, from, last, way);
    }
}

static bool walk_line(struct finder *finder, const struct timeline *timeline)
{
    const struct profile *profile = finder->profile;
    const struct op      *row;
    size_t                first = finder->ops->list.count;

    finder->open = (struct id_map) { .arena = finder->arena };
    for (uint32_t i = 0; i < timeline->event_count; i++) {
        uint32_t event = timeline->first_event + i, op = event_activity(profile, event)->op, start;

        if (op == NO_ID)
            continue;
        row = &profile->ops.items[op];
        if (may_begin(type_of(finder, op)) &&
            !id_map_put(&finder->open, name_key(row->name, row->module), event))
            return false;
        if (!is_end(type_of(finder, op)))
            continue;
        start = find_start(finder, op);
        if (start == NO_ID)
            return false;
        start = id_map_get(&finder->open, name_key(start, row->module));
        if (start != NO_ID && !finder->ops->is_part[start] &&
            !add_op(finder, timeline->device, start, event))
            return false;
    }
    share_links(finder, first);
    return true;
}

bool async_ops_find(const struct profile *profile, uint32_t host, struct arena *arena,
                    struct async_ops *ops)
{
    struct finder finder = {
        .profile = profile, .arena = arena, .ops = ops, .start_of.arena = arena
    };

    *ops = (struct async_ops) { 0 };
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (timeline->host != host || timeline->kind != TIMELINE_OPS)
            continue;
        if (!ops->is_part)
            ops->is_part = arena_new_array(arena, bool, (size_t)profile->event_count + 1);
        if (!ops->is_part || !walk_line(&finder, timeline))
            return false;
    }
    return true;
}
