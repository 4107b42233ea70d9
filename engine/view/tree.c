#include "view/tree.h"

#include "view/rows.h"
#include "view/sources.h"
#include "view/tensors.h"

#include <stdlib.h>
#include <string.h>

bool tree_order(struct tree *tree, struct arena *arena)
{
    size_t            count = tree->nodes.count, used = 0;
    uint32_t         *first = arena_new_array(arena, uint32_t, count);
    uint32_t         *next = arena_new_array(arena, uint32_t, count);
    uint32_t         *place = arena_new_array(arena, uint32_t, count);
    uint32_t         *stack = arena_new_array(arena, uint32_t, count);
    struct tree_node *ordered = arena_new_array(arena, struct tree_node, count);
    size_t            depth = 0;

    if (!first || !next || !place || !stack || !ordered)
        return false;
    for (size_t i = 0; i < count; i++)
        first[i] = next[i] = NO_ID;
    for (size_t i = count - 1; i > 0; i--) { /* backwards: lists come out in order */
        next[i] = first[tree->nodes.items[i].parent];
        first[tree->nodes.items[i].parent] = (uint32_t)i;
    }
    stack[depth++] = 0;
    while (depth > 0) {
        uint32_t at = stack[--depth];

        place[at] = (uint32_t)used;
        ordered[used] = tree->nodes.items[at];
        if (at != 0)
            ordered[used].parent = place[ordered[used].parent];
        used++;
        if (next[at] != NO_ID)
            stack[depth++] = next[at];
        if (first[at] != NO_ID)
            stack[depth++] = first[at];
    }
    tree->nodes.items = ordered;
    tree->nodes.capacity = count;
    return true;
}

bool tree_build(const struct view_call *call, struct tree *tree,
                bool (*build)(const struct view_call *call, struct tree *tree))
{
    struct tree      *kept = call->trees ? &call->trees->built[tree->rules] : NULL;
    struct view_call  keeping = *call;
    struct tree_node *nodes;

    if (!kept)
        return build(call, tree);
    if (!kept->nodes.items) {
        keeping.arena = call->trees->arena;
        kept->rules = tree->rules;
        if (!build(&keeping, kept)) {
            *kept = (struct tree) { .rules = tree->rules };
            return false;
        }
    }
    nodes = arena_new_array(call->arena, struct tree_node, kept->nodes.count);
    if (!nodes)
        return false;
    memcpy(nodes, kept->nodes.items, kept->nodes.count * sizeof *nodes);
    *tree = *kept;
    tree->nodes.items = nodes;
    tree->nodes.capacity = kept->nodes.count;
    return true;
}

/* From the leaves up: who counts, and how much with what is below. */
static void account(struct tree *tree, const struct view_options *options)
{
    struct tree_node *nodes = tree->nodes.items;

    for (size_t i = tree->nodes.count; i-- > 0;) {
        struct tree_node *node = &nodes[i];
        bool              has_kept = node->is_kept; /* set by kept children */

        node->is_kept = node->is_accounted || (has_kept && tree->rules != TREE_GRAPH) || i == 0;
        /* total holds the sum of the children so far. */
        if (node->is_accounted || (node->is_kept && i > 0 && options->is_compat)) {
            values_add(&node->total, &node->self);
        } else if (node->is_kept && i > 0) {
            node->total.values[VALUE_DEFINITIONS] += node->self.values[VALUE_DEFINITIONS];
        }
        if (i == 0)
            continue;
        values_add(&nodes[node->parent].total, &node->total);
        if (node->is_kept && tree->rules != TREE_GRAPH)
            nodes[node->parent].is_kept = true;
    }
}

static bool is_below_min(const struct tree *tree, const struct tree_node *node,
                         const struct view_options *options)
{
    for (int i = 0; i < VALUE_DEFINITIONS; i++) {
        bool is_self = tree->rules != TREE_CODE &&
                       (i == VALUE_RUNS || i == VALUE_PARAMETERS || i == VALUE_FLOAT_OPS);
        int64_t value = is_self ? node->self.values[i] : node->total.values[i];
        int64_t min = options->mins.values[i];

        if (i == VALUE_RUNS && tree->rules == TREE_CODE)
            continue;
        /* The original hides negative sums even where no minimum is asked for. */
        if (value < min && (min > 0 || options->is_compat))
            return true;
    }
    return false;
}

/* A group is on the devices of its nodes; what stands for no node is on none. */
static bool is_on_device(const struct tree *tree, const struct tree_node *node,
                         const struct view_call *call)
{
    const struct view_patterns *devices = &call->options->devices;

    if (devices->is_everything)
        return true;
    if (node->node != NO_ID)
        return view_patterns_match(devices, classic_device(call->classic, node->node));
    for (uint32_t i = 0; i < node->member_count; i++)
        if (view_patterns_match(
                devices, classic_device(call->classic, tree->members[node->first_member + i])))
            return true;
    return false;
}

