/* job_study: the ranks of a job as a study, for rules and outputs: what each does and what holds
 * them up, from all summaries; what a step is made of, from the first rank's. */
#ifndef TFPROF_RANKS_JOB_STUDY_H
#define TFPROF_RANKS_JOB_STUDY_H

#include "ranks/job_causes.h"

/* `profile` is fresh (profile_init) and gets hosts and devices; it holds no events. Records are in
 * order. `kept` is the job, in `arena`; NULL: nobody asks on. */
bool job_study(const struct rank_records *records, struct profile *profile, struct study *study,
               struct job *kept, struct arena *arena, struct err *err) MUST_USE;

#endif
