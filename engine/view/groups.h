/* groups: sums over several nodes, for views whose rows stand for more than one. */
#ifndef TFPROF_VIEW_GROUPS_H
#define TFPROF_VIEW_GROUPS_H

#include "view/nodes.h"

struct group {
    uint32_t           *members; /* accounted nodes, by name */
    uint32_t            count;
    struct view_numbers self; /* of the values that the call wants */
};
/* Sums a node if it is accounted for, and puts it behind the members, for whom there is room. */
void group_add(struct group *group, struct type_filter *filter, const struct view_call *call,
               uint32_t node);
/* Devices, or types, of the members: distinct, joined by "|". A member without device counts as an
 * empty name. False: there is none. */
bool group_print_devices(const struct group *group, const struct view_call *call,
                         struct text *text);
bool group_print_types(const struct group *group, const struct view_call *call, struct text *text);

/* The op view: the first rows that it shows, and the sum over all. */
struct op_row {
    struct str          name;
    struct view_numbers self;
};
bool op_rows(const struct view_call *call, struct op_row *rows, size_t room, size_t *count,
             struct view_numbers *total);

#endif
