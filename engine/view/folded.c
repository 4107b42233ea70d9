#include "view/folded.h"

/* What the view calls the row, without what the row above it is called: a part of a scope, a line.
 */
static struct str frame_name(const struct tree *tree, uint32_t parent, uint32_t row)
{
    struct str name = tree->nodes.items[row].name, above = tree->nodes.items[parent].name;

    if (tree->rules == TREE_SCOPE && str_starts(name, above) && name.len > above.len + 1 &&
        name.data[above.len] == '/')
        return str_slice(name, above.len + 1, name.len);
    return name;
}

/* Semicolons part frames, and the last blank the number. */
static void add_frame(struct text *path, struct str name)
{
    size_t from;

    if (path->len > 0)
        text_add_byte(path, ';');
    from = path->len;
    text_add_clean(path, name);
    for (size_t i = from; i < path->len; i++)
        if (path->data[i] == ';')
            path->data[i] = ':';
}

static int64_t own_value(const struct tree *tree, uint32_t row, enum view_value value)
{
    const struct tree_state *state = &tree->states[row];
    int64_t                  own = tree_total_value(tree, row, value);

    for (uint32_t i = 0; i < state->shown_count; i++)
        own -= tree_total_value(tree, tree->shown[state->first_shown + i], value);
    return own;
}

struct step_in { /* of the walk */
    uint32_t row, parent;
    size_t   path_len; /* of the path to the row above it */
};

static bool walk(const struct tree *tree, const struct view_call *call, enum view_value value,
                 struct text *text)
{
    struct step_in *stack = arena_new_array(call->arena, struct step_in, tree->nodes.count);
    struct text     path = { .arena = call->arena };
    size_t          depth = 0;

    if (!stack)
        return false;
    stack[depth++] = (struct step_in) { 0 };
    while (depth > 0) {
        struct step_in           at = stack[--depth];
        const struct tree_state *state = &tree->states[at.row];
        int64_t                  own = own_value(tree, at.row, value);

        path.len = at.path_len;
        if (at.row)
            add_frame(&path, frame_name(tree, at.parent, at.row));
        if (own > 0 && at.row) {
            text_add(text, text_str(&path));
            text_print(text, " %lld\n", (long long)own);
        } else if (own > 0) {
            text_print(text, "(in no row) %lld\n", (long long)own);
        }
        for (uint32_t i = state->shown_count; i-- > 0;)
            stack[depth++] =
                (struct step_in) { tree->shown[state->first_shown + i], at.row, path.len };
    }
    return !path.is_cut;
}

bool folded_of_tree(const struct tree *tree, const struct view_call *call, struct text *text,
                    bool *is_made)
{
    unsigned        selected = call->options->selected;
    enum view_value value;

    *is_made = false;
    for (unsigned i = 0; i < ATTRIBUTE_COUNT; i++)
        if (selected == 1u << i && attribute_is_number((enum attribute)i, &value))
            *is_made = true;
    if (!*is_made) {
        text_add(call->complaints,
                 STR("-output folded takes one number: -select micros, bytes, params, …\n"));
        return true;
    }
    return walk(tree, call, value, text);
}
