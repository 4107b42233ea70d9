/* eager_models: how often the program calls a model, as stacks of Python tell. */
#ifndef TFPROF_ANALYZE_EAGER_MODELS_H
#define TFPROF_ANALYZE_EAGER_MODELS_H

#include "analyze/study.h"

/* Calls, in the whole recording, of the module that no other module is around and that is called
 * most. 0: without stacks. false: scratch is exhausted. O(events). */
bool eager_models_count(const struct study *study, struct arena *scratch, double *calls);

#endif
