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

/* Adds the ops of one HloProto. `rows` gets (instruction name id << 32 | key) -> row, where key is
 * the id of the module's name for the first program of that name, and of `program` ("jit_f(3)") for
 * others: shapes differ between them. What is there already is passed over. `edges` gets who needs
 * whose results. Damage ends it early. false: the budget. */
bool hlo_add(struct str bytes, struct str program, struct profile *profile, struct arena *scratch,
             struct id_map *rows, struct hlo_edges *edges);
/* Whether its computations, their instructions and those's shapes can be read to their ends. */
bool hlo_is_whole(struct str bytes);
/* The key of a program, from its module's name and its number. */
uint32_t hlo_key(const struct profile *profile, const struct id_map *rows, uint32_t module,
                 uint64_t number);

#endif
