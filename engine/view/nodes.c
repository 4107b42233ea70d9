#include "view/nodes.h"

#include <inttypes.h>

#define SCOPE_TYPE "_kTFScopeParent"
#define GRAPH_TYPE "_TFGraphParent"

bool type_filter_init(struct type_filter *filter, const struct view_call *call)
{
    filter->patterns = &call->options->account;
    filter->profile = call->classic->profile;
    filter->values = value_set_of(call->wanted ? call->wanted : VALUES_ALL);
    filter->op_type = intern_find(&filter->profile->names, STR("op_type"));
    filter->own = &call->options->own_types;
    filter->answers = arena_new_array(call->arena, uint8_t, filter->profile->names.count);
    filter->takes_own = arena_new_array(call->arena, bool, filter->own->items.count);
    for (size_t i = 0; filter->takes_own && i < filter->own->items.count; i++)
        filter->takes_own[i] =
            view_patterns_match(filter->patterns, filter->own->items.items[i].name);
    return filter->answers && filter->takes_own;
}

static bool takes(struct type_filter *filter, uint32_t name)
{
    uint8_t *answer = &filter->answers[name];

    if (*answer == 0)
        *answer = view_patterns_match(filter->patterns, profile_str(filter->profile, name)) ? 2 : 1;
    return *answer == 2;
}

/* Whether one of the types of a node is taken. */
static bool type_filter_takes(struct type_filter *filter, const struct classic *classic,
                              uint32_t node)
{
    const struct classic_node *row = &classic->nodes.items[node];
    const struct op           *op;

    if (filter->patterns->is_everything)
        return true;
    op = &filter->profile->ops.items[row->op];
    if (takes(filter, op->type) || (row->device && takes(filter, row->device)) ||
        (classic_is_variable(classic, node) && takes(filter, classic->variable_type)))
        return true;
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *attr = &filter->profile->attrs.items[op->first_attr + i];

        if (attr->name == filter->op_type && takes(filter, attr->value))
            return true;
    }
    for (size_t i = 0; i < filter->own->items.count; i++)
        if (filter->takes_own[i] && own_types_give(filter->own, i, classic_name(classic, node)))
            return true;
    return false;
}

static bool takes_alone(struct pattern *pattern, const struct classic *classic,
                        const struct own_types *own, uint32_t node)
{
    const struct profile *profile = classic->profile;
    const struct op      *op = &profile->ops.items[classic->nodes.items[node].op];

    if (pattern_matches(pattern, classic_type(classic, node)) == PATTERN_YES ||
        (classic->nodes.items[node].device &&
         pattern_matches(pattern, classic_device(classic, node)) == PATTERN_YES) ||
        (classic_is_variable(classic, node) &&
         pattern_matches(pattern, profile_str(profile, classic->variable_type)) == PATTERN_YES))
        return true;
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *attr = &profile->attrs.items[op->first_attr + i];

        if (str_equal(profile_str(profile, attr->name), STR("op_type")) &&
            pattern_matches(pattern, profile_str(profile, attr->value)) == PATTERN_YES)
            return true;
    }
    for (size_t i = 0; i < own->items.count; i++)
        if (pattern_matches(pattern, own->items.items[i].name) == PATTERN_YES &&
            own_types_give(own, i, classic_name(classic, node)))
            return true;
    return false;
}

int64_t type_filter_times(struct type_filter *filter, const struct view_call *call, uint32_t node)
{
    int64_t times = 0;

    if (!call->options->is_compat || filter->patterns->items.count < 2)
        return type_filter_takes(filter, call->classic, node);
    for (size_t i = 0; i < filter->patterns->items.count; i++)
        times += takes_alone(filter->patterns->items.items[i], call->classic, filter->own, node);
    return times;
}

bool node_types_add_name(struct node_types *types, struct str name, struct arena *arena)
{
    size_t at = 0;

    while (at < types->items.count && str_compare(types->items.items[at], name) < 0)
        at++;
    if (at < types->items.count && str_equal(types->items.items[at], name))
        return true;
    if (!vec_push(&types->items, arena, name))
        return false;
    for (size_t i = types->items.count - 1; i > at; i--)
        types->items.items[i] = types->items.items[i - 1];
    types->items.items[at] = name;
    return true;
}

static bool add_own(struct node_types *types, const struct view_call *call, uint32_t node)
{
    const struct own_types *own = &call->options->own_types;

    for (size_t i = 0; i < own->items.count; i++)
        if (own_types_give(own, i, classic_name(call->classic, node)) &&
            !node_types_add_name(types, own->items.items[i].name, call->arena))
            return false;
    return true;
}

bool node_types_add(struct node_types *types, const struct view_call *call, uint32_t node)
{
    const struct classic      *classic = call->classic;
    const struct profile      *profile = classic->profile;
    struct arena              *arena = call->arena;
    const struct classic_node *row = &classic->nodes.items[node];
    const struct op           *op = &profile->ops.items[row->op];

    if (!node_types_add_name(types, profile_str(profile, op->type), arena) ||
        (row->device && !node_types_add_name(types, profile_str(profile, row->device), arena)) ||
        (classic_is_variable(classic, node) &&
         !node_types_add_name(types, profile_str(profile, classic->variable_type), arena)))
        return false;
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *attr = &profile->attrs.items[op->first_attr + i];

        if (str_equal(profile_str(profile, attr->name), STR("op_type")) &&
            !node_types_add_name(types, profile_str(profile, attr->value), arena))
            return false;
    }
    return add_own(types, call, node);
}

void print_types(const struct node_types *types, struct text *text)
{
    for (size_t i = 0; i < types->items.count; i++) {
        if (i)
            text_add_byte(text, '|');
        text_add(text, types->items.items[i]);
    }
}

