/*
 * job_course: a job's sketch, run step by step: when each rank works and meets others. Times are ns
 * of one clock since the job began; a machine's own clock is off by clock_ns.
 */
#ifndef TFPROF_SYNTH_JOB_COURSE_H
#define TFPROF_SYNTH_JOB_COURSE_H

#include "synth/job_sketch.h"

enum job_work { WORK_COMPUTE, WORK_HOST, WORK_OUTPUT, WORK_WAIT, WORK_COUNT }; /* sum to the step */
enum job_group_kind {
    GROUP_EVEN, /* with the next rank, of ranks in even stages */
    GROUP_ODD,
    GROUP_STAGE,
    GROUP_ALL,
    GROUP_COUNT
};

struct job_meeting {
    int64_t come_ns, left_ns; /* left_ns 0: the rank has no such group */
};
struct job_course {
    int64_t  rank_count, step_count;
    int64_t *starts;                             /* by step; one more: the end */
    int64_t (*work)[WORK_COUNT];                 /* by rank, then step */
    struct job_meeting (*meetings)[GROUP_COUNT]; /* the same */
    int64_t *clock_ns;                           /* by machine */
};

bool job_course_make(const struct job_sketch *sketch, struct arena *arena,
                     struct job_course *course, struct err *err) MUST_USE;

#endif
