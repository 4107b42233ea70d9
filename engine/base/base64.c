#include "base/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Up to three bytes as four letters. */
static void add_group(struct text *text, const unsigned char *bytes, size_t count)
{
    unsigned long group = (unsigned long)bytes[0] << 16;
    char          four[4];

    group |= count > 1 ? (unsigned long)bytes[1] << 8 : 0;
    group |= count > 2 ? bytes[2] : 0;
    for (int i = 0; i < 4; i++)
        four[i] = (size_t)i <= count ? letters[group >> (18 - 6 * i) & 63] : '=';
    text_add(text, (struct str) { four, sizeof four });
}

void base64_add(struct text *text, struct str bytes)
{
    for (size_t i = 0; i < bytes.len; i += 3)
        add_group(text, (const unsigned char *)bytes.data + i,
                  bytes.len - i < 3 ? bytes.len - i : 3);
}
