/*
 * job_replay: the steps of all ranks of a job once more, with other work and another network. What a
 * rank does between two collectives is one stretch; a collective ends when its last rank has come and
 * as much later as it did. Arrivals in the order in which they were, once: a rank's next one comes
 * after its stretch, and after what of the collective before held it up.
 */
#ifndef TFPROF_RANKS_JOB_REPLAY_H
#define TFPROF_RANKS_JOB_REPLAY_H

#include "ranks/job.h"

struct job_changes { /* 1: as it was */
    float (*parts)[PART_COUNT]; /* by rank: of what its steps take outside of collectives */
    float *groups;              /* by group: of what its collectives take once all are there */
};
struct arrival {          /* of a rank at a collective; rows are of arrivals */
    float    gap_ns;      /* since the one before of its rank, or since its steps began */
    float    length_ns, since_ns; /* until it left: from its own arrival, from that of the last one */
    uint32_t before;      /* NO_ID: the first one */
    uint32_t meeting;     /* NO_ID: nobody else is known */
    uint32_t rank, group;
    uint32_t row;         /* of the parts of the rank's steps; NO_ID: none is known */
};
struct job_replay {
    const struct job *job;
    struct arrival   *arrivals;   /* by time */
    uint32_t         *row_of;     /* by part of the job */
    uint32_t         *last;       /* by rank: its last arrival, or NO_ID */
    float            *tail_ns;    /* by rank: from that one to the end of its steps */
    float            *exposed;    /* by rank: of the length of its collectives, what it waited for */
    float            *factors;    /* by rank and step: of what it does by itself, what is left */
    uint32_t         *first_step; /* by rank: its first one in factors */
    double           *came_ns;    /* by arrival, of the last replay; since the first rank's origin */
    float            *took_ns;
    double           *latest_ns; /* by meeting: when the last one came */
    uint32_t         *missing;   /* by meeting: ranks that have not come yet */
    double            recorded_ns; /* what the ranks took, their mean */
};

/* In `arena`. false: it is exhausted. O(parts log parts). */
bool job_replay_make(struct job_replay *replay, const struct job *job, struct arena *arena);
/* What the ranks take then, their mean, over all steps; NULL: as it was. O(parts). */
double job_replay_run(struct job_replay *replay, const struct job_changes *changes);

#endif