static bool should_show(const struct tree *tree, const struct tree_node *node,
                        const struct view_call *call)
{
    const struct view_options *options = call->options;

    return node->depth <= options->max_depth && !is_below_min(tree, node, options) &&
           is_on_device(tree, node, call) && view_patterns_match(&options->show, node->name) &&
           !view_patterns_match(&options->hide, node->name);
}

/* From the root down. Parents of dropped nodes are skipped: node->parent is then a kept one. */
static void choose(struct tree *tree, const struct view_call *call)
{
    const struct view_options *options = call->options;
    struct tree_node          *nodes = tree->nodes.items;

    nodes[0].depth = 1;
    nodes[0].is_visible = true;
    nodes[0].is_cut = view_patterns_match(&options->trim, nodes[0].name) ||
                      (tree->rules == TREE_CODE && options->max_depth < 1);
    for (size_t i = 1; i < tree->nodes.count; i++) {
        struct tree_node *node = &nodes[i], *parent = &nodes[node->parent];
        bool              is_trimmed;

        node->origin = node->parent;
        if (!parent->is_kept) {
            node->parent = parent->parent;
            parent = &nodes[node->parent];
        }
        if (!node->is_kept)
            continue;
        node->is_started = parent->is_started || view_patterns_match(&options->start, node->name);
        node->depth = parent->is_started ? parent->depth + 1 : 2;
        if (!node->is_started)
            continue;
        is_trimmed = view_patterns_match(&options->trim, node->name);
        node->is_cut = (parent->is_started ? parent->is_cut : nodes[0].is_cut) || is_trimmed;
        if (tree->rules == TREE_CODE) /* the node itself vanishes as well */
            node->is_cut = node->is_cut || node->depth > options->max_depth;
        node->is_visible =
            should_show(tree, node, call) &&
            (tree->rules == TREE_CODE ? !node->is_cut
                                      : !(parent->is_started ? parent->is_cut : nodes[0].is_cut));
    }
}

/* Nearest visible node above each; the root above what was started. */
static uint32_t *find_anchors(const struct tree *tree, struct arena *arena)
{
    uint32_t *anchors = arena_new_array(arena, uint32_t, tree->nodes.count);

    for (size_t i = 1; anchors && i < tree->nodes.count; i++) {
        uint32_t parent = tree->nodes.items[i].parent;

        anchors[i] = tree->nodes.items[parent].is_visible ? parent : anchors[parent];
    }
    return anchors;
}

static void sum_displayed(struct tree *tree, const uint32_t *anchors,
                          const struct view_options *options)
{
    struct tree_node *nodes = tree->nodes.items;

    nodes[0].self.values[VALUE_DEFINITIONS] = 1;
    for (size_t i = 0; i < tree->nodes.count; i++)
        if (nodes[i].is_accounted || options->is_compat)
            nodes[i].total = nodes[i].self;
        else
            nodes[i].total = (struct view_numbers) { .values[VALUE_DEFINITIONS] = 1 };
    for (size_t i = tree->nodes.count; i-- > 1;)
        if (nodes[i].is_visible)
            values_add(&nodes[anchors[i]].total, &nodes[i].total);
}

struct sibling {
    int64_t    key; /* more comes first */
    struct str name;
    uint32_t   row;
};

