/* HloProto made by hand: messages of shapes, instructions and computations, and what reading them gives. */
#ifndef TFPROF_TESTS_HLO_PROGRAM_H
#define TFPROF_TESTS_HLO_PROGRAM_H

#include "base/macros.h"
#include "read/hlo/hlo.h"
#include "testing.h"

#include <string.h>

/* A message being written; lengths here stay below 16384. */
struct out {
    char   bytes[4096];
    size_t len;
};

static inline void put_number(struct out *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out->bytes[out->len++] = (char)(value | 0x80);
    out->bytes[out->len++] = (char)value;
}

static inline void put_varint(struct out *out, unsigned field, uint64_t value)
{
    put_number(out, field << 3);
    put_number(out, value);
}

static inline void put_bytes(struct out *out, unsigned field, const void *bytes, size_t len)
{
    put_number(out, field << 3 | 2);
    put_number(out, len);
    memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
}

static inline void put_message(struct out *out, unsigned field, const struct out *inner)
{
    put_bytes(out, field, inner->bytes, inner->len);
}

enum { S8 = 2, F32 = 11, TUPLE = 13 };

/* ShapeProto: element_type 2, dimensions 3 (packed). */
static inline struct out shape(unsigned type, const int *dims, size_t rank)
{
    struct out out = { .len = 0 }, packed = { .len = 0 };

    put_varint(&out, 2, type);
    for (size_t i = 0; i < rank; i++)
        put_number(&packed, (uint64_t)dims[i]);
    if (rank)
        put_message(&out, 3, &packed);
    return out;
}

/* HloInstructionProto: name 1, opcode 2, shape 3, id 35, operand_ids 36. */
static inline struct out instruction(const char *name, const char *opcode, const struct out *result,
                              unsigned id, const char *operands)
{
    struct out out = { .len = 0 };

    put_bytes(&out, 1, name, strlen(name));
    put_bytes(&out, 2, opcode, strlen(opcode));
    put_message(&out, 3, result);
    put_varint(&out, 35, id);
    if (operands[0])
        put_bytes(&out, 36, operands, strlen(operands));
    return out;
}

struct fixture {
    struct arena     arena, scratch;
    struct profile   profile;
    struct id_map    rows;
    struct hlo_edges edges;
};

/* HloProto: hlo_module 1; module: name 1, computations 3; computation: id 5, instructions 2. */
static inline void read_program(struct fixture *fixture, const struct out *instructions, size_t count)
{
    struct out computation = { .len = 0 }, module = { .len = 0 }, program = { .len = 0 };

    *fixture = (struct fixture) { .rows.arena = &fixture->scratch };
    put_varint(&computation, 5, 7);
    for (size_t i = 0; i < count; i++)
        put_message(&computation, 2, &instructions[i]);
    put_bytes(&module, 1, "jit_f", 5);
    put_message(&module, 3, &computation);
    put_message(&program, 1, &module);
    assert_true(profile_init(&fixture->profile, &fixture->arena));
    assert_true(hlo_add((struct str) { program.bytes, program.len }, STR("jit_f(1)"),
                        &fixture->profile, &fixture->scratch, &fixture->rows, &fixture->edges));
    assert_int_equal(fixture->profile.ops.count, count);
}

static inline void release(struct fixture *fixture)
{
    arena_free(&fixture->arena);
    arena_free(&fixture->scratch);
}

/* A computation of the instructions with these ids. */
static inline void put_rooted(struct out *module, unsigned id, const struct out *items, size_t count,
                       unsigned root)
{
    struct out computation = { .len = 0 };

    put_varint(&computation, 5, id);
    if (root)
        put_varint(&computation, 6, root);
    for (size_t i = 0; i < count; i++)
        put_message(&computation, 2, &items[i]);
    put_message(module, 3, &computation);
}

#endif
