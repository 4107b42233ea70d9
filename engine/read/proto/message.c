/* Protobuf wire format: https://protobuf.dev/programming-guides/encoding/ */
#include "read/proto/message.h"

enum { GUESS_FIELDS = 1000 };

struct message message_of(struct str bytes)
{
    return message_inside(&(struct message) { .origin = bytes.data }, bytes);
}

struct message message_inside(const struct message *outer, struct str bytes)
{
    return (struct message) { .at = bytes.data,
                              .end = bytes.len ? bytes.data + bytes.len : bytes.data,
                              .origin = outer->origin };
}

static bool read_varint(const char **at, const char *end, uint64_t *value)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; shift < 70 && *at < end; shift += 7) {
        uint8_t byte = (uint8_t) * (*at)++;

        sum |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80)) {
            *value = sum;
            return true;
        }
    }
    return false;
}

static bool read_fixed(struct message *message, unsigned width, uint64_t *value)
{
    *value = 0;
    if ((size_t)(message->end - message->at) < width)
        return false;
    for (unsigned i = 0; i < width; i++)
        *value |= (uint64_t)(uint8_t)message->at[i] << (8 * i);
    message->at += width;
    return true;
}

static bool damage(struct message *message, const char *at, struct err *err, const char *what)
{
    message->is_damaged = true;
    return err_set_at(err, ERR_FORMAT, (uint64_t)(at - message->origin), "%s", what);
}

static bool read_bytes(struct message *message, const char *start, struct field *field,
                       struct err *err)
{
    uint64_t length;
    size_t   left;

    if (!read_varint(&message->at, message->end, &length))
        return damage(message, start, err, "a length ends early");
    left = (size_t)(message->end - message->at);
    if (length > left) {
        message->is_damaged = true;
        return err_set_at(err, ERR_FORMAT, (uint64_t)(start - message->origin),
                          "field %u claims %llu bytes where %zu are left", field->number,
                          (unsigned long long)length, left);
    }
    field->bytes = (struct str) { .data = message->at, .len = (size_t)length };
    message->at += length;
    return true;
}

bool message_next_slow(struct message *message, struct field *field, struct err *err)
{
    const char *start = message->at;
    uint64_t    key;

    if (message->at >= message->end || message->is_damaged)
        return false;
    if (!read_varint(&message->at, message->end, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff)
        return damage(message, start, err, "a field's key is not one");
    field->number = (uint32_t)(key >> 3);
    field->value = 0;
    field->bytes = (struct str) { 0 };
    switch (key & 7) {
    case WIRE_VARINT:
        field->type = WIRE_VARINT;
        return read_varint(&message->at, message->end, &field->value) ||
               damage(message, start, err, "a number ends early or has more than 10 bytes");
    case WIRE_FIXED64:
        field->type = WIRE_FIXED64;
        return read_fixed(message, 8, &field->value) ||
               damage(message, start, err, "a 64-bit number ends early");
    case WIRE_FIXED32:
        field->type = WIRE_FIXED32;
        return read_fixed(message, 4, &field->value) ||
               damage(message, start, err, "a 32-bit number ends early");
    case WIRE_BYTES:
        field->type = WIRE_BYTES;
        return read_bytes(message, start, field, err);
    default:
        return damage(message, start, err, "a field has a wire type that does not exist");
    }
}

size_t message_guess(struct message message, uint32_t number)
{
    const char  *start = message.at;
    size_t       bytes = (size_t)(message.end - start), count = 0;
    struct field field = { 0 };
    struct err   ignored = { 0 };

    for (int i = 0; i < GUESS_FIELDS && message_next(&message, &field, &ignored); i++)
        count += field.number == number;
    return message.at > start
               ? (size_t)((double)count * (double)bytes / (double)(message.at - start))
               : 0;
}

size_t field_numbers(const struct field *field, int64_t *values, size_t count, size_t room)
{
    const char *at = field->bytes.data, *end = field->bytes.len ? at + field->bytes.len : at;
    uint64_t    value;

    if (field->type == WIRE_VARINT) {
        if (count < room)
            values[count] = (int64_t)field->value;
        return count + 1;
    }
    while (field->type == WIRE_BYTES && at < end && read_varint(&at, end, &value)) {
        if (count < room)
            values[count] = (int64_t)value;
        count++;
    }
    return count;
}
