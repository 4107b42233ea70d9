/*
 * xspace_merge: what decoded lines have in common, put into the profile: stat columns, activities
 * with their ops and source lines, memory events, and happens-before edges.
 */
#ifndef TFPROF_READ_XSPACE_MERGE_H
#define TFPROF_READ_XSPACE_MERGE_H

#include "read/hlo.h"
#include "read/xspace_lines.h"

struct xspace_tasks {
    VEC(struct line_task) list;
    VEC(struct plane_tables *) planes;
    uint32_t         type_count; /* event types of all planes */
    struct id_map    ops;        /* (name << 32 | module) -> row of profile->ops */
    struct hlo_edges edges;
};

/* After all tasks are decoded. Frees the tasks' arenas as it goes. false: the budget. */
bool xspace_merge(struct xspace_tasks *tasks, struct profile *profile, struct arena *scratch);
bool xspace_activities(struct xspace_tasks *tasks, struct profile *profile, struct arena *scratch);
bool xspace_flows(struct profile *profile, struct arena *scratch);

#endif