/* "3x3x3x6"; "1" for a scalar. */
static void print_shape(const struct tensor *shape, struct text *text)
{
    if (shape->rank == 0)
        text_add_byte(text, '1');
    for (int i = 0; i < shape->rank; i++)
        text_print(text, "%s%" PRId64, i ? "x" : "", shape->dims[i]);
}

/* The original has one slot a producer, the first, and takes control inputs for data. */
static const struct tensor *input_shape(const struct view_call     *call,
                                        const struct classic_input *input)
{
    const struct classic      *classic = call->classic;
    uint32_t                   slot = call->options->is_compat ? 0 : input->slot;
    const struct classic_node *producer;

    if (input->node == NO_ID)
        return NULL;
    producer = &classic->nodes.items[input->node];
    if (slot >= producer->output_count ||
        classic->shapes.items[producer->first_output + slot].rank < 0)
        return NULL;
    return &classic->shapes.items[producer->first_output + slot];
}

void print_input_shapes(const struct view_call *call, uint32_t node, struct str between,
                        struct text *text)
{
    const struct classic_node *row = &call->classic->nodes.items[node];
    bool                       is_first = true;

    for (uint32_t i = 0; i < row->input_count; i++) {
        const struct classic_input *input = &call->classic->inputs.items[row->first_input + i];
        const struct tensor        *shape = input_shape(call, input);

        if (input->is_control && !call->options->is_compat)
            continue;
        if (!is_first)
            text_add(text, between);
        is_first = false;
        text_print(text, "%" PRIu32 ":", input->index);
        if (shape)
            print_shape(shape, text);
        else
            text_add(text, STR("unknown"));
    }
}

static void print_parameters(const struct tree *tree, uint32_t row, const struct column *column,
                             const struct view_call *call)
{
    const struct classic *classic = call->classic;
    uint32_t              node = tree->nodes.items[row].node;

    if (node != NO_ID && classic->nodes.items[node].shape != NO_ID &&
        classic->shapes.items[classic->nodes.items[node].shape].rank >= 0) {
        print_shape(&classic->shapes.items[classic->nodes.items[node].shape], call->text);
        text_add(call->text, STR(", "));
    }
    tree_print_pair(tree, row, column, call->text);
    text_add(call->text, STR(" params"));
}

static void print_node_types(const struct tree *tree, uint32_t node, const struct view_call *call)
{
    struct node_types types = { 0 };

    if (node == NO_ID)
        text_add(call->text, tree->rules == TREE_GRAPH ? STR(GRAPH_TYPE) : STR(SCOPE_TYPE));
    else if (node_types_add(&types, call, node))
        print_types(&types, call->text);
    else
        call->text->is_cut = true;
}

static void print_occurrence(const struct tree *tree, uint32_t row, const struct column *column,
                             const struct view_call *call)
{
    static const struct column definitions = { COLUMN_OCCURRENCE, VALUE_DEFINITIONS, "" };

    tree_print_pair(tree, row, column, call->text);
    text_add_byte(call->text, '|');
    tree_print_pair(tree, row, &definitions, call->text);
}

static void print_item(const struct tree *tree, uint32_t row, const struct column *column,
                       const struct view_call *call)
{
    uint32_t node = tree->nodes.items[row].node;

    switch (column->kind) {
    case COLUMN_MEMORY:
    case COLUMN_TIME:
        tree_print_pair(tree, row, column, call->text);
        return;
    case COLUMN_PARAMS:
        print_parameters(tree, row, column, call);
        return;
    case COLUMN_FLOAT_OPS:
        tree_print_flops(tree, row, column, call);
        text_add(call->text, STR(" flops"));
        return;
    case COLUMN_DEVICE:
        text_add(call->text, classic_device(call->classic, node));
        return;
    case COLUMN_OP_TYPES:
        print_node_types(tree, node, call);
        return;
    case COLUMN_OCCURRENCE:
        print_occurrence(tree, row, column, call);
        return;
    case COLUMN_INPUT_SHAPES:
        if (node != NO_ID)
            print_input_shapes(call, node, STR("|"), call->text);
        return;
    case COLUMN_HIDDEN_OPS:
        text_print(call->text, "+%" PRIu32 " hidden", tree->hidden[row]);
        return;
    }
}

void node_print_row(const struct tree *tree, uint32_t row, const struct view_call *call)
{
    uint32_t node = tree->nodes.items[row].node;
    bool     is_first = true;

    for (size_t i = 0; i < call->columns.count; i++) {
        const struct column *column = &call->columns.items[i];

        if (column->kind == COLUMN_DEVICE &&
            (node == NO_ID || call->classic->nodes.items[node].device == 0))
            continue;
        if (!is_first)
            text_add(call->text, STR(", "));
        is_first = false;
        print_item(tree, row, column, call);
    }
}

bool nodes_account(struct tree *tree, const struct view_call *call)
{
    struct type_filter filter;
    bool               is_everything = call->options->account.is_everything;
    bool               has_parents =
        is_everything || view_patterns_match(&call->options->account, STR(SCOPE_TYPE));

    if (!type_filter_init(&filter, call))
        return false;
    /* In the order of the model, which is that of memory: a graph's own order jumps about. */
    for (uint32_t node = 0; node < call->classic->nodes.count; node++)
        values_fill(call->classic, node, call->options->step, &tree->values,
                    tree->selves + (size_t)node * tree->values.count);
    for (size_t i = 1; i < tree->nodes.count; i++) {
        uint32_t node = tree->nodes.items[i].node;

        tree->states[i].is_accounted =
            node == NO_ID ? has_parents
                          : is_everything || type_filter_takes(&filter, call->classic, node);
    }
    return true;
}
