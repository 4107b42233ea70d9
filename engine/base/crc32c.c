#include "base/crc32c.h"

#include <pthread.h>

enum { STRIDE = 8 };

static uint32_t       tables[STRIDE][256]; /* by how many bytes stand behind the byte */
static pthread_once_t tables_made = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82F63B78) : 0);
        tables[0][i] = crc;
    }
    for (int row = 1; row < STRIDE; row++)
        for (int i = 0; i < 256; i++)
            tables[row][i] = tables[row - 1][i] >> 8 ^ tables[0][tables[row - 1][i] & 255];
}

uint32_t crc32c(uint32_t crc, struct str bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.data;
    size_t         left = bytes.len;

    pthread_once(&tables_made, make_tables);
    crc = ~crc;
    for (; left >= STRIDE; left -= STRIDE, at += STRIDE) {
        uint32_t next = 0;

        for (int i = 0; i < STRIDE; i++)
            next ^= tables[STRIDE - 1 - i][at[i] ^ (i < 4 ? crc >> 8 * i & 255 : 0)];
        crc = next;
    }
    for (; left; left--, at++)
        crc = crc >> 8 ^ tables[0][(crc ^ *at) & 255];
    return ~crc;
}

uint32_t crc32c_unmask(uint32_t masked)
{
    uint32_t turned = masked - UINT32_C(0xa282ead8);

    return turned >> 17 | turned << 15;
}
