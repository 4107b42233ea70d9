/* folded: a view as folded stacks, for flame graphs: "encoder;gates;MatMul 412", a line a row. */
#ifndef TFPROF_VIEW_FOLDED_H
#define TFPROF_VIEW_FOLDED_H

#include "view/tree.h"

/* *is_made false: not one number is selected; complaints say so. Numbers are of what is in no row
 * below a row, so that they sum to that of the root. False: full. */
bool folded_of_tree(const struct tree *tree, const struct view_call *call, struct text *text,
                    bool *is_made);

#endif
