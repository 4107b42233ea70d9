/*
 * wire: protobuf bytes field by field, without unpacking. wire_next checks against the end of the
 * message; a broken field sets is_broken and ends the loop, so that callers test once. message.h
 * also says what is broken, and where.
 *
 *     for (struct wire field = wire_start(bytes); wire_next(&field);)
 *         if (field.number == 3) ... field.value or field.bytes ...
 */
#ifndef TFPROF_READ_WIRE_H
#define TFPROF_READ_WIRE_H

#include "base/macros.h"
#include "base/str.h"

#include <string.h>

/* https://protobuf.dev/programming-guides/encoding/ */
enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct wire {
    const uint8_t *at, *end;
    uint32_t       number; /* of the current field */
    enum wire_type type;
    uint64_t       value; /* VARINT, 64 and 32 */
    struct str     bytes; /* BYTES */
    bool           is_broken;
};

static inline struct wire wire_start(struct str bytes)
{
    const uint8_t *data = (const uint8_t *)(bytes.data ? bytes.data : "");

    return (struct wire) { .at = data, .end = data + bytes.len };
}

/* Seven bits of each byte, one behind the other. */
static ALWAYS_INLINE uint64_t wire_join(uint64_t word)
{
    word = (word & UINT64_C(0x7F007F007F007F00)) >> 1 | (word & UINT64_C(0x007F007F007F007F));
    word = (word & UINT64_C(0x3FFF00003FFF0000)) >> 2 | (word & UINT64_C(0x00003FFF00003FFF));
    return (word & UINT64_C(0x0FFFFFFF00000000)) >> 4 | (word & UINT64_C(0x000000000FFFFFFF));
}

/* One varint of at most ten bytes; NULL when it does not end in time. */
static inline const uint8_t *wire_varint_slow(const uint8_t *at, const uint8_t *end,
                                              uint64_t *value)
{
    uint64_t sum = 0;

    if (LIKELY(end - at >= 8)) { /* up to eight bytes at once: drop each byte's top bit */
        uint64_t word, stop;

        memcpy(&word, at, sizeof word);
        stop = ~word & UINT64_C(0x8080808080808080);
        if (LIKELY(stop != 0)) {
            *value = wire_join(word & (stop ^ (stop - 1)));
            return at + (unsigned)__builtin_ctzll(stop) / 8 + 1;
        }
    }
    for (unsigned shift = 0; at < end && shift < 70; shift += 7) {
        uint8_t byte = *at++;

        sum |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *value = sum;
            return at;
        }
    }
    return NULL;
}

static ALWAYS_INLINE const uint8_t *wire_varint(const uint8_t *at, const uint8_t *end,
                                                uint64_t *value)
{
    if (LIKELY(at < end && *at < 0x80)) {
        *value = *at;
        return at + 1;
    }
    if (LIKELY(end - at >= 2 && at[1] < 0x80)) {
        *value = (uint64_t)(at[0] & 0x7F) | (uint64_t)at[1] << 7;
        return at + 2;
    }
    if (LIKELY(end - at >= 3 && at[2] < 0x80)) {
        *value = (uint64_t)(at[0] & 0x7F) | (uint64_t)(at[1] & 0x7F) << 7 | (uint64_t)at[2] << 14;
        return at + 3;
    }
    return wire_varint_slow(at, end, value);
}

/* Cuts a varint off *rest; false at the end, and where none ends in time. */
static inline bool wire_take(struct str *rest, uint64_t *number)
{
    const uint8_t *at = (const uint8_t *)rest->data, *next;

    next = rest->len ? wire_varint(at, at + rest->len, number) : NULL;
    if (!next)
        return false;
    *rest = (struct str) { (const char *)next, rest->len - (size_t)(next - at) };
    return true;
}

/* Bytes that must be readable behind the place where wire_varint_fast begins. */
enum { WIRE_VARINT_BYTES = 10 };

/* A varint where WIRE_VARINT_BYTES can be read, be they the message's or not: the caller compares
 * the result with the message's end. NULL when it is longer than that. For numbers that mostly
 * take several bytes: no branch depends on their length up to eight. */
static ALWAYS_INLINE const uint8_t *wire_varint_long(const uint8_t *at, uint64_t *value)
{
    uint64_t word, stop;

    memcpy(&word, at, sizeof word);
    stop = ~word & UINT64_C(0x8080808080808080);
    if (UNLIKELY(stop == 0)) { /* hashes and negative numbers */
        bool is_longer = at[8] >= 0x80;

        *value = wire_join(word) | (uint64_t)(at[8] & 0x7F) << 56;
        if (!is_longer)
            return at + 9;
        *value |= (uint64_t)at[9] << 63;
        return at[9] < 0x80 ? at + 10 : NULL;
    }
    *value = wire_join(word & (stop ^ (stop - 1))); /* up to the last byte's top bit */
    return at + (unsigned)__builtin_ctzll(stop) / 8 + 1;
}

/* The same for numbers that mostly take one byte. */
static ALWAYS_INLINE const uint8_t *wire_varint_fast(const uint8_t *at, uint64_t *value)
{
    if (LIKELY(*at < 0x80)) {
        *value = *at;
        return at + 1;
    }
    return wire_varint_long(at, value);
}

static inline bool wire_break(struct wire *wire)
{
    wire->is_broken = true;
    return false;
}

/* Goes to the next field; false at the end and at damage. */
static ALWAYS_INLINE bool wire_next(struct wire *wire)
{
    uint64_t       key, length;
    const uint8_t *at;

    if (wire->at == wire->end || wire->is_broken)
        return false;
    at = wire_varint(wire->at, wire->end, &key);
    if (!at || key >> 3 == 0 || key > UINT32_MAX)
        return wire_break(wire);
    wire->number = (uint32_t)(key >> 3);
    wire->type = (enum wire_type)(key & 7);
    if (wire->type == WIRE_VARINT) {
        at = wire_varint(at, wire->end, &wire->value);
        if (!at)
            return wire_break(wire);
    } else if (wire->type == WIRE_BYTES) {
        at = wire_varint(at, wire->end, &length);
        if (!at || length > (uint64_t)(wire->end - at))
            return wire_break(wire);
        wire->bytes = (struct str) { (const char *)at, (size_t)length };
        at += length;
    } else if (wire->type == WIRE_64 || wire->type == WIRE_32) {
        size_t width = wire->type == WIRE_64 ? 8 : 4;

        if ((size_t)(wire->end - at) < width)
            return wire_break(wire);
        wire->value = 0;
        memcpy(&wire->value, at, width); /* little-endian machines only: amd64, arm64 */
        at += width;
    } else {
        return wire_break(wire);
    }
    wire->at = at;
    return true;
}

/* The numbers of a repeated field, packed or not, for wire_take. */
static inline struct str wire_numbers(const struct wire *field)
{
    const uint8_t *first = field->at - 1;

    if (field->type != WIRE_VARINT)
        return field->type == WIRE_BYTES ? field->bytes : (struct str) { 0 };
    while (first[-1] > 0x7f) /* the field's key ends in a byte that is less */
        first--;
    return (struct str) { (const char *)first, (size_t)(field->at - first) };
}

/* Offset of the reading position inside `whole`, for messages. */
static inline uint64_t wire_offset(const struct wire *wire, struct str whole)
{
    return whole.data ? (uint64_t)((const char *)wire->at - whole.data) : 0;
}

#endif
