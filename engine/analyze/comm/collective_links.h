/*
 * collective_links: how long collectives take at least, by the links that a maker gives its
 * devices. A bound: where data leaves the machine it takes longer, so it is told only of groups
 * that are known to be in one machine.
 */
#ifndef TFPROF_ANALYZE_COLLECTIVE_LINKS_H
#define TFPROF_ANALYZE_COLLECTIVE_LINKS_H

#include "analyze/comm/collective_list.h"

/* Nanoseconds; NaN where the device's links, the payload, or where the group's ranks are is not
 * known. */
double collective_link_ns(const struct profile *profile, const struct collective_instance *item);
/* What the links of a device carry in one direction, bytes/s; 0 unknown. */
double collective_link_rate(const struct profile *profile, uint32_t device);

#endif
