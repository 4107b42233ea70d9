/*
 * message: the fields of a protobuf message one after the other, straight from the bytes. Nothing
 * is allocated and no claimed length is believed: a field never reaches past its message. while
 * (message_next(&message, &field, err)) … if (message.is_damaged) return false;   (err is filled)
 * Readers of graphs with millions of nodes use it where unpacked messages would cost too much.
 */
#ifndef TFPROF_READ_MESSAGE_H
#define TFPROF_READ_MESSAGE_H

#include "base/err.h"
#include "base/macros.h"
#include "base/str.h"
#include "read/proto/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct message {
    const char *at, *end;
    const char *origin; /* first byte of the file, for offsets in errors */
    bool        is_damaged;
};
struct field {
    uint32_t       number;
    enum wire_type type;
    uint64_t       value; /* VARINT, 64, 32 */
    struct str     bytes; /* BYTES */
};

struct message message_of(struct str bytes);
/* The message in a field of the same file. */
struct message message_inside(const struct message *outer, struct str bytes);
/* message_next for every kind of field. */
bool message_next_slow(struct message *message, struct field *field, struct err *err);

/* false at the end, and on damage, which sets is_damaged and err. Groups count as damage. Most
 * fields have one byte of key and one of value or length, which is worth a shortcut. */
static ALWAYS_INLINE bool message_next(struct message *message, struct field *field,
                                       struct err *err)
{
    const uint8_t *at = (const uint8_t *)message->at;
    size_t         left = (size_t)(message->end - message->at);
    unsigned       type;

    if (left == 0)
        return false;
    if (UNLIKELY(left < 2 || at[0] < 8 || at[0] > 0x7f || at[1] > 0x7f || message->is_damaged))
        return message_next_slow(message, field, err);
    type = at[0] & 7;
    if (type == WIRE_BYTES && at[1] <= left - 2) {
        *field = (struct field) { .number = at[0] >> 3,
                                  .type = WIRE_BYTES,
                                  .bytes = { .data = message->at + 2, .len = at[1] } };
        message->at += 2 + at[1];
        return true;
    }
    if (type != WIRE_VARINT)
        return message_next_slow(message, field, err);
    *field = (struct field) { .number = at[0] >> 3, .type = WIRE_VARINT, .value = at[1] };
    message->at += 2;
    return true;
}

static inline bool field_is_bytes(const struct field *field, uint32_t number)
{
    return field->number == number && field->type == WIRE_BYTES;
}
static inline bool field_is_number(const struct field *field, uint32_t number)
{
    return field->number == number && field->type == WIRE_VARINT;
}
/* Two's complement, as int64 and int32 are sent. */
static inline int64_t field_int64(const struct field *field)
{
    return (int64_t)field->value;
}
/* About how many fields of that number the message has, by its first ones: for room, which may turn
 * out too much or too little. */
size_t message_guess(struct message message, uint32_t number);
/* Up to `room` numbers of a repeated varint field into values; returns how many were there. */
size_t field_numbers(const struct field *field, int64_t *values, size_t count, size_t room);

#endif
