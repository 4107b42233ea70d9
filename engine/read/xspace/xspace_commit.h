/*
 * xspace_commit: rows of decoded chunks, put into the profile in the file's order: names, variants
 * and launch configurations get their ids, stats their columns, events their labels. What a label
 * stands for is settled when all events are known (xspace_activities).
 */
#ifndef TFPROF_READ_XSPACE_COMMIT_H
#define TFPROF_READ_XSPACE_COMMIT_H

#include "read/hlo/hlo.h"
#include "read/xspace/xspace_lines.h"

/* What events of a label have in common. */
struct label {
    struct variant variant; /* with interned names */
    uint8_t        line_class;
};

struct xspace_tasks {
    VEC(struct line_task) list;
    VEC(struct plane_tables *) planes;
    uint32_t         type_count; /* event types of all planes */
    uint16_t        *seen;       /* by type */
    struct id_map    ops;        /* (name << 32 | module) -> row of profile->ops */
    struct id_map    programs;   /* number -> interned name of the module */
    struct hlo_edges edges;
    VEC(struct label) labels;
    uint32_t     *type_labels; /* by type and line class: label + 1; NO_TYPE behind the last */
    struct id_map config_rows; /* text -> row of profile->kernel_configs */
    struct id_map stat_rows;   /* type << 32 | stat's name -> row of profile->event_stats */
};

enum xline_class xspace_line_class(const struct timeline *timeline);
bool             xspace_commit_start(struct xspace_tasks *tasks, struct arena *scratch);
/* The chunk's rows, from the sink, behind those before it. false: the budget. */
bool xspace_commit(struct xspace_tasks *tasks, const struct chunk *chunk, struct sink *sink,
                   struct profile *profile, struct arena *scratch);

#endif
