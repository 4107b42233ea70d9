/* float_ops: what a node of the classic views computes where no log says it. */
#ifndef TFPROF_READ_FLOAT_OPS_H
#define TFPROF_READ_FLOAT_OPS_H

#include "model/classic.h"

/* By the formulas that TensorFlow registers (engine/read/tf/tf_flops.c) and some that it lacks where
 * shapes are known; 0 for types that only move or hold data; FLOAT_OPS_UNKNOWN otherwise. */
void float_ops_fill(struct classic *classic);

#endif
