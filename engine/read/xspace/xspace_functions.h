/*
 * xspace_functions: TensorFlow up to 2.5 records of a graph function, which a call of eager code
 * runs, the start alone ("FunctionRun"); the call ("EagerKernelExecute") then waits for it. Such a
 * run is given the time until the call ends, as later versions record it. Nor do these versions
 * record what pool threads do for an op. O(events of the host's
 * threads), where there are such calls.
 */
#ifndef TFPROF_READ_XSPACE_FUNCTIONS_H
#define TFPROF_READ_XSPACE_FUNCTIONS_H

#include "model/profile.h"

bool xspace_extend_functions(struct profile *profile); /* false: the budget is exhausted */

#endif
