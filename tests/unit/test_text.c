#include "base/text.h"
#include "testing.h"

TEST(additions_follow_each_other)
{
    struct arena arena = { 0 };
    struct text  text = { .arena = &arena };

    assert_int_equal(text_str(&text).len, 0);
    assert_string_equal(text_str(&text).data, "");
    text_add(&text, STR("a\0b"));
    text_add(&text, (struct str) { 0 });
    text_add_byte(&text, '-');
    text_fill(&text, ' ', 3);
    text_print(&text, "%d|%300s|", 42, "x");
    assert_int_equal(text.len, 3 + 1 + 3 + 2 + 1 + 300 + 1);
    assert_memory_equal(text.data, "a\0b-   42|   ", 13);
    assert_string_equal(text.data + text.len - 2, "x|"); /* terminated */
    assert_false(text.is_cut);
    arena_free(&arena);
}

/* What is shown for what came from a profile; in lines, newlines and tabs stay. */
TEST(names_steer_nothing)
{
    static const struct {
        const char *name, *shown, *in_lines;
    } rows[] = {
        { "std::sort", "std::sort", "std::sort" },
        { "gemm_é_名", "gemm_é_名", "gemm_é_名" },
        { "\x1b[2Ja\rb\x7f", "\\x1b[2Ja\\x0db\\x7f", "\\x1b[2Ja\\x0db\\x7f" },
        { "a\n\tb", "a\\x0a\\x09b", "a\n\tb" },
        { "a\xe2\x80\xae"
          "b",
          "a\\u202eb", "a\\u202eb" },
        { "a\xc2\x9b"
          "b",
          "a\\x9bb", "a\\x9bb" },
        { "a\xff"
          "b",
          "a\xef\xbf\xbd"
          "b",
          "a\xef\xbf\xbd"
          "b" },
        { "::error::x", "\\x3a:error::x", "\\x3a:error::x" },
        { "a ##[group]b", "a \\x23#[group]b", "a \\x23#[group]b" },
        { "a\n  ::warning::b", "a\\x0a  ::warning::b", "a\n  \\x3a:warning::b" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct text  shown = { .arena = &arena }, lines = { .arena = &arena };

        text_add_clean(&shown, str_from(rows[i].name));
        assert_string_equal(text_str(&shown).data, rows[i].shown);
        text_add(&lines, STR("head\n"));
        text_add(&lines, str_from(rows[i].name));
        text_clean_lines(&lines, 5);
        assert_string_equal(text_str(&lines).data + 5, rows[i].in_lines);
        arena_free(&arena);
    }
}

TEST(past_the_budget_what_fits_stays)
{
    struct arena arena = { .budget_bytes = 256 };
    struct text  text = { .arena = &arena };

    text_add(&text, STR("kept"));
    text_fill(&text, 'x', 1000);
    assert_true(text.is_cut);
    text_add(&text, STR("more"));
    assert_string_equal(text_str(&text).data, "kept");
    arena_free(&arena);
}

TEST(width_counts_columns)
{
    static const struct {
        struct str text;
        size_t     columns;
    } rows[] = {
        { STR_INIT(""), 0 },
        { STR_INIT("abc"), 3 },
        { STR_INIT("µs"), 2 },
        { STR_INIT("\xE6\xBC\xA2\xE5\xAD\x97"), 4 }, /* two ideographs, two columns each */
        { STR_INIT("e\xCC\x81"), 1 },                /* e and a combining accent */
        { STR_INIT("\xF0\x9F\x98\x80"), 2 },         /* an emoji */
        { STR_INIT("\xE6\xBC"), 1 },                 /* cut short: not read past the end */
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        assert_int_equal(text_width(rows[i].text), rows[i].columns);
}
