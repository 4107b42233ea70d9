/* op_cost: floating point operations and memory traffic of one execution of an op. */
#ifndef TFPROF_ANALYZE_OP_COST_H
#define TFPROF_ANALYZE_OP_COST_H

#include "model/profile.h"

/* As recorded, else 2·m·k·n of a matrix product of known shapes; < 0 unknown. */
double op_flops(const struct profile *profile, const struct op *op);
/* As recorded, else operands plus results when all shapes are known; < 0 unknown. */
double op_bytes(const struct profile *profile, const struct op *op);

#endif
