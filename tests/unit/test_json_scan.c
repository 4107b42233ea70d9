/* The pull scanner on hand-made texts. */

#include "testing.h"

#include "base/macros.h"
#include "read/json_scan.h"

#include <string.h>

static struct json_scan scan_of(const char *text)
{
    return (struct json_scan) { .at = text, .end = text + strlen(text) };
}

static void assert_text(struct str found, const char *wanted)
{
    assert_int_equal(found.len, strlen(wanted));
    assert_true(memcmp(found.data, wanted, found.len) == 0);
}

TEST(walks_members_and_skips_the_rest)
{
    struct json_scan scan = scan_of(" {\"skip\": {\"a\": [1, {\"b\": \"]}\\\"\"}], \"c\": null}, "
                                    "\"ts\" : 1.5e3 ,\"s\":\"x\\\"y\"}");
    struct str       key;

    assert_true(json_open(&scan, '{'));
    assert_true(json_member(&scan, &key));
    assert_text(key, "skip");
    json_skip(&scan);
    assert_true(json_member(&scan, &key));
    assert_text(key, "ts");
    assert_text(json_scalar(&scan), "1.5e3");
    assert_true(json_member(&scan, &key));
    assert_text(json_scalar(&scan), "x\\\"y");
    assert_false(json_member(&scan, &key));
    assert_int_equal(scan.state, JSON_FINE);
    assert_int_equal(json_peek(&scan), 0);
}

TEST(gives_nested_values_as_written)
{
    struct json_scan scan = scan_of("[[[8, 512], []], \"a\", NaN, -Infinity, {}]");

    assert_true(json_open(&scan, '['));
    assert_true(json_item(&scan));
    assert_text(json_value(&scan), "[[8, 512], []]");
    assert_true(json_item(&scan));
    assert_text(json_value(&scan), "\"a\"");
    assert_true(json_item(&scan));
    assert_text(json_scalar(&scan), "NaN");
    assert_true(json_item(&scan));
    assert_text(json_scalar(&scan), "-Infinity");
    assert_true(json_item(&scan));
    assert_text(json_scalar(&scan), "{}");
    assert_false(json_item(&scan));
    assert_int_equal(scan.state, JSON_FINE);
}

TEST(tells_cut_from_bad)
{
    static const struct {
        const char     *text;
        enum json_state state;
    } rows[] = {
        { "", JSON_CUT },
        { "{", JSON_CUT },
        { "{\"a", JSON_CUT },
        { "{\"a\"", JSON_CUT },
        { "{\"a\":", JSON_CUT },
        { "{\"a\":1", JSON_CUT },
        { "{\"a\":1,", JSON_CUT },
        { "{\"a\":\"\\", JSON_CUT },
        { "{\"a\":[{}", JSON_CUT },
        { "[", JSON_BAD },
        { "{a", JSON_BAD },
        { "{\"a\" 1", JSON_BAD },
        { "{\"a\":}", JSON_BAD },
        { "{\"a\":1}", JSON_FINE },
        { "{\"a\":1,}", JSON_FINE },
        { "{,,\"a\":1}", JSON_FINE },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct json_scan scan = scan_of(rows[i].text);
        struct str       key;

        json_open(&scan, '{');
        while (json_member(&scan, &key))
            json_skip(&scan);
        assert_int_equal(scan.state, rows[i].state);
    }
}

TEST(resolves_escapes)
{
    static const struct {
        const char *raw, *wanted;
    } rows[] = {
        { "plain", "plain" },
        { "a\\nb\\t\\\"\\\\\\/", "a\nb\t\"\\/" },
        { "\\u00e9", "\xC3\xA9" },                /* U+00E9 */
        { "\\u20AC", "\xE2\x82\xAC" },            /* U+20AC */
        { "\\ud83d\\ude00", "\xF0\x9F\x98\x80" }, /* U+1F600 as a surrogate pair */
        { "\\ud83d!", "\xEF\xBF\xBD!" },          /* a lone surrogate */
        { "\\u12", "u12" },
        { "end\\", "end\\" },
    };
    struct arena arena = { 0 };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        assert_text(json_unescape(&arena, str_from(rows[i].raw)), rows[i].wanted);
    arena_free(&arena);
}

TEST(reads_decimals_exactly)
{
    static const struct {
        const char *text;
        int         power;
        bool        is_fine;
        int64_t     wanted;
    } rows[] = {
        { "0", 3, true, 0 },
        { "1", 3, true, 1000 },
        { "1.5", 3, true, 1500 },
        { "4407770327187.026", 3, true, INT64_C(4407770327187026) },
        { "1695835542514261.123", 3, true, INT64_C(1695835542514261123) }, /* no double holds it */
        { "0.0009", 3, true, 0 },
        { "-0.0001", 3, true, -1 }, /* towards minus infinity */
        { "-2.5", 3, true, -2500 },
        { "1.25e2", 3, true, 125000 },
        { "125E-2", 3, true, 1250 },
        { "9223372036854775807", 3, false, 0 },
        { "1e400", 3, false, 0 },
        { "NaN", 3, false, 0 },
        { "", 3, false, 0 },
        { "-", 3, false, 0 },
        { ".5", 3, false, 0 },
        { "1.2.3", 3, false, 0 },
        { "12x", 3, false, 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        int64_t number = 0;

        assert_int_equal(json_decimal(str_from(rows[i].text), rows[i].power, &number),
                         rows[i].is_fine);
        if (rows[i].is_fine)
            assert_true(number == rows[i].wanted);
    }
}
