/* folded: a view as folded stacks, for flame graphs: "encoder;gates;MatMul 412", a line a row. */
#ifndef TFPROF_VIEW_FOLDED_H
#define TFPROF_VIEW_FOLDED_H

#include "view/tree.h"

/* What the view calls the row, without what the row above it is called: a part of a scope, a line.
 */
struct str folded_frame(const struct tree *tree, uint32_t parent, uint32_t row);
/* *is_made false: not one number is selected; complaints say so. Numbers are of what is in no row
 * below a row, so that they sum to that of the root. False: full. */
bool folded_of_tree(const struct tree *tree, const struct view_call *call, struct text *text,
                    bool *is_made);

#endif
