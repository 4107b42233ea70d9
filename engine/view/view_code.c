/*
 * code: nodes below the lines that made them, outermost call first. Nodes of gradients are made far
 * from the line they are of: they stand in branches of their own, by the trace of what they derive.
 */
#include "view/groups.h"
#include "view/sources.h"
#include "view/timeline.h"

#include <inttypes.h>
#include <stdlib.h>

struct gradient {
    struct str forward; /* name of what it derives */
    uint32_t   node;
};
struct builder {
    const struct view_call *call;
    struct tree            *tree;
    struct intern           labels;
    struct id_map           children; /* row of the parent << 32 | label -> row */
    uint32_t *rows[2]; /* by source, of gradients apart: row of its trace; 0 none yet */
    uint32_t *row_of;  /* by node; 0: stands nowhere */
    VEC(struct gradient) gradients;
    VEC(uint32_t) frames; /* of one trace that have no rows yet, innermost first */
};

enum { PART_BYTES = 20, PART_KEPT_BYTES = 17 };

static struct str base_name(struct str path)
{
    size_t slash = str_find_last(path, '/');

    return slash < path.len ? str_slice(path, slash + 1, path.len) : path;
}

/* Bytes of the letters that are kept; the original's report has half a letter at times. */
static size_t kept_bytes(struct str part, bool is_compat)
{
    size_t kept = 0, len;

    if (is_compat)
        return PART_KEPT_BYTES;
    while (kept < PART_KEPT_BYTES) {
        len = str_letter_bytes(str_slice(part, kept, part.len));
        if (kept + len > PART_KEPT_BYTES)
            break;
        kept += len ? len : 1;
    }
    return kept;
}

/* ":build_the_whole_n..." */
static void add_short(struct text *text, struct str part, bool is_compat)
{
    bool   is_long = part.len >= PART_BYTES;
    size_t kept = is_long ? kept_bytes(part, is_compat) : part.len;

    text_print(text, ":%.*s%s", STR_ARG(str_slice(part, 0, kept)), is_long ? "..." : "");
}

/* "model.py:20:build_the_whole_n... (gradient)"; older versions: "model.py:20:build:x = cell(y)".
 */
static struct str label_of(const struct builder *builder, const struct source_line *line,
                           bool is_gradient)
{
    const struct view_options *options = builder->call->options;
    const struct profile      *profile = builder->call->classic->profile;
    struct str                 line_text = str_trim(profile_str(profile, line->text));
    struct text                text = { .arena = builder->call->arena };

    text_print(&text, "%.*s:%lld", STR_ARG(base_name(profile_str(profile, line->file))),
               line->line ? (long long)line->line : -1LL);
    add_short(&text, profile_str(profile, line->function), options->is_compat);
    if (options->has_line_text && !line_text.len && builder->call->sources)
        line_text = str_trim(
            sources_line(builder->call->sources, profile_str(profile, line->file), line->line));
    if (options->has_line_text)
        add_short(&text, line_text.len ? line_text : STR("none"), options->is_compat);
    if (is_gradient)
        text_add(&text, STR(" (gradient)"));
    return text.is_cut ? (struct str) { 0 } : text_str(&text);
}

static uint32_t add_child(struct builder *builder, uint32_t parent, uint32_t source,
                          bool is_gradient)
{
    const struct profile *profile = builder->call->classic->profile;
    struct str            name = label_of(builder, &profile->sources.items[source], is_gradient);
    uint32_t              label = name.data ? intern_add(&builder->labels, name) : NO_ID;
    uint64_t              key = (uint64_t)parent << 32 | label;
    uint32_t              row = id_map_get(&builder->children, key);
    struct tree_node      node = {
             .node = NO_ID, .parent = parent, .source = source, .is_gradient = is_gradient
    };

    if (label == NO_ID || row != NO_ID)
        return label == NO_ID ? NO_ID : row;
    node.name = intern_str(&builder->labels, label);
    row = (uint32_t)builder->tree->nodes.count;
    return id_map_put(&builder->children, key, row) &&
                   vec_push(&builder->tree->nodes, builder->call->arena, node)
               ? row
               : NO_ID;
}

static uint32_t source_of(const struct classic *classic, uint32_t node)
{
    return classic->nodes.items[node].source;
}

