/* xspace_memory: whose memory an allocation of an XSpace is, and what of it is in use. */
#ifndef TFPROF_READ_XSPACE_MEMORY_H
#define TFPROF_READ_XSPACE_MEMORY_H

#include "model/profile.h"

/* event->device is the ordinal that a stat tells, or NO_ID, and becomes the device's row; NO_ID for
 * memory of the host. Devices that only their allocators name are added. An allocator without a name
 * is called by its ordinal. false: the budget. */
bool xspace_memory_place(struct profile *profile, uint32_t host, struct memory_event *event);

#endif
