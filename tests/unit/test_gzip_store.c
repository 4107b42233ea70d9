/* gzip_store, gzip_pack: what they write is read back, and is what the format says. */
#include "base/gzip.h"
#include "testing.h"

#include <string.h>

/* "abc": header of 10 bytes, one last block (1, length 3, its complement), the bytes, their CRC-32
 * 0x352441c2 (as cksum tools print it) and their number. */
TEST(the_bytes_of_a_small_text)
{
    static const uint8_t expected[] = { 0x1f, 0x8b, 8,    0,    0,    0,    0,   0,   0,
                                        0xff, 1,    3,    0,    0xfc, 0xff, 'a', 'b', 'c',
                                        0xc2, 0x41, 0x24, 0x35, 3,    0,    0,   0 };
    struct arena         arena = { 0 };
    struct text          packed = { .arena = &arena };

    gzip_store(STR("abc"), &packed);
    assert_int_equal(packed.len, sizeof expected);
    assert_memory_equal(packed.data, expected, sizeof expected);
    arena_free(&arena);
}

/* Lengths round the size of a block; an empty text has one empty block. */
TEST(any_length_comes_back)
{
    static const size_t lengths[] = { 0, 1, 65534, 65535, 65536, 131070, 131071, 200000 };
    struct arena        arena = { 0 };

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct text  packed = { .arena = &arena };
        char        *bytes = arena_new_array(&arena, char, lengths[i] + 1);
        char        *back = arena_new_array(&arena, char, lengths[i] + 16);
        struct gzip *gzip = gzip_new();
        struct str   input;

        assert_non_null(gzip);
        assert_true(bytes && back);
        for (size_t j = 0; j < lengths[i]; j++)
            bytes[j] = (char)(j * 2654435761u >> 13);
        gzip_store((struct str) { bytes, lengths[i] }, &packed);
        input = text_str(&packed);
        /* 10 of header, 5 a block of 65535, 8 at the end */
        assert_int_equal(input.len,
                         lengths[i] + 18 + 5 * (lengths[i] ? (lengths[i] + 65534) / 65535 : 1));
        assert_true(gzip_is_magic(input));
        assert_int_equal(gzip_inflate(gzip, &input, back, lengths[i] + 16), lengths[i]);
        assert_null(gzip_damage(gzip, true));
        assert_memory_equal(back, bytes, lengths[i]);
        gzip_free(gzip);
    }
    arena_free(&arena);
}

/* 1000000 equal bytes; DEFLATE takes at least a bit for 258 of them. */
TEST(packed_bytes_come_back)
{
    enum { BYTES = 1000000 };
    struct arena arena = { 0 };
    struct text  packed = { .arena = &arena };
    char        *bytes = arena_new_array(&arena, char, BYTES);
    char        *back = arena_new_array(&arena, char, BYTES);
    struct gzip *gzip = gzip_new();
    struct str   input;

    assert_true(bytes && back && gzip);
    memset(bytes, 'x', BYTES);
    bytes[7] = 'y';
    assert_true(gzip_pack((struct str) { bytes, BYTES }, &packed));
    input = text_str(&packed);
    assert_in_range(input.len, BYTES / 258 / 8, 5000);
    assert_int_equal(gzip_inflate(gzip, &input, back, BYTES), BYTES);
    assert_null(gzip_damage(gzip, true));
    assert_memory_equal(back, bytes, BYTES);
    packed.len = 0;
    assert_true(gzip_pack(STR(""), &packed));
    assert_true(gzip_is_magic(text_str(&packed)));
    gzip_free(gzip);
    arena_free(&arena);
}