/* Row of the innermost line of a trace, with what is missing above it. */
static uint32_t add_trace(struct builder *builder, uint32_t source, bool is_gradient)
{
    const struct profile *profile = builder->call->classic->profile;
    uint32_t             *rows = builder->rows[is_gradient], row = 0;

    builder->frames.count = 0;
    for (; source != NO_ID && !rows[source]; source = profile->sources.items[source].caller)
        if (!vec_push(&builder->frames, builder->call->arena, source))
            return NO_ID;
    if (source != NO_ID)
        row = rows[source];
    for (size_t i = builder->frames.count; i-- > 0 && row != NO_ID;) {
        row = add_child(builder, row, builder->frames.items[i], is_gradient);
        rows[builder->frames.items[i]] = row;
    }
    return row;
}

static bool attach(struct builder *builder, uint32_t node, uint32_t source, bool is_gradient)
{
    builder->row_of[node] = add_trace(builder, source, is_gradient);
    return builder->row_of[node] != NO_ID;
}

/* Name of the node that this one is the gradient of; empty: it is none. */
static struct str forward_name(struct str name)
{
    size_t from = str_search(name, STR("gradients/")) + 10, to = str_search(name, STR("_grad/"));

    if (from > name.len || to == name.len)
        return (struct str) { 0 };
    return str_slice(name, from, to > from ? to : name.len);
}

static int compare_gradients(const void *left, const void *right)
{
    const struct gradient *a = left, *b = right;
    int                    order = str_compare(a->forward, b->forward);

    return order ? order : (a->node > b->node) - (a->node < b->node);
}

static bool add_gradients(struct builder *builder)
{
    const struct classic *classic = builder->call->classic;

    if (builder->gradients.count)
        qsort(builder->gradients.items, builder->gradients.count, sizeof(struct gradient),
              compare_gradients);
    for (size_t i = 0; i < builder->gradients.count; i++) {
        const struct gradient *gradient = &builder->gradients.items[i];
        uint32_t               forward = classic_find(classic, gradient->forward);

        if (forward == NO_ID || source_of(classic, forward) == NO_ID ||
            forward_name(gradient->forward).len) {
            builder->tree->lost_gradients++;
            builder->tree->lost_names +=
                i == 0 || !str_equal(gradient->forward, gradient[-1].forward);
        } else if (!attach(builder, gradient->node, source_of(classic, forward), true))
            return false;
    }
    return true;
}

/* Members of one row stand together, in the order of their names. */
static bool place_members(struct builder *builder)
{
    struct tree      *tree = builder->tree;
    struct tree_node *nodes = tree->nodes.items;
    uint32_t          total = 0, count = (uint32_t)builder->call->classic->nodes.count;

    for (uint32_t i = 0; i < count; i++)
        nodes[builder->row_of[i]].member_count += builder->row_of[i] != 0;
    for (size_t i = 0; i < tree->nodes.count; i++) {
        nodes[i].first_member = total;
        total += nodes[i].member_count;
        nodes[i].member_count = 0;
    }
    tree->member_count = total;
    tree->members = arena_new_array(builder->call->arena, uint32_t, total);
    if (!tree->members)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct tree_node *row = &nodes[builder->row_of[i]];

        if (builder->row_of[i])
            tree->members[row->first_member + row->member_count++] = i;
    }
    return true;
}

static bool build(const struct view_call *call, struct tree *tree)
{
    struct builder   builder = { .call = call, .tree = tree, .children.arena = call->arena };
    struct tree_node root = { .name = STR_INIT(TREE_ROOT), .node = NO_ID };

    for (int i = 0; i < 2; i++) {
        builder.rows[i] =
            arena_new_array(call->arena, uint32_t, call->classic->profile->sources.count);
        if (!builder.rows[i])
            return false;
    }
    builder.row_of = arena_new_array(call->arena, uint32_t, call->classic->nodes.count);
    if (!builder.row_of || !intern_init(&builder.labels, call->arena) ||
        !vec_push(&tree->nodes, call->arena, root))
        return false;
    for (uint32_t i = 0; i < call->classic->nodes.count; i++) {
        uint32_t        source = source_of(call->classic, i);
        struct gradient gradient = { .node = i };

        if (source == NO_ID)
            continue;
        if (call->classic->nodes.items[i].is_gradient) {
            if (!attach(&builder, i, source, true))
                return false;
            continue;
        }
        gradient.forward = forward_name(classic_name(call->classic, i));
        if (gradient.forward.len ? !vec_push(&builder.gradients, call->arena, gradient)
                                 : !attach(&builder, i, source, false))
            return false;
    }
    return add_gradients(&builder) && place_members(&builder) && tree_order(tree, call->arena);
}

