/* edits_run: what edits as rules write them save, by the model that prices findings, in the words
 * of whatif. */
#ifndef TFPROF_ANALYZE_EDITS_RUN_H
#define TFPROF_ANALYZE_EDITS_RUN_H

#include "analyze/replay/replay.h"
#include "analyze/schedule/whatif.h"

/* The row of whatif->edits with the same index has an edit's text. Fills `now`, `each` and
 * `together`, which have no critical path. ERR_USAGE: a pattern is none; ERR_INCONCLUSIVE: no step.
 */
bool edits_run(struct whatif *whatif, struct study *study, const struct edit *edits,
               struct arena *arena, struct err *err);

#endif
