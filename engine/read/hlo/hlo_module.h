/*
 * hlo_module: the instructions of one HloModule as they stand in the file, with the computations
 * that they are in and that they call. Strings are borrowed from the bytes.
 */
#ifndef TFPROF_READ_HLO_MODULE_H
#define TFPROF_READ_HLO_MODULE_H

#include "model/profile.h"
#include "read/hlo/hlo_frames.h"

struct hlo_instruction {
    struct str    name, opcode, origin, file;
    struct str    window, dimensions; /* of a convolution */
    struct str    target, config;     /* of a custom-call: what is called, with which settings */
    uint64_t      id, line, computation;
    uint64_t      frame; /* of the module's frames; 0 none */
    struct tensor shape;
    size_t        first_part, part_count;       /* of a tuple; part_count 0: `shape` is all */
    size_t        first_operand, operand_count; /* of the module's operands */
    size_t        first_called, called_count;   /* of the module's called */
    uint64_t      parameter;                    /* which of its computation's, from 0 */
    uint64_t      contracting[TENSOR_MAX_RANK]; /* lhs dimensions of a dot */
    size_t        contracting_count;
    uint64_t      kernel_output; /* dimension of a convolution's kernel */
    uint32_t      op;
};

struct hlo_module {
    struct profile *profile;
    struct arena   *scratch;
    VEC(struct hlo_instruction) list;
    VEC(struct tensor) parts; /* of tuples */
    VEC(uint64_t) operands;   /* ids of instructions */
    VEC(uint64_t) called;     /* ids of computations */
    struct hlo_frames frames;
    uint32_t          name, key;        /* key: in rows */
    struct id_map     by_id, caller_of; /* computation id -> index of the first that calls it */
    struct id_map     root_of;          /* the same -> index of what it gives */
};

/* Adds the instructions of a HloComputationProto. false: past the budget. */
bool hlo_module_add(struct hlo_module *module, struct str bytes);
/* What calls the computation that an instruction is in, or NULL. */
const struct hlo_instruction *hlo_caller(const struct hlo_module      *module,
                                         const struct hlo_instruction *item);
/* The instruction that gives operand `n`, or NULL. */
const struct hlo_instruction *hlo_operand(const struct hlo_module      *module,
                                          const struct hlo_instruction *item, size_t n);
/* Floating point operations of one execution, counted from shapes; -1 unknown. */
int64_t hlo_flops(const struct hlo_module *module, const struct hlo_instruction *item);

#endif
