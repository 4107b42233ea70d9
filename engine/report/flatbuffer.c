#include "report/flatbuffer.h"

#include <string.h>

size_t flat_bytes(const struct flat *flat)
{
    return flat->text->len - flat->begin;
}

void flat_pad(struct flat *flat, size_t multiple)
{
    while (flat_bytes(flat) % multiple)
        text_add_byte(flat->text, '\0');
}

/* Little-endian. What was cut off has no place. */
void flat_set(struct flat *flat, size_t at, int64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes && flat->begin + at + i < flat->text->len; i++)
        flat->text->data[flat->begin + at + i] = (char)((uint64_t)number >> 8 * i);
}

static size_t add_zeros(struct flat *flat, size_t count)
{
    size_t at = flat_bytes(flat);

    text_fill(flat->text, '\0', count);
    return at;
}

struct flat flat_begin(struct text *text, size_t *root)
{
    struct flat flat = { text, text->len };

    *root = add_zeros(&flat, sizeof(uint32_t));
    return flat;
}

void flat_point(struct flat *flat, size_t field, size_t to)
{
    flat_set(flat, field, (int64_t)(to - field), sizeof(uint32_t));
}

/* Fields lie behind the table's first word, large ones first, so that each is aligned. */
static size_t place_fields(const char *bytes, size_t count, size_t places[FLAT_MOST_FIELDS])
{
    size_t end = sizeof(int32_t);

    for (size_t size = 8; size > 0; size /= 2)
        for (size_t i = 0; i < count; i++)
            if ((size_t)(bytes[i] - '0') == size) {
                places[i] = end;
                end += size;
            }
    return end;
}

struct flat_table flat_table(struct flat *flat, const char *bytes)
{
    size_t            count = strlen(bytes), places[FLAT_MOST_FIELDS] = { 0 };
    size_t            table_bytes = place_fields(bytes, count, places);
    size_t            slots, slot_bytes = 2 * sizeof(uint16_t) + count * sizeof(uint16_t);
    struct flat_table table;

    flat_pad(flat, sizeof(uint16_t));
    while ((flat_bytes(flat) + slot_bytes) % 8 != 4)
        add_zeros(flat, sizeof(uint16_t));
    slots = add_zeros(flat, slot_bytes);
    flat_set(flat, slots, (int64_t)slot_bytes, sizeof(uint16_t));
    flat_set(flat, slots + 2, (int64_t)table_bytes, sizeof(uint16_t));
    table.at = add_zeros(flat, table_bytes);
    flat_set(flat, table.at, (int64_t)(table.at - slots), sizeof(int32_t));
    for (size_t i = 0; i < count; i++) {
        flat_set(flat, slots + 4 + i * 2, (int64_t)places[i], sizeof(uint16_t));
        table.fields[i] = table.at + places[i];
    }
    return table;
}

size_t flat_str(struct flat *flat, struct str s)
{
    size_t at;

    flat_pad(flat, sizeof(uint32_t));
    at = add_zeros(flat, sizeof(uint32_t));
    flat_set(flat, at, (int64_t)s.len, sizeof(uint32_t));
    text_add(flat->text, s);
    text_add_byte(flat->text, '\0');
    return at;
}

size_t flat_vector(struct flat *flat, size_t count, size_t item_bytes, size_t *items)
{
    size_t at;

    flat_pad(flat, sizeof(uint32_t));
    while (item_bytes % 8 == 0 && flat_bytes(flat) % 8 != 4)
        text_add_byte(flat->text, '\0');
    at = add_zeros(flat, sizeof(uint32_t));
    flat_set(flat, at, (int64_t)count, sizeof(uint32_t));
    *items = add_zeros(flat, count * item_bytes);
    return at;
}
