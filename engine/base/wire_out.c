#include "base/wire_out.h"

enum { TYPE_VARINT = 0, TYPE_BYTES = 2 };

size_t wire_out_varint_bytes(uint64_t number)
{
    size_t bytes = 1;

    for (; number > 0x7f; number >>= 7)
        bytes++;
    return bytes;
}

void wire_out_varint(struct text *message, uint64_t number)
{
    for (; number > 0x7f; number >>= 7)
        text_add_byte(message, (char)(unsigned char)((number & 0x7f) | 0x80));
    text_add_byte(message, (char)number);
}

void wire_out_number(struct text *message, uint32_t field, uint64_t number)
{
    wire_out_varint(message, field << 3 | TYPE_VARINT);
    wire_out_varint(message, number);
}

void wire_out_nonzero(struct text *message, uint32_t field, int64_t number)
{
    if (number != 0)
        wire_out_number(message, field, (uint64_t)number);
}

void wire_out_head(struct text *message, uint32_t field, size_t len)
{
    wire_out_varint(message, field << 3 | TYPE_BYTES);
    wire_out_varint(message, len);
}

void wire_out_bytes(struct text *message, uint32_t field, struct str bytes)
{
    wire_out_head(message, field, bytes.len);
    text_add(message, bytes);
}

void wire_out_entry(struct text *message, uint32_t field, uint64_t key, struct str value)
{
    size_t key_bytes = wire_out_varint_bytes(key), len_bytes = wire_out_varint_bytes(value.len);

    wire_out_head(message, field, 2 + key_bytes + len_bytes + value.len);
    wire_out_number(message, 1, key);
    wire_out_bytes(message, 2, value);
}
