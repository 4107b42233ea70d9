#include "read/xspace_merge.h"

/* The activity of a variant, for the base activity it was asked for last. */
struct split {
    uint32_t base, row; /* base + 1; 0: not looked at yet */
    uint32_t op_name, op_type;
};

/* Rows that were made already, so that equal things share one. */
struct tables {
    struct profile            *profile;
    const struct xspace_tasks *tasks;
    const struct merged       *merged;
    struct id_map              ops, activities, variants;
    uint32_t                  *rows;   /* by type and line class: activity + 1 */
    struct split              *splits; /* by variant */
    bool                       is_full;
};

static uint64_t pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

static uint32_t op_row(struct tables *tables, uint32_t name, uint32_t type,
                       const struct variant *variant)
{
    struct profile *profile = tables->profile;
    uint32_t        module = variant ? variant->module : 0;
    uint64_t        key =
        pair(name, module ? hlo_key(profile, &tables->ops, module, variant->program) : 0);
    uint32_t  row = id_map_get(&tables->ops, key);
    struct op op = { .name = name,
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
    struct xname              name =
        xspace_name(type->name, tables->tasks->seen[plane->first_type + index], line_class);
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
                             profile_intern(profile, name.op_type), NULL);
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

static uint32_t base_row(struct tables *tables, const struct line_task *task, uint32_t type,
                         enum xline_class line_class)
{
    uint32_t *row;

    if (type == NO_TYPE)
        return nameless_row(tables);
    row = &tables->rows[(size_t)type * XLINE_CLASS_COUNT + line_class];
    if (*row == 0)
        *row = activity_row(tables, task->tables, type - task->tables->first_type, line_class) + 1;
    return *row - 1;
}

/* Events of variants keep them for now, so that all types come first. */
static bool name_events(struct tables *tables, const struct line_task *task)
{
    struct profile  *profile = tables->profile;
    enum xline_class line_class = xspace_line_class(&profile->timelines.items[task->timeline]);
    uint32_t        *cells = profile->event_activity + task->first_event;
    bool             has_variants = false;

    for (uint32_t i = 0; i < task->event_count && !tables->is_full; i++) {
        uint32_t row;

        if (UNLIKELY(cells[i] >= VARIANT_BIT && cells[i] != NO_TYPE)) {
            has_variants = true;
            (void)base_row(tables, task,
                           tables->merged->variants.items[cells[i] & ~VARIANT_BIT].type,
                           line_class);
            continue;
        }
        row = cells[i] == NO_TYPE ? 0
                                  : tables->rows[(size_t)cells[i] * XLINE_CLASS_COUNT + line_class];
        cells[i] = LIKELY(row) ? row - 1 : base_row(tables, task, cells[i], line_class);
    }
    return has_variants;
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

/* Which op a variant's stats name, and of what type; both 0 when they name none. */
static void look_up_op(struct profile *profile, const struct variant *variant, struct split *split)
{
    uint32_t tf_op = variant->tf_op, type;

    split->op_name = split->op_type = 0;
    if (variant->hlo_op) {
        split->op_name = variant->hlo_op;
        split->op_type = hlo_type(profile, variant->hlo_op);
    } else if (tf_op) {
        type = tf_op_type(profile, &tf_op);
        if (type == NO_ID)
            return;
        split->op_name = tf_op;
        split->op_type = type;
    }
}

/* The same kernel or instruction in another program, or for another op, is another activity. */
static uint32_t split_row(struct tables *tables, const struct variant *variant,
                          const struct split *split, uint32_t base)
{
    struct profile *profile = tables->profile;
    struct activity activity = profile->activities.items[base];
    uint32_t        name = split->op_name, type = split->op_type, op, row;

    if (!name && !variant->module)
        return base;
    if (!name && activity.op != NO_ID) {
        name = profile->ops.items[activity.op].name;
        type = profile->ops.items[activity.op].type;
    }
    if (!name)
        return base;
    op = op_row(tables, name, type, variant);
    row = id_map_get(&tables->variants, pair(base, op));
    if (row != NO_ID || tables->is_full)
        return row;
    activity.op = op;
    row = (uint32_t)profile->activities.count;
    if (!vec_push(&profile->activities, profile->arena, activity) ||
        !id_map_put(&tables->variants, pair(base, op), row))
        tables->is_full = true;
    return row;
}

static void split_events(struct tables *tables, const struct line_task *task)
{
    struct profile  *profile = tables->profile;
    enum xline_class line_class = xspace_line_class(&profile->timelines.items[task->timeline]);
    uint32_t        *cells = profile->event_activity + task->first_event;

    for (uint32_t i = 0; i < task->event_count && !tables->is_full; i++) {
        const struct variant *variant;
        struct split         *split;
        uint32_t              base;

        if (cells[i] < VARIANT_BIT)
            continue;
        variant = &tables->merged->variants.items[cells[i] & ~VARIANT_BIT];
        split = &tables->splits[cells[i] & ~VARIANT_BIT];
        base = base_row(tables, task, variant->type, line_class);
        if (split->base != base + 1) {
            if (split->base == 0)
                look_up_op(profile, variant, split);
            split->row = split_row(tables, variant, split, base);
            split->base = base + 1;
        }
        cells[i] = split->row;
    }
}

bool xspace_activities(const struct xspace_tasks *tasks, const struct merged *merged,
                       struct profile *profile, struct arena *scratch)
{
    struct tables tables = { .profile = profile,
                             .tasks = tasks,
                             .merged = merged,
                             .ops = tasks->ops,
                             .activities.arena = scratch,
                             .variants.arena = scratch };
    bool         *has_variants = arena_new_array(scratch, bool, tasks->list.count);

    tables.rows = arena_new_array(scratch, uint32_t, (size_t)tasks->type_count * XLINE_CLASS_COUNT);
    tables.splits = arena_new_array(scratch, struct split, merged->variants.count);
    if (!tables.rows || !tables.splits || !has_variants)
        return false;
    for (size_t i = 0; i < tasks->list.count && !tables.is_full; i++)
        has_variants[i] = name_events(&tables, &tasks->list.items[i]);
    for (size_t i = 0; i < tasks->list.count && !tables.is_full; i++)
        if (has_variants[i])
            split_events(&tables, &tasks->list.items[i]);
    return !tables.is_full;
}
