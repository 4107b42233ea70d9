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

/* Why wire_next stopped at the field that begins at wire->at. */
static bool damage(struct message *message, const struct wire *wire, struct err *err)
{
    static const char *const reasons[8] = {
        [WIRE_VARINT] = "a number ends early or has more than 10 bytes",
        [WIRE_64] = "a 64-bit number ends early",
        [WIRE_BYTES] = "a length ends early",
        [WIRE_32] = "a 32-bit number ends early",
    };
    struct str  rest = { message->at, (size_t)(message->end - message->at) };
    uint64_t    key, length, offset = (uint64_t)(message->at - message->origin);
    const char *reason;

    message->is_damaged = true;
    if (!wire_take(&rest, &key) || key >> 3 == 0 || key > UINT32_MAX)
        return err_set_at(err, ERR_FORMAT, offset, "a field's key is not one");
    if (wire->type == WIRE_BYTES && wire_take(&rest, &length))
        return err_set_at(err, ERR_FORMAT, offset, "field %u claims %llu bytes where %zu are left",
                          wire->number, (unsigned long long)length, rest.len);
    reason = reasons[key & 7];
    return err_set_at(err, ERR_FORMAT, offset, "%s",
                      reason ? reason : "a field has a wire type that does not exist");
}

bool message_next_slow(struct message *message, struct field *field, struct err *err)
{
    struct wire wire = { .at = (const uint8_t *)message->at, .end = (const uint8_t *)message->end };

    if (message->at >= message->end || message->is_damaged)
        return false;
    if (!wire_next(&wire))
        return damage(message, &wire, err);
    *field = (struct field) { .number = wire.number, .type = wire.type };
    if (wire.type == WIRE_BYTES)
        field->bytes = wire.bytes;
    else
        field->value = wire.value;
    message->at = (const char *)wire.at;
    return true;
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
    struct str rest = field->bytes;
    uint64_t   value;

    if (field->type == WIRE_VARINT) {
        if (count < room)
            values[count] = (int64_t)field->value;
        return count + 1;
    }
    for (; wire_take(&rest, &value); count++)
        if (count < room)
            values[count] = (int64_t)value;
    return count;
}
