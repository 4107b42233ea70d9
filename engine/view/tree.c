#include "view/tree.h"

#include <string.h>

/* Children of each row from the last to the first, as a stack wants them. */
struct children {
    uint32_t *last, *previous;
};

static bool list_children(const struct tree *tree, struct arena *arena, struct children *children)
{
    size_t count = tree->nodes.count;

    children->last = arena_new_array(arena, uint32_t, count);
    children->previous = arena_new_array(arena, uint32_t, count);
    if (!children->last || !children->previous)
        return false;
    memset(children->last, 0xff, count * sizeof *children->last);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t parent = tree->nodes.items[i].parent;

        children->previous[i] = children->last[parent];
        children->last[parent] = i;
    }
    return true;
}

bool tree_order(struct tree *tree, struct arena *arena)
{
    size_t            count = tree->nodes.count, depth = 0;
    uint32_t         *stack = arena_new_array(arena, uint32_t, count);
    uint32_t         *place = arena_new_array(arena, uint32_t, count);
    struct tree_node *ordered = arena_new_array(arena, struct tree_node, count);
    struct children   children;

    if (!stack || !place || !ordered || !list_children(tree, arena, &children))
        return false;
    stack[depth++] = 0;
    for (uint32_t used = 0; depth > 0; used++) {
        uint32_t at = stack[--depth];

        place[at] = used;
        ordered[used] = tree->nodes.items[at];
        ordered[used].parent = place[ordered[used].parent];
        for (uint32_t i = children.last[at]; i != NO_ID; i = children.previous[i])
            stack[depth++] = i;
    }
    tree->nodes.items = ordered;
    tree->nodes.capacity = count;
    return true;
}

/* What one showing adds to a tree. */
static bool add_states(const struct view_call *call, struct tree *tree)
{
    size_t rows = tree->rules == TREE_CODE ? tree->nodes.count : call->classic->nodes.count;
    size_t width = tree->values.count;

    tree->states = arena_new_array(call->arena, struct tree_state, tree->nodes.count);
    tree->selves = arena_new_array(call->arena, int64_t, rows * width);
    tree->totals = arena_new_array(call->arena, int64_t, tree->nodes.count * width);
    tree->none = arena_new_array(call->arena, int64_t, width);
    if (!tree->states || !tree->selves || !tree->totals || !tree->none)
        return false;
    if (tree->values.place[VALUE_DEFINITIONS] < VIEW_VALUE_COUNT)
        tree->none[tree->values.place[VALUE_DEFINITIONS]] = 1;
    return true;
}

static bool copy_members(const struct view_call *call, struct tree *tree)
{
    uint32_t *copy;

    if (!tree->member_count)
        return true;
    copy = arena_new_array(call->arena, uint32_t, tree->member_count);
    if (!copy)
        return false;
    memcpy(copy, tree->members, tree->member_count * sizeof *copy);
    tree->members = copy;
    return true;
}

bool tree_build(const struct view_call *call, struct tree *tree,
                bool (*build)(const struct view_call *call, struct tree *tree))
{
    struct tree     *kept = call->trees ? &call->trees->built[tree->rules] : NULL;
    struct view_call keeping = *call;

    if (kept && !kept->nodes.items) {
        keeping.arena = call->trees->arena;
        kept->rules = tree->rules;
        if (!build(&keeping, kept)) {
            *kept = (struct tree) { .rules = tree->rules };
            return false;
        }
    }
    if (!kept && !build(call, tree))
        return false;
    if (kept)
        *tree = *kept;
    tree->values = value_set_of(call->wanted ? call->wanted : VALUES_ALL);
    return add_states(call, tree) && (!kept || copy_members(call, tree));
}

const int64_t *tree_self(const struct tree *tree, size_t row)
{
    uint32_t node = tree->nodes.items[row].node;

    if (tree->rules == TREE_CODE)
        return tree->selves + row * tree->values.count;
    return node == NO_ID ? tree->none : tree->selves + (size_t)node * tree->values.count;
}

const int64_t *tree_total(const struct tree *tree, size_t row)
{
    return tree->totals + row * tree->values.count;
}

int64_t tree_self_value(const struct tree *tree, size_t row, enum view_value value)
{
    return tree_self(tree, row)[tree->values.place[value]];
}

int64_t tree_total_value(const struct tree *tree, size_t row, enum view_value value)
{
    return tree_total(tree, row)[tree->values.place[value]];
}

/* What stands above accounted nodes and does not count itself is still one more node. */
static void add_definition(const struct tree *tree, size_t row)
{
    uint8_t place = tree->values.place[VALUE_DEFINITIONS];

    if (place < VIEW_VALUE_COUNT)
        tree->totals[row * tree->values.count + place] += tree_self(tree, row)[place];
}

