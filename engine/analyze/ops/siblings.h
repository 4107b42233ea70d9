/*
 * siblings: instructions of one compiled program that do the same with arrays of the same shapes,
 * and none of which needs another's result, directly or through others. A loop of Python inside a
 * compiled function leaves such, one for each round.
 */
#ifndef TFPROF_ANALYZE_SIBLINGS_H
#define TFPROF_ANALYZE_SIBLINGS_H

#include "base/arena.h"
#include "model/profile.h"

enum {
    SIBLINGS_FEWEST = 16,
    SIBLINGS_KINDS = 64
}; /* fewer are not told; kinds that are followed */

/* *counts, in `arena`: by row of profile->ops how many siblings there are, itself among them, or 0.
 * NULL where the profile has no graph of compiled programs. false: out of memory. O(ops + edges).
 */
bool siblings_count(const struct profile *profile, struct arena *arena, uint32_t **counts);

#endif
