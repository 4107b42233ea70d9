/* counts: how often a step does what costs something each time, step by step. */
#ifndef TFPROF_GATE_COUNTS_H
#define TFPROF_GATE_COUNTS_H

#include "gate/summary.h"

enum count_id {
#define COUNT(id, name, unit, source, fact, title, cost) COUNT_##id,
#include "gate/counts.def"
#undef COUNT
    COUNT_ID_COUNT
};

/* One value a row of count_specs, in `arena`. NULL: the arena is exhausted. */
struct count_value *counts_make(const struct study *study, struct arena *arena);

#endif
