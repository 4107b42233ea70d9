/* hlo_order: what one run of a program does, in the order of its schedule (HloScheduleProto). */
#ifndef TFPROF_READ_HLO_ORDER_H
#define TFPROF_READ_HLO_ORDER_H

#include "read/hlo/hlo.h"
#include "read/hlo/hlo_module.h"

/* `bytes`: the HloModuleProto, whose instructions are in `module` with their ops. Loops, branches
 * and calls are followed; a program without a schedule has no order. false: the budget. */
bool hlo_order_add(struct str bytes, const struct hlo_module *module, struct hlo_edges *edges);

#endif
