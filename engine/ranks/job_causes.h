/*
 * job_causes: what holds the ranks of a job up, from what each did by itself. A rank's own time is
 * its step less the collectives that nothing hides: waiting for others is no cause. Compared are
 * ranks of one stage.
 */
#ifndef TFPROF_RANKS_JOB_CAUSES_H
#define TFPROF_RANKS_JOB_CAUSES_H

#include "base/pattern.h"
#include "ranks/job.h"

enum cause_kind {
    CAUSE_RANK,     /* ranks take longer in every step */
    CAUSE_STAGE,    /* a stage of a pipeline does */
    CAUSE_PAUSES,   /* a rank does now and then */
    CAUSE_PERIODIC, /* the same, every so many steps */
    CAUSE_UNEVEN,   /* another rank each time */
    CAUSE_LINK,     /* collectives of a group take longer than those of groups like it */
};
const char *cause_kind_name(enum cause_kind kind);

struct job_cause {
    enum cause_kind kind;
    uint32_t        rank;                       /* row of ranks, or NO_ID */
    uint32_t        peer;                       /* of a link between two, or NO_ID */
    uint32_t        count;                      /* ranks that share it; of a link: groups */
    enum part       part;                       /* what takes longer */
    uint32_t        family;                     /* interned, or NO_ID */
    uint32_t        group;                      /* row of groups, or NO_ID */
    double          family_ns, family_usual_ns; /* a step */
    double          ns;                         /* a step that the others lose by it */
    double          own_ns, usual_ns; /* what it takes, and those that it is compared with */
    double          step_share;       /* of the steps */
    double          period;           /* steps; 0: none */
    int64_t         stage;            /* -1: none */
};
struct job_late {
    int64_t   step, first_step; /* number; row of the first rank's steps */
    int64_t   first_ns;         /* when the first one came */
    uint32_t  rank, first;      /* that came last and first */
    uint32_t  row, first_row;   /* of their parts in the step, or NO_ID */
    uint32_t  group;
    double    late_ns, why_ns;
    enum part why;
};

struct job_late_list {
    VEC(struct job_late) items;
};

struct job_efficiency {  /* after POP's model: their product is the share of ranks' time that is
                            their own work */
    double load_balance; /* mean own time over the longest */
    double transfer;     /* the longest own time over the step */
    double parallel;     /* the product */
    double
        bubble_share; /* waits for neighbours in the pipeline over the step; < 0: there is none */
    double stage_messages; /* a step between two ranks that are neighbours in it, both ways */
};
struct job_causes {
    VEC(struct job_cause) items; /* by what they cost */
    struct job_efficiency efficiency;
    struct job_late_list  late; /* which rank each step waited for */
};
bool job_causes_find(struct job *job, struct arena *arena, struct job_causes *causes);

/* Which rank came latest to a collective of each step; pattern (NULL: all): searched in their types
 * and names of groups. */
bool job_late_find(const struct job *job, const struct pattern *pattern, struct arena *arena,
                   struct job_late_list *list);
/* Of a step: all parts but collectives. */
double job_own_ns(const float parts[PART_COUNT]);
/* The largest of them. */
enum part job_longest_part(const double parts_ns[PART_COUNT]);
/* For those who add causes: one of which nothing is known but the kind. */
struct job_cause job_cause_new(enum cause_kind kind);
/* Adds the slow link, if there is one (job_links.c). */
bool job_links_find(const struct job *job, struct arena *arena, struct job_causes *causes);

#endif
