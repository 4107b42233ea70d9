#include "analyze/ops/op_profile.h"

#include "analyze/emit.h"
#include "analyze/kernel/kernel_names.h"
#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TREE,
    DEPTH,
    NAME,
    SELF_NS,
    SHARE,
    WASTED_SHARE,
    COMPUTE_USE,
    MEMORY_USE,
    WASTED_NS,
    KNOWN_SHARE,
    CALLS
};
const struct column_spec op_profile_columns[OP_PROFILE_COLUMNS] = {
    [TREE] = { "tree", UNIT_NAME, "program: by program, category and op; category: by those two" },
    [DEPTH] = { "depth", UNIT_COUNT, "how deep in its tree; 0: all ops" },
    [NAME] = { "name", UNIT_NAME, "program, category or op; the sum of those left out" },
    [SELF_NS] = { "self_ns", UNIT_NS, "a step's time in its ops" },
    [SHARE] = { "share", UNIT_SHARE, "of the time of all ops" },
    [WASTED_SHARE] = { "wasted_share", UNIT_SHARE, "wasted_ns over the time of all ops" },
    [COMPUTE_USE] = { "compute_use", UNIT_SHARE,
                      "operations over what the device could do in the time of ops of known cost" },
    [MEMORY_USE] = { "memory_use", UNIT_SHARE, "the same of memory traffic" },
    [WASTED_NS] = { "wasted_ns", UNIT_NS,
                    "of self_ns, what such ops would not take at the device's best" },
    [KNOWN_SHARE] = { "known_share", UNIT_SHARE, "share of self_ns in ops of known cost" },
    [CALLS] = { "calls", UNIT_COUNT, "calls of its ops a step; of several devices the mean" },
};

enum { MOST_CHILDREN = 40 }; /* of one node; the rest is summed */
enum tree { BY_PROGRAM, BY_CATEGORY, TREE_COUNT };

struct node {
    uint32_t parent, name; /* name: of the profile */
    double   calls, ns, known_ns, compute_ns, memory_ns, wasted_ns;
};
struct op_leaf { /* one kernel or op, over all used steps */
    uint32_t program, category, op, name;
    double   calls, ns;
};
struct growing {
    const struct op_profile *input;
    struct arena            *scratch;
    enum tree                tree;
    struct id_map            children; /* by parent and name */
    VEC(struct node) nodes;
};

/* The node of that name below `parent`; NO_ID: scratch is exhausted. */
static uint32_t child_of(struct growing *growing, uint32_t parent, uint32_t name)
{
    uint64_t key = (uint64_t)parent << 32 | name;
    uint32_t node = id_map_get(&growing->children, key);

    if (node != NO_ID)
        return node;
    node = (uint32_t)growing->nodes.count;
    return id_map_put(&growing->children, key, node) &&
                   vec_push(&growing->nodes, growing->scratch,
                            (struct node) { .parent = parent, .name = name })
               ? node
               : NO_ID;
}

static void add_to_node(struct node *node, const struct op_leaf *leaf, struct op_use use)
{
    node->calls += leaf->calls;
    node->ns += leaf->ns;
    if (isnan(use.compute) || isnan(use.memory))
        return;
    node->known_ns += leaf->ns;
    node->compute_ns += use.compute * leaf->ns;
    node->memory_ns += use.memory * leaf->ns;
    node->wasted_ns += fmax(0, 1 - fmax(use.on_chip, fmax(use.compute, use.memory))) * leaf->ns;
}

static bool add_leaf(struct growing *growing, const struct op_leaf *leaf)
{
    const uint32_t path[] = { leaf->program, leaf->category, leaf->name };
    struct op_use  use = { NAN, NAN, NAN };
    uint32_t       node = 0;

    if (leaf->op != NO_ID)
        use = growing->input->uses[leaf->op];
    add_to_node(&growing->nodes.items[0], leaf, use);
    for (size_t i = growing->tree == BY_PROGRAM ? 0 : 1; i < ARRAY_COUNT(path); i++) {
        node = child_of(growing, node, path[i]);
        if (node == NO_ID)
            return false;
        add_to_node(&growing->nodes.items[node], leaf, use);
    }
    return true;
}

