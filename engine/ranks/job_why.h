/* job_why: what `why` says of a job of which there are summaries: of a step, and of late
 * collectives. */
#ifndef TFPROF_RANKS_JOB_WHY_H
#define TFPROF_RANKS_JOB_WHY_H

#include "analyze/schedule/why.h"
#include "ranks/job_causes.h"

/* what: as for why_run; NULL: the slowest step. ERR_USAGE for what needs events. */
bool job_why(struct why *why, const struct job *job, const char *what, struct arena *arena,
             struct err *err);

#endif
