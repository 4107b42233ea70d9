/*
 * pull: protobuf bytes field by field, without unpacking. Every getter checks against the end of the
 * message; a broken field sets is_broken and ends the loop, so that callers test once.
 *
 *     for (struct pull field = pull_start(bytes); pull_next(&field);)
 *         if (field.number == 3) ... field.value or field.bytes ...
 */
#ifndef TFPROF_READ_PULL_H
#define TFPROF_READ_PULL_H

#include "base/macros.h"
#include "base/str.h"

#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct pull {
    const uint8_t *at, *end;
    uint32_t       number; /* of the current field */
    enum wire_type type;
    uint64_t       value; /* VARINT, 64 and 32 */
    struct str     bytes; /* BYTES */
    bool           is_broken;
};

static inline struct pull pull_start(struct str bytes)
{
    const uint8_t *data = (const uint8_t *)bytes.data;

    return (struct pull) { .at = data, .end = data + bytes.len };
}

/* One varint of at most ten bytes; NULL when it does not end in time. */
static inline const uint8_t *pull_varint_slow(const uint8_t *at, const uint8_t *end,
                                              uint64_t *value)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; at < end && shift < 70; shift += 7) {
        uint8_t byte = *at++;

        sum |= (uint64_t)(byte & 0x7F) << (shift < 64 ? shift : 63);
        if (byte < 0x80) {
            *value = sum;
            return at;
        }
    }
    return NULL;
}

static ALWAYS_INLINE const uint8_t *pull_varint(const uint8_t *at, const uint8_t *end,
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
    return pull_varint_slow(at, end, value);
}

static inline bool pull_break(struct pull *pull)
{
    pull->is_broken = true;
    return false;
}

static ALWAYS_INLINE bool pull_next(struct pull *pull)
{
    uint64_t key, length;

    if (pull->at == pull->end || pull->is_broken)
        return false;
    const uint8_t *at = pull_varint(pull->at, pull->end, &key);

    if (!at || key >> 3 == 0 || key >> 3 > UINT32_MAX >> 3)
        return pull_break(pull);
    pull->number = (uint32_t)(key >> 3);
    pull->type = (enum wire_type)(key & 7);
    if (pull->type == WIRE_VARINT) {
        at = pull_varint(at, pull->end, &pull->value);
        if (!at)
            return pull_break(pull);
    } else if (pull->type == WIRE_BYTES) {
        at = pull_varint(at, pull->end, &length);
        if (!at || length > (uint64_t)(pull->end - at))
            return pull_break(pull);
        pull->bytes = (struct str) { (const char *)at, (size_t)length };
        at += length;
    } else if (pull->type == WIRE_64 || pull->type == WIRE_32) {
        size_t width = pull->type == WIRE_64 ? 8 : 4;

        if ((size_t)(pull->end - at) < width)
            return pull_break(pull);
        pull->value = 0;
        memcpy(&pull->value, at, width); /* little-endian machines only: amd64, arm64 */
        at += width;
    } else {
        return pull_break(pull);
    }
    pull->at = at;
    return true;
}

/* Offset of the reading position inside `whole`, for messages. */
static inline uint64_t pull_offset(const struct pull *pull, struct str whole)
{
    return (uint64_t)((const char *)pull->at - whole.data);
}

#endif