/* A kernel that is no op of its own counts for the one that launched it, under what its name tells.
 */
static bool add_kernel(struct growing *growing, const struct kernel_time *time)
{
    const struct profile  *profile = growing->input->study->profile;
    const struct activity *kernel = &profile->activities.items[time->activity];
    struct kernel_name     parsed = growing->input->kernels->names[time->activity];
    struct op_leaf         leaf = { .op = time->op, .calls = time->calls, .ns = time->total_ns };

    if (kernel->op != NO_ID)
        return true;
    leaf.category =
        facts_name(&growing->input->study->facts, str_from(kernel_category_name(parsed.category)));
    leaf.name = kernel->name;
    if (time->op != NO_ID) {
        leaf.program = profile->ops.items[time->op].module;
        leaf.name = profile->ops.items[time->op].name;
    } else if (time->op_activity != NO_ID) {
        leaf.name = profile->activities.items[time->op_activity].name;
    }
    return leaf.category != NO_ID && add_leaf(growing, &leaf);
}

static bool is_on_accelerator(const struct profile *profile, const struct op_time *time)
{
    return time->device != NO_ID && profile->devices.items[time->device].kind != DEVICE_CPU;
}

static bool add_op(struct growing *growing, const struct op_time *time)
{
    const struct profile *profile = growing->input->study->profile;
    struct op_leaf        leaf = { .op = time->op,
                                   .category = time->category ? time->category : time->type,
                                   .name = time->name,
                                   .calls = time->calls,
                                   .ns = time->self_ns };

    if (op_time_is_of_unit(profile, time))
        return true;
    if (time->op != NO_ID)
        leaf.program = profile->ops.items[time->op].module;
    return add_leaf(growing, &leaf);
}

/* Of accelerators where they are recorded, else of the host. */
static bool grow(struct growing *growing)
{
    const struct op_profile *input = growing->input;
    const struct profile    *profile = input->study->profile;
    bool                     has_work = input->kernels->count > 0, is_done;

    growing->children.arena = growing->scratch;
    is_done = vec_push(&growing->nodes, growing->scratch, (struct node) { .parent = NO_ID });
    for (size_t i = 0; i < input->kernels->count && is_done; i++)
        is_done = add_kernel(growing, &input->kernels->rows[i]);
    for (size_t i = 0; i < input->ops->count; i++)
        has_work |= is_on_accelerator(profile, &input->ops->rows[i]);
    for (size_t i = 0; i < input->ops->count && is_done; i++) {
        const struct op_time *time = &input->ops->rows[i];

        if (has_work ? is_on_accelerator(profile, time) : op_time_is_host_op(profile, time))
            is_done = add_op(growing, time);
    }
    return is_done;
}

/* Children behind each other below their parent, those with most time first. */
static int compare_nodes(const void *a, const void *b)
{
    const struct node *left = *(const struct node *const *)a,
                      *right = *(const struct node *const *)b;

    return IN_ORDER(COMPARE(left->parent, right->parent), COMPARE(right->ns, left->ns),
                    COMPARE(left->name, right->name));
}

static bool write_node(const struct growing *growing, struct table *table, unsigned depth,
                       uint32_t name, const struct node *node)
{
    static const struct str trees[] = { STR_INIT("program"), STR_INIT("category") };
    struct study           *study = growing->input->study;
    double steps = growing->input->ops->step_count, all_ns = growing->nodes.items[0].ns;
    size_t row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_name(table, TREE, row, facts_name(&study->facts, trees[growing->tree]));
    emit_number(table, DEPTH, row, depth);
    emit_name(table, NAME, row, name);
    emit_number(table, CALLS, row, node->calls / steps);
    emit_number(table, SELF_NS, row, node->ns / steps);
    emit_number(table, SHARE, row, node->ns / all_ns);
    if (node->known_ns <= 0)
        return true;
    emit_number(table, COMPUTE_USE, row, node->compute_ns / node->known_ns);
    emit_number(table, MEMORY_USE, row, node->memory_ns / node->known_ns);
    emit_number(table, WASTED_NS, row, node->wasted_ns / steps);
    emit_number(table, WASTED_SHARE, row, node->wasted_ns / all_ns);
    emit_number(table, KNOWN_SHARE, row, node->known_ns / node->ns);
    return true;
}

