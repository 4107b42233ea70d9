/*
 * clocks: one clock for all hosts of a job. Clocks of machines differ by milliseconds; a collective
 * ends on all of its ranks at the same time. Where the ends of the collectives that two hosts share
 * differ by about the same each time, that is what their clocks differ by, and the host is moved.
 */
#ifndef TFPROF_READ_CLOCKS_H
#define TFPROF_READ_CLOCKS_H

#include "model/profile.h"

/* Against the first host. Collectives are the same by group and sequence number where these were
 * recorded, else by their order among those of a name in the steps of a number, where both hosts
 * have as many. Hosts of one name share a clock. False past the budget. */
bool clocks_align(struct profile *profile, struct arena *scratch);

#endif
