#include "read/xspace_merge.h"

/* Rows that were made already, so that equal things share one. */
struct tables {
    struct profile *profile;
    struct id_map   ops, activities, variants;
    uint32_t       *rows; /* by type and line class: activity + 1 */
    bool            is_full;
};

static uint64_t pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

static uint32_t op_row(struct tables *tables, uint32_t name, uint32_t type, uint32_t module)
{
    struct profile *profile = tables->profile;
    uint64_t        key = pair(name, module);
    uint32_t        row = id_map_get(&tables->ops, key);
    struct op       op = { .name = name,
                           .type = type,
                           .module = module,
                           .device = NO_ID,
                           .source = NO_ID,
                           .flops = -1,
                           .bytes = -1,
                           .parameters = -1,
                           .graph_node = NO_ID };

    if (row != NO_ID)
        return row;
    row = (uint32_t)profile->ops.count;
    if (!vec_push(&profile->ops, profile->arena, op) || !id_map_put(&tables->ops, key, row))
        tables->is_full = true;
    return row;
}

static uint32_t source_row(struct tables *tables, const struct xname *name)
{
    struct profile    *profile = tables->profile;
    struct source_line line = { .file = profile_intern(profile, name->file),
                                .function = profile_intern(profile, name->function),
                                .line = name->line,
                                .caller = NO_ID };
    uint32_t           row = (uint32_t)profile->sources.count;

    if (line.file == NO_ID || line.function == NO_ID ||
        !vec_push(&profile->sources, profile->arena, line))
        tables->is_full = true;
    return row;
}

/* What stats of the metadata entry say about the op. */
static void read_op_stats(struct tables *tables, const struct xplane *plane, struct str bytes,
                          struct op *op)
{
    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        struct xstat stat;
        struct str   name;

        if (field.number != XEVENT_METADATA_STATS || field.type != WIRE_BYTES)
            continue;
        stat = xstat_read(field.bytes);
        name = xplane_stat_name(plane, stat.type_id);
        if (str_equal(name, STR("hlo_category")))
            op->category = profile_intern(tables->profile, xstat_text(plane, &stat));
        else if (str_equal(name, STR("flops")))
            op->flops = (int64_t)stat.number;
        else if (str_equal(name, STR("bytes_accessed")))
            op->bytes = (int64_t)stat.number;
    }
}

static uint32_t activity_row(struct tables *tables, const struct plane_tables *plane,
                             uint32_t index, enum xline_class line_class)
{
    struct profile           *profile = tables->profile;
    const struct xevent_type *type = &plane->plane->event_types.items[index];
    struct xname    name = xspace_name(type->name, atomic_load(&plane->seen[index]), line_class);
    struct activity activity = { .name = profile_intern(profile, type->name),
                                 .op = NO_ID,
                                 .source = NO_ID,
                                 .kind = (uint8_t)name.kind,
                                 .copy = (uint8_t)name.copy };
    uint64_t        key = pair(activity.name, (uint32_t)line_class << 8 | activity.kind);
    uint32_t        row = id_map_get(&tables->activities, key);

    if (row != NO_ID)
        return row;
    if (name.op_type.len) {
        activity.op = op_row(tables, profile_intern(profile, name.op_name),
                             profile_intern(profile, name.op_type), 0);
        if (!tables->is_full)
            read_op_stats(tables, plane->plane, type->bytes, &profile->ops.items[activity.op]);
    }
    if (name.function.len)
        activity.source = source_row(tables, &name);
    row = (uint32_t)profile->activities.count;
    if (activity.name == NO_ID || !vec_push(&profile->activities, profile->arena, activity) ||
        !id_map_put(&tables->activities, key, row))
        tables->is_full = true;
    return row;
}

static enum xline_class class_of(const struct timeline *timeline)
{
    switch (timeline->kind) {
    case TIMELINE_THREAD:
        return XLINE_CLASS_HOST;
    case TIMELINE_STREAM:
    case TIMELINE_OPS:
        return XLINE_CLASS_DEVICE;
    case TIMELINE_MODULES:
        return XLINE_CLASS_MODULES;
    case TIMELINE_STEPS:
        return XLINE_CLASS_STEPS;
    case TIMELINE_DERIVED:
    case TIMELINE_OTHER:
        break;
    }
    return XLINE_CLASS_OTHER;
}

static uint32_t nameless_row(struct tables *tables)
{
    struct activity activity = { .name = profile_intern(tables->profile, STR("(no name)")),
                                 .op = NO_ID,
                                 .source = NO_ID };
    uint32_t        row = id_map_get(&tables->activities, UINT64_MAX);

    if (row != NO_ID)
        return row;
    row = (uint32_t)tables->profile->activities.count;
    if (!vec_push(&tables->profile->activities, tables->profile->arena, activity) ||
        !id_map_put(&tables->activities, UINT64_MAX, row))
        tables->is_full = true;
    return row;
}

