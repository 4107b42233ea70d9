/* hlo_buffers: which memory the compiler gave the values of a program (xla's BufferAssignmentProto). */
#ifndef TFPROF_READ_HLO_BUFFERS_H
#define TFPROF_READ_HLO_BUFFERS_H

#include "read/hlo/hlo_module.h"

/* Adds allocations, buffers and their order to the module's profile, once its instructions are ops. What
 * does not fit together is left out. false: the budget. */
bool hlo_buffers_add(struct str bytes, const struct hlo_module *module);

#endif
