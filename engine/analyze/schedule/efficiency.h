/*
 * efficiency: a chain of ideals, each on top of those before, so that their factors multiply to
 * what is left of the step; and which ranks hold the others up.
 */
#ifndef TFPROF_ANALYZE_EFFICIENCY_H
#define TFPROF_ANALYZE_EFFICIENCY_H

#include "analyze/schedule/whatif_editor.h"

/* Fills whatif->ranks, by the editor of a schedule that has begun. */
bool efficiency_ranks(struct editor *editor, struct whatif *whatif, struct arena *arena,
                      struct err *err);

#endif