static void name_events(struct tables *tables, const struct line_task *task)
{
    struct profile  *profile = tables->profile;
    enum xline_class line_class = class_of(&profile->timelines.items[task->timeline]);

    for (uint32_t i = 0; i < task->event_count && !tables->is_full; i++) {
        uint32_t *cell = &profile->event_activity[task->first_event + i];
        uint32_t *row;

        if (*cell == NO_TYPE) {
            *cell = nameless_row(tables);
            continue;
        }
        row = &tables->rows[(size_t)*cell * XLINE_CLASS_COUNT + line_class];
        if (*row == 0)
            *row =
                activity_row(tables, task->tables, *cell - task->tables->first_type, line_class) +
                1;
        *cell = *row - 1;
    }
}

/* The same kernel or instruction in another program, or for another op, is another activity. */
static void split_event(struct tables *tables, uint32_t event, uint32_t module, uint32_t op_name,
                        uint32_t type)
{
    struct profile *profile = tables->profile;
    uint32_t        base = profile->event_activity[event], op, row;
    struct activity activity = profile->activities.items[base];
    uint64_t        key;

    if (activity.op != NO_ID && !op_name) {
        op_name = profile->ops.items[activity.op].name;
        type = profile->ops.items[activity.op].type;
    }
    if (!op_name)
        return;
    op = op_row(tables, op_name, type, module);
    key = pair(base, op);
    row = id_map_get(&tables->variants, key);
    if (row == NO_ID && !tables->is_full) {
        activity.op = op;
        row = (uint32_t)profile->activities.count;
        if (!vec_push(&profile->activities, profile->arena, activity) ||
            !id_map_put(&tables->variants, key, row))
            tables->is_full = true;
    }
    if (!tables->is_full)
        profile->event_activity[event] = row;
}

static uint32_t hlo_type(struct profile *profile, uint32_t name)
{
    struct xname parsed = xspace_name(profile_str(profile, name), SEEN_HLO_OP, XLINE_CLASS_HOST);

    return profile_intern(profile, parsed.op_type);
}

/* tf_op "scope/name:Type": the op's name and type; NO_ID type when it is none. */
static uint32_t tf_op_type(struct profile *profile, uint32_t *name)
{
    struct str text = profile_str(profile, *name);
    size_t     colon = str_find_last(text, ':');

    if (colon + 1 >= text.len)
        return NO_ID;
    *name = profile_intern(profile, str_slice(text, 0, colon));
    return profile_intern(profile, str_slice(text, colon + 1, text.len));
}

static void split_task(struct tables *tables, const struct line_task *task)
{
    struct profile *profile = tables->profile;

    for (size_t i = 0, end; i < task->stats.count && !tables->is_full; i = end) {
        uint32_t module = 0, hlo_op = 0, tf_op = 0, type = 0;
        uint32_t event = task->first_event + task->stats.items[i].event;

        for (end = i;
             end < task->stats.count && task->stats.items[end].event == task->stats.items[i].event;
             end++) {
            uint32_t value = (uint32_t)task->stats.items[end].value;

            if (task->stats.items[end].key == STAT_MODULE_NAME)
                module = value;
            else if (task->stats.items[end].key == EXTRA_HLO_OP)
                hlo_op = value;
            else if (task->stats.items[end].key == EXTRA_TF_OP)
                tf_op = value;
        }
        if (hlo_op) {
            type = hlo_type(profile, hlo_op);
        } else if (tf_op) {
            type = tf_op_type(profile, &tf_op);
            hlo_op = type == NO_ID ? 0 : tf_op;
        }
        if (hlo_op || module)
            split_event(tables, event, module, hlo_op, type);
    }
}

bool xspace_activities(struct xspace_tasks *tasks, struct profile *profile, struct arena *scratch)
{
    struct tables tables = { .profile = profile,
                             .ops = tasks->ops,
                             .activities.arena = scratch,
                             .variants.arena = scratch };

    tables.rows = arena_new_array(scratch, uint32_t, (size_t)tasks->type_count * XLINE_CLASS_COUNT);
    if (!tables.rows)
        return false;
    for (size_t i = 0; i < tasks->list.count && !tables.is_full; i++)
        name_events(&tables, &tasks->list.items[i]);
    for (size_t i = 0; i < tasks->list.count && !tables.is_full; i++) {
        struct line_task *task = &tasks->list.items[i];

        if (class_of(&profile->timelines.items[task->timeline]) <= XLINE_CLASS_DEVICE)
            split_task(&tables, task);
        arena_free(&task->arena);
    }
    return !tables.is_full;
}
