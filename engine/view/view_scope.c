/* scope: nodes by name; a name's parts are a path. Parts that name no node stand for one. */
#include "view/nodes.h"
#include "view/timeline.h"

struct place { /* a path, in the order of first sight */
    struct str name;
    uint32_t   node;           /* NO_ID: names none */
    uint32_t   last, previous; /* child, sibling: places; NO_ID none */
};
struct open_path { /* its name is a start of the name at hand */
    size_t   len;
    uint32_t place;
};
struct builder {
    struct arena *arena;
    VEC(struct place) places; /* the root first */
    VEC(struct open_path) open;
};

/* Names ascend bytewise. So do siblings, except that a part which names no node is first seen with
 * what is below it: behind "a-b" comes "a/c", which makes "a". */
static bool add_place(struct builder *builder, uint32_t parent, struct str name, uint32_t node)
{
    struct place  place = { .name = name, .node = node, .last = NO_ID, .previous = NO_ID };
    uint32_t      row = (uint32_t)builder->places.count, next = NO_ID;
    struct place *places;

    if (!vec_push(&builder->places, builder->arena, place) ||
        !vec_push(&builder->open, builder->arena, (struct open_path) { name.len, row }))
        return false;
    places = builder->places.items;
    places[row].previous = places[parent].last;
    while (node == NO_ID && places[row].previous != NO_ID &&
           str_compare(places[places[row].previous].name, name) > 0) {
        next = places[row].previous;
        places[row].previous = places[next].previous;
    }
    if (next == NO_ID)
        places[parent].last = row;
    else
        places[next].previous = row;
    return true;
}

static size_t shared_bytes(struct str a, struct str b)
{
    size_t most = a.len < b.len ? a.len : b.len, at = 0;

    while (at < most && a.data[at] == b.data[at])
        at++;
    return at;
}

/* Every path that is a part of this name was open when a name before began with it, and still is:
 * all names between those begin with it too. */
static bool add_name(struct builder *builder, struct str name, struct str before, uint32_t node)
{
    size_t   shared = shared_bytes(name, before), from = 0;
    uint32_t parent = 0;

    while (builder->open.count && builder->open.items[builder->open.count - 1].len > shared)
        builder->open.count--;
    for (size_t i = builder->open.count; i-- > 0;) {
        const struct open_path *path = &builder->open.items[i];

        if (path->len == name.len || name.data[path->len] != '/')
            continue;
        parent = path->place;
        from = path->len + 1;
        break;
    }
    for (size_t at = from; at < name.len; at++) {
        if (name.data[at] != '/')
            continue;
        if (!add_place(builder, parent, str_slice(name, 0, at), NO_ID))
            return false;
        parent = (uint32_t)builder->places.count - 1;
    }
    return add_place(builder, parent, name, node);
}

/* Names of nodes: three dependent look-ups each, fetched ahead. */
static struct str *node_names(const struct classic *classic, struct arena *arena)
{
    enum { AHEAD = 16 };
    const struct profile *profile = classic->profile;
    uint32_t              count = (uint32_t)classic->nodes.count;
    struct str           *names = arena_new_array(arena, struct str, count);

    for (uint32_t i = 0; names && i < count; i++) {
        if (i + 2 * AHEAD < count)
            __builtin_prefetch(&profile->ops.items[classic->nodes.items[i + 2 * AHEAD].op].name);
        if (i + AHEAD < count) {
            uint32_t name = profile->ops.items[classic->nodes.items[i + AHEAD].op].name;

            __builtin_prefetch(&profile->names.names[name]);
        }
        names[i] = classic_name(classic, i);
        __builtin_prefetch(names[i].data);
    }
    return names;
}

/* Everything below a path right behind it. */
static bool place_nodes(const struct builder *builder, struct arena *arena, struct tree *tree)
{
    const struct place *places = builder->places.items;
    size_t              count = builder->places.count, depth = 0;
    struct pending {
        uint32_t place, parent;
    } *stack = arena_new_array(builder->arena, struct pending, count);

    if (!stack || !vec_reserve(&tree->nodes, arena, count))
        return false;
    stack[depth++] = (struct pending) { 0, 0 };
    while (depth > 0) {
        struct pending at = stack[--depth];
        uint32_t       row = (uint32_t)tree->nodes.count;

        tree->nodes.items[tree->nodes.count++] = (struct tree_node) { .name = places[at.place].name,
                                                                      .node = places[at.place].node,
                                                                      .parent = at.parent };
        for (uint32_t i = places[at.place].last; i != NO_ID; i = places[i].previous)
            stack[depth++] = (struct pending) { i, row };
    }
    return true;
}

static bool build(const struct view_call *call, struct tree *tree)
{
    struct arena   scratch = { .budget_bytes = call->arena->budget_bytes };
    struct builder builder = { .arena = &scratch };
    struct place   root = { STR_INIT(TREE_ROOT), NO_ID, NO_ID, NO_ID };
    struct str    *names = node_names(call->classic, &scratch), before = { 0 };
    bool           ok = names && vec_push(&builder.places, &scratch, root);

    for (uint32_t i = 0; ok && i < call->classic->nodes.count; i++) {
        ok = !names[i].len || add_name(&builder, names[i], before, i);
        before = names[i];
    }
    ok = ok && place_nodes(&builder, call->arena, tree);
    arena_free(&scratch);
    return ok;
}

bool scope_tree(const struct view_call *call, struct tree *tree)
{
    *tree = (struct tree) { .rules = TREE_SCOPE };
    return tree_build(call, tree, build) && nodes_account(tree, call) && tree_arrange(tree, call);
}

static bool show(const struct view_call *call, struct err *err)
{
    struct tree tree;

    if (!scope_tree(call, &tree))
        return err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
    return tree_print(&tree, call, node_print_row, err);
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
    .stacks = scope_tree,
};