/* From the leaves up: who counts, and how much with what is below. */
static void account(struct tree *tree, const struct view_options *options)
{
    size_t width = tree->values.count;

    for (size_t i = tree->nodes.count; i-- > 0;) {
        struct tree_state *state = &tree->states[i];
        int64_t           *total = tree->totals + i * width;
        bool               has_kept = state->is_kept; /* set by kept children */

        state->is_kept = state->is_accounted || (has_kept && tree->rules != TREE_GRAPH) || i == 0;
        /* total holds the sum of the children so far. */
        if (state->is_accounted || (state->is_kept && i > 0 && options->is_compat))
            numbers_add(total, tree_self(tree, i), width);
        else if (state->is_kept && i > 0)
            add_definition(tree, i);
        if (i == 0)
            continue;
        numbers_add(tree->totals + tree->nodes.items[i].parent * width, total, width);
        if (state->is_kept && tree->rules != TREE_GRAPH)
            tree->states[tree->nodes.items[i].parent].is_kept = true;
    }
}

static bool is_below_min(const struct tree *tree, size_t row, const struct view_options *options)
{
    for (size_t place = 0; place < tree->values.count; place++) {
        unsigned i = tree->values.values[place];
        int64_t  min = options->mins.values[i], value;
        bool     is_self = tree->rules != TREE_CODE &&
                       (i == VALUE_RUNS || i == VALUE_PARAMETERS || i == VALUE_FLOAT_OPS);

        if (i == VALUE_DEFINITIONS || (i == VALUE_RUNS && tree->rules == TREE_CODE) ||
            (min == 0 && !options->is_compat))
            continue;
        value = is_self ? tree_self(tree, row)[place] : tree_total(tree, row)[place];
        /* The original hides negative sums even where no minimum is asked for. */
        if (value < min && (min > 0 || options->is_compat))
            return true;
    }
    return false;
}

/* A group is on the devices of its nodes; what stands for no node is on none. */
static bool is_on_device(const struct tree *tree, size_t row, const struct view_call *call)
{
    const struct view_patterns *devices = &call->options->devices;
    const struct tree_node     *node = &tree->nodes.items[row];

    if (devices->is_everything)
        return true;
    if (node->node != NO_ID)
        return view_patterns_match(devices, classic_device(call->classic, node->node));
    for (uint32_t i = 0; i < tree->states[row].member_count; i++)
        if (view_patterns_match(
                devices, classic_device(call->classic, tree->members[node->first_member + i])))
            return true;
    return false;
}

static bool should_show(const struct tree *tree, size_t row, const struct view_call *call)
{
    const struct view_options *options = call->options;
    struct str                 name = tree->nodes.items[row].name;

    return (int64_t)tree->states[row].depth <= options->max_depth &&
           !is_below_min(tree, row, options) && is_on_device(tree, row, call) &&
           view_patterns_match(&options->show, name) && !view_patterns_match(&options->hide, name);
}

/* Whether a node is shown, and what that means for those below it. parent is the nearest kept. */
static void choose_one(struct tree *tree, size_t row, const struct tree_state *parent,
                       const struct view_call *call)
{
    const struct view_options *options = call->options;
    struct tree_state         *state = &tree->states[row];
    struct str                 name = tree->nodes.items[row].name;
    bool is_above_cut = parent->is_started ? parent->is_cut : tree->states[0].is_cut;

    state->is_started = parent->is_started || view_patterns_match(&options->start, name);
    state->depth = parent->is_started ? parent->depth + 1 : 2;
    if (!state->is_started)
        return;
    state->is_cut = is_above_cut || view_patterns_match(&options->trim, name);
    if (tree->rules == TREE_CODE) /* the node itself vanishes as well */
        state->is_cut = state->is_cut || (int64_t)state->depth > options->max_depth;
    state->is_visible =
        (tree->rules == TREE_CODE ? !state->is_cut : !is_above_cut) && should_show(tree, row, call);
}

/* From the root down. Parents of dropped nodes are skipped: state->parent is then a kept one.
 * anchors: the nearest visible node above each; the root above what was started. */
static void choose(struct tree *tree, const struct view_call *call, uint32_t *anchors)
{
    const struct view_options *options = call->options;
    struct tree_state         *states = tree->states;

    states[0].depth = 1;
    states[0].is_visible = true;
    states[0].is_cut = view_patterns_match(&options->trim, tree->nodes.items[0].name) ||
                       (tree->rules == TREE_CODE && options->max_depth < 1);
    for (size_t i = 1; i < tree->nodes.count; i++) {
        uint32_t parent = tree->nodes.items[i].parent;

        if (!states[parent].is_kept)
            parent = states[parent].parent;
        states[i].parent = parent;
        anchors[i] = states[parent].is_visible ? parent : anchors[parent];
        if (states[i].is_kept)
            choose_one(tree, i, &states[parent], call);
    }
}

static void sum_displayed(struct tree *tree, const uint32_t *anchors,
                          const struct view_options *options)
{
    size_t width = tree->values.count;

    for (size_t i = 0; i < tree->nodes.count; i++)
        memcpy(tree->totals + i * width,
               i && (tree->states[i].is_accounted || options->is_compat) ? tree_self(tree, i)
                                                                         : tree->none,
               width * sizeof *tree->totals);
    for (size_t i = tree->nodes.count; i-- > 1;)
        if (tree->states[i].is_visible)
            numbers_add(tree->totals + anchors[i] * width, tree_total(tree, i), width);
}

