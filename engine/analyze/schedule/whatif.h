/*
 * whatif: what a step would take if something were different, from the event graph scheduled with
 * changes. The user's edits, their words and their effect on nodes.
 */
#ifndef TFPROF_ANALYZE_WHATIF_H
#define TFPROF_ANALYZE_WHATIF_H

#include "analyze/schedule/event_schedule.h"

enum whatif_kind {
    WHATIF_SCALE,         /* costs `factor` of what it did */
    WHATIF_DROP,          /* is not done */
    WHATIF_PARALLEL,      /* is spread over `factor` workers */
    WHATIF_MERGE,         /* kernels that follow one another become one launch */
    WHATIF_MOVE,          /* goes to a stream of its own */
    WHATIF_NO_INPUT_WAIT, /* input is always there */
    WHATIF_NETWORK,       /* collectives go `factor` times as fast */
    WHATIF_RANK,          /* rank `rank` works as fast as the median of all ranks */
    WHATIF_GRAPH_CAPTURE, /* one launch enqueues all kernels of a step */
};
struct whatif_edit {
    enum whatif_kind kind;
    const char      *text;    /* as the user wrote it, with the option */
    int              target;  /* row of a table in whatif.c; -1 none */
    const char      *pattern; /* regex, found anywhere in the name; NULL: all of the target */
    double           factor;
    int32_t          rank;
};
struct whatif_result {
    double step_ns, saved_ns;            /* a step; saved below zero: it takes longer */
    double selected_count, selected_ns;  /* pieces of work a step, and their time */
    double class_ns[PART_COUNT];        /* critical path a step */
    enum part bottleneck;
};
struct whatif {
    VEC(struct whatif_edit) edits;
    int32_t               on_rank; /* edits touch this rank alone; -1: all */
    bool                  is_path; /* edits of rules on the path of the step (edits_run.h): no critical path */
    double                error;   /* of the replay without edits */
    uint32_t              step_count;
    struct whatif_result  now, together;
    struct whatif_result *each; /* by edit */
};

/* Reads one edit, "kernel:gemm=0.5" for WHATIF_SCALE; `option` is its name for messages. ERR_USAGE
 * with a suggestion. */
bool whatif_edit_scan(struct whatif_edit *edit, enum whatif_kind kind, const char *option,
                      const char *text, struct arena *arena, struct err *err);
/* Fills results. ERR_USAGE: a pattern is none or selects nothing; ERR_INCONCLUSIVE: no step. */
bool whatif_run(struct whatif *whatif, const struct study *study, struct arena *arena,
                struct err *err);

#endif
