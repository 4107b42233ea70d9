/*
 * hlo: instructions of the XLA programs that an XSpace carries (HloProto in /host:metadata) as ops:
 * shapes, types, source lines, and floating point operations counted from shapes.
 */
#ifndef TFPROF_READ_HLO_H
#define TFPROF_READ_HLO_H

#include "model/op_graph.h"
#include "model/profile.h"

struct hlo_edges {
    VEC(struct op_edge) list;
};

/* Adds the ops of one HloProto. `rows` gets (instruction name id << 32 | module name id) -> row; a
 * module that is there already is passed over. `edges` gets who needs whose results. Damage ends it
 * early. false: the budget. */
bool hlo_add(struct str bytes, struct profile *profile, struct arena *scratch, struct id_map *rows,
             struct hlo_edges *edges);

#endif
