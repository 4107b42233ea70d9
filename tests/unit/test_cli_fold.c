/* fold: where lines break in a narrow window. */

#include "testing.h"

#include "base/macros.h"
#include "cli/fold.h"

TEST(lines_break_at_blanks)
{
    static const struct {
        const char *text;
        size_t      width;
        const char *folded;
    } rows[] = {
        { "", 20, "" },
        { "fits\n\nas it is\n", 20, "fits\n\nas it is\n" },
        { "one two three four", 10, "one two\n    three\n    four" },
        /* 16 columns are left of 20 behind an indent of 4. */
        { "the mean of all steps in order\n", 20, "the mean of all\n    steps in order\n" },
        { "  row (1us/2us, 3us/4us, 5us/6us)\n", 20,
          "  row (1us/2us,\n      3us/4us,\n      5us/6us)\n" },
        { "name          1us (1%),     2us", 20, "name          1us\n    (1%),     2us" },
        { "a-word-of-twenty-two-b one", 20, "a-word-of-twenty-two-b\n    one" },
        { "        deep in a narrow window", 14, "        deep\n    in a\n    narrow\n    window" },
        { "\xE4\xB8\xAD\xE4\xB8\xAD \xE4\xB8\xAD", 6,
          "\xE4\xB8\xAD\xE4\xB8\xAD\n    \xE4\xB8\xAD" }, /* two columns each: 4, 1, 2 */
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct text  folded = { .arena = &arena };

        fold_text(str_from(rows[i].text), rows[i].width, &folded);
        text_add(&folded, STR(""));
        assert_string_equal(folded.data, rows[i].folded);
        arena_free(&arena);
    }
}
