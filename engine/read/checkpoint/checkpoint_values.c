/* Values of variables: raw little-endian elements (version 2), TensorProto (version 1). */
#include "base/crc32c.h"
#include "base/macros.h"
#include "read/checkpoint/checkpoint.h"

#include <string.h>

static const struct {
    enum tensor_kind kind;
    unsigned         bytes; /* of one element; 0: strings */
    bool             is_signed;
} types[] = {
    /* by DataType */
    [1] = { TENSOR_NUMBERS, 4, true },    /* float */
    [2] = { TENSOR_NUMBERS, 8, true },    /* double */
    [3] = { TENSOR_INTEGERS, 4, true },   /* int32 */
    [4] = { TENSOR_INTEGERS, 1, false },  /* uint8 */
    [5] = { TENSOR_INTEGERS, 2, true },   /* int16 */
    [6] = { TENSOR_INTEGERS, 1, true },   /* int8 */
    [7] = { TENSOR_STRINGS, 0, false },   /* string */
    [9] = { TENSOR_INTEGERS, 8, true },   /* int64 */
    [10] = { TENSOR_INTEGERS, 1, false }, /* bool */
    [14] = { TENSOR_NUMBERS, 2, true },   /* bfloat16 */
    [17] = { TENSOR_INTEGERS, 2, false }, /* uint16 */
    [19] = { TENSOR_NUMBERS, 2, true },   /* half */
    [22] = { TENSOR_INTEGERS, 4, false }, /* uint32 */
    [23] = { TENSOR_INTEGERS, 8, false }, /* uint64 */
};
enum { TYPE_FLOAT = 1, TYPE_DOUBLE = 2, TYPE_BFLOAT16 = 14, TYPE_HALF = 19 };

static enum tensor_kind kind_of(int type)
{
    return type > 0 && (size_t)type < ARRAY_COUNT(types) ? types[type].kind : TENSOR_UNKNOWN;
}

bool checkpoint_count(const struct tensor *shape, size_t *count)
{
    *count = 1;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i] < 0 || __builtin_mul_overflow(*count, (size_t)shape->dims[i], count))
            return false;
    return shape->rank >= 0;
}

bool checkpoint_room(struct classic_tensor *tensor, struct arena *arena, struct err *err)
{
    size_t bytes = tensor->kind == TENSOR_STRINGS ? sizeof(struct str) : 8;
    void  *room = arena_alloc_array(arena, tensor->count, bytes);

    if (tensor->kind == TENSOR_NUMBERS)
        tensor->numbers = room;
    else if (tensor->kind == TENSOR_INTEGERS)
        tensor->integers = room;
    else
        tensor->strings = room;
    return room || err_set(err, ERR_LIMIT, "the values do not fit into the memory budget");
}

static float float_of_bits(uint32_t bits)
{
    float number;

    memcpy(&number, &bits, sizeof number);
    return number;
}

static double double_of_half(uint32_t bits)
{
    uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, part = bits & 1023;

    if (exponent == 31)
        return (double)float_of_bits(sign | 0x7F800000 | part << 13);
    if (exponent)
        return (double)float_of_bits(sign | (exponent + 112) << 23 | part << 13);
    return (sign ? -1.0 : 1.0) * (double)part / (1 << 24);
}

static double number_of(int type, uint64_t bits)
{
    double number;

    switch (type) {
    case TYPE_FLOAT:
        return (double)float_of_bits((uint32_t)bits);
    case TYPE_BFLOAT16:
        return (double)float_of_bits((uint32_t)bits << 16);
    case TYPE_HALF:
        return double_of_half((uint32_t)bits);
    default:
        memcpy(&number, &bits, sizeof number);
        return number;
    }
}

static void store(struct classic_tensor *tensor, size_t at, uint64_t bits)
{
    unsigned unused = 64 - 8 * types[tensor->type].bytes;

    if (tensor->kind == TENSOR_NUMBERS)
        tensor->numbers[at] = number_of(tensor->type, bits);
    else if (types[tensor->type].is_signed)
        tensor->integers[at] = (int64_t)(bits << unused) >> unused;
    else
        tensor->integers[at] = (int64_t)bits;
}

