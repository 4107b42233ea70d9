/* sweeps: what the step would be with less and less of each kind of work that holds it, for the page. */
#ifndef TFPROF_CLI_SWEEPS_H
#define TFPROF_CLI_SWEEPS_H

#include "analyze/schedule/whatif.h"

struct sweeps {
    VEC(const struct whatif *) list;
};
/* Each target of whatif, and the types of ops that hold the step longest, where less of it makes the step
 * shorter; most first. Few of them where the event graph is large; none where it does not give the step back.
 * false: the arena is exhausted. O(schedules of the event graph). */
bool sweeps_make(struct sweeps *sweeps, const struct study *study, struct arena *arena,
                 struct err *err);

#endif
