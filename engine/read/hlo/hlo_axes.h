/*
 * hlo_axes: which axes an instruction is about, as attributes of its op: "axes" of a broadcast (of
 * its result, by axis of its operand), a transpose (of its operand, by axis of its result), a
 * reduction (summed over), a concatenation, and an iota; of a dot "left_batch", "left_inner",
 * "right_batch", "right_inner"; of a convolution "left_batch" and where it is in the result,
 * "made_batch"; "element" of a get-tuple-element; "compares" of a comparison; "places" of a slice
 * and of a padding.
 */
#ifndef TFPROF_READ_HLO_AXES_H
#define TFPROF_READ_HLO_AXES_H

#include "model/profile.h"

bool hlo_has_axes(struct str opcode);
/* `instruction`: a HloInstructionProto. Right behind other attributes of the op. false: the budget.
 */
bool hlo_axes_add(struct str instruction, struct profile *profile, struct op *op);

#endif
