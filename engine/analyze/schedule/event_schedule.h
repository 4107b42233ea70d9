/*
 * event_schedule: an event_graph run again, with changes. Every node starts when the last of its
 * causes lets it and takes its own time; a step is what the leading line and the devices then need
 * for one in a long run of such steps: the sampled steps are scheduled twice in a row and the
 * second run counts.
 */
#ifndef TFPROF_ANALYZE_EVENT_SCHEDULE_H
#define TFPROF_ANALYZE_EVENT_SCHEDULE_H

#include "analyze/schedule/event_graph.h"

enum change_flag {
    CHANGE_GONE = 1,      /* takes no time, and no way to it */
    CHANGE_ASIDE = 2,     /* runs beside its stream: what follows there does not wait for it */
    CHANGE_NO_WAIT = 4,   /* waits for no device and no other thread */
    CHANGE_NO_LAUNCH = 8, /* needs no launch of its own */
    CHANGE_NO_GAP = 16,   /* follows the work before it without a gap */
    CHANGE_NO_DELAY = 32, /* starts when its known causes allow it */
};
struct graph_changes { /* by node; NULL: none */
    const int32_t
            *recorder_ns; /* of own_ns, what is no work: gone before all else; NULL: nothing */
    float   *factors;     /* of what is left of it */
    int64_t *extra_ns;    /* more than that */
    uint8_t *flags;       /* enum change_flag */
};
struct schedule {
    const struct event_graph *graph;
    int64_t                  *start_ns, *end_ns; /* of the second run */
    uint32_t                 *cause; /* by node: the edge that let it start; NO_ID: none, or the run
                                        before */
    double step_ns;                  /* mean over the sampled steps of the reference host */
    double error, worst_error;       /* of the first run against the recording; unchanged graphs */
    double chain_ns[PART_COUNT]; /* along the longest chain of a step, by what each piece is; sums
                                    to step_ns: taking all of a part away saves no more */
    uint32_t                    last_node; /* where that chain ends */
    int64_t                     from_ns;   /* where the second run begins: the end of the first */
    const struct graph_changes *changes;
};

bool graph_changes_make(struct graph_changes *changes, const struct event_graph *graph,
                        struct arena *arena);
/* In `arena`. false: it is exhausted. O(nodes + edges). */
bool schedule_make(struct schedule *schedule, const struct event_graph *graph,
                   const struct graph_changes *changes, struct arena *arena);

struct skeleton;
/* The sampled steps as recorded: their graph, and what scheduling it without changes gives. */
struct steps_schedule {
    struct event_graph graph;
    double   step_ns, error, worst_error, chain_ns[PART_COUNT]; /* as of struct schedule */
    int32_t *recorder_ns; /* by node: what recording took of it; NULL: nothing is known of that */
    double   bare_ns; /* what scheduling without that gives, for what is scheduled beside it; else
                         as step_ns */
    double without_recorder_ns; /* the step without that, as it is told; else as step_ns */
    struct skeleton *skeleton;  /* without that; NULL: as recorder_ns */
};
/* In `arena`. Nothing is scheduled where the graph has no windows. false: ERR_LIMIT. */
bool steps_schedule_make(struct steps_schedule *steps, const struct study *study,
                         struct arena *arena, struct err *err);
/* That of a study that was analysed; NULL where no accelerator worked. */
const struct steps_schedule *steps_schedule_of(const struct study *study);

#endif
