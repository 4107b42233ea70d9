/*
 * hlo: instructions of the XLA programs that an XSpace carries (HloProto in /host:metadata) as ops:
 * shapes, types, source lines, and floating point operations counted from shapes.
 */
#ifndef TFPROF_READ_HLO_H
#define TFPROF_READ_HLO_H

#include "model/op_graph.h"
#include "model/profile.h"

/* An instruction that runs, and what a custom-call calls. The text is of the bytes. */
struct hlo_step {
    uint32_t   op;
    struct str target;
};
/* Steps [first, first + count): what one run of a program does, in the compiler's order. A loop's
 * body stands there as often as the compiler says that it goes round. */
struct hlo_order {
    uint32_t program; /* its key */
    size_t   first, count;
};
struct hlo_edges {
    VEC(struct op_edge) list;
    VEC(struct hlo_step) steps;
    VEC(struct hlo_order) orders; /* of programs that have a schedule */
};

/* Adds the ops of one HloProto. `rows` gets (instruction name id << 32 | key) -> row, where key is
 * the id of the module's name for the first program of that name, and of `program` ("jit_f(3)") for
 * others: shapes differ between them. What is there already is passed over. `edges` gets who needs
 * whose results, and in which order programs run. Damage ends it early. false: the budget. */
bool hlo_add(struct str bytes, struct str program, struct profile *profile, struct arena *scratch,
             struct id_map *rows, struct hlo_edges *edges);
/* Whether its computations, their instructions and those's shapes can be read to their ends. */
bool hlo_is_whole(struct str bytes);
/* The key of a program, from its module's name and its number. */
uint32_t hlo_key(const struct profile *profile, const struct id_map *rows, uint32_t module,
                 uint64_t number);

#endif
