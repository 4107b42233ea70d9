/* scope: nodes by name; a name's parts are a path. Parts that name no node stand for one. */
#include "view/nodes.h"
#include "view/timeline.h"

#include <stdlib.h>

struct builder {
    struct arena *arena;
    struct tree  *tree;
    struct intern names; /* id of a name is its row of the tree */
};

/* Bytes of the path above a name of that length; 0: none. */
static size_t parent_length(struct str name, size_t len)
{
    struct str start = str_slice(name, 0, len);
    size_t     slash = str_find_last(start, '/');

    return slash < start.len ? slash : 0;
}

/* Row of a path, which may be new; what is above it has to be known. */
static uint32_t add_path(struct builder *builder, struct str path, uint32_t parent)
{
    uint32_t         count = builder->names.count, row = intern_add(&builder->names, path);
    struct tree_node node = { .name = path, .node = NO_ID, .parent = parent };

    if (row == count && !vec_push(&builder->tree->nodes, builder->arena, node))
        return NO_ID;
    return row;
}

/* Paths are looked for from the longest down, so that names of many parts stay linear. */
static uint32_t add_name(struct builder *builder, struct str name)
{
    size_t   len = parent_length(name, name.len);
    uint32_t row = 0;

    while (len > 0 && intern_find(&builder->names, str_slice(name, 0, len)) == NO_ID)
        len = parent_length(name, len);
    if (len > 0)
        row = intern_find(&builder->names, str_slice(name, 0, len));
    while (len < name.len && row != NO_ID) {
        size_t from = len ? len + 1 : 0;
        size_t next = from + str_find(str_slice(name, from, name.len), '/');

        if (next > len)
            row = add_path(builder, str_slice(name, 0, next), row);
        len = next > len ? next : len + 1;
    }
    return row;
}

struct named {
    struct str name;
    uint32_t   row;
};

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;

    return str_compare(a->name, b->name);
}

/* Siblings go by their names; a path sorts behind what is above it. */
static bool sort_names(struct tree *tree, struct arena *arena)
{
    size_t            count = tree->nodes.count;
    struct named     *order = arena_new_array(arena, struct named, count);
    uint32_t         *place = arena_new_array(arena, uint32_t, count);
    struct tree_node *sorted = arena_new_array(arena, struct tree_node, count);

    if (!order || !place || !sorted)
        return false;
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct named) { tree->nodes.items[i].name, i };
    if (count > 2)
        qsort(order + 1, count - 1, sizeof *order, compare_names);
    for (uint32_t i = 0; i < count; i++)
        place[order[i].row] = i;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = tree->nodes.items[order[i].row];
        sorted[i].parent = place[sorted[i].parent];
    }
    tree->nodes.items = sorted;
    tree->nodes.capacity = count;
    return true;
}

static bool build(const struct view_call *call, struct tree *tree)
{
    struct builder   builder = { .arena = call->arena, .tree = tree };
    struct tree_node root = { .name = STR_INIT(TREE_ROOT), .node = NO_ID };

    if (!intern_init(&builder.names, call->arena) || !vec_push(&tree->nodes, call->arena, root))
        return false;
    for (uint32_t i = 0; i < call->classic->nodes.count; i++) {
        struct str name = classic_name(call->classic, i);
        uint32_t   row = name.len ? add_name(&builder, name) : 0;

        if (row == NO_ID)
            return false;
        if (row)
            tree->nodes.items[row].node = i;
    }
    return sort_names(tree, call->arena) && tree_order(tree, call->arena);
}

bool scope_tree(const struct view_call *call, struct tree *tree)
{
    *tree = (struct tree) { .rules = TREE_SCOPE };
    return tree_build(call, tree, build) && nodes_account(tree, call) && tree_arrange(tree, call);
}

static bool show(const struct view_call *call, struct err *err)
{
    struct tree tree;

    return (scope_tree(call, &tree) && tree_print(&tree, call, node_print_row)) ||
           err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
}

static bool rows(const struct view_call *call, struct view_rows *found)
{
    struct tree tree;

    return scope_tree(call, &tree) && tree_rows(&tree, call, found);
}

static bool timeline(const struct view_call *call, struct text *json, struct err *err)
{
    struct tree tree;

    return (scope_tree(call, &tree) && timeline_of_tree(&tree, call, json)) ||
           err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
}

const struct view view_scope = {
    .name = "scope",
    .doc = "scope: The nodes in the model graph are organized by their names, which is "
           "hierarchical like filesystem.",
    .layout = LAYOUT_NODES,
    .show = show,
    .rows = rows,
    .timeline = timeline,
};
