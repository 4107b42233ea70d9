/*
 * classic_model: a timeline as the classic views want it: every op, kernel and copy of the steps a
 * node with its own time (less what is nested in it), below its scope. Kernels count for the op that
 * launched them where the recording links them.
 */
#ifndef TFPROF_ANALYZE_CLASSIC_MODEL_H
#define TFPROF_ANALYZE_CLASSIC_MODEL_H

#include "analyze/study.h"

/* Fills recording->classic, with an op of its own for every node, in recording->arena. The study
 * has run on the recording. False: past the budget. */
bool classic_model_make(const struct study *study, struct profile *recording);
/* Fills recording->classic->lines, where frames of the program were recorded: the same with a node
 * for each line that called an op; gradients are of the line that ran forward. Once is enough. */
bool classic_model_add_lines(const struct study *study, struct profile *recording);

#endif
