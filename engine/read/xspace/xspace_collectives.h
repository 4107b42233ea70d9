/*
 * xspace_collectives: arguments of the collectives of an XSpace: their type, payload and group from
 * the instruction (XLA's all-reduce, all-gather …, and the NCCL kernels that run them), or at least
 * the type from the name. Runs once, after all events are in place. O(events).
 */
#ifndef TFPROF_READ_XSPACE_COLLECTIVES_H
#define TFPROF_READ_XSPACE_COLLECTIVES_H

#include "model/profile.h"

bool xspace_collectives(struct profile *profile); /* false: the budget is exhausted */

#endif
