/*
 * hlo_traffic: what instructions move of operands and results that they only touch in part. A slice
 * reads what it gives, and so does a fusion that only slices what goes in; what writes a part of an
 * array in place moves that part; the room that a library works in is no result.
 */
#ifndef TFPROF_READ_HLO_TRAFFIC_H
#define TFPROF_READ_HLO_TRAFFIC_H

#include "read/hlo/hlo_module.h"

/* Bytes of ops that are there, of operands and results as a whole, become less. false: the budget.
 */
bool hlo_traffic_settle(const struct hlo_module *module);

#endif
