/*
 * makers: what an op can have made. Recordings of eager programs name no tensors; the sizes of
 * operands tell what comes of them.
 */
#ifndef TFPROF_ANALYZE_EXCESS_MAKERS_H
#define TFPROF_ANALYZE_EXCESS_MAKERS_H

#include "analyze/excess/ledger.h"

/* Channels, or columns, of what a product or a convolution makes; 0: not known. */
int64_t unit_width(const struct ledger *ledger, const struct work_unit *unit);
/* Of all its operands, which lists have too: the elements, and of the largest. */
int64_t unit_operands(const struct ledger *ledger, const struct work_unit *unit, int64_t *largest);
/* Can the op have made a tensor like `made`? Where its operands do not tell, it can. */
bool unit_can_make(const struct ledger *ledger, const struct work_unit *unit,
                   const struct tensor *made);

#endif
