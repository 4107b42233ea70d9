/* Raw deflate (RFC 1951), for pages that inflate it themselves, and the same as gzip data. */
#include "base/gzip.h"

#include <string.h>
#include <zlib.h>

enum { PIECE_BYTES = 1 << 16, RAW = -15, GZIP = 15 + 16, LEVEL = 6, MEMORY = 8 };

static bool deflate_all(struct str bytes, int window, struct text *packed)
{
    z_stream      stream;
    unsigned char piece[PIECE_BYTES];
    int           status;

    memset(&stream, 0, sizeof stream);
    if (bytes.len > UINT32_MAX ||
        deflateInit2(&stream, LEVEL, Z_DEFLATED, window, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    stream.next_in = (unsigned char *)(uintptr_t)bytes.data;
    stream.avail_in = (uInt)bytes.len;
    do {
        stream.next_out = piece;
        stream.avail_out = sizeof piece;
        status = deflate(&stream, Z_FINISH);
        text_add(packed, (struct str) { (char *)piece, sizeof piece - stream.avail_out });
    } while (status == Z_OK);
    deflateEnd(&stream);
    return status == Z_STREAM_END;
}

bool gzip_deflate(struct str bytes, struct text *packed)
{
    return deflate_all(bytes, RAW, packed);
}

bool gzip_pack(struct str bytes, struct text *packed)
{
    return deflate_all(bytes, GZIP, packed);
}
