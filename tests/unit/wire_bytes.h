/* wire_bytes: fields of a protobuf message, written as its specification says. */
#ifndef TFPROF_TESTS_WIRE_BYTES_H
#define TFPROF_TESTS_WIRE_BYTES_H

#include "base/text.h"

static inline void put_varint(struct text *text, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        text_add_byte(text, (char)(value | 0x80));
    text_add_byte(text, (char)value);
}

static inline void put_number(struct text *text, unsigned field, uint64_t value)
{
    put_varint(text, field << 3);
    put_varint(text, value);
}

static inline void put_bytes(struct text *text, unsigned field, struct str bytes)
{
    put_varint(text, field << 3 | 2);
    put_varint(text, bytes.len);
    text_add(text, bytes);
}

#endif
