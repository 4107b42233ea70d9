/* whatif_select: which nodes of an event graph an edit is about. */
#ifndef TFPROF_ANALYZE_WHATIF_SELECT_H
#define TFPROF_ANALYZE_WHATIF_SELECT_H

#include "analyze/schedule/whatif.h"

enum whatif_target {
#define TARGET(id, word, bearers) TARGET_##id,
#include "analyze/schedule/whatif_targets.def"
    TARGET_COUNT
};
extern const char *const whatif_targets[TARGET_COUNT]; /* "kernel", … */

/* Sets is_selected by node, also by the rank. ERR_USAGE for a bad pattern or one that no name
 * matches. */
bool whatif_select(const struct event_graph *graph, const struct whatif_edit *edit, int32_t rank,
                   struct arena *scratch, bool *is_selected, struct err *err);
/* Adds to is_selected the calls all of whose work is selected. */
bool whatif_select_launches(const struct event_graph *graph, struct arena *scratch,
                            bool *is_selected);

#endif
