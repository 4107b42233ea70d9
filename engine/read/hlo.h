/*
 * hlo: instructions of the XLA programs that an XSpace carries (HloProto in /host:metadata) as ops:
 * shapes, types, source lines, and floating point operations counted from shapes.
 */
#ifndef TFPROF_READ_HLO_H
#define TFPROF_READ_HLO_H

#include "model/profile.h"

/* Adds the ops of one HloProto. `rows` gets (instruction name id << 32 | module name id) -> row; a
 * module that is there already is passed over. Damage ends it early. false: the budget. */
bool hlo_add(struct str bytes, struct profile *profile, struct arena *scratch, struct id_map *rows);

#endif
