/* xspace_decode: the events of all planned lines into the profile, on several threads where that
 * pays, then activities and flows. */
#ifndef TFPROF_READ_XSPACE_DECODE_H
#define TFPROF_READ_XSPACE_DECODE_H

#include "read/read.h"
#include "read/xspace/xspace_commit.h"

bool xspace_decode(struct xspace_tasks *tasks, const struct read_options *options,
                   struct profile *profile, struct arena *scratch, struct err *err);
/* Names events by their labels. */
bool xspace_activities(struct xspace_tasks *tasks, struct profile *profile, struct arena *scratch);
bool xspace_flows(struct profile *profile);
/* Tells device work what its launch alone told. Behind the flows. */
bool xspace_launched(struct profile *profile);
/* Tells the kernels of XLA's command buffers, which are recorded under the buffer's name, which
 * instructions they are. */
bool xspace_command_buffers(const struct xspace_tasks *tasks, struct profile *profile);
/* Puts the lines of devices that tell their own clock where that clock says. */
bool xspace_clocks(struct xspace_tasks *tasks, struct profile *profile);
/* Brings the events of a timeline into order with all that refers to them. */
bool xspace_sort(struct profile *profile, const struct timeline *timeline);

#endif
