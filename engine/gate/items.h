/* items: rows of a profile's tables as what a gate keeps of them. */
#ifndef TFPROF_GATE_ITEMS_H
#define TFPROF_GATE_ITEMS_H

#include "gate/summary.h"

struct facts;

/* Adds one run's rows to what earlier runs had; times and counts are sums over runs until
 * items_finish divides them. */
bool items_add(struct item_list lists[ITEM_KIND_COUNT], const struct facts *facts,
               struct arena *arena);
bool items_finish(struct item_list lists[ITEM_KIND_COUNT], size_t run_count);
/* The work items of one run, most FLOPs first. */
bool work_add(struct identity *identity, const struct facts *facts, struct arena *arena);

#endif
