/*
 * tree: nodes below nodes, as scope, graph and code views show them. Made by a view, in any order
 * with parents first; the rest is shared: accounting from the leaves up, choosing what is shown,
 * sorting siblings. Nothing recurses: names and graphs may be deeper than a stack.
 */
#ifndef TFPROF_VIEW_TREE_H
#define TFPROF_VIEW_TREE_H

#include "base/vec.h"
#include "view/view.h"

struct tree_node {
    struct str          name;
    uint32_t            node;                       /* row of the model's nodes, or NO_ID */
    uint32_t            parent;                     /* row of the tree; NO_ID: the root, row 0 */
    uint32_t            first_member, member_count; /* rows of tree->members: accounted nodes */
    uint32_t            source;                     /* of code: row of the profile's sources */
    uint32_t            origin;                     /* the parent before any was left out */
    bool                is_gradient;
    int64_t             depth; /* shown: root 1 */
    bool                is_accounted, is_kept, is_started, is_cut, is_visible;
    struct view_numbers self, total;
    uint32_t            first_shown, shown_count; /* rows of tree->shown */
};
enum tree_rules {             /* what differs between the views */
                  TREE_SCOPE, /* keeps the nodes above accounted ones */
                  TREE_GRAPH, /* hands what is below an unaccounted node to the one above it */
                  TREE_CODE,  /* groups of nodes; too deep or trimmed ones vanish with all below */
};
struct tree {
    enum tree_rules rules;
    VEC(struct tree_node) nodes; /* parents before children, siblings in order */
    uint32_t *shown;             /* children that are displayed, sorted */
    uint32_t *members;           /* of code: nodes of the model */
};

#define TREE_ROOT "_TFProfRoot"

/* Trees before accounting, which do not depend on options. */
struct tree_cache {
    struct arena *arena;
    struct tree   built[TREE_CODE]; /* by rules; those of code are made anew */
};
/* Builds, or copies what was built before on this profile. */
bool tree_build(const struct view_call *call, struct tree *tree,
                bool (*build)(const struct view_call *call, struct tree *tree));
/* Puts nodes into preorder: everything below a node right behind it. */
bool tree_order(struct tree *tree, struct arena *arena);
/* self and is_accounted are filled: totals, what is shown, and in which order. */
bool tree_arrange(struct tree *tree, const struct view_call *call);
/* The rows of a report. `rows` prints what stands in the parentheses. */
bool tree_print(const struct tree *tree, const struct view_call *call,
                void (*row)(const struct tree *tree, const struct tree_node *node,
                            const struct view_call *call));
struct view_rows;
bool tree_rows(const struct tree *tree, const struct view_call *call, struct view_rows *rows);
/* Trees of the views, arranged. False: full. */
bool scope_tree(const struct view_call *call, struct tree *tree);
bool graph_tree(const struct view_call *call, struct tree *tree);
bool code_tree(const struct view_call *call, struct tree *tree);
/* "self/total" with units; "--" for the self of what is not accounted. */
void tree_print_pair(const struct tree_node *node, const struct column *column, struct text *text);

#endif
