/*
 * xspace_merge: what decoded lines have in common, put into the profile: stat columns, activities
 * with their ops and source lines, memory events, and happens-before edges.
 */
#ifndef TFPROF_READ_XSPACE_MERGE_H
#define TFPROF_READ_XSPACE_MERGE_H

#include "base/file.h"
#include "read/hlo.h"
#include "read/xspace_lines.h"

struct xspace_tasks {
    VEC(struct line_task) list; /* the pieces of a line follow each other */
    VEC(struct plane_tables *) planes;
    VEC(struct sink) sinks;
    uint32_t         type_count; /* event types of all planes */
    uint16_t        *seen;       /* by type, of all sinks */
    struct id_map    ops;        /* (name << 32 | module) -> row of profile->ops */
    struct hlo_edges edges;
};

enum xline_class xspace_line_class(const struct timeline *timeline);
/* After all tasks are decoded: one set of columns from all sinks, whose memory is given back.
 * event_activity holds rows of `variants` for VARIANT_BIT. false: the budget. */
struct merged {
    VEC(struct variant) variants; /* with interned names */
};
bool xspace_merge(struct xspace_tasks *tasks, struct profile *profile, struct merged *merged,
                  struct arena *scratch);
/* Brings the events of a timeline into order with all that refers to them. */
bool xspace_sort(struct profile *profile, const struct timeline *timeline);
bool xspace_activities(const struct xspace_tasks *tasks, const struct merged *merged,
                       struct profile *profile, struct arena *scratch);
bool xspace_flows(struct profile *profile);

#endif
