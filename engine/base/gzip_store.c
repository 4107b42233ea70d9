/* gzip data without compression: stored blocks, which every reader takes. */
#include "base/gzip.h"

enum { BLOCK_BYTES = 65535 };

static uint32_t checksum(struct str bytes)
{
    uint32_t sum = UINT32_MAX;

    for (size_t i = 0; i < bytes.len; i++) {
        sum ^= (uint8_t)bytes.data[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
}

static void add_number(struct text *text, uint32_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        text_add_byte(text, (char)(number >> 8 * i & 0xff));
}

void gzip_store(struct str bytes, struct text *packed)
{
    size_t at = 0;

    text_add(packed, (struct str) { "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10 });
    do {
        size_t len = bytes.len - at < BLOCK_BYTES ? bytes.len - at : BLOCK_BYTES;

        text_add_byte(packed, at + len == bytes.len);
        add_number(packed, (uint32_t)len, 2);
        add_number(packed, ~(uint32_t)len, 2);
        text_add(packed, str_slice(bytes, at, at + len));
        at += len;
    } while (at < bytes.len);
    add_number(packed, checksum(bytes), 4);
    add_number(packed, (uint32_t)bytes.len, 4);
}
