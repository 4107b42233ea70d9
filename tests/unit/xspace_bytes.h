/* xspace_bytes: messages of XSpace put together byte by byte, damage included, and what the reader
 * makes of them. */
#ifndef TFPROF_TESTS_XSPACE_BYTES_H
#define TFPROF_TESTS_XSPACE_BYTES_H

#include "testing.h"

#include "read/read.h"
#include "read/xspace/xplane.h"

#include <string.h>

extern const struct reader reader_xspace;

static inline bool read_bytes(struct str bytes, struct profile *profile, struct arena *arena,
                              struct err *err)
{
    struct read_input   input = { .path = "test", .file.bytes = bytes };
    struct read_options options = { .threads = 1 };

    assert_true(profile_init(profile, arena));
    return reader_xspace.read(&input, 1, &options, profile, err);
}

/* Appends field `number` as a length-delimited one. */
static inline size_t put(char *out, size_t at, int number, const char *inner, size_t len)
{
    out[at++] = (char)(number << 3 | WIRE_BYTES);
    out[at++] = (char)len;
    memcpy(out + at, inner, len);
    return at + len;
}

/* The same for up to 16383 bytes. */
static inline size_t put_long(char *out, size_t at, uint32_t field, const char *inner, size_t len)
{
    out[at++] = (char)(field << 3 | 2);
    out[at++] = (char)((len & 0x7F) | 0x80);
    out[at++] = (char)(len >> 7);
    memcpy(out + at, inner, len);
    return at + len;
}

/* Map entry `id` of a stat's metadata, which holds its name. */
static inline size_t put_stat_name(char *plane, size_t plane_len, char id, const char *name)
{
    char   metadata[64], entry[64] = { '\x08', id };
    size_t len = put(metadata, 0, 2, name, strlen(name));

    return put(plane, plane_len, XPLANE_STAT_METADATA, entry, put(entry, 2, 2, metadata, len));
}

#endif
