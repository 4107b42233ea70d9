/*
 * collective_match: which collectives of several hosts are one, where no sequence number tells. By their
 * order, where each host has as many of a name and times allow them to be the same: nobody leaves a
 * collective before all have come, and they leave it together. Else by where they end, and what has no
 * partner stays alone. Payloads and groups must agree where they were recorded.
 */
#ifndef TFPROF_ANALYZE_COLLECTIVE_MATCH_H
#define TFPROF_ANALYZE_COLLECTIVE_MATCH_H

#include "analyze/comm/collective_list.h"

/* Items sorted by key, those of one key of one host; keys of those without number become equal over hosts.
 * false: scratch is exhausted. */
bool collective_match(const struct profile *profile, struct arena *scratch,
                      struct collective_list *list);

#endif
