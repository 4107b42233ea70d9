/*
 * graph: nodes above what they take in. The top are nodes that nothing takes in; a node stands
 * below the first that reaches it, so what is shared is counted once.
 */
#include "view/nodes.h"
#include "view/timeline.h"

struct walk { /* depth first, without recursion */
    const struct classic *classic;
    struct tree          *tree;
    struct arena         *arena;
    uint8_t              *is_seen; /* by node */
    struct visit {
        uint32_t row, next; /* of the tree; which input is next */
    } * stack;
    size_t depth;
};

static bool enter(struct walk *walk, uint32_t node, uint32_t parent)
{
    struct tree_node entered = { .name = classic_name(walk->classic, node),
                                 .node = node,
                                 .parent = parent };

    walk->is_seen[node] = 1;
    walk->stack[walk->depth++] = (struct visit) { (uint32_t)walk->tree->nodes.count, 0 };
    return vec_push(&walk->tree->nodes, walk->arena, entered);
}

static bool walk_from(struct walk *walk, uint32_t top)
{
    if (!enter(walk, top, 0))
        return false;
    while (walk->depth > 0) {
        struct visit              *visit = &walk->stack[walk->depth - 1];
        uint32_t                   node = walk->tree->nodes.items[visit->row].node, input;
        const struct classic_node *row = &walk->classic->nodes.items[node];

        if (visit->next == row->input_count) {
            walk->depth--;
            continue;
        }
        input = walk->classic->inputs.items[row->first_input + visit->next++].node;
        if (input != NO_ID && !walk->is_seen[input] && !enter(walk, input, visit->row))
            return false;
    }
    return true;
}

static bool build(const struct view_call *call, struct tree *tree)
{
    const struct classic *classic = call->classic;
    struct tree_node      root = { .name = STR_INIT(TREE_ROOT), .node = NO_ID };
    size_t                count = classic->nodes.count;
    struct walk           walk = { .classic = classic, .tree = tree, .arena = call->arena };
    uint8_t              *is_input = arena_new_array(call->arena, uint8_t, count);

    walk.is_seen = arena_new_array(call->arena, uint8_t, count);
    walk.stack = arena_new_array(call->arena, struct visit, count);
    if (!is_input || !walk.is_seen || !walk.stack || !vec_push(&tree->nodes, call->arena, root))
        return false;
    for (size_t i = 0; i < classic->inputs.count; i++)
        if (classic->inputs.items[i].node != NO_ID)
            is_input[classic->inputs.items[i].node] = 1;
    for (uint32_t i = 0; i < count; i++)
        if (!is_input[i] && !walk_from(&walk, i))
            return false;
    return true;
}

static bool graph_tree(const struct view_call *call, struct tree *tree)
{
    *tree = (struct tree) { .rules = TREE_GRAPH };
    return tree_build(call, tree, build) && nodes_account(tree, call) && tree_arrange(tree, call);
}

static bool show(const struct view_call *call, struct err *err)
{
    struct tree tree;

    if (!graph_tree(call, &tree))
        return err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
    return tree_print(&tree, call, node_print_row, err);
}

static bool rows(const struct view_call *call, struct view_rows *found)
{
    struct tree tree;

    return graph_tree(call, &tree) && tree_rows(&tree, call, found);
}

static bool timeline(const struct view_call *call, struct text *json, struct err *err)
{
    struct tree tree;

    return (graph_tree(call, &tree) && timeline_of_step(&tree, call, json)) ||
           err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
}

const struct view view_graph = {
    .name = "graph",
    .doc = "graph: The nodes in the model graph are organized by their inputs: below a node "
           "stands what it takes in.",
    .layout = LAYOUT_NODES,
    .show = show,
    .rows = rows,
    .timeline = timeline,
    .is_of_step = true,
};