static bool take_length(struct str *rest, uint64_t *length)
{
    *length = 0;
    for (unsigned shift = 0; shift < 64 && rest->len; shift += 7) {
        uint8_t byte = (uint8_t)rest->data[0];

        *rest = str_slice(*rest, 1, rest->len);
        *length |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Lengths of all, their checksum, then the bytes of all. */
static bool decode_strings(struct str rest, struct classic_tensor *tensor, struct err *err)
{
    for (size_t i = 0; i < tensor->count; i++) {
        uint64_t length;

        if (!take_length(&rest, &length))
            return err_set(err, ERR_FORMAT, "the lengths of strings are damaged");
        tensor->strings[i].len = length;
    }
    if (rest.len < 4)
        return err_set(err, ERR_FORMAT, "strings end early");
    rest = str_slice(rest, 4, rest.len);
    for (size_t i = 0; i < tensor->count; i++) {
        size_t len = tensor->strings[i].len;

        if (len > rest.len)
            return err_set(err, ERR_FORMAT, "strings end early");
        tensor->strings[i] = str_slice(rest, 0, len);
        rest = str_slice(rest, len, rest.len);
    }
    return true;
}

bool checkpoint_decode(struct str bytes, bool is_big_endian, struct arena *arena,
                       struct classic_tensor *tensor, struct err *err)
{
    unsigned width;

    tensor->kind = kind_of(tensor->type);
    if (tensor->kind == TENSOR_UNKNOWN)
        return true;
    width = types[tensor->type].bytes;
    if (!checkpoint_count(&tensor->shape, &tensor->count) ||
        (width ? bytes.len % width || bytes.len / width != tensor->count
               : tensor->count > bytes.len))
        return err_set(err, ERR_FORMAT, "its %zu bytes are not those of its shape", bytes.len);
    if (!checkpoint_room(tensor, arena, err))
        return false;
    if (!width)
        return decode_strings(bytes, tensor, err);
    for (size_t i = 0; i < tensor->count; i++) {
        uint64_t bits = 0;

        for (unsigned n = 0; n < width; n++)
            bits |= (uint64_t)(uint8_t)bytes.data[i * width + n]
                    << 8 * (is_big_endian ? width - 1 - n : n);
        store(tensor, i, bits);
    }
    return true;
}

/* Which field of TensorProto holds the values of a type. */
static uint32_t field_of(int type)
{
    static const uint8_t fields[ARRAY_COUNT(types)] = {
        [1] = 5,  [2] = 6,   [3] = 7,   [4] = 7,  [5] = 7,   [6] = 7,   [7] = 8,
        [9] = 10, [10] = 11, [14] = 13, [17] = 7, [19] = 13, [22] = 16, [23] = 17,
    };

    return fields[type];
}

/* A number as TensorProto has it, in the bits of its type. */
static bool take_number(struct classic_tensor *tensor, size_t *used, uint64_t bits, struct err *err)
{
    if (*used == tensor->count)
        return err_set(err, ERR_FORMAT, "it has more values than its shape tells");
    store(tensor, (*used)++, bits);
    return true;
}

static bool take_packed(struct classic_tensor *tensor, size_t *used, struct str bytes,
                        struct err *err)
{
    unsigned width = tensor->type == TYPE_FLOAT ? 4 : tensor->type == TYPE_DOUBLE ? 8 : 0;

    while (bytes.len) {
        uint64_t bits = 0;

        if (width ? bytes.len < width : !take_length(&bytes, &bits))
            return err_set(err, ERR_FORMAT, "its values are damaged");
        if (width) {
            memcpy(&bits, bytes.data, width);
            bytes = str_slice(bytes, width, bytes.len);
        }
        if (!take_number(tensor, used, bits, err))
            return false;
    }
    return true;
}

bool checkpoint_unpack(struct message proto, struct arena *arena, struct classic_tensor *tensor,
                       struct err *err)
{
    struct field field;
    size_t       used = 0;

    tensor->kind = kind_of(tensor->type);
    if (tensor->kind == TENSOR_UNKNOWN)
        return true;
    /* A value takes a byte at least. */
    if (!checkpoint_count(&tensor->shape, &tensor->count) ||
        tensor->count > (size_t)(proto.end - proto.at))
        return err_set(err, ERR_FORMAT, "it has fewer values than its shape tells");
    if (!checkpoint_room(tensor, arena, err))
        return false;
    while (message_next(&proto, &field, err)) {
        if (field.number != field_of(tensor->type) ||
            (tensor->kind == TENSOR_STRINGS && field.type != WIRE_BYTES))
            continue;
        if (tensor->kind == TENSOR_STRINGS) {
            if (used == tensor->count)
                return err_set(err, ERR_FORMAT, "it has more values than its shape tells");
            tensor->strings[used++] = field.bytes;
        } else if (field.type == WIRE_BYTES ? !take_packed(tensor, &used, field.bytes, err)
                                            : !take_number(tensor, &used, field.value, err)) {
            return false;
        }
    }
    if (proto.is_damaged)
        return false;
    return used == tensor->count ||
           err_set(err, ERR_FORMAT, "it has fewer values than its shape tells");
}
