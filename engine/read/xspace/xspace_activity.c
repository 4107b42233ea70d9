#include "base/macros.h"
#include "model/names.h"
#include "read/hlo/hlo_text.h"
#include "read/op_kinds.h"
#include "read/xspace/xspace_decode.h"
#include "read/xspace/xspace_meta.h"
#include "read/xspace/xspace_shapes.h"

#include <stdio.h>

/* Rows that were made already, so that equal things share one. */
struct tables {
    struct profile            *profile;
    const struct xspace_tasks *tasks;
    struct id_map              ops, activities, variants;
    uint32_t                  *rows; /* by type and line class: activity + 1 */
    bool                       is_full;
};

enum { OF_PROGRAM = 1 << 16 }; /* in keys of activities: by op, not by name */

static uint64_t pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

static uint32_t op_row(struct tables *tables, uint32_t name, uint32_t type,
                       const struct variant *variant)
{
    struct profile *profile = tables->profile;
    uint32_t        module = variant ? variant->module : 0;
    uint32_t        program = module ? hlo_key(profile, &tables->ops, module, variant->program) : 0;
    uint64_t        key = pair(name, program);
    uint32_t        row = id_map_get(&tables->ops, key);
    struct op       op = OP_UNKNOWN;

    if (row != NO_ID)
        return row;
    row = (uint32_t)profile->ops.count;
    op.name = name;
    op.type = type;
    op.module = module;
    op.program = program;
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

/* The op that a device line or a host's name stands for; in its program, where that is told. */
static uint32_t named_op(struct tables *tables, const struct xspace_meta *meta,
                         const struct xname *name)
{
    struct profile *profile = tables->profile;
    struct variant  place = { .program = meta->program };
    uint32_t        row, module = NO_ID;

    if (meta->has_program)
        module = id_map_get(&tables->tasks->programs, meta->program);
    place.module = module == NO_ID ? 0 : module;
    row = op_row(tables, profile_intern(profile, name->op_name),
                 profile_intern(profile, name->op_type), &place);
    if (!tables->is_full && !xspace_meta_fill(meta, profile, row))
        tables->is_full = true;
    return row;
}

static enum copy_direction copy_of(const struct xspace_meta *meta, const struct xname *name)
{
    struct hlo_text text;

    return name->copy == COPY_D2D && hlo_text_read(meta->text, &text) ? hlo_text_direction(&text)
                                                                      : name->copy;
}

static uint32_t activity_row(struct tables *tables, const struct plane_tables *plane,
                             uint32_t index, enum xline_class line_class)
{
    struct profile           *profile = tables->profile;
    const struct xevent_type *type = &plane->plane->event_types.items[index];
    struct xname              name =
        xspace_name(type->name, tables->tasks->seen[plane->first_type + index], line_class);
    struct activity    activity = { .name = profile_intern(profile, type->name),
                                    .op = NO_ID,
                                    .source = NO_ID,
                                    .kind = (uint8_t)name.kind,
                                    .copy = (uint8_t)name.copy };
    struct xspace_meta meta = xspace_meta_read(plane->plane, type);
    uint32_t class = (uint32_t)line_class << 8 | activity.kind, row;
    uint64_t key = pair(activity.name, class);

    activity.copy = (uint8_t)copy_of(&meta, &name);
    if (name.op_type.len && meta.has_program) { /* programs share names of instructions */
        activity.op = named_op(tables, &meta, &name);
        key = pair(activity.op, class | OF_PROGRAM);
    }
    row = id_map_get(&tables->activities, key);
    if (row != NO_ID)
        return row;
    if (name.op_type.len && activity.op == NO_ID)
        activity.op = named_op(tables, &meta, &name);
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

/* The plane that a type is of. */
static const struct plane_tables *plane_of(const struct xspace_tasks *tasks, uint32_t type)
{
    struct plane_tables *const *planes = tasks->planes.items;
    size_t behind = LOWER_BOUND(tasks->planes.count, i, planes[i]->first_type <= type);

    return planes[behind - (behind > 0)];
}

static uint32_t base_row(struct tables *tables, const struct label *label)
{
    uint32_t *row, type = label->variant.type;

    if (type == NO_TYPE)
        return nameless_row(tables);
    row = &tables->rows[(size_t)type * XLINE_CLASS_COUNT + label->line_class];
    if (*row == 0) {
        const struct plane_tables *plane = plane_of(tables->tasks, type);

        if (plane->plane->event_types.items[type - plane->first_type].name.len == 0)
            return nameless_row(tables);
        *row = activity_row(tables, plane, type - plane->first_type,
                            (enum xline_class)label->line_class) +
               1;
    }
    return *row - 1;
}

static uint32_t hlo_type(struct profile *profile, uint32_t name)
{
    struct xname parsed = xspace_name(profile_str(profile, name), SEEN_HLO_OP, XLINE_CLASS_HOST);

    return profile_intern(profile, parsed.op_type);
}

/* tf_op "scope/name:Type": the op's name and type, which is the name's last part in "scope/name:";
 * NO_ID type when it is none. */
static uint32_t tf_op_type(struct profile *profile, uint32_t *name)
{
    struct str text = profile_str(profile, *name);
    size_t     colon = str_find_last(text, ':');
    struct str whole = str_slice(text, 0, colon), type = str_slice(text, colon + 1, text.len);
    size_t     slash = str_find_last(whole, '/');

    if (colon >= text.len || (!type.len && slash + 1 >= whole.len))
        return NO_ID;
    *name = profile_intern(profile, whole);
    return profile_intern(profile, type.len ? type : str_slice(whole, slash + 1, whole.len));
}

/* Which op a variant's stats name, and of what type; 0 when they name none. */
static uint32_t op_of(struct profile *profile, const struct variant *variant, uint32_t *op_type)
{
    uint32_t tf_op = variant->tf_op;

    *op_type = 0;
    if (variant->kernel) {
        bool computes = name_is(profile_str(profile, variant->kernel), NAMES_TF_COMPUTES_AT_START);

        *op_type = computes ? variant->kernel : 0;
        return computes ? tf_op : 0;
    }
    if (variant->hlo_op) {
        *op_type = hlo_type(profile, variant->hlo_op);
        return variant->hlo_op;
    }
    if (!tf_op)
        return 0;
    *op_type = tf_op_type(profile, &tf_op);
    if (*op_type == NO_ID)
        return *op_type = 0;
    return tf_op;
}

/* A tf.function that is called as its step is marked, "train", is a call all the same. */
static uint32_t call_row(struct tables *tables, uint32_t base)
{
    struct profile *profile = tables->profile;
    struct activity activity = profile->activities.items[base];
    uint64_t        key = pair(activity.name, XLINE_CLASS_HOST << 8 | ACTIVITY_DISPATCH);
    uint32_t        row = id_map_get(&tables->activities, key);

    if (activity.kind != ACTIVITY_STEP)
        return base;
    if (row != NO_ID)
        return row;
    activity.kind = ACTIVITY_DISPATCH;
    row = (uint32_t)profile->activities.count;
    if (!vec_push(&profile->activities, profile->arena, activity) ||
        !id_map_put(&tables->activities, key, row))
        tables->is_full = true;
    return row;
}

/* As ops that are not asynchronous are called on a host: "scope/crop:CropAndResize". */
static uint32_t kernel_name(struct profile *profile, const struct variant *variant)
{
    char       text[512];
    struct str name = profile_str(profile, variant->tf_op);
    struct str type = profile_str(profile, variant->kernel);
    int        len = snprintf(text, sizeof text, "%.*s:%.*s", STR_ARG(str_slice(name, 0, 400)),
                              STR_ARG(str_slice(type, 0, 100)));

    return profile_intern(profile, (struct str) { text, (size_t)len });
}

/* The same kernel or instruction in another program, or for another op, is another activity. */
static uint32_t split_row(struct tables *tables, const struct variant *variant, uint32_t base)
{
    struct profile *profile = tables->profile;
    struct activity activity = profile->activities.items[base];
    uint32_t        type, name = op_of(profile, variant, &type), op, row;

    if (variant->is_call)
        return call_row(tables, base);
    if (!name && !variant->module && !variant->shape)
        return base;
    if (!name && activity.op != NO_ID) {
        name = profile->ops.items[activity.op].name;
        type = profile->ops.items[activity.op].type;
    }
    if (!name)
        return base;
    op = op_row(tables, name, type, variant);
    if (!tables->is_full && variant->shape &&
        !xspace_shapes(profile, profile_str(profile, variant->shape), &profile->ops.items[op]))
        tables->is_full = true;
    row = id_map_get(&tables->variants, pair(base, op));
    if (row != NO_ID || tables->is_full)
        return row;
    activity.op = op;
    if (variant->kernel) {
        activity.kind = ACTIVITY_OP;
        activity.name = kernel_name(profile, variant);
        if (activity.name == NO_ID)
            tables->is_full = true;
    }
    /* Instructions are called after what made them, all_gather.3: only the program has the opcode.
     */
    if (!tables->is_full && activity.kind == ACTIVITY_OP)
        activity.kind =
            (uint8_t)op_type_kind(profile_str(profile, profile->ops.items[op].type), ACTIVITY_OP);
    row = (uint32_t)profile->activities.count;
    if (!vec_push(&profile->activities, profile->arena, activity) ||
        !id_map_put(&tables->variants, pair(base, op), row))
        tables->is_full = true;
    return row;
}

/* Labels count up in the order of first sight. All types come before their variants. */
bool xspace_activities(struct xspace_tasks *tasks, struct profile *profile, struct arena *scratch)
{
    struct tables tables = { .profile = profile,
                             .tasks = tasks,
                             .ops = tasks->ops,
                             .activities.arena = scratch,
                             .variants.arena = scratch };

    tables.rows = arena_new_array(scratch, uint32_t, (size_t)tasks->type_count * XLINE_CLASS_COUNT);
    if (!tables.rows)
        return false;
    for (size_t i = 0; i < tasks->labels.count && !tables.is_full; i++)
        if (!vec_push(&profile->labels, profile->arena, base_row(&tables, &tasks->labels.items[i])))
            return false;
    for (size_t i = 0; i < tasks->labels.count && !tables.is_full; i++) {
        const struct variant *variant = &tasks->labels.items[i].variant;

        if (variant->module | variant->hlo_op | variant->tf_op | variant->shape | variant->is_call)
            profile->labels.items[i] = split_row(&tables, variant, profile->labels.items[i]);
    }
    return !tables.is_full;
}
