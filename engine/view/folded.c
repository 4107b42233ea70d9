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

struct folding {
    enum view_value value;
    struct text     path, *text;
};

static bool add_row(const struct tree *tree, struct tree_step *step, void *context)
{
    struct folding *folding = context;
    int64_t         own = own_value(tree, step->row, folding->value);

    folding->path.len = step->path_len;
    if (step->row)
        add_frame(&folding->path, frame_name(tree, step->parent, step->row));
    if (own > 0 && step->row) {
        text_add(folding->text, text_str(&folding->path));
        text_print(folding->text, " %lld\n", (long long)own);
    } else if (own > 0) {
        text_print(folding->text, "(in no row) %lld\n", (long long)own);
    }
    step->path_len = folding->path.len;
    return !folding->path.is_cut;
}

bool folded_of_tree(const struct tree *tree, const struct view_call *call, struct text *text,
                    bool *is_made)
{
    unsigned       selected = call->options->selected;
    struct folding folding = { .path = { .arena = call->arena }, .text = text };

    *is_made = false;
    for (unsigned i = 0; i < ATTRIBUTE_COUNT; i++)
        if (selected == 1u << i && attribute_is_number((enum attribute)i, &folding.value))
            *is_made = true;
    if (!*is_made) {
        text_add(call->complaints,
                 STR("-output folded takes one number: -select micros, bytes, params, …\n"));
        return true;
    }
    return tree_walk(tree, add_row, &folding, call->arena);
}
