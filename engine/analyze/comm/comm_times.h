/* comm_times: how long a device, or the host's threads, were in collectives, and how much of it
 * computing hides. */
#ifndef TFPROF_ANALYZE_COMM_TIMES_H
#define TFPROF_ANALYZE_COMM_TIMES_H

#include "analyze/comm/collective_list.h"

/* Over all windows: of the host's threads and of one device, the mean of those that worked. false:
 * scratch is exhausted. */
bool comm_times_sum(const struct study *study, const struct windows *windows,
                    const struct collective_list *list, struct arena *scratch, double *ns,
                    double *exposed_ns);

#endif
