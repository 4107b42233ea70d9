/* whatif_editor: what the files that edit an event graph share: its changes so far, and scheduling
 * it with them. */
#ifndef TFPROF_ANALYZE_WHATIF_EDITOR_H
#define TFPROF_ANALYZE_WHATIF_EDITOR_H

#include "analyze/schedule/whatif.h"

struct editor {
    const struct study       *study;
    const struct event_graph *graph;
    struct graph_changes      changes;
    struct arena              scratch;
    bool                     *is_selected;
    const int32_t            *recorder_ns; /* by node: what recording took of it; NULL: not known */
    double                    recording_ns; /* of a step, about; 0: not known */
    int32_t                   rank;         /* -1: all */
    double                    scale;        /* of a sampled step to the median one */
    double charged_ns[PART_COUNT];          /* what the schedule without changes is charged to */
};

/* No changes but that recording takes nothing. */
void editor_reset(struct editor *editor);
/* What is selected takes `factor` of its time. */
void editor_scale_selected(struct editor *editor, double factor);
/* By row of profile->hosts: what it needs for its steps, changed so far, when it waits for no
 * other; 0: it has none. *median_ns: of those that have, the lower one. */
bool editor_rank_work(struct editor *editor, double *work_ns, double *median_ns, struct err *err);
/* The work of a host, collectives apart, takes `factor` of what it did. */
void editor_scale_host(struct editor *editor, uint32_t host, double factor);
/* A step with the changes so far. */
bool editor_schedule(struct editor *editor, struct whatif *whatif, struct whatif_result *result,
                     struct err *err);

/* whatif->now: a step without changes, by which others are scaled; before any is made. */
bool editor_begin(struct editor *editor, struct whatif *whatif, struct err *err);

#endif