static void add_rest(struct node *rest, const struct node *node)
{
    rest->calls += node->calls;
    rest->ns += node->ns;
    rest->known_ns += node->known_ns;
    rest->compute_ns += node->compute_ns;
    rest->memory_ns += node->memory_ns;
    rest->wasted_ns += node->wasted_ns;
}

struct sorted {
    const struct node **nodes;
    size_t             *first; /* by parent: its first child; behind the last parent: the end */
};

static bool sort_nodes(const struct growing *growing, struct sorted *sorted)
{
    size_t count = growing->nodes.count;

    sorted->nodes = arena_new_array(growing->scratch, const struct node *, count);
    sorted->first = arena_new_array(growing->scratch, size_t, count + 1);
    if (!sorted->nodes || !sorted->first)
        return false;
    for (size_t i = 1; i < count; i++) {
        sorted->nodes[i - 1] = &growing->nodes.items[i];
        sorted->first[growing->nodes.items[i].parent + 1]++;
    }
    for (size_t i = 0; i < count; i++)
        sorted->first[i + 1] += sorted->first[i];
    qsort(sorted->nodes, count - 1, sizeof(struct node *), compare_nodes);
    return true;
}

static bool write_children(const struct growing *growing, const struct sorted *sorted,
                           struct table *table, uint32_t parent, unsigned depth)
{
    struct study *study = growing->input->study;
    size_t        first = sorted->first[parent], last = sorted->first[parent + 1];
    size_t        kept = last - first > MOST_CHILDREN ? first + MOST_CHILDREN - 1 : last;
    struct node   rest = { 0 };
    char          name[32];

    for (size_t i = first; i < kept; i++) {
        const struct node *node = sorted->nodes[i];
        uint32_t shown = node->name ? node->name : facts_name(&study->facts, STR("unnamed"));

        if (!write_node(growing, table, depth, shown, node) ||
            !write_children(growing, sorted, table, (uint32_t)(node - growing->nodes.items),
                            depth + 1))
            return false;
    }
    for (size_t i = kept; i < last; i++)
        add_rest(&rest, sorted->nodes[i]);
    snprintf(name, sizeof name, "%zu others", last - kept);
    return kept == last ||
           write_node(growing, table, depth, facts_name(&study->facts, str_from(name)), &rest);
}

static bool write_tree(const struct growing *growing, struct table *table)
{
    struct sorted sorted;

    return sort_nodes(growing, &sorted) &&
           write_node(growing, table, 0, facts_name(&growing->input->study->facts, STR("all ops")),
                      &growing->nodes.items[0]) &&
           write_children(growing, &sorted, table, 0, 1);
}

/* No op tells its program, so that the tree by program is that by category. */
static bool is_of_one(const struct growing *growing)
{
    const struct node *first = &growing->nodes.items[1];

    return growing->tree == BY_PROGRAM && first->name == 0 &&
           first->ns == growing->nodes.items[0].ns;
}

bool op_profile_fill(const struct op_profile *profile, struct arena *scratch)
{
    struct facts *facts = &profile->study->facts;
    struct table *table = NULL;

    for (int tree = 0; tree < TREE_COUNT; tree++) {
        struct growing growing = { .input = profile, .scratch = scratch, .tree = (enum tree)tree };

        if (!grow(&growing))
            return false;
        if (growing.nodes.items[0].ns <= 0)
            return facts_absent(facts, profile->table->name, NULL,
                                "no op is in the recorded steps");
        if (is_of_one(&growing))
            continue;
        if (!table)
            table = facts_table(facts, profile->table);
        if (!table || !write_tree(&growing, table))
            return false;
    }
    return true;
}
