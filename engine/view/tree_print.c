/* A tree's rows as text, and as rows for other formats. */
#include "view/rows.h"
#include "view/sources.h"
#include "view/tensors.h"
#include "view/tree.h"

void tree_print_pair(const struct tree *tree, uint32_t row, const struct column *column,
                     struct text *text)
{
    char   pair[2 * COLUMN_NUMBER_BYTES + 1];
    size_t len = 2;

    if (tree->states[row].is_accounted)
        len = put_column_number(pair, column->kind, tree_self_value(tree, row, column->value));
    else
        pair[0] = pair[1] = '-';
    pair[len++] = '/';
    len += put_column_number(pair + len, column->kind, tree_total_value(tree, row, column->value));
    text_add(text, (struct str) { pair, len });
}

/* A sum that leaves ops out is at least that. */
static void print_flops(struct text *text, enum flops_known known, int64_t flops)
{
    if (known == FLOPS_UNKNOWN) {
        text_add_byte(text, '?');
        return;
    }
    if (known == FLOPS_IN_PART)
        text_add(text, STR(">="));
    print_number(text, flops);
}

void tree_print_flops(const struct tree *tree, uint32_t row, const struct column *column,
                      const struct view_call *call)
{
    if (tree->states[row].is_accounted)
        print_flops(call->text, tree_self_flops(tree, row, call),
                    tree_self_value(tree, row, column->value));
    else
        text_add(call->text, STR("--"));
    text_add_byte(call->text, '/');
    print_flops(call->text, tree_total_flops(tree, row),
                tree_total_value(tree, row, column->value));
}

/* The line itself, below the row of a line. */
static void print_source(const struct tree_node *node, size_t indent, const struct view_call *call)
{
    const struct profile     *profile = call->classic->profile;
    const struct source_line *line = &profile->sources.items[node->source];
    struct str text = sources_line(call->sources, profile_str(profile, line->file), line->line);

    if (!text.len)
        return;
    text_fill(call->text, ' ', indent);
    text_add(call->text, STR("  | "));
    text_add(call->text, text);
    text_add_byte(call->text, '\n');
}

bool tree_print(const struct tree *tree, const struct view_call *call,
                void (*row)(const struct tree *tree, uint32_t at, const struct view_call *call),
                struct err *err)
{
    struct place {
        uint32_t row, indent;
    } *stack = arena_new_array(call->arena, struct place, tree->nodes.count);
    bool has_values = tree->rules != TREE_CODE && call->classic->checkpoint &&
                      (call->options->selected & 1u << ATTRIBUTE_TENSOR_VALUE);
    size_t   depth = 0;
    uint64_t count = 0;

    if (!stack)
        return err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
    stack[depth++] = (struct place) { 0, 0 };
    while (depth > 0) {
        struct place             at = stack[--depth];
        const struct tree_node  *node = &tree->nodes.items[at.row];
        const struct tree_state *state = &tree->states[at.row];

        for (uint32_t i = state->shown_count; i-- > 0;)
            stack[depth++] = (struct place) { tree->shown[state->first_shown + i], at.indent + 2 };
        if (!view_row_fits(call, count++))
            continue;
        text_fill(call->text, ' ', at.indent);
        text_add(call->text, node->name);
        text_add(call->text, STR(" ("));
        row(tree, at.row, call);
        text_add(call->text, STR(")\n"));
        if (at.row != 0 && has_values)
            print_tensor(node->name, call);
        if (at.row != 0 && tree->rules == TREE_CODE && call->sources)
            print_source(node, at.indent, call);
        if (!view_row_end(call, err))
            return false;
    }
    view_rows_end(call, count);
    return true;
}

/* Ids are rows of the tree, which options do not change. */
static bool add_rows(const struct tree *tree, const struct view_call *call, struct view_rows *rows)
{
    rows->count = tree->nodes.count;
    rows->items = arena_new_array(call->arena, struct view_row, rows->count);
    for (size_t i = 0; rows->items && i < rows->count; i++) {
        const struct tree_node  *node = &tree->nodes.items[i];
        const struct tree_state *state = &tree->states[i];
        struct view_row         *row = &rows->items[i];

        *row = (struct view_row) { .name = node->name, .key = node->name, .node = node->node };
        row->is_accounted = state->is_accounted;
        row->flops = tree->flops ? tree->flops[i] : FLOPS_NONE;
        row->hidden = tree->hidden ? tree->hidden[i] : 0;
        if (state->is_kept) {
            row->self = tree_self(tree, i);
            row->total = tree_total(tree, i);
        }
        if (tree->rules == TREE_CODE && state->member_count) {
            row->members = tree->members + node->first_member;
            row->member_count = state->member_count;
        }
        if (tree->rules == TREE_CODE && node->parent) {
            struct text key = { .arena = call->arena };

            text_print(&key, "%.*s > %.*s", STR_ARG(rows->items[node->parent].key),
                       STR_ARG(node->name));
            row->key = text_str(&key);
        }
    }
    return rows->items != NULL;
}

bool tree_rows(const struct tree *tree, const struct view_call *call, struct view_rows *rows)
{
    struct shown_row *stack = arena_new_array(call->arena, struct shown_row, tree->nodes.count);
    size_t            depth = 0;

    *rows = (struct view_rows) { 0 };
    rows->shown = arena_new_array(call->arena, struct shown_row, tree->nodes.count);
    if (!stack || !rows->shown || !add_rows(tree, call, rows))
        return false;
    stack[depth++] = (struct shown_row) { .parent = NO_ID };
    while (depth > 0) {
        struct shown_row         at = stack[--depth];
        const struct tree_state *state = &tree->states[at.id];
        uint32_t                 parent = (uint32_t)rows->shown_count;

        rows->shown[rows->shown_count++] = at;
        for (uint32_t i = state->shown_count; i-- > 0;)
            stack[depth++] =
                (struct shown_row) { tree->shown[state->first_shown + i], at.depth + 1, parent };
    }
    return true;
}
