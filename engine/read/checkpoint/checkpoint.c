#include "read/checkpoint/checkpoint.h"

#include "base/file.h"

#include <stdlib.h>

static int compare_names(const void *left, const void *right)
{
    const struct classic_variable *a = left, *b = right;
    int                            order = str_compare(a->name, b->name);

    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* A variable's node without a shape of its own has that of the checkpoint. */
static bool fill_shape(struct classic *classic, uint32_t node,
                       const struct classic_variable *variable)
{
    struct classic_node *row = &classic->nodes.items[node];
    bool is_known = row->shape != NO_ID && classic->shapes.items[row->shape].rank >= 0;

    if (is_known || variable->shape.rank < 0)
        return true;
    row->shape = (uint32_t)classic->shapes.count;
    return vec_push(&classic->shapes, classic->profile->arena, variable->shape);
}

static bool tell_nodes(struct classic *classic, enum checkpoint_use use)
{
    const struct classic_checkpoint *checkpoint = classic->checkpoint;

    for (uint32_t node = 0; node < classic->nodes.count; node++) {
        const struct classic_variable *variable =
            classic_variable_find(checkpoint, classic_name(classic, node));

        classic->variable_of[node] = NO_ID;
        if (!variable || use == CHECKPOINT_VALUES)
            continue;
        classic->variable_of[node] = (uint32_t)(variable - checkpoint->variables.items);
        if (use == CHECKPOINT_SHAPES && !fill_shape(classic, node, variable))
            return false;
    }
    return true;
}

bool checkpoint_read(struct classic *classic, struct profile *profile, const char *path,
                     enum checkpoint_use use, struct err *err)
{
    struct classic_checkpoint *checkpoint = arena_new(profile->arena, struct classic_checkpoint);
    char                      *index = arena_text(profile->arena, "%s.index", path);

    classic->variable_of = arena_new_array(profile->arena, uint32_t, classic->nodes.count);
    classic->variable_type = profile_intern(profile, STR("_checkpoint_variables"));
    if (!checkpoint || !index || !classic->variable_of || classic->variable_type == NO_ID)
        return err_set(err, ERR_LIMIT, "the checkpoint does not fit into the memory budget");
    if (!(file_exists(index) ? checkpoint_open_v2 : checkpoint_open_v1)(checkpoint, path,
                                                                        profile->arena, err))
        return false;
    if (checkpoint->variables.count)
        qsort(checkpoint->variables.items, checkpoint->variables.count,
              sizeof(struct classic_variable), compare_names);
    classic->checkpoint = checkpoint;
    return tell_nodes(classic, use) ||
           err_set(err, ERR_LIMIT, "the checkpoint does not fit into the memory budget");
}
