/*
 * message: the fields of a protobuf message one after the other, straight from the bytes. Nothing
 * is allocated and no claimed length is believed: a field never reaches past its message. while
 * (message_next(&message, &field, err)) … if (message.is_damaged) return false;   (err is filled)
 * Readers of graphs with millions of nodes use it where unpacked messages would cost too much.
 */
#ifndef TFPROF_READ_MESSAGE_H
#define TFPROF_READ_MESSAGE_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct message {
    const char *at, *end;
    const char *origin; /* first byte of the file, for offsets in errors */
    bool        is_damaged;
};
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
struct field {
    uint32_t       number;
    enum wire_type type;
    uint64_t       value; /* VARINT, FIXED64, FIXED32 */
    struct str     bytes; /* BYTES */
};

struct message message_of(struct str bytes);
/* The message in a field of the same file. */
struct message message_inside(const struct message *outer, struct str bytes);
/* false at the end, and on damage, which sets is_damaged and err. Groups count as damage. */
bool    message_next(struct message *message, struct field *field, struct err *err);
bool    field_is_bytes(const struct field *field, uint32_t number);
bool    field_is_number(const struct field *field, uint32_t number);
int64_t field_int64(const struct field *field); /* two's complement, as int64 and int32 are sent */
/* Up to `room` numbers of a repeated varint field into values; returns how many were there. */
size_t field_numbers(const struct field *field, int64_t *values, size_t count, size_t room);

#endif