static int compare_keys(const void *left, const void *right)
{
    const struct sibling *a = left, *b = right;

    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int compare_names(const void *left, const void *right)
{
    const struct sibling *a = left, *b = right;
    int                   order = str_compare(a->name, b->name);

    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static void sort_shown(struct tree *tree, const struct tree_node *parent,
                       const struct view_options *options, struct sibling *room)
{
    uint32_t *shown = tree->shown + parent->first_shown;
    int       by = options->order_by;

    /* How often a line occurs is how many nodes it made; single nodes have no such order. */
    if (by == VALUE_RUNS && tree->rules != TREE_CODE)
        by = ORDER_BY_NAME;
    for (uint32_t i = 0; i < parent->shown_count; i++) {
        const struct tree_node *node = &tree->nodes.items[shown[i]];

        room[i] = (struct sibling) { .name = node->name, .row = shown[i] };
        if (by == VALUE_RUNS)
            room[i].key = node->member_count;
        else if (by != ORDER_BY_NAME)
            room[i].key = node->total.values[by];
    }
    if (parent->shown_count > 1)
        qsort(room, parent->shown_count, sizeof *room,
              by == ORDER_BY_NAME ? compare_names : compare_keys);
    for (uint32_t i = 0; i < parent->shown_count; i++)
        shown[i] = room[i].row;
}

static bool collect_shown(struct tree *tree, const uint32_t *anchors, const struct view_call *call)
{
    struct tree_node *nodes = tree->nodes.items;
    size_t            count = tree->nodes.count;
    struct sibling   *room = arena_new_array(call->arena, struct sibling, count);
    uint32_t          total = 0;

    tree->shown = arena_new_array(call->arena, uint32_t, count);
    if (!room || !tree->shown)
        return false;
    for (size_t i = 1; i < count; i++)
        if (nodes[i].is_visible)
            nodes[anchors[i]].shown_count++;
    for (size_t i = 0; i < count; i++) {
        nodes[i].first_shown = total;
        total += nodes[i].shown_count;
        nodes[i].shown_count = 0;
    }
    for (uint32_t i = 1; i < count; i++)
        if (nodes[i].is_visible) {
            struct tree_node *anchor = &nodes[anchors[i]];

            tree->shown[anchor->first_shown + anchor->shown_count++] = i;
        }
    for (size_t i = 0; i < count; i++)
        if (nodes[i].is_visible)
            sort_shown(tree, &nodes[i], call->options, room);
    return true;
}

bool tree_arrange(struct tree *tree, const struct view_call *call)
{
    uint32_t *anchors;

    account(tree, call->options);
    choose(tree, call);
    anchors = find_anchors(tree, call->arena);
    if (!anchors)
        return false;
    if (call->options->is_displayed_only && tree->rules != TREE_CODE)
        sum_displayed(tree, anchors, call->options);
    return collect_shown(tree, anchors, call);
}

void tree_print_pair(const struct tree_node *node, const struct column *column, struct text *text)
{
    if (node->is_accounted)
        print_column_number(text, column->kind, node->self.values[column->value]);
    else
        text_add(text, STR("--"));
    text_add_byte(text, '/');
    print_column_number(text, column->kind, node->total.values[column->value]);
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
                void (*row)(const struct tree *tree, const struct tree_node *node,
                            const struct view_call *call))
{
    struct place {
        uint32_t row, indent;
    } *stack = arena_new_array(call->arena, struct place, tree->nodes.count);
    size_t   depth = 0;
    uint64_t count = 0;

    if (!stack)
        return false;
    stack[depth++] = (struct place) { 0, 0 };
    while (depth > 0) {
        struct place            at = stack[--depth];
        const struct tree_node *node = &tree->nodes.items[at.row];

        for (uint32_t i = node->shown_count; i-- > 0;)
            stack[depth++] = (struct place) { tree->shown[node->first_shown + i], at.indent + 2 };
        if (!view_row_fits(call, count++))
            continue;
        text_fill(call->text, ' ', at.indent);
        text_add(call->text, node->name);
        text_add(call->text, STR(" ("));
        row(tree, node, call);
        text_add(call->text, STR(")\n"));
        if (at.row != 0 && tree->rules != TREE_CODE)
            print_tensor(node->name, call);
        if (at.row != 0 && tree->rules == TREE_CODE && call->sources)
            print_source(node, at.indent, call);
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
        const struct tree_node *node = &tree->nodes.items[i];
        struct view_row        *row = &rows->items[i];

        *row = (struct view_row) { .name = node->name, .key = node->name, .node = node->node };
        row->is_accounted = node->is_accounted && i > 0;
        if (node->is_kept) {
            row->self = &node->self;
            row->total = &node->total;
        }
        if (tree->rules == TREE_CODE && node->member_count) {
            row->members = tree->members + node->first_member;
            row->member_count = node->member_count;
        }
        if (tree->rules == TREE_CODE && node->origin) {
            struct text key = { .arena = call->arena };

            text_print(&key, "%.*s > %.*s", STR_ARG(rows->items[node->origin].key),
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

    *rows = (struct view_rows) { .root = tree->nodes.items[0].total };
    rows->shown = arena_new_array(call->arena, struct shown_row, tree->nodes.count);
    if (!stack || !rows->shown || !add_rows(tree, call, rows))
        return false;
    stack[depth++] = (struct shown_row) { .parent = NO_ID };
    while (depth > 0) {
        struct shown_row        at = stack[--depth];
        const struct tree_node *node = &tree->nodes.items[at.id];
        uint32_t                parent = (uint32_t)rows->shown_count;

        rows->shown[rows->shown_count++] = at;
        for (uint32_t i = node->shown_count; i-- > 0;)
            stack[depth++] =
                (struct shown_row) { tree->shown[node->first_shown + i], at.depth + 1, parent };
    }
    return true;
}
