#include "synth/wire_out.h"

#include <string.h>

enum { TYPE_VARINT, TYPE_FIXED64, TYPE_BYTES };

static void add_varint(struct text *message, uint64_t number)
{
    for (; number > 0x7f; number >>= 7)
        text_add_byte(message, (char)(unsigned char)((number & 0x7f) | 0x80));
    text_add_byte(message, (char)number);
}

static size_t varint_len(uint64_t number)
{
    size_t len = 1;

    for (; number > 0x7f; number >>= 7)
        len++;
    return len;
}

static void add_key(struct text *message, uint32_t field, uint32_t type)
{
    add_varint(message, field << 3 | type);
}

void wire_out_number(struct text *message, uint32_t field, uint64_t number)
{
    add_key(message, field, TYPE_VARINT);
    add_varint(message, number);
}

void wire_out_bytes(struct text *message, uint32_t field, struct str bytes)
{
    add_key(message, field, TYPE_BYTES);
    add_varint(message, bytes.len);
    text_add(message, bytes);
}

void wire_out_entry(struct text *message, uint32_t field, uint64_t key, struct str value)
{
    add_key(message, field, TYPE_BYTES);
    add_varint(message, 2 + varint_len(key) + varint_len(value.len) + value.len);
    wire_out_number(message, 1, key);
    wire_out_bytes(message, 2, value);
}
