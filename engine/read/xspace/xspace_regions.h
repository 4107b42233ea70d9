/*
 * xspace_regions: the thread-pool listener marks a task's start and stop as two instants. Each pair
 * on a timeline becomes one event, "ThreadpoolListener::Region", from start to stop; the stop stays
 * an instant. Runs once, after all events are in place. O(events of the threads that have such).
 */
#ifndef TFPROF_READ_XSPACE_REGIONS_H
#define TFPROF_READ_XSPACE_REGIONS_H

#include "model/profile.h"

bool xspace_join_regions(struct profile *profile); /* false: the budget is exhausted */

#endif
