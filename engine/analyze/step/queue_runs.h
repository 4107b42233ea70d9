/*
 * queue_runs: runs of a TensorFlow 1 session that fill a queue: threads of the program, or queue
 * runners, call Session.run for them beside the thread whose runs compute. They are input work, as
 * stages of tf.data are. Threads that write summaries or checkpoints fill none.
 */
#ifndef TFPROF_ANALYZE_QUEUE_RUNS_H
#define TFPROF_ANALYZE_QUEUE_RUNS_H

#include "base/intern.h"
#include "model/profile.h"

/* Adds their executor steps, with the value 1. O(events). false: out of memory. */
bool queue_runs_find(const struct profile *profile, struct id_map *input_steps);

#endif
