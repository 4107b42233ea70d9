/*
 * job: the ranks of one job side by side, from their summaries. Memory grows with ranks, not with
 * recordings: of collectives, a part of 40 bytes each is kept, and from millions on those of every
 * second, fourth … one.
 */
#ifndef TFPROF_RANKS_JOB_H
#define TFPROF_RANKS_JOB_H

#include "base/intern.h"
#include "ranks/rank_file.h"

struct job_part { /* what a rank had of a collective; clocks are aligned */
    uint64_t key; /* equal on all ranks */
    int64_t  come_ns, left_ns;
    uint32_t rank, group; /* rows of ranks and groups */
    uint32_t step;        /* row of the rank's steps */
    float    bytes;       /* < 0 unknown */
};
struct job_meeting {       /* a collective of two ranks or more */
    uint32_t first, count; /* parts */
    uint32_t group, last;  /* last: row of the rank that came last */
    float    transfer_ns;  /* what it took the one that was there the shortest */
};
struct job_group {
    uint32_t name, type;           /* interned */
    int64_t  size;                 /* -1 unknown */
    bool     is_numbered, is_link; /* is_link: ranks send to one another */
    uint32_t member_count;
};
struct job_family {
    uint32_t name, part;
    double   ns, count; /* a step */
};
struct job_rank {
    int64_t  rank;
    uint32_t host; /* interned */
    double   step_ns, compute_ns, input_ns, comm_ns;
    int64_t  origin_ns, shift_ns, deviation_ns; /* of its clock */
    uint32_t first_part, part_count;            /* of by_rank */
    uint32_t step_count;
    int64_t *step_numbers, *step_rows; /* rows: of the summary's steps */
    int64_t *step_starts;              /* by the rank\'s own clock */
    float (*parts)[PART_COUNT];        /* by step */
    struct job_family *families;
    uint32_t           family_count;
    uint32_t           stage; /* of a pipeline; 0 where there is none */
    double             late_ns, meetings, last_meetings, wait_ns;
};
struct job {
    struct arena       *arena;
    struct intern       names;
    struct rank_summary first;  /* of the rank that stands for the job, with its details */
    VEC(struct job_rank) ranks; /* by rank, then host */
    VEC(struct job_group) groups;
    VEC(struct job_part) parts; /* by key, then rank */
    uint32_t *by_rank;          /* parts by rank, then time */
    VEC(struct job_meeting) meetings;
    struct id_map group_rows;
    int64_t       stride; /* one in so many collectives is kept */
    double        alone_count, skew_ns, numbered_count, counted_count;
    double        step_ns; /* median over ranks */
    uint32_t      stage_count, moved_count;
    bool          is_numbered; /* all matched collectives have numbers */
};

/* From records in order (rank_records_settle). Texts are copied. Two records of one rank are an
 * error. */
bool job_make(struct job *job, const struct rank_records *records, struct arena *arena,
              struct err *err) MUST_USE;
/* One clock for all: a collective ends on all of its ranks at the same time. Solved from the first
 * rank on, over those that meet, and again; a rank is moved where its collectives agree on it (as
 * read/clocks.h does). */
bool job_align(struct job *job);
/* Who came late to what. */
bool job_meet(struct job *job);
/* Which stage of a pipeline each rank is: those that reduce and gather with each other, but send to
 * others. */
bool job_find_stages(struct job *job);

#endif
