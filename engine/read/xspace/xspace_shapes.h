/* xspace_shapes: the operands that the stat "shape" of a TensorFlow op tells: "(half[4,384];half[])". */
#ifndef TFPROF_READ_XSPACE_SHAPES_H
#define TFPROF_READ_XSPACE_SHAPES_H

#include "model/profile.h"

/* Becomes the op's inputs, unless it has tensors already or the text is none of that form. false:
 * the budget. */
bool xspace_shapes(struct profile *profile, struct str text, struct op *op);

#endif
