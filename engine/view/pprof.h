/* pprof: the code view as a profile for pprof (profile.proto, gzipped). */
#ifndef TFPROF_VIEW_PPROF_H
#define TFPROF_VIEW_PPROF_H

#include "view/tree.h"

/* *is_made false: the selection is none for pprof; complaints say so. False: full. */
bool pprof_of_tree(const struct tree *tree, const struct view_call *call, struct text *packed,
                   bool *is_made);

#endif
