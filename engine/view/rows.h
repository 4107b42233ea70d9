/*
 * rows: what a view found, apart from how it is printed. All rows of a view have the same ids for
 * every step of a profile; `shown` are those that the options let through, in their order.
 */
#ifndef TFPROF_VIEW_ROWS_H
#define TFPROF_VIEW_ROWS_H

#include "view/view.h"

struct view_row {
    struct str      name; /* as reports show it */
    struct str      key;  /* the same in every profile: of code with the lines above */
    uint32_t        node; /* of the model; NO_ID: stands for none or several */
    const uint32_t *members; /* nodes of a row of several */
    uint32_t        member_count;
    bool            is_accounted;
    uint32_t        hidden; /* ops that count, at this row as the nearest one that is shown */
    uint8_t         flops; /* what is known of the total's: enum flops_known bits */
    const int64_t  *self, *total; /* by enum view_value; NULL: the row does not count */
};
struct shown_row {
    uint32_t id, depth; /* root 0 */
    uint32_t parent;    /* row of shown, or NO_ID */
};
struct view_rows {
    struct view_row  *items; /* by id */
    size_t            count;
    struct shown_row *shown; /* parents before children */
    size_t            shown_count;
    struct view_numbers root; /* sum over everything, for views whose root is no row */
};

/* Prints as the options ask for: JSON, CSV, a table of steps or statistics. other: a second profile
 * to compare with, or NULL. */
bool rows_report(const struct view *view, const struct view_call *call, struct err *err);
/* GraphNodeProto or MultiGraphNodeProto, as the original's library returns. */
bool rows_proto(const struct view *view, const struct view_call *call, struct err *err);

#endif
