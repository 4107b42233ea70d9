/* gzip data whole and in pieces of three bytes: what inflates whole inflates to the same in pieces.
 */
#include "fuzz.h"

#include "base/gzip.h"

#include <stdlib.h>
#include <string.h>

enum { OUT_BYTES = 1 << 16 };

struct result {
    char   bytes[OUT_BYTES];
    size_t len;
    bool   is_damaged;
};

/* Feeds `step` bytes at a time; stops when `result` is full. */
static void inflate_in_steps(struct str stored, size_t step, struct result *result)
{
    struct gzip *gzip = gzip_new();

    if (!gzip)
        abort();
    result->len = 0;
    while (stored.len && result->len < OUT_BYTES && !gzip_damage(gzip, false)) {
        struct str piece = str_slice(stored, 0, step);
        size_t     given = piece.len;

        result->len +=
            gzip_inflate(gzip, &piece, result->bytes + result->len, OUT_BYTES - result->len);
        stored = str_slice(stored, given - piece.len, stored.len);
        if (piece.len == given && result->len < OUT_BYTES && !gzip_damage(gzip, false))
            abort(); /* neither used nor made anything */
    }
    result->is_damaged = gzip_damage(gzip, stored.len == 0) != NULL;
    gzip_free(gzip);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct result whole, pieces;
    struct str           stored = { (const char *)bytes, len };

    inflate_in_steps(stored, len ? len : 1, &whole);
    inflate_in_steps(stored, 3, &pieces);
    if (whole.len == OUT_BYTES || whole.is_damaged)
        return 0; /* more than is compared here; isa-l skips a header's checksum across pieces */
    if (pieces.is_damaged || whole.len != pieces.len ||
        memcmp(whole.bytes, pieces.bytes, whole.len) != 0)
        abort();
    return 0;
}