/* The members of a row that are accounted for. */
static struct group group_of(const struct tree *tree, size_t row)
{
    return (struct group) { .members = tree->members + tree->nodes.items[row].first_member,
                            .count = tree->states[row].member_count };
}

static bool account(struct tree *tree, const struct view_call *call)
{
    struct type_filter filter;

    if (!type_filter_init(&filter, call))
        return false;
    for (size_t i = 1; i < tree->nodes.count; i++) {
        struct group group = group_of(tree, i);

        for (uint32_t n = 0; n < tree->nodes.items[i].member_count; n++)
            group_add(&group, &filter, call, group.members[n]);
        tree->states[i].member_count = group.count;
        tree->states[i].is_accounted = group.count > 0 || call->options->account.is_everything;
        for (size_t place = 0; place < tree->values.count; place++)
            tree->selves[i * tree->values.count + place] =
                group.self.values[tree->values.values[place]];
    }
    return true;
}

bool code_tree(const struct view_call *call, struct tree *tree)
{
    struct view_call own = *call;

    *tree = (struct tree) { .rules = TREE_CODE };
    if (call->options->has_line_text) /* trees that are kept have the usual labels */
        own.trees = NULL;
    if (!tree_build(&own, tree, build))
        return false;
    if (tree->lost_gradients) /* the original counts what they are gradients of */
        text_print(call->complaints, "%" PRIu64 " gradient nodes not accounted\n",
                   call->options->is_compat ? tree->lost_names : tree->lost_gradients);
    return account(tree, call) && tree_arrange(tree, call);
}

static void print_item(const struct tree *tree, uint32_t row, const struct column *column,
                       const struct view_call *call)
{
    struct group group = group_of(tree, row);

    switch (column->kind) {
    case COLUMN_MEMORY:
    case COLUMN_TIME:
        tree_print_pair(tree, row, column, call->text);
        return;
    case COLUMN_PARAMS:
        tree_print_pair(tree, row, column, call->text);
        text_add(call->text, STR(" params"));
        return;
    case COLUMN_FLOAT_OPS:
        tree_print_flops(tree, row, column, call);
        text_add(call->text, STR(" flops"));
        return;
    case COLUMN_DEVICE:
        group_print_devices(&group, call, call->text);
        return;
    case COLUMN_OP_TYPES:
        group_print_types(&group, call, call->text);
        return;
    case COLUMN_OCCURRENCE:
        text_add(call->text, STR("occurrence N/A in code view"));
        return;
    case COLUMN_INPUT_SHAPES:
        text_add(call->text, STR("input_shapes N/A in code view"));
        return;
    case COLUMN_HIDDEN_OPS:
        text_print(call->text, "+%" PRIu32 " hidden", tree->hidden[row]);
        return;
    }
}

static void print_row(const struct tree *tree, uint32_t row, const struct view_call *call)
{
    bool is_first = true;

    if (call->options->selected & 1u << ATTRIBUTE_TENSOR_VALUE)
        text_add(call->complaints, STR("code view has no tensor value to show\n"));
    for (size_t i = 0; i < call->columns.count; i++) {
        if (call->columns.items[i].kind == COLUMN_DEVICE && tree->states[row].member_count == 0)
            continue;
        if (!is_first)
            text_add(call->text, STR(", "));
        is_first = false;
        print_item(tree, row, &call->columns.items[i], call);
    }
}

static bool show(const struct view_call *call, struct err *err)
{
    struct tree tree;

    if (call->options->is_displayed_only)
        text_add(call->complaints, STR("Note: code view ignores account_displayed_op_only\n"));
    if (!code_tree(call, &tree))
        return err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
    return tree_print(&tree, call, print_row, err);
}

static bool rows(const struct view_call *call, struct view_rows *found)
{
    struct tree tree;

    return code_tree(call, &tree) && tree_rows(&tree, call, found);
}

static bool timeline(const struct view_call *call, struct text *json, struct err *err)
{
    struct tree tree;

    return (code_tree(call, &tree) && timeline_of_tree(&tree, call, json)) ||
           err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
}

const struct view view_code = {
    .name = "code",
    .doc = "code: When python trace is available, the nodes are python lines and their are "
           "organized by the python call stack.",
    .layout = LAYOUT_GROUPS,
    .needs_code = true,
    .show = show,
    .rows = rows,
    .timeline = timeline,
    .stacks = code_tree,
};
