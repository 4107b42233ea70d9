/* job_made: a job that was made from a sketch, as summaries of its ranks. */
#ifndef TFPROF_RANKS_JOB_MADE_H
#define TFPROF_RANKS_JOB_MADE_H

#include "ranks/rank_file.h"
#include "synth/job_sketch.h"

/* Adds a summary a rank, and the details of each. */
bool job_made_add(const struct job_sketch *sketch, struct rank_records *records,
                  struct arena *arena, struct err *err) MUST_USE;

#endif
