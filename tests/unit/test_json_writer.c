#include "base/json_writer.h"
#include "testing.h"

static void write_sample(struct json_writer *json)
{
    json_object(json);
    json_key(json, "name");
    json_text(json, "x");
    json_key(json, "list");
    json_array(json);
    json_integer(json, INT64_MIN);
    json_bool(json, true);
    json_object(json);
    json_object_end(json);
    json_array(json);
    json_array_end(json);
    json_array_end(json);
    json_key(json, "last");
    json_bool(json, false);
    json_object_end(json);
}

TEST(nesting_is_indented)
{
    struct arena       arena = { 0 };
    struct text        text = { .arena = &arena };
    struct json_writer json = { .text = &text };

    write_sample(&json);
    assert_string_equal(text.data, "{\n"
                                   "  \"name\": \"x\",\n"
                                   "  \"list\": [\n"
                                   "    -9223372036854775808,\n"
                                   "    true,\n"
                                   "    {},\n"
                                   "    []\n"
                                   "  ],\n"
                                   "  \"last\": false\n"
                                   "}");
    arena_free(&arena);
}

TEST(compact_has_no_blanks)
{
    struct arena       arena = { 0 };
    struct text        text = { .arena = &arena };
    struct json_writer json = { .text = &text, .is_compact = true };

    write_sample(&json);
    assert_string_equal(
        text.data, "{\"name\":\"x\",\"list\":[-9223372036854775808,true,{},[]],\"last\":false}");
    arena_free(&arena);
}

TEST(numbers_have_six_digits_or_are_exact)
{
    static const struct {
        double      number;
        const char *text;
    } rows[] = {
        { 0, "0" },
        { -0.0, "0" },
        { 1, "1" },
        { -3, "-3" },
        { 0.1, "0.1" },
        { 212.4371234, "212.437" },
        { 1234567, "1234567" },                   /* whole: exact */
        { 9007199254740991, "9007199254740991" }, /* 2^53 - 1 */
        { 1e300, "1e+300" },
        { 1e-7, "1e-07" },
        { 1.0 / 3, "0.333333" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena       arena = { 0 };
        struct text        text = { .arena = &arena };
        struct json_writer json = { .text = &text };

        json_number(&json, rows[i].number);
        assert_string_equal(text.data, rows[i].text);
        arena_free(&arena);
    }
}

#define REPLACED "\xEF\xBF\xBD" /* U+FFFD */

TEST(strings_are_valid_everywhere)
{
    static const struct {
        struct str  s;
        const char *text;
    } rows[] = {
        { { NULL, 0 }, "\"\"" },
        { STR_INIT("a\"\\\n\r\t"), "\"a\\\"\\\\\\n\\r\\t\"" },
        { STR_INIT("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\\u007f\"" },
        { STR_INIT("</script>"), "\"\\u003c/script>\"" },
        { STR_INIT("\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80"),
          "\"\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80\"" },
        { STR_INIT("a\xFFz"), "\"a" REPLACED "z\"" },
        { STR_INIT("\xC3"), "\"" REPLACED "\"" },                           /* cut */
        { STR_INIT("\xC0\x80"), "\"" REPLACED REPLACED "\"" },              /* overlong NUL */
        { STR_INIT("\xE0\x80\x80"), "\"" REPLACED REPLACED REPLACED "\"" }, /* overlong */
        { STR_INIT("\xED\xA0\x80"), "\"" REPLACED REPLACED REPLACED "\"" }, /* surrogate */
        { STR_INIT("\xF4\x90\x80\x80"), "\"" REPLACED REPLACED REPLACED REPLACED "\"" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena       arena = { 0 };
        struct text        text = { .arena = &arena };
        struct json_writer json = { .text = &text };

        json_str(&json, rows[i].s);
        assert_string_equal(text.data, rows[i].text);
        arena_free(&arena);
    }
}
