/*
 * whatif: what a step would take if something were different, from the event graph scheduled with
 * changes. The user's edits, their words and their effect on nodes.
 */
#ifndef TFPROF_ANALYZE_WHATIF_H
#define TFPROF_ANALYZE_WHATIF_H

#include "analyze/schedule/event_schedule.h"

enum whatif_kind {
#define WHATIF(id, name, option, argument, scan, apply, help) WHATIF_##id,
#include "analyze/schedule/whatif.def"
    WHATIF_COUNT
};
struct whatif_edit {
    enum whatif_kind       kind;
    const char            *text;    /* as the user wrote it, with the option */
    int                    target;  /* enum whatif_target; -1: not about one */
    const char            *pattern; /* regex, found anywhere in the name; NULL: all of the target */
    double                 factor;
    int32_t                rank;
    const struct hardware *hardware; /* of --hardware: what kernels run on; else NULL */
};
struct whatif_result {
    double    step_ns, saved_ns;           /* a step; saved below zero: it takes longer */
    double    selected_count, selected_ns; /* pieces of work a step, and their time */
    double    part_ns[PART_COUNT]; /* what it waits for; all 0 where the composition is not known */
    enum part bottleneck;          /* the largest */
};
struct rank_delay {
    uint32_t host;
    int32_t  rank;
    double   contribution; /* of what uneven ranks cost, what this one alone at the median's pace
                              gives back */
    double slowdown;       /* of the step with level ranks, what this rank alone makes of it */
};
struct whatif {
    VEC(struct whatif_edit) edits;
    int32_t     on_rank; /* edits touch this rank alone; -1: all */
    const char *sweep;   /* what the edits are about, each at another factor; NULL */
    bool        is_bare; /* times of steps alone, and that of a scheduled one is in now.step_ns */
    bool        is_efficiency;   /* each edit comes on top of those before it */
    bool        is_of_summaries; /* work between collectives instead of events */
    bool        is_path; /* edits of rules on the path of the step (edits_run.h): no parts */
    double      error;   /* of the replay without edits */
    double recording_ns; /* what recording took of a step, about, and now.step_ns is without; 0: not
                            known */
    uint32_t              step_count;
    struct whatif_result  now, together;
    struct whatif_result *each; /* by edit */
    double imbalance; /* is_efficiency: the step over the one with level ranks; 0: they are level */
    VEC(struct rank_delay) ranks; /* then, most contribution first */
};

/* Reads one edit, "kernel:gemm=0.5" for WHATIF_SCALE, NULL for one that says it all by itself.
 * ERR_USAGE with a suggestion. */
bool whatif_edit_scan(struct whatif_edit *edit, enum whatif_kind kind, const char *text,
                      struct arena *arena, struct err *err);
/* Fills results. ERR_USAGE: a pattern is none or selects nothing; ERR_INCONCLUSIVE: no step. */
bool whatif_run(struct whatif *whatif, const struct study *study, struct arena *arena,
                struct err *err);

/* The same on a graph that has windows. */
bool whatif_run_on(struct whatif *whatif, const struct event_graph *graph, struct arena *arena,
                   struct err *err);

/* sweep.c: the same work at factors from 1 down to 0, as one edit a factor. */
enum { SWEEP_INTERVALS = 16 };
struct sweep_shape {
    double critical_share; /* of what the work takes less at first, what the step takes less */
    double knee;           /* the factor from where on another chain holds the step; NaN: none */
};

/* Makes `what`, as kernel:gemm, the edits of whatif. ERR_USAGE as whatif_edit_scan. */
bool   sweep_scan(struct whatif *whatif, const char *what, struct arena *arena, struct err *err);
double sweep_factor(size_t point); /* of edit `point`; the first is 1 */
struct sweep_shape sweep_shape(const struct whatif *whatif);

/* efficiency.c: ideals one on top of the other, as edits. */
enum { EFFICIENCY_IDEALS = 6 };
bool        efficiency_scan(struct whatif *whatif, struct arena *arena, struct err *err);
const char *efficiency_name(size_t ideal); /* of edit `ideal` */
double      efficiency_factor(const struct whatif *whatif,
                              size_t               ideal); /* their product: the last step over now's */

#endif
