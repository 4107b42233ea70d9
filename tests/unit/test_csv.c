/* csv: RFC 4180 by its own examples, and what spreadsheets would run. */
#include "base/csv.h"

#include "base/macros.h"
#include "testing.h"

#include <math.h>
#include <string.h>

TEST(texts_are_quoted_where_they_must_be)
{
    static const struct {
        const char *text, *field;
    } rows[] = {
        { "aaa", "aaa" },
        { "b,bb", "\"b,bb\"" },
        { "b\r\nbb", "b\\x0d\\x0abb" },
        { "b\"bb", "\"b\"\"bb\"" }, /* RFC 4180, 2.7 */
        { "", "" },
        { "=1+1", "\"'=1+1\"" },
        { "@SUM(A1)", "\"'@SUM(A1)\"" },
        { "-2", "\"'-2\"" },
        { "a=b", "a=b" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct text  text = { .arena = &arena };

        text_add(&text, STR(""));
        csv_text(&text, str_from(rows[i].text));
        assert_string_equal(text_str(&text).len ? text.data : "", rows[i].field);
        arena_free(&arena);
    }
}

TEST(numbers_read_back_equal)
{
    static const struct {
        double      number;
        const char *field;
    } rows[] = { { 0, "0" },          { -0.0, "0" },   { 12345678901, "12345678901" },
                 { 0.1, "0.1" },      { NAN, "" },     { 1.0 / 3, "0.3333333333333333" },
                 { 1e300, "1e+300" }, { -2.5, "-2.5" } };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct text  text = { .arena = &arena };

        csv_number(&text, rows[i].number);
        assert_string_equal(text.len ? text.data : "", rows[i].field);
        arena_free(&arena);
    }
}
