/* Boxes of tensors and the keys under which tables hold them (an encoding that sorts). */
#include "read/checkpoint/checkpoint.h"

#include <string.h>

static bool read_extent(struct message extent, int64_t *start, int64_t *length, struct err *err)
{
    struct field field;

    *start = 0;
    *length = -1;
    while (message_next(&extent, &field, err)) {
        if (field_is_number(&field, 1))
            *start = field_int64(&field);
        else if (field_is_number(&field, 2))
            *length = field_int64(&field);
    }
    return !extent.is_damaged;
}

bool checkpoint_slice_read(struct message message, struct checkpoint_slice *slice, struct err *err)
{
    struct field field;

    *slice = (struct checkpoint_slice) { 0 };
    while (message_next(&message, &field, err)) {
        if (!field_is_bytes(&field, 1))
            continue;
        if (slice->rank == TENSOR_MAX_RANK)
            return err_set(err, ERR_FORMAT, "a slice has more than %d dimensions", TENSOR_MAX_RANK);
        if (!read_extent(message_inside(&message, field.bytes), &slice->start[slice->rank],
                         &slice->length[slice->rank], err))
            return false;
        slice->rank++;
    }
    return !message.is_damaged;
}

/* How many bytes there are, then the bytes, most significant first. */
static void add_count(struct text *key, uint8_t number)
{
    text_add_byte(key, number ? 1 : 0);
    if (number)
        text_add_byte(key, (char)number);
}

static void add_name(struct text *key, struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        text_add_byte(key, name.data[i]);
        if ((uint8_t)name.data[i] == 0x00)
            text_add_byte(key, '\xFF');
        else if ((uint8_t)name.data[i] == 0xFF)
            text_add_byte(key, '\0');
    }
    text_add(key, (struct str) { "\0\1", 2 });
}

/* As few bytes as hold it, most significant first, their count in the leading bits. */
static void add_signed(struct text *key, int64_t number)
{
    static const uint8_t headers[][2] = {
        { 0 },       { 0x80, 0 }, { 0xC0, 0 }, { 0xE0, 0 },    { 0xF0, 0 },    { 0xF8, 0 },
        { 0xFC, 0 }, { 0xFE, 0 }, { 0xFF, 0 }, { 0xFF, 0x80 }, { 0xFF, 0xC0 },
    };
    uint64_t magnitude = (uint64_t)(number < 0 ? ~number : number);
    unsigned count = 1;

    while (count < 10 && magnitude >> (7 * count - 1))
        count++;
    for (unsigned i = 0; i < count; i++) {
        unsigned behind = count - 1 - i;
        uint8_t  byte = (uint8_t)(behind < 8   ? (uint64_t)number >> 8 * behind
                                  : number < 0 ? 0xFF
                                               : 0);

        text_add_byte(key, (char)(i < 2 ? byte ^ headers[count][i] : byte));
    }
}

void checkpoint_slice_key(struct str name, const struct checkpoint_slice *slice, struct text *key)
{
    add_count(key, 0);
    add_name(key, name);
    add_count(key, (uint8_t)slice->rank);
    for (int i = 0; i < slice->rank; i++) {
        add_signed(key, slice->start[i]);
        add_signed(key, slice->length[i]);
    }
}
