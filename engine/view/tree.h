/*
 * tree: nodes below nodes, as scope, graph and code views show them. Made by a view, in any order
 * with parents first; the rest is shared: accounting from the leaves up, choosing what is shown,
 * sorting siblings. Nothing recurses: names and graphs may be deeper than a stack.
 */
#ifndef TFPROF_VIEW_TREE_H
#define TFPROF_VIEW_TREE_H

#include "base/vec.h"
#include "view/view.h"

struct tree_node { /* as built; options do not change it */
    struct str name;
    uint32_t   node;                       /* row of the model's nodes, or NO_ID */
    uint32_t   parent;                     /* row of the tree; the root is row 0 */
    uint32_t   first_member, member_count; /* of code: rows of tree->members */
    uint32_t   source;                     /* of code: row of the profile's sources */
    bool       is_gradient;
};
struct tree_state {        /* of a node in one showing */
    uint32_t parent;       /* the nearest that was kept */
    uint32_t depth;        /* shown: root 1 */
    uint32_t member_count; /* of code: members that are accounted for, the first ones */
    uint32_t first_shown, shown_count; /* rows of tree->shown */
    bool     is_accounted : 1, is_kept : 1, is_started : 1, is_cut : 1, is_visible : 1;
};
enum tree_rules {             /* what differs between the views */
                  TREE_SCOPE, /* keeps the nodes above accounted ones */
                  TREE_GRAPH, /* hands what is below an unaccounted node to the one above it */
                  TREE_CODE,  /* groups of nodes; too deep or trimmed ones vanish with all below */
                  TREE_RULES
};
struct tree {
    enum tree_rules rules;
    VEC(struct tree_node) nodes; /* parents before children, siblings in order */
    uint32_t          *members;  /* of code: nodes of the model */
    size_t             member_count;
    uint64_t lost_gradients, lost_names; /* of code: gradients that stand nowhere; what they are of */
    struct tree_state *states;         /* a node of the tree */
    uint32_t          *shown;          /* children that are displayed, sorted */
    struct value_set   values;         /* what the numbers are of */
    int64_t           *selves, *totals; /* rows of numbers: tree_self, tree_total */
    int64_t           *none;            /* self of what stands for no node */
    uint32_t          *hidden; /* by row: ops that count and stand in no row below it; NULL: not asked */
    uint8_t           *flops; /* by row: enum flops_known of all that counts below; NULL: not asked */
};

#define TREE_ROOT "_TFProfRoot"

/* What views build before accounting, which does not depend on options. */
struct tree_cache {
    struct arena     *arena;
    struct tree       built[TREE_RULES];
    struct op_groups *groups; /* of the op view */
};
/* Builds, or takes what was built before on this profile, with states of its own. */
bool tree_build(const struct view_call *call, struct tree *tree,
                bool (*build)(const struct view_call *call, struct tree *tree));
/* Puts nodes into preorder: everything below a node right behind it. */
bool tree_order(struct tree *tree, struct arena *arena);
/* Numbers of a row by place: of itself, with all that counts below it. */
const int64_t *tree_self(const struct tree *tree, size_t row);
const int64_t *tree_total(const struct tree *tree, size_t row);
/* Whether float operations are shown as unknown: none is known, and some should be. */
/* What is known of them; FLOPS_KNOWN where nobody asked. */
enum flops_known tree_self_flops(const struct tree *tree, size_t row, const struct view_call *call);
enum flops_known tree_total_flops(const struct tree *tree, size_t row);
/* One of them; it must be in tree->values. */
int64_t tree_self_value(const struct tree *tree, size_t row, enum view_value value);
int64_t tree_total_value(const struct tree *tree, size_t row, enum view_value value);
/* selves and is_accounted are filled: totals, what is shown, and in which order. */
bool tree_arrange(struct tree *tree, const struct view_call *call);
/* Sorts what is shown below each node (tree_sort.c). */
bool tree_sort(struct tree *tree, const struct view_call *call);
/* The rows of a report (tree_print.c). `row` prints what stands in the parentheses. */
bool tree_print(const struct tree *tree, const struct view_call *call,
                void (*row)(const struct tree *tree, uint32_t at, const struct view_call *call),
                struct err *err);
struct tree_step { /* of a walk; the root's row is 0 */
    uint32_t row, parent;
    size_t   path_len; /* of what the visits above it left: a visit makes it that of its own row */
};
/* Each shown row from the root down, in order. False: full, or a visit said so. */
bool tree_walk(const struct tree *tree,
               bool (*visit)(const struct tree *tree, struct tree_step *step, void *context),
               void *context, struct arena *arena);
struct view_rows;
bool tree_rows(const struct tree *tree, const struct view_call *call, struct view_rows *rows);
/* Trees of the views, arranged. False: full. */
bool scope_tree(const struct view_call *call, struct tree *tree);
bool code_tree(const struct view_call *call, struct tree *tree);
/* "self/total" with units; "--" for the self of what is not accounted. Of float operations with
 * "?" for what is unknown. */
void tree_print_flops(const struct tree *tree, uint32_t row, const struct column *column,
                      const struct view_call *call);
void tree_print_pair(const struct tree *tree, uint32_t row, const struct column *column,
                     struct text *text);

#endif
