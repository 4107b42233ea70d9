/* nodes: types, shapes and rows of single nodes, shared by the views. */
#ifndef TFPROF_VIEW_NODES_H
#define TFPROF_VIEW_NODES_H

#include "view/tree.h"

/* What a node is: its operation, its device, what logs and the user call it. Ascending, bytewise, distinct. */
struct node_types {
    VEC(struct str) items;
};

/* Which types -account_type_regexes takes; asks each distinct type once. */
struct type_filter {
    const struct view_patterns *patterns;
    const struct profile       *profile;
    uint8_t                    *answers; /* by interned name: 0 not asked, 1 no, 2 yes */
    uint32_t                    op_type; /* interned name of the attributes that are types */
    const struct own_types     *own;
    bool                       *takes_own; /* by row of own */
    struct value_set            values;  /* what sums are wanted of */
};
bool type_filter_init(struct type_filter *filter, const struct view_call *call);
/* How often a node counts in sums over groups of nodes: the original counts one for every regex
 * that takes it, we once. */
int64_t type_filter_times(struct type_filter *filter, const struct view_call *call, uint32_t node);
/* Adds a name, or a node's types, to a set. */
bool node_types_add_name(struct node_types *types, struct str name, struct arena *arena);
bool node_types_add(struct node_types *types, const struct view_call *call, uint32_t node);
void print_types(const struct node_types *types, struct text *text);
/* "0:4x10|1:unknown", with this between index and index. */
void print_input_shapes(const struct view_call *call, uint32_t node, struct str between,
                        struct text *text);
/* What stands in the parentheses of scope and graph views. */
void node_print_row(const struct tree *tree, uint32_t row, const struct view_call *call);
/* Fills selves and is_accounted of every node of a tree of single nodes. */
bool nodes_account(struct tree *tree, const struct view_call *call);

#endif
