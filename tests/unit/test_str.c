#include "base/macros.h"

#include "base/str.h"
#include "testing.h"

static const struct str nothing = { NULL, 0 };

TEST(comparing_is_bytewise)
{
    static const struct {
        struct str a, b;
        int        order;
    } rows[] = {
        { STR_INIT("a"), STR_INIT("b"), -1 },       { STR_INIT("b"), STR_INIT("a"), 1 },
        { STR_INIT("a"), STR_INIT("ab"), -1 },      { STR_INIT("ab"), STR_INIT("ab"), 0 },
        { STR_INIT(""), { NULL, 0 }, 0 },           { STR_INIT("a\0b"), STR_INIT("a\0c"), -1 },
        { STR_INIT("\x7f"), STR_INIT("\x80"), -1 }, /* unsigned */
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        int order = str_compare(rows[i].a, rows[i].b);

        assert_int_equal((order > 0) - (order < 0), rows[i].order);
        assert_int_equal(str_equal(rows[i].a, rows[i].b), rows[i].order == 0);
        if (rows[i].order == 0)
            assert_true(str_hash(rows[i].a) == str_hash(rows[i].b));
    }
}

TEST(parts_are_found)
{
    assert_int_equal(str_find(STR("a/b/c"), '/'), 1);
    assert_int_equal(str_find_last(STR("a/b/c"), '/'), 3);
    assert_int_equal(str_find(STR("abc"), '/'), 3);
    assert_int_equal(str_find_last(nothing, '/'), 0);
    assert_int_equal(str_search(STR("aaab"), STR("aab")), 1);
    assert_int_equal(str_search(STR("abab"), STR("abb")), 4);
    assert_int_equal(str_search(STR("ab"), STR("abc")), 2);
    assert_int_equal(str_search(STR("ab"), nothing), 0);
    assert_int_equal(str_search(STR("xab"), STR("ab")), 1);
    assert_true(str_contains(nothing, nothing));
    assert_false(str_contains(nothing, STR("a")));
    assert_true(str_contains(STR("a\0b"), STR("\0b")));
    assert_true(str_starts(STR("ab"), STR("a")));
    assert_true(str_starts(STR("ab"), nothing));
    assert_false(str_starts(STR("a"), STR("ab")));
    assert_true(str_ends(STR("ab"), STR("b")));
    assert_true(str_ends(nothing, nothing));
    assert_false(str_ends(STR("b"), STR("ab")));
}

TEST(slices_are_clipped)
{
    struct str rest = STR("a,,b");

    assert_true(str_equal(str_slice(STR("abc"), 1, 2), STR("b")));
    assert_true(str_equal(str_slice(STR("abc"), 1, 99), STR("bc")));
    assert_int_equal(str_slice(STR("abc"), 9, 99).len, 0);
    assert_int_equal(str_slice(STR("abc"), 2, 1).len, 0);
    assert_int_equal(str_slice(nothing, 0, 5).len, 0);
    assert_true(str_equal(str_trim(STR(" \t a b\r\n")), STR("a b")));
    assert_int_equal(str_trim(STR(" \n ")).len, 0);
    assert_true(str_equal(str_cut(&rest, ','), STR("a")));
    assert_int_equal(str_cut(&rest, ',').len, 0);
    assert_true(str_equal(str_cut(&rest, ','), STR("b")));
    assert_int_equal(rest.len, 0);
}

TEST(whole_numbers_are_exact)
{
    static const struct {
        struct str text;
        bool       is_signed, is_unsigned;
        int64_t    value;
    } rows[] = {
        { STR_INIT("0"), true, true, 0 },
        { STR_INIT("-0"), true, false, 0 },
        { STR_INIT("007"), true, true, 7 },
        { STR_INIT("9223372036854775807"), true, true, INT64_MAX },
        { STR_INIT("-9223372036854775808"), true, false, INT64_MIN },
        { STR_INIT("9223372036854775808"), false, true, INT64_MIN }, /* as unsigned: 2^63 */
        { STR_INIT("18446744073709551615"), false, true, -1 },
        { STR_INIT("18446744073709551616"), false, false, 0 },
        { STR_INIT("-9223372036854775809"), false, false, 0 },
        { STR_INIT(""), false, false, 0 },
        { STR_INIT("-"), false, false, 0 },
        { STR_INIT("+1"), false, false, 0 },
        { STR_INIT(" 1"), false, false, 0 },
        { STR_INIT("1 "), false, false, 0 },
        { STR_INIT("1\0"), false, false, 0 },
        { STR_INIT("0x1"), false, false, 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        int64_t  number = 99;
        uint64_t natural = 99;

        print_message("%s\n", rows[i].text.data);
        assert_int_equal(str_to_int64(rows[i].text, &number), rows[i].is_signed);
        assert_int_equal(str_to_uint64(rows[i].text, &natural), rows[i].is_unsigned);
        assert_true(number == (rows[i].is_signed ? rows[i].value : 99));
        assert_true(natural == (rows[i].is_unsigned ? (uint64_t)rows[i].value : 99));
    }
}

TEST(doubles_are_finite_and_whole_strings)
{
    static const struct {
        struct str text;
        bool       ok;
        double     value;
    } rows[] = {
        { STR_INIT("1.5"), true, 1.5 }, { STR_INIT("-2e3"), true, -2000 },
        { STR_INIT(".5"), true, 0.5 },  { STR_INIT("1e999"), false, 0 },
        { STR_INIT("nan"), false, 0 },  { STR_INIT("inf"), false, 0 },
        { STR_INIT(" 1"), false, 0 },   { STR_INIT("1,5"), false, 0 },
        { STR_INIT(""), false, 0 },     { STR_INIT("1\0"), false, 0 },
        { STR_INIT("1.5x"), false, 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        double number = 0;

        assert_int_equal(str_to_double(rows[i].text, &number), rows[i].ok);
        assert_true(number == rows[i].value);
    }
}
