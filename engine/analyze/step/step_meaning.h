/* step_meaning: in words, what a step was taken to be where the program marks none: "a call of
 * predict", "a run of jit_decode", "2 session runs". */
#ifndef TFPROF_ANALYZE_STEP_MEANING_H
#define TFPROF_ANALYZE_STEP_MEANING_H

#include "analyze/step/step_markers.h"
#include "analyze/study.h"

/* Of markers that stand for runs of a program. */
struct str step_is_run(const struct study *study, const struct markers *markers);
/* Of markers that are calls of a graph function, by their family. */
struct str step_is_call(const struct study *study, const struct markers *markers);
/* Of recorded runs of a session, `period` a step. */
struct str step_is_sessions(const struct study *study, size_t period);
/* Of a recording that counts as one, by rounds of the same ops in it; empty where nothing comes again.
 * A round may be an iteration, or the same work for each part of a batch: which, nothing tells. */
struct str step_is_whole(const struct study *study, const struct markers *rounds,
                         struct arena *scratch);

#endif
