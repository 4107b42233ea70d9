/* job_whatif: what a step of a job would take if something were different, from summaries of its
 * ranks: their work between collectives by its parts, and the network. */
#ifndef TFPROF_RANKS_JOB_WHATIF_H
#define TFPROF_RANKS_JOB_WHATIF_H

#include "analyze/schedule/whatif.h"
#include "ranks/job.h"

/* As whatif_run. ERR_USAGE for edits that need events, too. */
bool job_whatif(struct whatif *whatif, const struct job *job, const struct study *study,
                struct arena *arena, struct err *err);

#endif
