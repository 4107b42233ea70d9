/* Varints, fields and the check before unpacking, on bytes written by hand. */
#include "read/proto/wire.h"
#include "testing.h"
#include "xplane.pb-c.h"
#include <string.h>

/* Values and lengths by the encoding: seven bits a byte, low ones first. */
static const struct {
    const char *bytes;
    size_t      len; /* 0: too long */
    uint64_t    value;
} varints[] = {
    { "\x00", 1, 0 },
    { "\x7F", 1, 127 },
    { "\x80\x01", 2, 128 },
    { "\xAC\x02", 2, 300 },
    { "\xFF\xFF\x03", 3, 65535 },
    { "\x80\x80\x80\x80\x10", 5, UINT64_C(1) << 32 },
    { "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 8, (UINT64_C(1) << 56) - 1 },
    { "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 9, INT64_MAX },
    { "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10, UINT64_MAX },
    { "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 0, 0 },
};

TEST(reads_varints)
{
    for (size_t i = 0; i < sizeof varints / sizeof *varints; i++) {
        uint8_t        buffer[32] = { 0 };
        uint64_t       fast = 1, slow = 1;
        const uint8_t *end;

        memcpy(buffer, varints[i].bytes, varints[i].len ? varints[i].len : 11);
        end = wire_varint_fast(buffer, &fast);
        assert_ptr_equal(end, varints[i].len ? buffer + varints[i].len : NULL);
        assert_ptr_equal(wire_varint(buffer, buffer + sizeof buffer, &slow), end);
        if (!end)
            continue;
        assert_true(fast == varints[i].value && slow == varints[i].value);
        assert_null(wire_varint(buffer, end - 1, &slow));
    }
}

/* A varint, eight bytes, three bytes of text and four bytes; then a length beyond the end. */
TEST(walks_fields)
{
    static const char bytes[] = "\x08\x96\x01\x11\x01\x00\x00\x00\x00\x00\x00\x00\x1A\x03"
                                "abc\x25\x02\x00\x00\x00\x2A\x09xy";
    struct wire       field = wire_start((struct str) { bytes, sizeof bytes - 1 });

    assert_true(wire_next(&field) && field.number == 1 && field.value == 150);
    assert_true(wire_next(&field) && field.number == 2 && field.type == WIRE_64);
    assert_int_equal(field.value, 1);
    assert_true(wire_next(&field) && field.number == 3);
    assert_true(str_equal(field.bytes, STR("abc")));
    assert_true(wire_next(&field) && field.number == 4 && field.value == 2);
    assert_false(wire_next(&field));
    assert_true(field.is_broken);
    assert_int_equal(wire_offset(&field, (struct str) { bytes, sizeof bytes - 1 }), 22);
}

/* Field 1: 300, then 1 and 128 packed, then a number that takes a byte more than it has to, then
 * four bytes, which are no varint. */
TEST(repeated_numbers_are_packed_or_not)
{
    static const char bytes[] = "\x08\xAC\x02\x0A\x03\x01\x80\x01\x08\x85\x00\x0D\x01\x00\x00\x00";
    static const uint64_t expected[] = { 300, 1, 128, 5 };
    size_t                count = 0;

    for (struct wire field = wire_start((struct str) { bytes, sizeof bytes - 1 });
         wire_next(&field);) {
        struct str rest = wire_numbers(&field);
        uint64_t   number;

        for (; wire_take(&rest, &number); count++)
            assert_true(count < ARRAY_COUNT(expected) && number == expected[count]);
    }
    assert_int_equal(count, ARRAY_COUNT(expected));
}
