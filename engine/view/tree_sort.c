/* Siblings in the order that is asked for. */
#include "base/sort.h"
#include "view/tree.h"

#include <stdlib.h>

struct sibling {
    int64_t    key; /* more comes first */
    struct str name;
    uint32_t   row;
};

static int compare_keys(const void *left, const void *right)
{
    const struct sibling *a = left, *b = right;

    return IN_ORDER(COMPARE(b->key, a->key), COMPARE(a->row, b->row));
}

static int compare_names(const void *left, const void *right)
{
    const struct sibling *a = left, *b = right;
    int                   order = str_compare(a->name, b->name);

    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* A scope's own children are built by name; others may be among them when rows are left out. */
static bool is_by_name(const struct tree *tree, uint32_t parent)
{
    const struct tree_state *state = &tree->states[parent];

    if (tree->rules != TREE_SCOPE)
        return state->shown_count < 2;
    for (uint32_t i = 0; i < state->shown_count; i++)
        if (tree->nodes.items[tree->shown[state->first_shown + i]].parent != parent)
            return state->shown_count < 2;
    return true;
}

static void sort_below(struct tree *tree, uint32_t parent, int by, struct sibling *room)
{
    const struct tree_state *state = &tree->states[parent];
    uint32_t                *shown = tree->shown + state->first_shown;
    /* Nodes of the model stand by name, so that their rows are keys. */
    bool has_names = by == ORDER_BY_NAME && tree->rules != TREE_GRAPH;

    if (state->shown_count < 2 || (by == ORDER_BY_NAME && is_by_name(tree, parent)))
        return;
    for (uint32_t i = 0; i < state->shown_count; i++) {
        room[i] = (struct sibling) { .row = shown[i] };
        if (has_names)
            room[i].name = tree->nodes.items[shown[i]].name;
        else if (by == ORDER_BY_NAME)
            room[i].key = -(int64_t)tree->nodes.items[shown[i]].node;
        else if (by == VALUE_RUNS)
            room[i].key = tree->states[shown[i]].member_count;
        else
            room[i].key = tree_total_value(tree, shown[i], (enum view_value)by);
    }
    qsort(room, state->shown_count, sizeof *room, has_names ? compare_names : compare_keys);
    for (uint32_t i = 0; i < state->shown_count; i++)
        shown[i] = room[i].row;
}

bool tree_sort(struct tree *tree, const struct view_call *call)
{
    struct sibling *room;
    uint32_t        most = 0;
    int             by = call->options->order_by;

    /* How often a line occurs is how many nodes it made; single nodes have no such order. */
    if (by == VALUE_RUNS && tree->rules != TREE_CODE)
        by = ORDER_BY_NAME;
    for (size_t i = 0; i < tree->nodes.count; i++)
        if (tree->states[i].shown_count > most)
            most = tree->states[i].shown_count;
    room = arena_new_array(call->arena, struct sibling, most);
    for (uint32_t i = 0; room && i < tree->nodes.count; i++)
        if (tree->states[i].is_visible)
            sort_below(tree, i, by, room);
    return room != NULL;
}