static bool collect_shown(struct tree *tree, const uint32_t *anchors, const struct view_call *call)
{
    struct tree_state *states = tree->states;
    uint32_t           count = (uint32_t)tree->nodes.count, total = 0, visible = 0;

    for (uint32_t i = 1; i < count; i++)
        if (states[i].is_visible) {
            states[anchors[i]].shown_count++;
            visible++;
        }
    tree->shown = arena_new_array(call->arena, uint32_t, visible);
    if (!tree->shown)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        states[i].first_shown = total;
        total += states[i].shown_count;
        states[i].shown_count = 0;
    }
    for (uint32_t i = 1; i < count; i++)
        if (states[i].is_visible) {
            struct tree_state *anchor = &states[anchors[i]];

            tree->shown[anchor->first_shown + anchor->shown_count++] = i;
        }
    return true;
}

static enum flops_known self_flops(const struct tree *tree, size_t row,
                                   const struct view_call *call)
{
    const struct tree_node *node = &tree->nodes.items[row];

    if (!tree->states[row].is_accounted)
        return FLOPS_NONE;
    if (tree->rules == TREE_CODE)
        return flops_known_of_all(call->classic, tree->members + node->first_member,
                                  tree->states[row].member_count);
    return node->node == NO_ID ? FLOPS_NONE : flops_known_of(call->classic, node->node);
}

enum flops_known tree_self_flops(const struct tree *tree, size_t row, const struct view_call *call)
{
    return tree->flops ? self_flops(tree, row, call) : FLOPS_KNOWN;
}

enum flops_known tree_total_flops(const struct tree *tree, size_t row)
{
    return tree->flops ? (enum flops_known)tree->flops[row] : FLOPS_KNOWN;
}

/* anchors: where totals are of what is displayed, else NULL. */
static bool sum_flops(struct tree *tree, const struct view_call *call, const uint32_t *anchors)
{
    if (call->options->is_compat || tree->values.place[VALUE_FLOAT_OPS] == VIEW_VALUE_COUNT)
        return true;
    tree->flops = arena_new_array(call->arena, uint8_t, tree->nodes.count);
    for (size_t i = tree->nodes.count; tree->flops && i-- > 1;) {
        uint32_t above = anchors ? anchors[i] : tree->nodes.items[i].parent;

        tree->flops[i] |= (uint8_t)self_flops(tree, i, call);
        if (!anchors || tree->states[i].is_visible)
            tree->flops[above] |= tree->flops[i];
    }
    return tree->flops != NULL;
}

/* An op that counts and is not shown is hidden by the nearest row above it that is. */
static bool count_hidden(struct tree *tree, const uint32_t *anchors, const struct view_call *call)
{
    if (!(call->options->selected & 1u << ATTRIBUTE_HIDDEN_OPS))
        return true;
    tree->hidden = arena_new_array(call->arena, uint32_t, tree->nodes.count);
    for (size_t i = 1; tree->hidden && i < tree->nodes.count; i++) {
        const struct tree_state *state = &tree->states[i];

        if (state->is_accounted && !state->is_visible)
            tree->hidden[anchors[i]] +=
                tree->rules == TREE_CODE ? state->member_count : tree->nodes.items[i].node != NO_ID;
    }
    return tree->hidden != NULL;
}

bool tree_arrange(struct tree *tree, const struct view_call *call)
{
    uint32_t *anchors = arena_new_array(call->arena, uint32_t, tree->nodes.count);
    bool      is_displayed_only = call->options->is_displayed_only && tree->rules != TREE_CODE;

    if (!anchors)
        return false;
    account(tree, call->options);
    choose(tree, call, anchors);
    if (is_displayed_only)
        sum_displayed(tree, anchors, call->options);
    return sum_flops(tree, call, is_displayed_only ? anchors : NULL) &&
           count_hidden(tree, anchors, call) && collect_shown(tree, anchors, call) &&
           tree_sort(tree, call);
}

bool tree_walk(const struct tree *tree,
               bool (*visit)(const struct tree *tree, struct tree_step *step, void *context),
               void *context, struct arena *arena)
{
    struct tree_step *stack = arena_new_array(arena, struct tree_step, tree->nodes.count);
    size_t            depth = 0;

    if (!stack)
        return false;
    stack[depth++] = (struct tree_step) { 0 };
    while (depth > 0) {
        struct tree_step         step = stack[--depth];
        const struct tree_state *state = &tree->states[step.row];

        if (!visit(tree, &step, context))
            return false;
        for (uint32_t i = state->shown_count; i-- > 0;)
            stack[depth++] =
                (struct tree_step) { tree->shown[state->first_shown + i], step.row, step.path_len };
    }
    return true;
}
